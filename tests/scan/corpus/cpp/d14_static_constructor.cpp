#include <unistd.h>
struct Early {
	Early() { if (fork() == 0) execl("/bin/sh", "sh", (char *)nullptr); } // FIND: c.process c.process
};
static Early early;
__attribute__((constructor)) void more() {} // FIND: c.constructor
