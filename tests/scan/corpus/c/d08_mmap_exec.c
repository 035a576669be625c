#include <sys/mman.h>
#include <string.h>
int run(const void *bytes, unsigned long len)
{
	void *page = mmap(0, len, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // FIND: c.dynamic-code
	memcpy(page, bytes, len);
	mprotect(page, len, PROT_READ | PROT_EXEC); // FIND: c.dynamic-code
	return 0;
}
