/* The supervisor's one poll loop, from clone3 to the last byte passed on.
 *
 * Each source of events is a row of the table `sources`: its fd, what to poll for, in which phases,
 * and who handles it. Limits are deadlines on one timerfd. Nothing here blocks but poll(2).
 */
#include "base/fd.h"
#include "base/pages.h"
#include "runtime/registry.h"
#include "runtime/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool streams_drained(const struct run *run)
{
	return run->out.from < 0 && run->err.from < 0 &&
	       (run->out.to.len == 0 || run->out.to.broken) &&
	       (run->err.to.len == 0 || run->err.to.broken);
}

/* Everything is dead: what is left is to pass on what the pipes hold. After a program that ended by
 * itself a caller that does not read has as long as the program would have had; after a limit, a
 * signal or an error, and once hurry() was called, there is the grace. */
static void begin_drain(struct run *run)
{
	const int64_t grace = deadline_after(now_ns(), run->spec->grace_ns);
	const int64_t wall = deadline_after(run->started_ns, run->spec->limits.wall_ns);
	const bool patient = ended_by_itself(run) && !run->hurried;
	run->phase = PHASE_DRAIN;
	run->all_dead = true;
	run_event(run, EVENT_STAGE, "drain");
	deadline_clear(&run->deadlines, DEADLINE_DEATH);
	deadline_set(&run->deadlines, DEADLINE_DRAIN, patient && wall > grace ? wall : grace);
	feed_close(&run->feed);
}

/* Told to stop, or without a caller, while output waits for its reader or is about to: that one has the grace left. */
static void hurry(struct run *run, const char *key, const char *value)
{
	const int64_t until = deadline_after(now_ns(), run->spec->grace_ns);
	if (!run->hurried)
		result_evidence_text(run->r, key, value);
	run->hurried = true;
	if (until < run->deadlines.at_ns[DEADLINE_DRAIN])
		deadline_set(&run->deadlines, DEADLINE_DRAIN, until);
}

/* Dead is: pid 1 was reaped, and the leaf is empty. */
static void check_death(struct run *run)
{
	if (run->phase != PHASE_KILLED || !run->init_dead)
		return;
	/* Unknown is not dead: then the deadline for death says `lost`. */
	if (run->cg.dir >= 0 && cgroup_populated_again(run->populated) != 0)
		return;
	begin_drain(run);
}

/* ---- handlers ---- */

/* What the broker told before something else came about counts before it: of a limit it tells, then
 * cuts, and of the cut the program ends; why it cannot start it tells, then ends, and then pid 1
 * cannot go on. poll(2) looks at one source after the other, so that both may be between two of its
 * looks. */
static void hear_broker(struct run *run)
{
	if (run->egress.sock >= 0)
		on_egress(run, POLLIN);
}

static void on_init(struct run *run, short revents)
{
	(void)revents;
	pid_t got;
	hear_broker(run);
	do
		got = wait4(run->init, NULL, __WALL, &run->rusage);
	while (got < 0 && errno == EINTR);
	run->init_dead = true;
	kill_all(run); /* whatever shared the leaf; evidence is taken here if it was not */
	check_death(run);
}

static void on_populated(struct run *run, short revents)
{
	(void)revents;
	check_death(run);
}

/* As the program would find it: the process that holds at its execve is in the same namespace as pid 1. */
static int read_mounts(struct run *run, struct err *e)
{
	enum { ROOM = 1 << 20 };
	char name[32];
	char *text = arena_alloc(run->spec->arena, ROOM);
	snprintf(name, sizeof(name), "%d/mountinfo", run->watch.outer ? run->init : 1);
	if (fd_read_small(run->watch.proc, name, text, ROOM) < 0)
		return err_sys(e, "read the mount table of the sandbox");
	run->mounts = text;
	return 0;
}

/* The limits are the program's, and a rehearsal has none. */
static int before_program(struct run *run, struct err *e)
{
	if (run->plan.launch.rehearsal)
		return read_mounts(run, e);
	start_limits(run);
	return deadlines_arm(&run->deadlines, e);
}

