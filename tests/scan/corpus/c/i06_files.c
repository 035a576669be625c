#include <stdio.h>
int main(void)
{
	FILE *f = fopen("out.txt", "w");
	FILE *g = fopen("/dev/null", "w");
	FILE *h = fopen("/tmp/x", "w");
	return !(f && g && h);
}
