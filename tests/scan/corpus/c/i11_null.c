#include <stddef.h>
void *nothing(void)
{
	char *p = (char *)0;
	return p ? p : NULL;
}
