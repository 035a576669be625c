#include "runtime/run.h"

#include "base/fd.h"
#include "base/text.h"
#include "runtime/host.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/wait.h>

int run_cpu_usec(const struct run *run, uint64_t *usec)
{
	struct watch_cpu cpu;
	if (cgroup_cpu_usec(&run->cg, usec) == 0)
		return 0;
	if (!watch_cpu(&run->watch, &cpu))
		return -1;
	*usec = cpu.user_usec + cpu.system_usec;
	return 0;
}

/* The first reason is the one that counts. */
static void warn_of_events(struct run *run, const char *why)
{
	if (!run->event_dropped)
		result_warn(run->r, "events were lost: %s", why);
	run->event_dropped = true;
}

void events_flush(struct run *run)
{
	outlet_flush(&run->events);
	if (!run->events.broken)
		return;
	warn_of_events(run, outlet_reader_left(&run->events) ? "whoever reads --events went away"
							     : strerrordesc_np(run->events.broken));
	outlet_close(&run->events);
}

void events_end(struct run *run)
{
	if (run->events.fd >= 0 && run->events.len > 0)
		warn_of_events(run,
			       "whoever reads --events did not take the last one within --grace");
	outlet_close(&run->events);
}

static void put_event(struct run *run, const struct event *ev)
{
	char *line = event_write_json(ev);
	const bool last = ev->type == EVENT_ENDED; /* its result may have hundreds of rows */
	if (!line || !(last ? outlet_put_last : outlet_put)(&run->events, line, strlen(line)))
		warn_of_events(run, "whoever reads --events is too slow");
	free(line);
	events_flush(run);
}

static void record(struct run *run, struct audit_record *what)
{
	struct audit *a = run->o->audit;
	struct err e = ERR_INIT;
	if (!a || a->len == 0)
		return;
	what->result = run->r;
	if (audit_write(a, what, 0, &e) < 0 && !a->lost) {
		a->lost = true;
		result_warn(run->r, "records were lost: %s", e.msg);
	}
}

void run_audit(struct run *run, enum audit_kind kind, const char *name, const char *reason)
{
	record(run, &(struct audit_record){.event = AUDIT_DENIED,
					   .kind = kind,
					   .name = name,
					   .reason = reason});
}

void run_event_egress(struct run *run, const struct egress_row *row)
{
	if (run->events.fd < 0)
		return;
	put_event(run, &(struct event){.type = EVENT_EGRESS,
				       .at_usec = (now_ns() - run->o->begun_ns) / 1000,
				       .id = run->r->id,
				       .egress = row});
}

void run_event_artifact(struct run *run, const struct artifact_row *row)
{
	if (run->events.fd < 0)
		return;
	put_event(run, &(struct event){.type = EVENT_ARTIFACT,
				       .at_usec = (now_ns() - run->o->begun_ns) / 1000,
				       .id = run->r->id,
				       .artifact = row});
}

void run_event(struct run *run, enum event_type type, const char *name)
{
	if (run->events.fd < 0)
		return;
	struct event ev = {.type = type,
			   .at_usec = (now_ns() - run->o->begun_ns) / 1000,
			   .id = run->r->id,
			   .name = name,
			   .pid = type == EVENT_STARTED ? run->init : NUM_UNKNOWN,
			   .cpu_usec = NUM_UNKNOWN,
			   .memory_bytes = NUM_UNKNOWN,
			   .pids = NUM_UNKNOWN,
			   .position = run->queue_position,
			   .out_bytes = (int64_t)run->out.bytes,
			   .err_bytes = (int64_t)run->err.bytes,
			   .result = type == EVENT_ENDED ? run->r : NULL};
	uint64_t n;
	if (type == EVENT_USAGE) {
		if (run_cpu_usec(run, &n) == 0)
			ev.cpu_usec = (int64_t)n;
		if (cgroup_memory_bytes(&run->cg, &n) == 0)
			ev.memory_bytes = (int64_t)n;
		else if (run->watch_seen.bytes)
			ev.memory_bytes = (int64_t)run->watch_seen.bytes;
		if (run->watch_seen.tasks)
			ev.pids = (int64_t)run->watch_seen.tasks;
		else if (run->cg.controllers & CG_MEMORY && watch_pids(&run->watch, &n))
			ev.pids = (int64_t)n;
	}
	put_event(run, &ev);
}

void run_decide(struct run *run, enum run_status status, const char *limit, const char *message)
{
	if (run->decided)
		return;
	struct result *r = run->r;
	run->decided = true;
	run->ended_ns = now_ns();
	r->status = status;
	snprintf(r->cause.limit, sizeof(r->cause.limit), "%s", limit);
	text_fit(r->cause.message, sizeof(r->cause.message), message);
	if (!limit[0])
		return;
	run_event(run, EVENT_LIMIT, limit);
	record(run, &(struct audit_record){.event = AUDIT_LIMIT, .name = limit});
}

void run_fail(struct run *run, enum run_status status, const char *stage, const struct err *e)
{
	if (run->decided)
		return;
	run->decided = true;
	run->ended_ns = now_ns();
	result_fail(run->r, status, stage, e);
}

void run_reopen(struct run *run)
{
	if (run->r->status == RUN_EXITED || run->r->status == RUN_SIGNALED)
		run->decided = false;
}

void run_decide_by_main(struct run *run)
{
	if (run->main_exited)
		run_decide(run, WIFEXITED(run->main_status) ? RUN_EXITED : RUN_SIGNALED, "", "");
}

