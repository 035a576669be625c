#include <math.h>
#include <stdlib.h>
#include <string.h>
static double *grid(size_t n)
{
	double *g = malloc(n * sizeof(*g));
	for (size_t i = 0; g && i < n; i++)
		*(g + i) = sin((double)i);
	return g;
}
int main(int argc, char **argv)
{
	double *g = grid(16);
	memcpy(g, g + 8, 4 * sizeof(*g));
	double r = argc > 1 ? atof(argv[1]) : g[2];
	free(g);
	return (int)r;
}