void program_is_starting(struct run *run, int listener)
{
	struct err e = ERR_INIT;
	const struct record ack = {.type = RECORD_ACK};
	if (!egress_is_ready(run)) { /* it calls again */
		run->egress.start_held = true;
		run->egress.held_listener = listener;
		return;
	}
	if (run->phase != PHASE_SETUP) { /* told to stop meanwhile: it never starts, no limit begins */
		fd_close(&listener);
		return;
	}
	if (run->plan.launch.filter.notify && listener < 0) {
		/* The kernel allows one listener in a chain of filters, and somebody above us has it. */
		run->notify.complete = false;
		result_warn(run->r,
			    "denied calls are not counted: an outer sandbox's filter has a listener already");
	}
	if (listener >= 0 && notify_open(&run->notify, listener, &e) < 0) {
		end_by_error(run, RUN_SETUP_FAILED, "seccomp", &e);
		return;
	}
	if (before_program(run, &e) < 0) {
		end_by_error(run, RUN_SETUP_FAILED, "start", &e);
	} else if (control_send(run->control, &ack, NULL, 0) < 0) {
		err_sys(&e, "tell the program to start");
		end_by_error(run, RUN_SETUP_FAILED, "start", &e);
	}
}

static void on_ready(struct run *run, const struct record *r, int *fds, size_t nfds)
{
	struct err e = ERR_INIT;
	size_t want = 2 + !!(r->value & READY_SYSV) + !!(r->value & READY_TTY);
	if (nfds != want) {
		err_bug(&e, "pid 1 handed out %zu descriptors, %zu were expected", nfds, want);
		end_by_error(run, RUN_SETUP_FAILED, "ready", &e);
		return;
	}
	ledger_cpus(&run->plan, (unsigned)(r->value >> READY_CPU_SHIFT), run->r);
	run->watch.scratch = fd_take(&fds[0]);
	run->watch.proc = fd_take(&fds[1]);
	run->watch.host_init = run->init;
	if (r->value & READY_SYSV)
		run->watch.sysv = fd_take(&fds[2]);
	if (r->value & READY_TTY) {
		run->pty = fd_take(&fds[want - 1]);
		if (!run->plan.launch.rehearsal && tty_join(run, &e) < 0)
			end_by_error(run, RUN_SETUP_FAILED, "tty", &e);
	}
	if (r->value & READY_PROC_OUTER) {
		ledger_proc_outer(run->r);
		run->watch.outer = true;
		run->watch.init = run->init;
		if (ledger_require(run->r, run->spec->require, &e) < 0)
			end_by_error(run, RUN_REFUSED, "require", &e);
	}
}

/* Between the answer to STARTING and STARTED the program may run, but we cannot reach it yet. */
static void forward_signal(struct run *run, int sig)
{
	if (run->program < 0)
		run->early_signals |= 1ULL << (sig - 1);
	/* It may have ended already, and --on-exit wait goes on. */
	else if (syscall(SYS_pidfd_send_signal, run->program, sig, NULL, 0) < 0 && errno != ESRCH)
		result_warn(run->r, "SIG%s could not be forwarded: %s", sigabbrev_np(sig),
			    strerrordesc_np(errno));
}

static void on_started(struct run *run, int program)
{
	struct err e = ERR_INIT;
	run->program = program;
	if (program < 0) {
		err_bug(&e, "pid 1 did not hand out the program's pidfd");
		end_by_error(run, RUN_LOST, "started", &e);
		return;
	}
	if (run->phase == PHASE_SETUP)
		run->phase = PHASE_RUNNING;
	if (run->phase < PHASE_KILLED)
		run_event(run, EVENT_STARTED, NULL);
	for (int sig = 1; sig < 65; sig++)
		if (run->early_signals >> (sig - 1) & 1)
			forward_signal(run, sig);
}

/* With --on-exit wait the limits go on to count for what the main process left behind. */
static void on_main_exit(struct run *run, int status)
{
	run->main_exited = true;
	run->main_status = status;
	if (run->spec->on_exit == ON_EXIT_WAIT && run->phase == PHASE_RUNNING)
		return;
	run_decide_by_main(run);
	kill_all(run);
}

static void on_all_gone(struct run *run)
{
	if (!run->main_exited)
		return;
	run_decide_by_main(run);
	kill_all(run);
}

