/* The supervisor's one poll loop, from clone3 to the last byte passed on.
 *
 * Each source of events is a row of the table `sources`: its fd, what to poll for, in which phases, and who
 * handles it. Limits are deadlines on one timerfd. Nothing here blocks but poll(2).
 */
#include "base/fd.h"
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

#define MS_NS 1000000LL

enum {
	SETUP_MS = 30000, /* generous: an emulated machine under load */
	DEATH_MS = 5000,  /* design: not dead within this is `lost` */
	CPU_LOOK_MS = 2,  /* the cpu time is looked at no closer than this */
	WATCH_MS = 20,	  /* and the memory, where /proc is all there is */
	USAGE_MS = 1000,
};

static int64_t in_ms(int64_t ms)
{
	return now_ns() + ms * MS_NS;
}

/* ---- ending ---- */

static void kill_all(struct run *run)
{
	if (run->phase >= PHASE_KILLED)
		return;
	evidence_before_kill(run);
	if (run->cg.dir >= 0)
		cgroup_kill(&run->cg);
	syscall(SYS_pidfd_send_signal, run->init_pidfd, SIGKILL, NULL, 0);
	run->phase = PHASE_KILLED;
	for (int id = 0; id < DEADLINE_COUNT; id++)
		if (id != DEADLINE_WALL) /* how long a slow reader of the output has, see end_of_death() */
			deadline_clear(&run->deadlines, (enum deadline_id)id);
	deadline_set(&run->deadlines, DEADLINE_DEATH, in_ms(DEATH_MS));
}

static void end_by_limit(struct run *run, enum run_status status, const char *limit, const char *message)
{
	run_decide(run, status, limit, message);
	kill_all(run);
}

static void end_by_error(struct run *run, enum run_status status, const char *stage, const struct err *e)
{
	run_fail(run, status, stage, e);
	kill_all(run);
}

static bool streams_drained(const struct run *run)
{
	return run->out.from < 0 && run->err.from < 0 && (run->out.to.len == 0 || run->out.to.broken) &&
	       (run->err.to.len == 0 || run->err.to.broken);
}

/* Everything is dead: what is left is to pass on what the pipes hold. A caller that does not read has as
 * long as the program would have had, and the grace at least. */
static void begin_drain(struct run *run)
{
	run->phase = PHASE_DRAIN;
	deadline_clear(&run->deadlines, DEADLINE_DEATH);
	const int64_t grace = now_ns() + (int64_t)run->spec->grace_ns;
	int64_t wall = run->deadlines.at_ns[DEADLINE_WALL];
	deadline_clear(&run->deadlines, DEADLINE_WALL);
	deadline_set(&run->deadlines, DEADLINE_DRAIN, wall > grace ? wall : grace);
	feed_close(&run->feed);
}

/* Dead is: pid 1 was reaped, and the leaf is empty. */
static void check_death(struct run *run)
{
	if (run->phase != PHASE_KILLED || !run->init_dead)
		return;
	if (run->cg.dir >= 0 && cgroup_populated(&run->cg) == 1)
		return;
	begin_drain(run);
}

/* ---- handlers ---- */

