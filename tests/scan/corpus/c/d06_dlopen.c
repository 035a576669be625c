#include <dlfcn.h>
int main(void)
{
	void *lib = dlopen("./x.so", RTLD_NOW); // FIND: c.dynamic-code
	void (*start)(void) = (void (*)(void))dlsym(lib, "start"); // FIND: c.dynamic-code
	start();
	return 0;
}
