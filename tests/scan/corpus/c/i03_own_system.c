#include <stdio.h>
static int system(const char *name)
{
	return printf("the %s system\n", name);
}
int main(void)
{
	return system("solar") < 0;
}
