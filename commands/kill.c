#include "base/fd.h"
#include "commands/commands.h"
#include "runtime/registry.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The pidfd is opened after the name was found and the name asked for again: then it is the same process. */
static int open_supervisor(const char *id, struct err *e)
{
	struct registry_run run, again;
	int there = registry_find(id, &run, e);
	if (there < 0)
		return -1;
	autoclose int pidfd = there ? (int)syscall(SYS_pidfd_open, run.supervisor, 0) : -1;
	if (pidfd < 0)
		return err_usage(e, "%.64s: no run of yours has this id; `pinfold ps` lists them",
				 id);
	there = registry_find(id, &again, e);
	if (there < 0)
		return -1;
	if (!there || again.supervisor != run.supervisor)
		return err_usage(e, "%.64s: the run ended just now", id);
	return fd_take(&pidfd);
}

/* As if its caller had sent TERM: the program gets its grace, the result says cancelled. Returns when it is over. */
static int end_run(const char *id, struct err *e)
{
	autoclose int pidfd = open_supervisor(id, e);
	if (pidfd < 0)
		return -1;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH)
		return err_sys(e, "signal the supervisor of %.64s", id);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			return err_sys(e, "wait for the supervisor of %.64s", id);
	return 0;
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
