#include <string.h>
#include <stdio.h>
void greet(char *to, const char *name)
{
	char line[16];
	strcpy(line, name); // FIND: c.pointer
	sprintf(to, "hello %s", line); // FIND: c.pointer
	*(volatile int *)0xb8000 = 7; // FIND: c.pointer
}
