#include <sys/mman.h>
const void *map(int fd, unsigned long len)
{
	return mmap(0, len, PROT_READ, MAP_PRIVATE, fd, 0);
}