void refuse_or_fail(struct run *run, const char *stage, const struct err *e)
{
	struct err why = *e;
	if (e->kind == ERR_USAGE) {
		run_fail(run, RUN_REFUSED, stage, e);
	} else if (e->kind == ERR_HOST && host_forbids(e->sys)) {
		host_explain(&why);
		run_fail(run, RUN_REFUSED, "host", &why);
	} else {
		run_fail(run, RUN_SETUP_FAILED, stage, e);
	}
}

static void number_if_known(struct result *r, const char *key, int64_t n)
{
	if (n != NUM_UNKNOWN)
		result_evidence_number(r, key, n);
}

void evidence_before_kill(struct run *run)
{
	struct result *r = run->r;
	struct statfs fs;
	cgroup_composition(&run->cg, r);
	if (run->cg.dir < 0)
		watch_cpu(&run->watch, &run->watch_cpu);
	if (run->watch.scratch >= 0 && fstatfs(run->watch.scratch, &fs) == 0) {
		const int64_t inodes = (int64_t)(fs.f_files - fs.f_ffree) -
				       (int64_t)rootfs_own_inodes(&run->plan.launch.root);
		r->usage.scratch_bytes = (int64_t)(fs.f_blocks - fs.f_bfree) * (int64_t)fs.f_bsize;
		r->usage.scratch_inodes = fs.f_files && inodes > 0 ? inodes : 0;
	}
}

/* The leaf's own limit killed if its own oom or oom_group_kill rose; oom_kill alone came from above. */
static void judge_memory(struct run *run)
{
	struct cgroup_events ev;
	struct result *r = run->r;
	cgroup_events(&run->cg, &ev);
	const bool own = cgroup_events_own_oom(&ev);
	const bool above = !own && ev.oom_kill > 0;
	/* A sandbox that ended by itself: that nothing of this kind happened is evidence too. */
	if (own || above || !run->decided) {
		number_if_known(r, "memory.events.oom", ev.oom);
		number_if_known(r, "memory.events.oom_group_kill", ev.oom_group_kill);
		number_if_known(r, "memory.events.oom_kill", ev.oom_kill);
	}
	if (ev.pids_max > 0)
		result_evidence_number(r, "pids.events.max", ev.pids_max);
	/* A program that ran into its memory limit is out of memory, whatever its main process made
	 * of it; a time limit that was decided first stays. */
	const bool open = !run->decided || r->status == RUN_EXITED || r->status == RUN_SIGNALED;
	if (own && open) {
		run->decided = false;
		run_decide(run, RUN_OOM, "memory",
			   "the memory limit was reached and the kernel killed the whole sandbox");
	} else if (above && open) {
		run->decided = false;
		run_decide(run, RUN_LOST, "",
			   "the kernel killed for memory above the sandbox's own limit (a cgroup further up, or the host)");
	}
}

static int64_t usec_of(const struct timeval *tv)
{
	return (int64_t)tv->tv_sec * 1000000 + tv->tv_usec;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Without a leaf: what pid 1 waited for (exact), or what /proc showed before the kill (in clock
 * ticks, but with those that were killed: a dying pid 1 lets the kernel reap them unaccounted).
 * Both are lower bounds. */
static void usage_from_proc(struct run *run)
{
	struct result *r = run->r;
	if (r->usage.cpu_user_usec == NUM_UNKNOWN && run->init_dead) {
		r->usage.cpu_user_usec = larger(usec_of(&run->rusage.ru_utime),
						(int64_t)run->watch_cpu.user_usec);
		r->usage.cpu_system_usec = larger(usec_of(&run->rusage.ru_stime),
						  (int64_t)run->watch_cpu.system_usec);
	}
	if (r->usage.memory_peak_bytes == NUM_UNKNOWN && run->watch_peak.bytes)
		r->usage.memory_peak_bytes = (int64_t)run->watch_peak.bytes;
	if (r->usage.pids_peak == NUM_UNKNOWN && run->watch_peak.tasks)
		r->usage.pids_peak = (int64_t)run->watch_peak.tasks;
}

static void report_main(struct run *run)
{
	struct result *r = run->r;
	if (!run->main_exited)
		return;
	if (WIFEXITED(run->main_status))
		r->exit_code = WEXITSTATUS(run->main_status);
	else
		r->signal = WTERMSIG(run->main_status);
}

/* Peaks, cpu and io are final now; the composition stays as it was before the kill. */
static void final_usage(struct run *run)
{
	struct result *r = run->r;
	struct cgroup_cpu cpu;
	cgroup_usage(&run->cg, r);
	if (cgroup_cpu_times(&run->cg, &cpu) == 0) {
		r->usage.cpu_user_usec = cpu.user_usec;
		r->usage.cpu_system_usec = cpu.system_usec;
	}
}

void evidence_after_death(struct run *run)
{
	struct result *r = run->r;
	report_main(run);
	run_decide_by_main(run);
	judge_memory(run);
	final_usage(run);
	usage_from_proc(run);
	if (run->started_ns)
		r->usage.wall_usec = ((run->ended_ns ? run->ended_ns : now_ns()) - run->started_ns) /
				     1000;
	if (!run->decided) {
		struct err e = ERR_INIT;
		err_host(&e, "the sandbox ended by itself: its pid 1 was killed from outside");
		/* Once we answered the program may have run, whether its pid 1 lived to say so or not. */
		run_fail(run, run->started_ns ? RUN_LOST : RUN_SETUP_FAILED, "supervise", &e);
	}
}

void report_streams(struct run *run)
{
	stream_report(&run->out, &run->r->out);
	if (!run->spec->tty)
		stream_report(&run->err, &run->r->err);
	notify_report(&run->notify, run->r);
}
