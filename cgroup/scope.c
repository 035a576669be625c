/* A transient scope, by way of pinfold-scope: sd-bus costs a dozen shared libraries and does not belong
 * into the run path. That is why this room starts a process, which else only runtime/ may: pinfold-scope
 * makes one call for us, holds nothing, and has ended when scope_start() returns.
 *
 * And a second one, the keeper. systemd stops a scope and removes all cgroups in it the moment nothing
 * lives there any more, with them what an OOM kill or the last cpu time would tell. The keeper, a bare
 * fork that only waits for us in a cgroup next to the leaf, puts that off until cgroup_destroy(). It ends at the end of a
 * pipe, or with its parent, so that a killed supervisor leaves no scope behind. We do not remove the scope's own
 * directory: a systemd that finds it missing takes the scope for running for ever (seen with 252).
 */
#include "base/fd.h"
#include "cgroup/manager.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SCOPE_PATIENCE_MS = 5000 };

static int spawn(pid_t *pid, char *const argv[], int out)
{
	static char *const no_environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	errno = posix_spawn(pid, argv[0], &actions, NULL, argv, no_environment);
	posix_spawn_file_actions_destroy(&actions);
	return errno == 0 ? 0 : -1;
}

/* All that it says until it ends. */
static void listen_to(int fd, char *text, size_t size)
{
	size_t len = 0;
	while (len < size - 1) {
		ssize_t n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static int reap(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* The path must be one below the mount, and ends up in an open() there. */
static int take_path(const char *text, char *path, size_t size, struct err *e)
{
	const char *said = text + strlen(SCOPE_OK);
	if (said[0] != '/' || said[1] == '\0' || strlen(said) >= size)
		return err_host(e, "systemd: cgroup path \"%.150s\"", said);
	strcpy(path, said);
	return 0;
}

static _Noreturn void keep(int in)
{
	char byte;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(in, 0) == 0)
		close_range(1, ~0U, 0);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int keeper_start(struct cgroup *cg, struct err *e)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int in = ends[0];
	autoclose int out = ends[1];
	pid_t pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		keep(in);
	cg->keeper = pid;
	cg->keep = fd_take(&out);
	return 0;
}

static void keeper_stop(struct cgroup *cg)
{
	fd_close(&cg->keep);
	if (cg->keeper > 0)
		reap(cg->keeper);
	cg->keeper = 0;
}

/* One answer of pinfold-scope in text. */
static int ask(const char *libexec, char *const words[], char *text, size_t size, struct err *e)
{
	char program[4096];
	char *const argv[] = {program, words[0], words[1], words[2], words[3], NULL};
	int ends[2];
	pid_t pid;
	snprintf(program, sizeof(program), "%s/pinfold-scope", libexec);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int in = ends[0];
	autoclose int out = ends[1];
	if (spawn(&pid, argv, out) < 0)
		return err_sys(e, "start %s", program);
	fd_close(&out);
	listen_to(in, text, size);
	if (reap(pid) == 0 && strncmp(text, SCOPE_OK, strlen(SCOPE_OK)) == 0)
		return 0;
	return err_host(e, "systemd made no scope %s: %.150s", words[1], text[0] ? text : "pinfold-scope died");
}

int scope_start(struct cgroup *cg, const struct cgroup_place *p, const char *libexec, char path[SCOPE_PATH_SIZE],
		struct err *e)
{
	char kind[8], first[16], keeper[16], text[512];
	if (keeper_start(cg, e) < 0)
		return -1;
	snprintf(kind, sizeof(kind), p->user_bus ? "user" : "system");
	snprintf(first, sizeof(first), "%d", p->first);
	snprintf(keeper, sizeof(keeper), "%d", cg->keeper);
	char *const words[] = {kind, cg->made, first, keeper};
	if (ask(libexec, words, text, sizeof(text), e) < 0)
		return -1;
	return take_path(text, path, SCOPE_PATH_SIZE, e);
}

/* Until systemd has removed the scope's directory, which is in that of the slice. */
static void wait_removed(int slice, int notify, const char *scope)
{
	struct pollfd p = {.fd = notify, .events = POLLIN};
	struct timespec start, now;
	char events[4096];
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (faccessat(slice, scope, F_OK, 0) == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		long left = SCOPE_PATIENCE_MS - (now.tv_sec - start.tv_sec) * 1000 -
			    (now.tv_nsec - start.tv_nsec) / 1000000;
		if (left <= 0 || poll(&p, 1, (int)left) < 0)
			return;
		if (read(notify, events, sizeof(events)) < 0)
			return;
	}
}

void scope_stop(struct cgroup *cg, bool empty)
{
	char path[32];
	autoclose int slice = empty ? openat(cg->parent, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	autoclose int notify = empty ? inotify_init1(IN_CLOEXEC) : -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", slice);
	bool told = slice >= 0 && notify >= 0 && inotify_add_watch(notify, path, IN_DELETE | IN_ONLYDIR) >= 0;
	keeper_stop(cg);
	if (told)
		wait_removed(slice, notify, cg->made);
}
