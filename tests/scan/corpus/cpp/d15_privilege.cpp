#include <sys/ptrace.h>
#include <unistd.h>
bool attach(pid_t p)
{
	return ptrace(PTRACE_ATTACH, p, nullptr, nullptr) == 0; // FIND: c.privilege
}
bool up() { return ::setuid(0) == 0 && ::chroot("/mnt") == 0; } // FIND: c.privilege c.privilege
