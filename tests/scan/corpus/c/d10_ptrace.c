#include <sys/ptrace.h>
#include <unistd.h>
#include <sys/syscall.h>
int main(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0); // FIND: c.privilege
	if (setuid(0) < 0) // FIND: c.privilege
		return 1;
	return (int)syscall(SYS_getpid); // FIND: c.privilege
}
