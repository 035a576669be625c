#include <stdio.h>
#define JOIN(a, b) a##b
#define FIELD(t) JOIN(t, _count)
#define SHOW(x) printf(#x " is %d\n", x)
static int exec_count, fork_count;
int main(void)
{
	FIELD(exec) = 2;
	JOIN(fork, _count)++;
	SHOW(exec_count);
	SHOW(fork_count); /* system("x") */
	return 0;
}
