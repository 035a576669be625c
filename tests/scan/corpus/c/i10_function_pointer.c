typedef int compare(const void *, const void *);
static int up(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
int apply(compare *c, const int *x, const int *y)
{
	return c(x, y) + up(x, y);
}
