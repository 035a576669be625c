#include <stdlib.h>
__attribute__((constructor)) static void early(void) // FIND: c.constructor
{
	system("touch early"); // FIND: c.process
}
