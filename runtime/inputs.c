#include "runtime/inputs.h"

#include "base/fd.h"
#include "runtime/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MIB_MS = 100, /* for a slow disk */
	FILE_MS = 2,
};

int inputs_open(struct run *run, struct err *e)
{
	int ends[2];
	if (!run->plan.sources || run->plan.launch.rehearsal)
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "inputs: pipe");
	run->plan.launch.inputs = ends[0];
	run->plan.launch.inputs_peer = ends[1];
	return 0;
}

/* No copy of another end stays with the sender: a closed control socket must be closed. */
static int close_others(const struct sources *s, int to, int status)
{
	int keep[INPUTS_MAX + 2];
	size_t len = 0;
	for (; len < s->len; len++)
		keep[len] = s->fds[len];
	keep[len++] = to;
	keep[len++] = status;
	return fd_close_others(keep, len);
}

static _Noreturn void be_sender(const struct run *run, int status, pid_t parent)
{
	const struct sources *s = run->plan.sources;
	struct err e = ERR_INIT;
	const int to = run->plan.launch.inputs_peer;
	if (close_others(s, to, status) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    getppid() != parent)
		_exit(1);
	/* Said before the pipe closes, so that it is there when pid 1 meets the end. */
	if (sources_send(s, &run->spec->inputs, to, &e) < 0 && e.sys != EPIPE)
		fd_write_all(status, &e, sizeof(e));
	_exit(0);
}

int inputs_start(struct run *run, struct err *e)
{
	struct launch *l = &run->plan.launch;
	struct clone_args args = {.exit_signal = 0}; /* as pid 1: ours to reap, whatever SIGCHLD is */
	int ends[2];
	if (l->inputs_peer < 0)
		return 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(e, "inputs: pipe");
	run->inputs.status = ends[0];
	autoclose int theirs = ends[1];
	const pid_t self = getpid();
	run->inputs.sender = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (run->inputs.sender == 0)
		be_sender(run, theirs, self);
	fd_close(&l->inputs_peer);
	if (run->inputs.sender < 0)
		return err_sys(e, "inputs: fork their sender");
	run_event(run, EVENT_STAGE, "inputs");
	return 0;
}

void inputs_explain(struct run *run, struct err *e)
{
	struct err said;
	if (run->inputs.status < 0 || read(run->inputs.status, &said, sizeof(said)) != sizeof(said))
		return;
	*e = said;
}

int64_t inputs_patience_ms(const struct run *run)
{
	const struct sources *s = run->plan.sources;
	return s ? (int64_t)(s->bytes >> 20) * MIB_MS + (int64_t)s->inodes * FILE_MS : 0;
}

void inputs_close(struct run *run)
{
	struct input_link *l = &run->inputs;
	fd_close(&l->status);
	fd_close(&run->plan.launch.inputs);
	fd_close(&run->plan.launch.inputs_peer);
	if (l->sender <= 0)
		return;
	kill(l->sender, SIGKILL); /* not reaped: the number is its */
	while (waitpid(l->sender, NULL, __WALL) < 0 && errno == EINTR)
		;
	l->sender = -1;
}
