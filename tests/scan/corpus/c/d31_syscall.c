#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
#include <spawn.h>
#include <sched.h>
extern char **environ;
int main(void)
{
	char *argv[] = {"sh", 0};
	pid_t pid;
	syscall(SYS_execve, "/bin/sh", argv, environ); /* FIND: c.privilege */
	posix_spawnp(&pid, "sh", 0, 0, argv, environ); /* FIND: c.process */
	if (fork() == 0) /* FIND: c.process */
		execvpe("sh", argv, environ); /* FIND: c.process */
	return unshare(CLONE_NEWUSER); /* FIND: c.privilege */
}
