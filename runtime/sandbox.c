/* Theory of operation.
 *
 * One run is four processes at most. The supervisor (this process) stays in the host's namespaces
 * with the caller's uid. It plans (plan.c): whatever can fail for a boring reason fails before
 * anything exists. It makes the cgroup leaf, then clones pid 1 of the sandbox into fresh user, pid,
 * mount, IPC and UTS namespaces and into the leaf (spawn.c), writes its id maps and, as root, hands
 * it the idmapped image.
 *
 * pid 1 (init.c) applies its table of steps: a helper beside it, credentials,
 * cgroup namespace, mounts and pivot_root, and hands out a directory fd of the scratch and of its
 * /proc. It starts the program by CLONE_VM and CLONE_VFORK (program.c); the program's process drops
 * everything, loads the filter as its last act, sends the filter's listener and waits. The
 * supervisor now sets its timers and answers; only then comes execve. pid 1 gives up all it has and
 * only reaps.
 *
 * The supervisor (supervise.c) relays stdio, counts denied calls, watches its deadlines; where no
 * controller counts the memory, a thread of it looks (watcher.c) and it waits for the answer. The
 * run ends with the main process, a limit, a signal or a lost caller: evidence is read, everything
 * is killed, death is waited for (the leaf is empty, pid 1 reaped), the pipes are drained, the
 * scratch is let go, the leaf removed, and the result is filled (conclude.c).
 *
 * What keeps law 3 when the supervisor itself is killed: the control socket closes, pid 1 exits,
 * and with pid 1 the kernel kills every process of its namespace; mounts and sockets die with the
 * namespaces.
 */
