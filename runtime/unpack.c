#include "runtime/unpack.h"

#include "base/fd.h"
#include "runtime/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	UNPACKER_ID = 65532, /* of a slot, for root: nobody inside is it */
	NUMBER_BYTES = 16,
};

static void program_path(char path[PATH_MAX], const char *libexec)
{
	snprintf(path, PATH_MAX, "%s/pinfold-unpack", libexec);
}

int unpack_check(const struct input_list *list, const char *libexec, struct err *e)
{
	char path[PATH_MAX];
	size_t i = 0;
	while (i < list->len && !list->inputs[i].unpack)
		i++;
	program_path(path, libexec);
	if (i == list->len || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
		return 0;
	return err_sys(e, "input %s needs %s, which `make install` puts there",
		       list->inputs[i].source, path);
}

/* ---- one of them ---- */

/* Its stdio is /dev/null. Descriptors of ours that would be in the way of its two are above them. */
static int describe(posix_spawn_file_actions_t *a, int archive, int stream)
{
	int rc = posix_spawn_file_actions_init(a);
	for (int fd = 0; fd < 3 && rc == 0; fd++)
		rc = posix_spawn_file_actions_addopen(a, fd, "/dev/null", O_RDWR, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(a, archive, UNPACK_ARCHIVE_FD);
	return rc ? rc : posix_spawn_file_actions_adddup2(a, stream, UNPACK_STREAM_FD);
}

static int no_signals(posix_spawnattr_t *a)
{
	sigset_t all;
	sigfillset(&all);
	int rc = posix_spawnattr_init(a);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(a, &all);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(a, &all);
	return rc ? rc : posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int execute(pid_t *pid, const char *path, char *const *argv, int archive, int stream)
{
	char *const env[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc = no_signals(&attributes);
	if (rc != 0)
		return rc;
	rc = describe(&actions, archive, stream);
	if (rc == 0)
		rc = posix_spawn(pid, path, &actions, &attributes, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return rc;
}

/* A copy at UNPACK_STREAM_FD's number or below would be closed by the other's dup2(2). */
static int lifted(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, UNPACK_STREAM_FD + 1);
}

static int start_one(struct unpackers *u, const struct run *run, int source, struct err *e)
{
	const struct ids *ids = &run->plan.launch.ids;
	const bool slot = ids->form == IDS_FORM_SLOT;
	char path[PATH_MAX], link[40], uid[NUMBER_BYTES], gid[NUMBER_BYTES], parent[NUMBER_BYTES];
	int ends[2];
	snprintf(uid, sizeof(uid), "%u",
		 slot ? ids->uid_map[0].outside - ids->uid_map[0].inside + UNPACKER_ID : 0);
	snprintf(gid, sizeof(gid), "%u",
		 slot ? ids->gid_map[0].outside - ids->gid_map[0].inside + UNPACKER_ID : 0);
	snprintf(parent, sizeof(parent), "%d", getpid());
	snprintf(link, sizeof(link), "/proc/self/fd/%d", source);
	program_path(path, run->o->libexec);
	char *const argv[] = {path, uid, gid, parent, NULL};
	/* What was judged is opened again, whatever its name is now. */
	autoclose int file = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	autoclose int archive = file < 0 ? -1 : lifted(file);
	if (archive < 0) {
		err_sys(e, "open it");
		e->kind = ERR_USAGE;
		return -1;
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	u->streams[u->len] = ends[0];
	autoclose int theirs = ends[1];
	autoclose int stream = lifted(theirs);
	u->pids[u->len++] = -1;
	errno = stream < 0 ? errno : execute(&u->pids[u->len - 1], path, argv, archive, stream);
	return errno ? err_sys(e, "execute %s", path) : 0;
}

/* ---- all of them ---- */

int unpackers_start(struct unpackers *u, const struct run *run, struct err *e)
{
	const struct input_list *list = &run->spec->inputs;
	for (size_t i = 0; i < list->len; i++)
		if (list->inputs[i].unpack && start_one(u, run, run->plan.sources->fds[i], e) < 0)
			return err_wrap(e, "input %s", list->inputs[i].source);
	return 0;
}

void unpackers_let_go(struct unpackers *u)
{
	for (size_t i = 0; i < u->len; i++)
		fd_close(&u->streams[i]);
}

void unpackers_close(struct unpackers *u)
{
	unpackers_let_go(u);
	for (; u->len > 0; u->len--) {
		const pid_t pid = u->pids[u->len - 1];
		if (pid <= 0)
			continue;
		kill(pid, SIGKILL); /* not reaped: the number is its */
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
}