static void on_record(struct run *run, const struct record *r, int *fds, size_t nfds)
{
	switch ((enum record_type)r->type) {
	case RECORD_READY:
		on_ready(run, r, fds, nfds);
		break;
	case RECORD_STARTING:
		program_is_starting(run, nfds == 1 ? fd_take(&fds[0]) : -1);
		break;
	case RECORD_STARTED:
		on_started(run, nfds == 1 ? fd_take(&fds[0]) : -1);
		break;
	case RECORD_EXEC_FAILED:
		end_by_error(run, RUN_EXEC_FAILED, "exec", &r->err);
		break;
	case RECORD_FAILED: {
		const char *step = init_step_name(r->step);
		/* After our answer the program may have run. */
		if (run->started_ns)
			run_fail(run, RUN_LOST, step, &r->err);
		else if (strcmp(step, "inputs") == 0)
			inputs_fail(run, r->value, &r->err);
		else
			refuse_or_fail(run, step, &r->err);
		kill_all(run);
		break;
	}
	case RECORD_EXITED:
		on_main_exit(run, (int)r->value);
		break;
	case RECORD_ALL_GONE:
		on_all_gone(run);
		break;
	default: { /* a record that only we send */
		struct err e = ERR_INIT;
		err_bug(&e, "pid 1 sent record %u", r->type);
		end_by_error(run, RUN_LOST, "control", &e);
	}
	}
}

static void on_control(struct run *run, short revents)
{
	(void)revents;
	hear_broker(run);
	if (run->control < 0)
		return;
	struct record r;
	int fds[FD_PASS_MAX] = {-1, -1, -1, -1};
	size_t nfds = FD_PASS_MAX;
	int got = control_recv(run->control, &r, fds, &nfds);
	if (got == 1) {
		on_record(run, &r, fds, nfds);
		for (int i = 0; i < FD_PASS_MAX; i++)
			fd_close(&fds[i]);
		return;
	}
	/* EOF: pid 1 is dying, its pidfd tells. Anything else is not pid 1 speaking. */
	fd_close(&run->control);
	if (got < 0) {
		struct err e = ERR_INIT;
		err_sys(&e, "control socket");
		end_by_error(run, RUN_LOST, "control", &e);
	}
}

static void on_signals(struct run *run, short revents)
{
	(void)revents;
	struct signalfd_siginfo info;
	if (read(run->signals, &info, sizeof(info)) != sizeof(info))
		return;
	const int sig = (int)info.ssi_signo;
	switch (sig) {
	case SIGTERM:
	case SIGINT:
	case SIGHUP:
	case SIGQUIT:
		if (run->phase >= PHASE_KILLED) {
			hurry(run, "signal", sigabbrev_np(sig));
			break;
		}
		cancel(run, "signal", sigabbrev_np(sig), "pinfold was told to stop");
		forward_signal(run, sig);
		if (run->phase == PHASE_SETUP && !run->started_ns) {
			kill_all(run);
		} else if (run->phase <= PHASE_RUNNING) {
			run->phase = PHASE_GRACE;
			deadline_set(&run->deadlines, DEADLINE_GRACE,
				     deadline_after(now_ns(), run->spec->grace_ns));
		}
		break;
	case SIGUSR1:
	case SIGUSR2:
		forward_signal(run, sig);
		break;
	case SIGWINCH:
		if (run->pty >= 0)
			tty_copy_size(run->terminal.fd, run->pty);
		break;
	default: /* ALRM, PIPE and the rest mean nothing to us */
		break;
	}
}

static void on_caller_gone(struct run *run, short revents)
{
	(void)revents;
	fd_close(&run->caller);
	if (run->phase == PHASE_DRAIN) {
		hurry(run, "caller", "exited");
		return;
	}
	cancel(run, "caller", "exited", "the caller of pinfold ended");
	kill_all(run);
}

static void on_registry(struct run *run, short revents)
{
	(void)revents;
	registry_answer(run->registry);
}

static void on_notify(struct run *run, short revents)
{
	struct err e = ERR_INIT;
	uint32_t arch;
	int32_t nr;
	char name[32], message[120];
	if (run->notify.listener < 0)
		return;
	if (!(revents & POLLIN)) { /* the last filtered task is gone */
		notify_close(&run->notify);
		return;
	}
	switch (notify_handle(&run->notify, &arch, &nr, &e)) {
	case 1:
		snprintf(message, sizeof(message), "a system call of another ABI (%s, number %d)",
			 abi_name(arch, nr), nr);
		result_evidence_text(run->r, "arch", abi_name(arch, nr));
		result_evidence_number(run->r, "syscall", nr);
		end_by_limit(run, RUN_FOREIGN_ABI, "", message);
		break;
	case 2:
		syscall_name(run->notify.rows[run->notify.rows_len - 1].arch,
			     run->notify.rows[run->notify.rows_len - 1].nr, name, sizeof(name));
		run_event(run, EVENT_DENIED, name);
		run_audit(run, AUDIT_SYSCALL, name, NULL);
		break;
	case -1:
		end_by_error(run, RUN_LOST, "seccomp", &e);
		break;
	default:
		break;
	}
}

