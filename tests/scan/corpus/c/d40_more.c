#include <unistd.h>
#include <sys/wait.h>
#include <sys/ptrace.h>
#define SHELL "/bin/sh"
typedef int (*runner)(const char *);
extern int system(const char *);
static runner pick(int x) { return x ? system : 0; }
int main(void)
{
	if (vfork() == 0) /* FIND: c.process */
		execl(SHELL, SHELL, (char *)0); /* FIND: c.process */
	ptrace(PTRACE_ATTACH, 1, 0, 0); /* FIND: c.privilege */
	runner r = system;
	return r("id") + pick(1)("id"); /* FIND: c.process */
}
