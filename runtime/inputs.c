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

/* What went wrong, and at which of the list. */
struct said {
	size_t number; /* from 1 */
	struct err err;
};

/* No copy of another end stays with the sender: a closed control socket must be closed. */
static int close_others(const struct run *run, int to, int status)
{
	const struct sources *s = run->plan.sources;
	const struct unpackers *u = &run->inputs.unpackers;
	int keep[INPUTS_MAX + UNPACKS_MAX + 2];
	size_t len = 0;
	for (; len < s->len; len++)
		keep[len] = s->fds[len];
	for (size_t i = 0; i < u->len; i++)
		keep[len++] = u->streams[i];
	keep[len++] = to;
	keep[len++] = status;
	return fd_close_others(keep, len);
}

static _Noreturn void be_sender(const struct run *run, int status, pid_t parent)
{
	struct said said = {.err = ERR_INIT};
	struct sending sending = {.list = &run->spec->inputs,
				  .unpackers = run->inputs.unpackers.streams,
				  .to = run->plan.launch.inputs_peer};
	if (close_others(run, sending.to, status) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(1);
	/* Said before the pipe closes, so that it is there when pid 1 meets the end. */
	if (sources_send(run->plan.sources, &sending, &said.err) < 0 && said.err.sys != EPIPE) {
		said.number = sending.number;
		fd_write_all(status, &said, sizeof(said));
	}
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
	if (unpackers_start(&run->inputs.unpackers, run, e) < 0)
		return -1;
	const pid_t self = getpid();
	run->inputs.sender = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (run->inputs.sender == 0)
		be_sender(run, theirs, self);
	fd_close(&l->inputs_peer);
	unpackers_let_go(&run->inputs.unpackers);
	if (run->inputs.sender < 0)
		return err_sys(e, "inputs: fork their sender");
	run_event(run, EVENT_STAGE, "inputs");
	return 0;
}

void inputs_name(struct run *run, const char *source)
{
	result_evidence_text(run->r, "input", source);
	run_audit(run, AUDIT_INPUT, source, run->r->cause.message);
}

void inputs_fail(struct run *run, int64_t number, const struct err *why)
{
	const struct input_list *list = &run->spec->inputs;
	struct said said;
	const bool heard = run->inputs.status >= 0 &&
			   read(run->inputs.status, &said, sizeof(said)) == sizeof(said);
	const uint64_t which = heard ? said.number : (uint64_t)number;
	refuse_or_fail(run, "inputs", heard ? &said.err : why);
	if (which > 0 && which <= list->len)
		inputs_name(run, list->inputs[which - 1].source);
}

/* An archive may become as much as there is room for. */
int64_t inputs_patience_ms(const struct run *run)
{
	const struct sources *s = run->plan.sources;
	if (!s)
		return 0;
	const bool archives = s->packed > 0;
	const uint64_t bytes = s->bytes + s->packed + (archives ? s->left.bytes_first : 0);
	const uint64_t inodes = s->inodes + (archives ? s->left.inodes_first : 0);
	return (int64_t)(bytes >> 20) * MIB_MS + (int64_t)inodes * FILE_MS;
}

void inputs_close(struct run *run)
{
	struct input_link *l = &run->inputs;
	fd_close(&l->status);
	fd_close(&run->plan.launch.inputs);
	fd_close(&run->plan.launch.inputs_peer);
	unpackers_close(&l->unpackers);
	if (l->sender <= 0)
		return;
	kill(l->sender, SIGKILL); /* not reaped: the number is its */
	while (waitpid(l->sender, NULL, __WALL) < 0 && errno == EINTR)
		;
	l->sender = -1;
}
