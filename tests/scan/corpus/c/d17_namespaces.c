#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
int main(void)
{
	unshare(CLONE_NEWUSER | CLONE_NEWNS); // FIND: c.privilege
	mount("none", "/", 0, MS_REC | MS_PRIVATE, 0); // FIND: c.privilege
	return chroot("."); // FIND: c.privilege
}