static void on_init(struct run *run, short revents)
{
	(void)revents;
	pid_t got;
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

static void start_limits(struct run *run)
{
	const struct limits *lim = &run->spec->limits;
	const int64_t now = now_ns();
	run->started_ns = run->active_ns = now;
	deadline_clear(&run->deadlines, DEADLINE_SETUP);
	if (lim->wall_ns < INT64_MAX)
		deadline_set(&run->deadlines, DEADLINE_WALL, now + (int64_t)lim->wall_ns);
	if (lim->idle_ns < INT64_MAX)
		deadline_set(&run->deadlines, DEADLINE_IDLE, now + (int64_t)lim->idle_ns);
	if (lim->cpu_time_ns < INT64_MAX)
		deadline_set(&run->deadlines, DEADLINE_CPU, now + CPU_LOOK_MS * MS_NS);
	if (lim->memory_bytes != LIMIT_NONE && !(run->cg.controllers & CG_MEMORY))
		deadline_set(&run->deadlines, DEADLINE_WATCH, now + WATCH_MS * MS_NS);
	if (run->events.fd >= 0)
		deadline_set(&run->deadlines, DEADLINE_USAGE, now + USAGE_MS * MS_NS);
}

/* The program's process is ready for execve and holds until we answer. */
static void on_starting(struct run *run, int listener)
{
	struct err e = ERR_INIT;
	const struct record ack = {.type = RECORD_ACK};
	if (run->plan.launch.filter.notify && listener < 0) {
		err_host(&e, "the filter's listener did not arrive");
		end_by_error(run, RUN_SETUP_FAILED, "seccomp", &e);
		return;
	}
	if (listener >= 0 && notify_open(&run->notify, listener, &e) < 0) {
		end_by_error(run, RUN_SETUP_FAILED, "seccomp", &e);
		return;
	}
	start_limits(run);
	if (deadlines_arm(&run->deadlines, &e) < 0 || control_send(run->control, &ack, NULL, 0) < 0)
		end_by_error(run, RUN_SETUP_FAILED, "start", &e);
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
	run->watch.scratch = fd_take(&fds[0]);
	run->watch.proc = fd_take(&fds[1]);
	if (r->value & READY_SYSV)
		run->watch.sysv = fd_take(&fds[2]);
	if (r->value & READY_TTY) {
		run->pty = fd_take(&fds[want - 1]);
		if (tty_join(run, &e) < 0)
			end_by_error(run, RUN_SETUP_FAILED, "tty", &e);
	}
	if (r->value & READY_PROC_OUTER) {
		ledger_proc_outer(run->r);
		if (ledger_require(run->r, run->spec->require, &e) < 0)
			end_by_error(run, RUN_REFUSED, "require", &e);
	}
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
		on_starting(run, nfds == 1 ? fd_take(&fds[0]) : -1);
		break;
	case RECORD_STARTED:
		run->program_started = true;
		if (run->phase == PHASE_SETUP)
			run->phase = PHASE_RUNNING;
		run_event(run, EVENT_STARTED, NULL);
		break;
	case RECORD_EXEC_FAILED:
		end_by_error(run, RUN_EXEC_FAILED, "exec", &r->err);
		break;
	case RECORD_FAILED:
		refuse_or_fail(run, init_step_name(r->step), &r->err);
		kill_all(run);
		break;
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

static void forward_signal(struct run *run, int sig)
{
	const struct record r = {.type = RECORD_SIGNAL, .value = sig};
	if (run->control >= 0)
		control_send(run->control, &r, NULL, 0);
}

static void cancel(struct run *run, const char *key, const char *value, const char *message)
{
	if (!run->decided)
		result_evidence_text(run->r, key, value);
	run_decide(run, RUN_CANCELLED, "", message);
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
		cancel(run, "signal", sigabbrev_np(sig), "pinfold was told to stop");
		forward_signal(run, sig);
		if (run->phase == PHASE_SETUP) {
			kill_all(run);
		} else if (run->phase == PHASE_RUNNING) {
			run->phase = PHASE_GRACE;
			deadline_set(&run->deadlines, DEADLINE_GRACE, now_ns() + (int64_t)run->spec->grace_ns);
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
		snprintf(message, sizeof(message), "a system call of another ABI (%s, number %d)", arch_name(arch), nr);
		result_evidence_text(run->r, "arch", arch_name(arch));
		result_evidence_number(run->r, "syscall", nr);
		end_by_limit(run, RUN_FOREIGN_ABI, "", message);
		break;
	case 2:
		if (run->events.fd >= 0) {
			syscall_name(run->notify.rows[run->notify.rows_len - 1].arch,
				     run->notify.rows[run->notify.rows_len - 1].nr, name, sizeof(name));
			run_event(run, EVENT_DENIED, name);
		}
		break;
	case -1:
		end_by_error(run, RUN_LOST, "seccomp", &e);
		break;
	default:
		break;
	}
}

/* ---- limits ---- */

static void look_at_cpu(struct run *run)
{
	uint64_t used_usec;
	if (cgroup_cpu_usec(&run->cg, &used_usec) < 0 && !watch_cpu(&run->watch, &used_usec))
		return;
	const int64_t limit = (int64_t)run->spec->limits.cpu_time_ns;
	const int64_t left = limit - (int64_t)used_usec * 1000;
	if (left <= 0) {
		result_evidence_number(run->r, "cpu_usec", (int64_t)used_usec);
		end_by_limit(run, RUN_CPU_TIMEOUT, "cpu-time", "the cpu time of the whole tree reached its limit");
		return;
	}
	const int64_t cpus = CPU_COUNT(&run->plan.launch.cpus) > 0 ? CPU_COUNT(&run->plan.launch.cpus) : 1;
	const int64_t wait = left / cpus;
	deadline_set(&run->deadlines, DEADLINE_CPU, now_ns() + (wait > CPU_LOOK_MS * MS_NS ? wait : CPU_LOOK_MS * MS_NS));
}

static void look_at_memory(struct run *run)
{
	const int64_t begin = now_ns();
	uint64_t bytes, tasks;
	if (!watch_memory(&run->watch, &bytes))
		return;
	if (watch_pids(&run->watch, &tasks) && tasks > run->watch_peak_pids)
		run->watch_peak_pids = tasks;
	if (bytes > run->watch_peak_bytes)
		run->watch_peak_bytes = bytes;
	if (bytes > run->spec->limits.memory_bytes) {
		result_evidence_number(run->r, "seen_bytes", (int64_t)bytes);
		end_by_limit(run, RUN_OOM, "memory", "what could be seen of the sandbox's memory was above its limit");
		return;
	}
	/* At most a twentieth of a cpu goes into looking. */
	const int64_t end = now_ns(), cost = (end - begin) * 20;
	deadline_set(&run->deadlines, DEADLINE_WATCH, end + (cost > WATCH_MS * MS_NS ? cost : WATCH_MS * MS_NS));
}

static void look_at_idle(struct run *run)
{
	const int64_t due = run->active_ns + (int64_t)run->spec->limits.idle_ns;
	if (due > now_ns())
		deadline_set(&run->deadlines, DEADLINE_IDLE, due);
	else
		end_by_limit(run, RUN_IDLE_TIMEOUT, "idle", "no byte moved on stdin, stdout or stderr for the idle limit");
}

static void not_dead(struct run *run)
{
	struct err e = ERR_INIT;
	err_host(&e, "the sandbox did not die within %d s of SIGKILL; a process may hang in the kernel", DEATH_MS / 1000);
	run->decided = false;
	run_fail(run, RUN_LOST, "kill", &e);
	run->phase = PHASE_DONE;
}

static void on_deadline(struct run *run, int id)
{
	struct err e = ERR_INIT;
	switch ((enum deadline_id)id) {
	case DEADLINE_SETUP:
		err_host(&e, "the sandbox was not set up within %d s", SETUP_MS / 1000);
		end_by_error(run, RUN_SETUP_FAILED, "setup", &e);
		break;
	case DEADLINE_WALL:
		result_evidence_number(run->r, "elapsed_usec", (now_ns() - run->started_ns) / 1000);
		end_by_limit(run, RUN_WALL_TIMEOUT, "wall", "the wall-clock time reached its limit");
		break;
	case DEADLINE_IDLE:
		look_at_idle(run);
		break;
	case DEADLINE_CPU:
		look_at_cpu(run);
		break;
	case DEADLINE_WATCH:
		look_at_memory(run);
		break;
	case DEADLINE_USAGE:
		run_event(run, EVENT_USAGE, NULL);
		deadline_set(&run->deadlines, DEADLINE_USAGE, in_ms(USAGE_MS));
		break;
	case DEADLINE_GRACE:
		result_evidence_text(run->r, "grace", "ended");
		kill_all(run);
		break;
	case DEADLINE_DEATH:
		not_dead(run);
		break;
	case DEADLINE_DRAIN:
		run->phase = PHASE_DONE;
		break;
	case DEADLINE_COUNT:
		break;
	}
}

static void on_timer(struct run *run, short revents)
{
	(void)revents;
	uint64_t ticks;
	if (read(run->deadlines.fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		return;
	const int64_t now = now_ns();
	for (int id; (id = deadline_due(&run->deadlines, now)) >= 0 && run->phase != PHASE_DONE;)
		on_deadline(run, id);
}

/* ---- stdio ---- */

static void pump(struct run *run, struct stream *s)
{
	bool at_limit;
	if (stream_pump(s, &at_limit) > 0)
		run->active_ns = now_ns();
	if (at_limit && run->phase < PHASE_KILLED) {
		result_evidence_text(run->r, "stream", s == &run->out ? "stdout" : "stderr");
		end_by_limit(run, RUN_OUTPUT_LIMIT, "output", "the output reached its limit");
	}
	if (at_limit)
		fd_close(&s->from);
}

static void lose_reader(struct run *run, struct stream *s, int sys)
{
	char value[64];
	snprintf(value, sizeof(value), "%s: %s", s == &run->out ? "stdout" : "stderr", strerrorname_np(sys));
	cancel(run, "lost", value, "whoever reads the output went away");
	fd_close(&s->from);
	kill_all(run);
}

static void settle(struct run *run, struct stream *s)
{
	outlet_flush(&s->to);
	if (s->to.broken && s->to.len > 0) {
		s->to.len = 0;
		s->truncated = true;
		lose_reader(run, s, s->to.broken);
	}
}

static void on_out_from(struct run *run, short revents)
{
	(void)revents;
	pump(run, &run->out);
	settle(run, &run->out);
}

static void on_err_from(struct run *run, short revents)
{
	(void)revents;
	pump(run, &run->err);
	settle(run, &run->err);
}

static void on_to(struct run *run, struct stream *s, short revents)
{
	if (revents & POLLOUT)
		settle(run, s);
	else if ((revents & (POLLERR | POLLHUP)) && s->from >= 0 && run->phase < PHASE_KILLED)
		lose_reader(run, s, EPIPE);
}

static void on_out_to(struct run *run, short revents)
{
	on_to(run, &run->out, revents);
}

static void on_err_to(struct run *run, short revents)
{
	on_to(run, &run->err, revents);
}

static void on_feed_from(struct run *run, short revents)
{
	(void)revents;
	if (feed_pump(&run->feed) > 0)
		run->active_ns = now_ns();
	feed_settle(&run->feed);
}

static void on_feed_to(struct run *run, short revents)
{
	if (revents & POLLOUT && outlet_flush(&run->feed.to) > 0)
		run->active_ns = now_ns();
	if (run->feed.to.broken || !(revents & POLLOUT))
		feed_close(&run->feed); /* the program closed its stdin */
	else
		feed_settle(&run->feed);
}

static void on_events(struct run *run, short revents)
{
	(void)revents;
	outlet_flush(&run->events);
	if (run->events.broken)
		outlet_close(&run->events);
}

/* ---- the table ---- */

struct source {
	int fd;
	short events;
	bool always; /* hang-ups matter even with no events to wait for */
	void (*handle)(struct run *, short revents);
};

enum { SOURCES = 16 };

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
		{run->init_dead ? -1 : run->init_pidfd, POLLIN, false, on_init},
		{run->control, POLLIN, false, on_control},
		{run->deadlines.fd, POLLIN, false, on_timer},
		{run->signals, POLLIN, false, on_signals},
		{alive ? run->caller : -1, POLLIN, false, on_caller_gone},
		{alive ? run->registry : -1, POLLIN, false, on_registry},
		{alive ? run->notify.listener : -1, POLLIN, false, on_notify},
		{dying ? run->populated : -1, POLLPRI, false, on_populated},
		{run->out.from, want_in(&run->out.to), false, on_out_from},
		{run->err.from, want_in(&run->err.to), false, on_err_from},
		{run->out.to.fd, out_to, true, on_out_to},
		{run->err.to.fd, err_to, true, on_err_to},
		{alive ? run->feed.from : -1, want_in(&run->feed.to), false, on_feed_from},
		{alive && !run->feed.is_tty ? run->feed.to.fd : -1, run->feed.to.len ? POLLOUT : 0, true, on_feed_to},
		{alive && run->feed.is_tty && run->feed.to.len ? run->pty : -1, POLLOUT, false, on_feed_to},
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
	deadline_set(&run->deadlines, DEADLINE_SETUP, in_ms(SETUP_MS));
	while (run->phase != PHASE_DONE) {
		if (run->phase == PHASE_DRAIN && streams_drained(run))
			run->phase = PHASE_DONE;
		else if (wait_once(run, &e) < 0) {
			/* Without poll there is no supervising: kill, reap, say so. */
			end_by_error(run, RUN_LOST, "supervise", &e);
			run->phase = PHASE_DONE;
		}
	}
}
