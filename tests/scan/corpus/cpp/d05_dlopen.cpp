#include <dlfcn.h>
struct Plugin {
	void *handle;
	explicit Plugin(const char *name) : handle(dlopen(name, RTLD_NOW)) {} // FIND: c.dynamic-code
	void *find(const char *s) { return dlsym(handle, s); } // FIND: c.dynamic-code
};
