#include "runtime/sibling.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

static int put_standard(int fd, int number)
{
	if (fd == number)
		return fcntl(fd, F_SETFD, 0);
	if (fd >= 0)
		return dup2(fd, number);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	return null < 0 ? -1 : dup2(null, number);
}

static int let_through(const struct sibling *s)
{
	for (size_t i = 0; i < s->keep_len; i++)
		if (fcntl(s->keep[i], F_SETFD, 0) < 0)
			return -1;
	return 0;
}

static _Noreturn void be_sibling(const struct sibling *s, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent || put_standard(s->in, STDIN_FILENO) < 0 ||
	    put_standard(s->out, STDOUT_FILENO) < 0 || put_standard(s->err, STDERR_FILENO) < 0 ||
	    let_through(s) < 0)
		_exit(126);
	unblock_signals();
	execve(s->path, s->argv, environ);
	_exit(errno == ENOENT ? 127 : 126);
}

int sibling_start(struct sibling *s, struct err *e)
{
	const pid_t self = getpid();
	s->pid = fork();
	if (s->pid < 0)
		return err_sys(e, "fork for %s", s->path);
	if (s->pid == 0)
		be_sibling(s, self);
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd >= 0)
		return 0;
	err_sys(e, "watch %s", s->path);
	kill(s->pid, SIGKILL); /* not reaped: the number is its */
	sibling_wait(s);
	return -1;
}

void sibling_signal(const struct sibling *s, int number)
{
	if (s->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, s->pidfd, number, NULL, 0);
}

int sibling_wait(struct sibling *s)
{
	int status = 0;
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	fd_close(&s->pidfd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
