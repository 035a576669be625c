#include <stdlib.h>
extern int each(char **list, int (*call)(const char *));
int main(int argc, char **argv)
{
	(void)argc;
	return each(argv, system); // FIND: c.process
}
