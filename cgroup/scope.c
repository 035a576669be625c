/* A transient scope, by way of pinfold-scope: sd-bus costs a dozen shared libraries and belongs not
 * into the run path. That is why this room starts a process, which else only runtime/ may: the process
 * does one call for us, holds nothing, and has ended when this returns.
 */
#include "base/fd.h"
#include "cgroup/manager.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

int scope_start(const struct cgroup_place *p, const char *name, const char *libexec, char path[SCOPE_PATH_SIZE],
		struct err *e)
{
	char program[4096], pid_text[16], kind[8], scope[96], text[512];
	char *const argv[] = {program, kind, scope, pid_text, NULL};
	int ends[2];
	pid_t pid;
	snprintf(program, sizeof(program), "%s/pinfold-scope", libexec);
	snprintf(kind, sizeof(kind), p->user_bus ? "user" : "system");
	snprintf(scope, sizeof(scope), "%s.scope", name);
	snprintf(pid_text, sizeof(pid_text), "%d", p->first);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	autoclose int in = ends[0];
	autoclose int out = ends[1];
	if (spawn(&pid, argv, out) < 0)
		return err_sys(e, "start %s", program);
	fd_close(&out);
	listen_to(in, text, sizeof(text));
	int status = reap(pid);
	if (status == 0 && strncmp(text, SCOPE_OK, strlen(SCOPE_OK)) == 0)
		return take_path(text, path, SCOPE_PATH_SIZE, e);
	return err_host(e, "systemd made no scope %s: %.150s", scope, text[0] ? text : "pinfold-scope died");
}
