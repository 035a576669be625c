#include <stdlib.h>
int main(void)
{
	return system("rm -rf build"); // FIND: c.process
}
