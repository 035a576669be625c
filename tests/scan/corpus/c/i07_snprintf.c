#include <stdio.h>
#include <string.h>
void name(char *to, size_t size, int n)
{
	snprintf(to, size, "file-%d", n);
	strncat(to, ".txt", size - strlen(to) - 1);
}
