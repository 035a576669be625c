#include <stdio.h>
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define FIRST sys
#define CALL2(a, b, c) a##b(c)
#define ANY(a, ...) a##__VA_ARGS__
#define WHOLE JOIN(po, pen)
int main(void)
{
	JOIN(FIRST, tem)("ls"); /* FIND: c.process */
	CALL2(sys, tem, "ls, (or not"); /* FIND: c.process */
	ANY(sys, tem)("ls"); /* FIND: c.process */
	WHOLE("ls", "r"); /* FIND: c.process */
	int (*f)(const char *) = JOIN(sys, tem);
	f("ls"); /* FIND: c.process */
	return 0;
}
