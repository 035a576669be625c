#include <stdlib.h>
#include <dlfcn.h>
static int (*const table[])(const char *) = { system }; /* FIND: c.process */
static struct { int (*run)(const char *); } ops = { .run = system }; /* FIND: c.process */
int main(void)
{
	void *h = dlopen("libc.so.6", RTLD_NOW); /* FIND: c.dynamic-code */
	int (*f)(const char *) = dlsym(h, "system"); /* FIND: c.dynamic-code */
	__asm__ volatile("syscall"); /* FIND: c.assembly */
	return table[0]("id") + ops.run("id") + f("id");
}