/* ---- the table ---- */

struct source {
	int fd;
	short events;
	bool always; /* hang-ups matter even with no events to wait for */
	void (*handle)(struct run *, short revents);
};

enum { SOURCES = 18, WAIT_FAILURES = 3 };

static short want_in(const struct outlet *to)
{
	return outlet_room(to) > 0 ? POLLIN : 0;
}

static size_t list_sources(struct run *run, struct source *list)
{
	const bool alive = run->phase < PHASE_KILLED;
	const bool dying = run->phase == PHASE_KILLED;
	const short out_to = run->out.to.len ? POLLOUT : 0, err_to = run->err.to.len ? POLLOUT : 0;
	const struct source all[SOURCES] = {
		{run->egress.sock, POLLIN, false, on_egress},
		{run->init_dead ? -1 : run->init_pidfd, POLLIN, false, on_init},
		{run->control, POLLIN, false, on_control},
		{run->deadlines.fd, POLLIN, false, on_timer},
		{run->signals, POLLIN, false, on_signals},
		{dying ? -1 : run->caller, POLLIN, false, on_caller_gone},
		{run->registry, POLLIN, false, on_registry},
		{alive ? run->notify.listener : -1, POLLIN, false, on_notify},
		{dying && run->init_dead ? run->populated : -1, POLLPRI, false, on_populated},
		{run->out.from, want_in(&run->out.to), false, on_out_from},
		{run->err.from, want_in(&run->err.to), false, on_err_from},
		{run->out.to.fd, out_to, true, on_out_to},
		{run->err.to.fd, err_to, true, on_err_to},
		{alive ? run->feed.from : -1, want_in(&run->feed.to), false, on_feed_from},
		{alive && !run->feed.is_tty ? run->feed.to.fd : -1, run->feed.to.len ? POLLOUT : 0,
		 true, on_feed_to},
		{alive && run->feed.is_tty && run->feed.to.len ? run->pty : -1, POLLOUT, false,
		 on_feed_to},
		{alive ? run->watcher.done : -1, POLLIN, false, on_look},
		{run->events.fd, run->events.len ? POLLOUT : 0, false, on_events},
	};
	size_t len = 0;
	for (int i = 0; i < SOURCES; i++)
		if (all[i].fd >= 0 && (all[i].events || all[i].always))
			list[len++] = all[i];
	return len;
}

static int wait_once(struct run *run, struct err *e)
{
	struct source sources[SOURCES];
	struct pollfd fds[SOURCES];
	size_t len = list_sources(run, sources);
	for (size_t i = 0; i < len; i++)
		fds[i] = (struct pollfd){.fd = sources[i].fd, .events = sources[i].events};
	if (deadlines_arm(&run->deadlines, e) < 0)
		return -1;
	if (poll(fds, len, -1) < 0)
		return errno == EINTR ? 0 : err_sys(e, "poll");
	for (size_t i = 0; i < len && run->phase != PHASE_DONE; i++)
		if (fds[i].revents)
			sources[i].handle(run, fds[i].revents);
	return 0;
}

void supervise(struct run *run)
{
	struct err e = ERR_INIT;
	unsigned failures = 0;
	run_event(run, EVENT_STAGE, "setup");
	setup_begins(run);
	/* The fork shared our pages with pid 1; it is busy now, and we are not. */
	pages_warm(run->r, sizeof(*run->r));
	while (run->phase != PHASE_DONE) {
		if (run->phase == PHASE_DRAIN && streams_drained(run) && run->egress.sock < 0)
			run->phase = PHASE_DONE;
		else if (wait_once(run, &e) < 0) {
			/* Without poll there is no supervising: kill, say so, and reap if it can be. */
			if (!streams_drained(run))
				run_reopen(run);
			end_by_error(run, RUN_LOST, "supervise", &e);
			if (++failures == WAIT_FAILURES)
				run->phase = PHASE_DONE;
		}
	}
}
