#include <stdio.h>
#ifdef HAVE_SYSTEM
#define STATE 1
#else
#define STATE 0
#endif
int main(void)
{
	return printf("%d\n", STATE) < 0;
}
