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

/* Whose it is; NULL unless it is a run of ours that can be reached. */
static const struct registry_run *find_own(const struct registry *r, const char *id, struct err *e)
{
	char who[96];
	const struct registry_run *run = registry_find(r, id);
	if (!run && r->cut)
		err_host(e, "%s: not found, but " REGISTRY_CUT, id);
	else if (!run)
		err_usage(e, "%s: no run of yours has this id; `pinfold ps` lists them", id);
	else if (!registry_own(run))
		err_usage(e, "%s: no run of yours, but %s holds its name", id,
			  registry_describe(run, who, sizeof(who)));
	else if (run->supervisor <= 0)
		err_host(e, "%s: its supervisor is in another pid namespace, out of reach from here",
			 id);
	else
		return run;
	return NULL;
}

/* The pidfd is opened after the name was found and the name asked for again: then it is the same process. */
static int open_supervisor(const struct registry_run *run, struct err *e)
{
	autoclose int pidfd = (int)syscall(SYS_pidfd_open, run->supervisor, 0);
	if (pidfd < 0 && errno != ESRCH)
		return err_sys(e, "%s: open its supervisor, pid %d", run->id, run->supervisor);
	if (pidfd < 0 || !registry_holds(run))
		return err_usage(e, "%s: the run ended just now", run->id);
	return fd_take(&pidfd);
}

static int tell(int pidfd, int sig, const char *id, struct err *e)
{
	if (syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 && errno != ESRCH)
		return err_sys(e, "signal the supervisor of %s", id);
	return 0;
}

/* Stopped all the same, by a debugger: then it cannot end, and to wait for it would say nothing. */
static bool is_held(pid_t supervisor)
{
	char path[32], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", supervisor);
	if (fd_read_small(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	const char *comm_end = strrchr(text, ')');
	return comm_end && (comm_end[2] == 't' || comm_end[2] == 'T');
}

static int await_end(int pidfd, const struct registry_run *run, struct err *e)
{
	enum { LOOK_MS = 1000 };
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	for (;;) {
		const int ended = poll(&p, 1, LOOK_MS);
		if (ended > 0)
			return 0;
		if (ended < 0 && errno != EINTR)
			return err_sys(e, "wait for the supervisor of %s", run->id);
		if (ended == 0 && is_held(run->supervisor))
			return err_host(e,
					"%s: it was told to end, but its supervisor is stopped, by a debugger as it seems, and does not "
					"go on; SIGKILL to it ends the run too",
					run->id);
	}
}

/* As if its caller had sent TERM: the program gets its grace, the result says cancelled. Returns
 * when it is over. A supervisor that somebody has stopped could not hear of it before it goes on.
 */
static int end_run(const struct registry *r, const char *id, struct err *e)
{
	const struct registry_run *run = find_own(r, id, e);
	if (!run)
		return -1;
	autoclose int pidfd = open_supervisor(run, e);
	if (pidfd < 0 || tell(pidfd, SIGTERM, id, e) < 0 || tell(pidfd, SIGCONT, id, e) < 0)
		return -1;
	return await_end(pidfd, run, e);
}

int command_kill(const struct context *c)
{
	struct err e = ERR_INIT;
	int code = 0;
	if (c->argc == 0) {
		complain("kill: whom? usage: pinfold kill ID...; `pinfold ps` lists them");
		return EXIT_REFUSED;
	}
	struct registry r = REGISTRY_INIT;
	if (registry_look(&r, (const char *const *)c->argv, (size_t)c->argc, &e) < 0) {
		complain("%s", e.msg);
		return EXIT_REFUSED;
	}
	for (int i = 0; i < c->argc; i++) {
		if (end_run(&r, c->argv[i], &e) < 0) {
			complain("%s", e.msg);
			code = EXIT_REFUSED;
		}
	}
	registry_close(&r);
	return code;
}
