#include <cstdint>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
unsigned char code[] = {0xc3};
int main()
{
	void *p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // FIND: c.dynamic-code
	reinterpret_cast<void (*)()>(p)(); // FIND: cpp.pointer
	auto s = reinterpret_cast<int (*)(const char *)>(dlsym(RTLD_DEFAULT, "system")); // FIND: cpp.pointer c.dynamic-code
	asm volatile("nop"); // FIND: c.assembly
	execlp("sh", "sh", nullptr); // FIND: c.process
	return s("x");
}
