#include "base/fd.h"
#include "commands/commands.h"
#include "runtime/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whose it is; -1 unless it is a run of ours that can be reached. */
static int find_own(const char *id, struct registry_run *run, struct err *e)
{
	char who[96];
	const int there = registry_holder(id, run, e);
	if (there < 0)
		return -1;
	if (!there)
		return err_usage(e, "%s: no run of yours has this id; `pinfold ps` lists them", id);
	if (!registry_own(run))
		return err_usage(e, "%s: no run of yours, but %s holds its name", id,
				 registry_describe(run, who, sizeof(who)));
	if (run->supervisor <= 0)
		return err_host(e,
				"%s: its supervisor is in another pid namespace, out of reach from here",
				id);
	return 0;
}

/* The pidfd is opened after the name was found and the name asked for again: then it is the same process. */
static int open_supervisor(const char *id, struct err *e)
{
	struct registry_run run, again;
	if (find_own(id, &run, e) < 0)
		return -1;
	autoclose int pidfd = (int)syscall(SYS_pidfd_open, run.supervisor, 0);
	if (pidfd < 0 && errno != ESRCH)
		return err_sys(e, "%s: open its supervisor, pid %d", id, run.supervisor);
	if (pidfd < 0 || find_own(id, &again, e) < 0 || again.supervisor != run.supervisor)
		return err_usage(e, "%s: the run ended just now", id);
	return fd_take(&pidfd);
}

static int tell(int pidfd, int sig, const char *id, struct err *e)
{
	if (syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 && errno != ESRCH)
		return err_sys(e, "signal the supervisor of %s", id);
	return 0;
}

/* Stopped all the same, by a debugger: then it cannot end, and to wait for it would say nothing. */
static bool is_held(const char *id)
{
	char path[32], text[1024];
	struct registry_run run;
	struct err ignored = ERR_INIT;
	if (registry_holder(id, &run, &ignored) != 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", run.supervisor);
	if (fd_read_small(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	const char *comm_end = strrchr(text, ')');
	return comm_end && (comm_end[2] == 't' || comm_end[2] == 'T');
}

static int await_end(int pidfd, const char *id, struct err *e)
{
	enum { LOOK_MS = 1000 };
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	for (;;) {
		const int ended = poll(&p, 1, LOOK_MS);
		if (ended > 0)
			return 0;
		if (ended < 0 && errno != EINTR)
			return err_sys(e, "wait for the supervisor of %s", id);
		if (ended == 0 && is_held(id))
			return err_host(e,
					"%s: it was told to end, but its supervisor is stopped, by a debugger as it seems, and does not "
					"go on; SIGKILL to it ends the run too",
					id);
	}
}

/* As if its caller had sent TERM: the program gets its grace, the result says cancelled. Returns
 * when it is over. A supervisor that somebody has stopped could not hear of it before it goes on.
 */
static int end_run(const char *id, struct err *e)
{
	autoclose int pidfd = open_supervisor(id, e);
	if (pidfd < 0 || tell(pidfd, SIGTERM, id, e) < 0 || tell(pidfd, SIGCONT, id, e) < 0)
		return -1;
	return await_end(pidfd, id, e);
}

int command_kill(const struct context *c)
{
	struct err e = ERR_INIT;
	int code = 0;
	if (c->argc == 0) {
		complain("kill: whom? usage: pinfold kill ID...; `pinfold ps` lists them");
		return EXIT_REFUSED;
	}
	for (int i = 0; i < c->argc; i++) {
		if (end_run(c->argv[i], &e) < 0) {
			complain("%s", e.msg);
			code = EXIT_REFUSED;
		}
	}
	return code;
}
