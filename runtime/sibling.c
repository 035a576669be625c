#include "runtime/sibling.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What main() blocks is its own; a program expects to be ended by a broken pipe. */
static void unblock_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int sibling_exec(const char *path, char *const *argv, char *const *envp, struct err *e)
{
	sigset_t before;
	sigprocmask(SIG_SETMASK, NULL, &before);
	unblock_signals();
	execve(path, argv, envp);
	const int error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	if (error == ENOENT)
		return err_host(e, "%s is not there; `make install` puts it there", path);
	return err_sys(e, "execute %s", path);
}

static _Noreturn void child(const char *path, char *const *argv, int stdout_fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent || dup2(stdout_fd, STDOUT_FILENO) < 0)
		_exit(126);
	unblock_signals();
	execve(path, argv, environ);
	_exit(errno == ENOENT ? 127 : 126);
}

int sibling_run(const char *path, char *const *argv, int stdout_fd, struct err *e)
{
	int status;
	const pid_t self = getpid();
	const pid_t pid = fork();
	if (pid < 0)
		return err_sys(e, "fork for %s", path);
	if (pid == 0)
		child(path, argv, stdout_fd, self);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "wait for %s", path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
