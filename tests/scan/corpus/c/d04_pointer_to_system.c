#include <stdlib.h>
int main(void)
{
	int (*run)(const char *) = system;
	return run("id"); // FIND: c.process
}
