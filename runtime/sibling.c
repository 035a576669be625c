#include "runtime/sibling.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
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

int sibling_exec(const char *path, char *const *argv, const sigset_t *held, struct err *e)
{
	sigset_t before;
	sigprocmask(SIG_SETMASK, NULL, &before);
	if (held)
		sigprocmask(SIG_SETMASK, held, NULL);
	else
		unblock_signals();
	execve(path, argv, environ);
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

/* The kernel reaps the children of who ignores SIGCHLD, as our caller may: how they ended would be
 * lost, and their numbers another's. execve(2) gives every child that exit signal, so that
 * clone3(2) without one does not help. */
static void attend_children(void)
{
	signal(SIGCHLD, SIG_DFL);
}

/* The exit code, 128 and its number for a signal; -1: it cannot be told. */
static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sibling_run(const char *path, char *const *argv, int stdout_fd, struct err *e)
{
	const pid_t self = getpid();
	attend_children();
	const pid_t pid = fork();
	if (pid < 0)
		return err_sys(e, "fork for %s", path);
	if (pid == 0)
		child(path, argv, stdout_fd, self);
	const int code = wait_for(pid);
	return code < 0 ? err_sys(e, "wait for %s", path) : code;
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
	attend_children();
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
	const int code = wait_for(s->pid);
	fd_close(&s->pidfd);
	return code;
}

/* ---- spawned ---- */

/* Those of ours that have the number of another end would be closed by its dup2(2): lifted, they are above all of them. */
static int lift(const struct sibling_end ends[SIBLING_ENDS], int lifted[SIBLING_ENDS])
{
	int above = STDERR_FILENO + 1;
	for (int i = 0; i < SIBLING_ENDS; i++)
		above = ends[i].number >= above ? ends[i].number + 1 : above;
	for (int i = 0; i < SIBLING_ENDS; i++)
		if ((lifted[i] = fcntl(ends[i].fd, F_DUPFD_CLOEXEC, above)) < 0)
			return errno;
	return 0;
}

static int describe(posix_spawn_file_actions_t *a, const struct sibling_end ends[SIBLING_ENDS],
		    const int lifted[SIBLING_ENDS])
{
	int rc = 0;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && rc == 0; fd++)
		rc = posix_spawn_file_actions_addopen(a, fd, "/dev/null", O_RDWR, 0);
	for (int i = 0; i < SIBLING_ENDS && rc == 0; i++)
		rc = posix_spawn_file_actions_adddup2(a, lifted[i], ends[i].number);
	return rc;
}

static int no_signals(posix_spawnattr_t *a)
{
	sigset_t all;
	sigfillset(&all);
	int rc = posix_spawnattr_setsigmask(a, &all);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(a, &all);
	return rc ? rc : posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(pid_t *pid, const char *path, char *const *argv,
		 const struct sibling_end ends[SIBLING_ENDS], const int lifted[SIBLING_ENDS])
{
	char *const env[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attributes);
	if (rc == 0) {
		rc = no_signals(&attributes);
		if (rc == 0)
			rc = describe(&actions, ends, lifted);
		if (rc == 0)
			rc = posix_spawn(pid, path, &actions, &attributes, argv, env);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

pid_t sibling_spawn(const char *path, char *const *argv,
		    const struct sibling_end ends[SIBLING_ENDS], struct err *e)
{
	int lifted[SIBLING_ENDS] = {-1, -1};
	pid_t pid = -1;
	attend_children();
	errno = lift(ends, lifted);
	if (errno == 0)
		errno = spawn(&pid, path, argv, ends, lifted);
	for (int i = 0; i < SIBLING_ENDS; i++)
		fd_close(&lifted[i]);
	return errno == 0 ? pid : err_sys(e, "execute %s", path);
}
