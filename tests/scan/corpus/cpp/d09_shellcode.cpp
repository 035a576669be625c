#include <sys/mman.h>
#include <cstring>
int run(const char *code, size_t n)
{
	auto page = mmap(nullptr, n, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANON, -1, 0); // FIND: c.dynamic-code
	std::memcpy(page, code, n);
	return ((int (*)())page)(); // FIND: c.dynamic-code
}
