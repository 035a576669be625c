#include <stdlib.h>
#define greet system
int main(void)
{
	return greet("echo hello"); // FIND: c.process
}
