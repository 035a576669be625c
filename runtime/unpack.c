#include "runtime/unpack.h"

#include "base/fd.h"
#include "runtime/run.h"
#include "runtime/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
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
	autoclose int archive = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (archive < 0) {
		err_sys(e, "open it");
		e->kind = ERR_USAGE;
		return -1;
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	u->streams[u->len] = ends[0];
	autoclose int stream = ends[1];
	const struct sibling_end its[] = {{archive, UNPACK_ARCHIVE_FD}, {stream, UNPACK_STREAM_FD}};
	u->pids[u->len++] = sibling_spawn(path, argv, its, e);
	return u->pids[u->len - 1] < 0 ? -1 : 0;
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