#include "base/fd.h"
#include "runtime/queue.h"
#include "runtime/registry.h"
#include "runtime/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static int choose_id(const struct spec *s, struct result *r, struct err *e)
{
	uint8_t random[8];
	if (r->id[0] && !s->id)
		return 0;
	if (s->id) {
		snprintf(r->id, sizeof(r->id), "%s", s->id);
		return 0;
	}
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_sys(e, "getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(r->id + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* A caller that is already gone, or outside our pid namespace (0), cannot be watched. */
static int open_caller(struct run *run, struct err *e)
{
	pid_t parent = getppid();
	if (parent == 0)
		return 0;
	run->caller = (int)syscall(SYS_pidfd_open, parent, 0);
	if (run->caller < 0 && errno != ESRCH)
		return err_sys(e, "watch the caller (pid %d)", parent);
	if (run->caller < 0 || getppid() != parent)
		return err_host(e, "the caller of pinfold ended before the start");
	return 0;
}

/* What was planned on the strength of a controller (the filter, RLIMIT_NPROC) would be wrong without it. */
static int check_leaf(const struct run *run, struct err *e)
{
	const unsigned lost = run->plan.place.controllers & run->plan.wanted & ~run->cg.controllers;
	for (unsigned i = 0; i < CG_CONTROLLERS; i++)
		if (lost >> i & 1)
			return err_host(e, "the leaf has no %s controller, which was foretold: %s",
					controller_name(i), run->cg.why_not[i]);
	return 0;
}

int make_leaf(struct run *run, struct err *e)
{
	struct plan *p = &run->plan;
	char name[80];
	snprintf(name, sizeof(name), "pinfold-%s", run->r->id);
	/* io.max goes to the disks that the program reads its files from. */
	autoclose int usr = p->launch.root.form == ROOTFS_HOST
				    ? open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC)
				    : -1;
	p->place.image = usr >= 0 ? usr : p->launch.root.image;
	p->place.libexec = run->o->libexec;
	if (cgroup_create(&run->cg, &p->place, name, &run->spec->limits, e) < 0 ||
	    check_leaf(run, e) < 0) {
		run->scope_refused = p->place.source == CGROUP_SCOPE;
		return -1;
	}
	run->populated = cgroup_populated_fd(&run->cg);
	if (run->populated < 0)
		return err_sys(e, "watch cgroup.events of the leaf");
	ledger_fill(p, run->spec, &run->cg, run->r);
	return ledger_require(run->r, run->spec->require, e);
}

/* A name, by which others find it, and a caller: once. */
static int introduce(struct run *run, const char **stage, struct err *e)
{
	if (run->registry >= 0)
		return 0;
	*stage = "id";
	if (choose_id(run->spec, run->r, e) < 0)
		return -1;
	*stage = "registry";
	run->registry = registry_enter(run->r->id, run->spec->id != NULL, e);
	if (run->registry < 0)
		return -1;
	*stage = "caller";
	return open_caller(run, e);
}

/* With a slot, if one is asked for: before anything is planned or held that others could want. */
static int stand_in_line(struct run *run, struct lease *lease, const char **stage, struct err *e)
{
	if (lease->held || !queue_wanted(run->spec))
		return 0;
	if (introduce(run, stage, e) < 0)
		return -1;
	*stage = "slots";
	return queue_wait(run, lease, e);
}

/* No record, no run: before anything of it exists. */
static int record_start(struct run *run, const char **stage, struct err *e)
{
	enum { SYSLOG_MS = 1000 };
	struct audit *a = run->o->audit;
	struct audit_record start = {.event = AUDIT_START, .result = run->r, .image = run->spec->image};
	if (!a || a->len == 0 || a->started)
		return 0;
	*stage = "audit";
	if (choose_id(run->spec, run->r, e) < 0)
		return -1;
	digest_spec(run->spec, run->r);
	if (audit_write(a, &start, SYSLOG_MS, e) < 0)
		return -1;
	a->started = true;
	return 0;
}

static int prepare(struct run *run, const char **stage, struct err *e)
{
	if (introduce(run, stage, e) < 0)
		return -1;
	*stage = "timer";
	if (deadlines_open(&run->deadlines, e) < 0)
		return -1;
	*stage = "cgroup";
	/* A scope is made around pid 1, see spawn(). */
	const enum cgroup_source source = run->plan.place.source;
	return source == CGROUP_NONE || source == CGROUP_SCOPE ? 0 : make_leaf(run, e);
}

/* Let go of everything, in the order that lets the kernel free it: what pins the tmpfs, then the leaf. */
static void release(struct run *run)
{
	struct err e = ERR_INIT;
	tty_restore(&run->terminal);
	watcher_close(&run->watcher); /* it reads by descriptors that go below */
	notify_close(&run->notify);
	feed_close(&run->feed);
	stream_close(&run->out);
	stream_close(&run->err);
	int *fds[] = {&run->watch.proc, &run->watch.sysv, &run->watch.scratch, &run->pty,
		      &run->control,	&run->caller,	  &run->populated,     &run->init_pidfd,
		      &run->program,	&run->registry,	  &run->user_namespace};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		fd_close(fds[i]);
	egress_close(run);
	inputs_close(run);
	deadlines_close(&run->deadlines);
	if (run->cg.dir >= 0 && cgroup_destroy(&run->cg, &e) < 0)
		result_warn(run->r, "%s; `pinfold gc` removes it later", e.msg);
	plan_close(&run->plan);
}

bool told_to_stop(struct run *run)
{
	struct signalfd_siginfo info;
	if (read(run->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	const bool stop = info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT ||
			  info.ssi_signo == SIGHUP || info.ssi_signo == SIGQUIT;
	run->told_to_stop |= stop;
	return stop;
}

/* The last event is the one that everybody waits for: a slow reader has the grace to take it,
 * unless we were told to stop. */
static void finish_events(struct run *run)
{
	const bool patient = !run->hurried && !run->told_to_stop;
	const int64_t until = deadline_after(now_ns(), patient ? run->spec->grace_ns : 0);
	run_event(run, EVENT_ENDED, NULL);
	while (run->events.fd >= 0 && run->events.len > 0) {
		struct pollfd p[] = {{.fd = run->events.fd, .events = POLLOUT},
				     {.fd = run->signals, .events = POLLIN}};
		const int64_t left_ms = (until - now_ns()) / MS_NS;
		if (left_ms <= 0 || poll(p, 2, left_ms < INT_MAX ? (int)left_ms : INT_MAX) == 0)
			break;
		if (p[1].revents && told_to_stop(run))
			break;
		events_flush(run);
	}
	events_end(run);
	fd_close(&run->signals);
}

static struct run nothing_yet(const struct spec *s, const struct sandbox_options *o, struct result *r)
{
	return (struct run){.spec = s,
			    .o = o,
			    .r = r,
			    .cg = CGROUP_INIT,
			    .init = -1,
			    .init_pidfd = -1,
			    .program = -1,
			    .control = -1,
			    .registry = -1,
			    .caller = -1,
			    .signals = -1,
			    .populated = -1,
			    .user_namespace = -1,
			    .pty = -1,
			    .terminal = TTY_CALLER_INIT,
			    .feed = FEED_INIT,
			    .out = STREAM_INIT,
			    .err = STREAM_INIT,
			    .events = OUTLET_INIT,
			    .notify = NOTIFY_INIT,
			    .watch = WATCH_INIT,
			    .watcher = WATCHER_INIT,
			    .egress = EGRESS_LINK_INIT,
			    .inputs = INPUT_LINK_INIT,
			    .deadlines = DEADLINES_INIT};
}

void sandbox_refused(const struct spec *s, const struct sandbox_options *o, struct result *r)
{
	struct run run = nothing_yet(s, o, r);
	struct err e = ERR_INIT;
	if (o->events < 0)
		return;
	if (outlet_open(&run.events, o->events, &e) < 0)
		result_warn(r, "events were lost: %s", e.msg);
	else
		finish_events(&run);
}

int sandbox_rehearse(const struct spec *s, const struct sandbox_options *o, struct rehearsal *h,
		     struct result *r)
{
	struct run run = nothing_yet(s, o, r);
	struct err e = ERR_INIT;
	const char *stage = "rehearsal";
	if (plan_make(&run.plan, s, o, true, r) < 0)
		return -1;
	run.plan.launch.rehearsal = true;
	if (open_signals(&run, &e) < 0 || deadlines_open(&run.deadlines, &e) < 0 ||
	    spawn(&run, &stage, &e) < 0) {
		refuse_or_fail(&run, stage, &e);
	} else {
		supervise(&run);
		evidence_after_death(&run);
	}
	release(&run);
	fd_close(&run.signals);
	*h = (struct rehearsal){.plan = run.plan, .mounts = run.mounts};
	return 0;
}

/* Everything of it is gone: the next one may begin, before whoever reads our events has read the last. */
static void finish(struct run *run, struct lease *lease)
{
	release(run);
	lease_close(lease);
	finish_events(run);
}

static void no_place(struct run *run, const char *stage, const struct err *e)
{
	digest_spec(run->spec, run->r);
	if (run->decided)
		snprintf(run->r->cause.stage, sizeof(run->r->cause.stage), "%s", stage);
	else
		result_fail(run->r, RUN_REFUSED, stage, e);
}

/* False: there is no scope to be had, *why says why, and nothing is left but the slot. */
static bool attempt(const struct spec *s, const struct sandbox_options *o, struct result *r,
		    struct lease *lease, struct err *why)
{
	struct run run = nothing_yet(s, o, r);
	struct err e = ERR_INIT;
	const char *stage;
	if (o->events >= 0 && outlet_open(&run.events, o->events, &e) < 0) {
		result_fail(r, RUN_REFUSED, "events", &e);
		return true;
	}
	/* From here on a signal is a result, even before there is anything to end. */
	if (open_signals(&run, &e) < 0) {
		result_fail(r, RUN_REFUSED, "signals", &e);
		finish_events(&run);
		return true;
	}
	if (stand_in_line(&run, lease, &stage, &e) < 0 || record_start(&run, &stage, &e) < 0) {
		no_place(&run, stage, &e);
		finish(&run, lease);
		return true;
	}
	if (plan_make(&run.plan, s, o, false, r) < 0) {
		digest_spec(s, r);
		if (run.plan.sources && run.plan.sources->refused)
			inputs_name(&run, run.plan.sources->refused);
		finish(&run, lease);
		return true;
	}
	if (prepare(&run, &stage, &e) < 0) {
		digest_spec(s, r);
		result_fail(r, RUN_REFUSED, stage, &e);
	} else if (spawn(&run, &stage, &e) < 0) {
		if (run.scope_refused) {
			*why = e;
			release(&run);
			outlet_close(&run.events);
			fd_close(&run.signals);
			return false;
		}
		digest_spec(s, r);
		refuse_or_fail(&run, stage, &e);
	} else {
		digest_spec(s, r); /* now, because pid 1 is busy and we are not */
		supervise(&run);
		evidence_after_death(&run);
		report_streams(&run);
		collect_artifacts(&run);
	}
	finish(&run, lease);
	return true;
}

void sandbox_run(const struct spec *s, const struct sandbox_options *o, struct result *r)
{
	struct err why = ERR_INIT;
	const size_t warnings = r->warnings_len;
	struct lease lease = LEASE_INIT;
	if (attempt(s, o, r, &lease, &why))
		return;
	/* A filter, limits and a ledger that counted on controllers would be wrong: all is planned anew. */
	struct sandbox_options without = *o;
	without.no_scope = why.msg;
	r->warnings_len = warnings; /* those of the plan come again */
	result_warn(r, "no scope: %s", why.msg);
	attempt(s, &without, r, &lease, &why);
}
