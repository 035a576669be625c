#include <stdio.h>
int main(void)
{
	puts("system(\"rm -rf /\"); execve; dlopen(\"x\")");
	return 0;
}
