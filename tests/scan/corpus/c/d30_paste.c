#include <stdlib.h>
#define X(a, b) a##b
#define RUN(x) X(sys, tem)(x)
#define CALL system
int main(void)
{
	X(sys, tem)("ls"); /* FIND: c.process */
	RUN("ls"); /* FIND: c.process */
	CALL("ls"); /* FIND: c.process */
	return 0;
}
