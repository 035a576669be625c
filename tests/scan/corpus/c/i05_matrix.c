#include <stdlib.h>
double *make(size_t n)
{
	double *m = malloc(n * n * sizeof(*m));
	for (size_t i = 0; m && i < n * n; i++)
		m[i] = (double)i;
	return m;
}
