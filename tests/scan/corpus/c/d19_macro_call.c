#include <stdlib.h>
#define RUN(line) (system(line) == 0) // FIND: c.process
#define SAY(line) puts("call system(x) " line)
int twice(const char *line)
{
	return RUN(line) && RUN(line);
}
