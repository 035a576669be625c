/* A transient scope, by way of pinfold-scope: sd-bus costs a dozen shared libraries and does not
 * belong into the run path. That is why this room starts a process, which else only runtime/ may.
 * It makes one call for us and then stays as the scope's keeper: systemd stops a scope and removes
 * all cgroups in it the moment nothing lives there any more, and with them what an OOM kill or the
 * last cpu time would tell. The keeper waits in a cgroup next to the leaf until cgroup_destroy()
 * closes a pipe; it dies with its parent, so that a killed supervisor leaves no scope behind. We do
 * not remove the scope's own directory: a systemd that finds it missing takes the scope for running
 * for ever (seen with 252).
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
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SCOPE_PATIENCE_MS = 5000, ANSWER_SIZE = 512 };

static int spawn(pid_t *pid, char *const argv[], int in, int out)
{
	static char *const no_environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_RDWR, 0);
	errno = posix_spawn(pid, argv[0], &actions, NULL, argv, no_environment);
	posix_spawn_file_actions_destroy(&actions);
	return errno == 0 ? 0 : -1;
}

/* One line, or what there is at the end. */
static void listen_to(int fd, char *text, size_t size)
{
	size_t len = 0;
	while (len < size - 1 && (len == 0 || text[len - 1] != '\n')) {
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

static void keeper_stop(struct cgroup *cg)
{
	fd_close(&cg->keep);
	while (cg->keeper > 0 && waitpid(cg->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	cg->keeper = 0;
}

/* Start pinfold-scope with words and take its answer; from then on it is the keeper. */
static int keeper_start(struct cgroup *cg, const char *libexec, char *const words[3],
			char text[ANSWER_SIZE], struct err *e)
{
	char program[4096];
	char *const argv[] = {program, words[0], words[1], words[2], NULL};
	int down[2], up[2];
	say(program, sizeof(program), "%s/pinfold-scope", libexec);
	if (pipe2(down, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int its_in = down[0];
	cg->keep = down[1];
	if (pipe2(up, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int our_in = up[0];
	autoclose int its_out = up[1];
	if (spawn(&cg->keeper, argv, its_in, its_out) < 0)
		return err_sys(e, "start %s", program);
	fd_close(&its_out);
	listen_to(our_in, text, ANSWER_SIZE);
	return 0;
}

/* The path must be one below the mount, and ends up in an open() there. */
static int take_path(const char *said, char *path, size_t size, struct err *e)
{
	if (said[0] != '/' || said[1] == '\0' || strlen(said) >= size)
		return err_host(e, "systemd: cgroup path \"%s\"", said);
	say(path, size, "%s", said);
	return 0;
}

int scope_start(struct cgroup *cg, const struct cgroup_place *p, const char *libexec,
		char path[SCOPE_PATH_SIZE], struct err *e)
{
	char kind[8], first[16], text[ANSWER_SIZE] = "";
	char *const words[] = {kind, cg->made, first};
	say(kind, sizeof(kind), p->user_bus ? "user" : "system");
	say(first, sizeof(first), "%d", p->first);
	if (keeper_start(cg, libexec, words, text, e) < 0)
		return -1;
	if (strncmp(text, SCOPE_OK, strlen(SCOPE_OK)) == 0)
		return take_path(text + strlen(SCOPE_OK), path, SCOPE_PATH_SIZE, e);
	return err_host(e, "systemd made no scope %s: %s", cg->made,
			text[0] ? text : "pinfold-scope died");
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
	autoclose int slice = empty ? openat(cg->parent, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				    : -1;
	autoclose int notify = empty ? inotify_init1(IN_CLOEXEC) : -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", slice);
	bool told = slice >= 0 && notify >= 0 &&
		    inotify_add_watch(notify, path, IN_DELETE | IN_ONLYDIR) >= 0;
	keeper_stop(cg);
	if (told)
		wait_removed(slice, notify, cg->made);
}
