/* The limits that the supervisor itself watches: each is a deadline, set for the moment. */
#include "base/pages.h"
#include "runtime/run.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

enum {
	SETUP_MS = 30000,   /* generous: an emulated machine under load */
	CPU_LOOK_MS = 2,    /* the cpu time is looked at no closer than this */
	WATCH_MS = 20,	    /* and the memory, where /proc is all there is; */
	WATCH_MAX_MS = 250, /* nor less often than this, whatever a look costs, */
	/* unless one costs so much that it cannot be waited for. That is this, */
	LOOK_CPU_MS = 1000, /* twice in an exact pass, */
	LOOK_GIB_MS = 250,  /* and this for each GiB of the limit, whose pages have to be walked; */
	LOOK_TIMES = 3,	    /* by the clock so many times that, because the machine may be busy */
	GIBS_MAX = 65536,
	USAGE_MS = 1000,
	BLIND_LOOKS = 50, /* so many in a row that fail: the limit is not watched any more */
};

static int64_t in_ms(int64_t ms)
{
	return now_ns() + ms * MS_NS;
}

void setup_begins(struct run *run)
{
	deadline_set(&run->deadlines, DEADLINE_SETUP, in_ms(SETUP_MS + inputs_patience_ms(run)));
}

/* Without a limit for what the usage events say. */
static bool memory_is_watched(const struct run *run)
{
	const bool asked = run->spec->limits.memory_bytes != LIMIT_NONE || run->events.fd >= 0;
	return asked && !(run->cg.controllers & CG_MEMORY);
}

void start_limits(struct run *run)
{
	const struct limits *lim = &run->spec->limits;
	const int64_t now = now_ns();
	run->started_ns = run->active_ns = now;
	deadline_clear(&run->deadlines, DEADLINE_SETUP);
	deadline_set(&run->deadlines, DEADLINE_WALL, deadline_after(now, lim->wall_ns));
	deadline_set(&run->deadlines, DEADLINE_IDLE, deadline_after(now, lim->idle_ns));
	if (lim->cpu_time_ns != LIMIT_NONE)
		deadline_set(&run->deadlines, DEADLINE_CPU, now + CPU_LOOK_MS * MS_NS);
	if (memory_is_watched(run))
		deadline_set(&run->deadlines, DEADLINE_WATCH, now + WATCH_MS * MS_NS);
	deadline_set(&run->deadlines, DEADLINE_COOL, now + COOL_MS * MS_NS);
	if (run->events.fd >= 0)
		deadline_set(&run->deadlines, DEADLINE_USAGE, now + USAGE_MS * MS_NS);
}

/* A look may fail while the sandbox is dying. One that keeps failing is a limit that nobody enforces. */
static void look_again(struct run *run, enum deadline_id id)
{
	struct err e = ERR_INIT;
	const bool for_events = id == DEADLINE_WATCH && run->spec->limits.memory_bytes == LIMIT_NONE;
	if (for_events || ++run->blind_looks < BLIND_LOOKS) {
		deadline_set(&run->deadlines, id, in_ms(WATCH_MS));
		return;
	}
	err_sys(&e, "%s cannot be watched any more",
		id == DEADLINE_CPU ? "the cpu time" : "the memory");
	end_by_error(run, RUN_LOST, "limits", &e);
}

static void look_at_cpu(struct run *run)
{
	uint64_t used_usec;
	if (run_cpu_usec(run, &used_usec) < 0) {
		look_again(run, DEADLINE_CPU);
		return;
	}
	run->blind_looks = 0;
	const uint64_t limit = run->spec->limits.cpu_time_ns, used = used_usec * 1000;
	if (used >= limit) {
		result_evidence_number(run->r, "cpu_usec", (int64_t)used_usec);
		end_by_limit(run, RUN_CPU_TIMEOUT, "cpu-time",
			     "the cpu time of the whole tree reached its limit");
		return;
	}
	const unsigned cpus = run->plan.launch.cpus > 0 ? run->plan.launch.cpus : 1;
	const uint64_t wait = (limit - used) / cpus, shortest = CPU_LOOK_MS * MS_NS;
	deadline_set(&run->deadlines, DEADLINE_CPU,
		     deadline_after(now_ns(), wait > shortest ? wait : shortest));
}

static int64_t look_cpu_ns(uint64_t limit, bool exact)
{
	const int64_t gib = limit >> 30 < GIBS_MAX ? (int64_t)(limit >> 30) : GIBS_MAX;
	return (LOOK_CPU_MS * (exact ? 2 : 1) + gib * LOOK_GIB_MS) * MS_NS;
}

/* A pass that does not end is a limit that is not watched. Honest programs are far from it: it takes tens
 * of thousands of mappings in each of a hundred processes, or many that have all of a large memory. */
static void await_look(struct run *run)
{
	struct err e = ERR_INIT;
	const uint64_t limit = run->spec->limits.memory_bytes;
	int64_t elapsed_ns, cpu_ns;
	const bool exact = watcher_pass_cost(&run->watcher, &elapsed_ns, &cpu_ns);
	const int64_t longest_ns = look_cpu_ns(limit, exact);
	if (limit == LIMIT_NONE || (cpu_ns <= longest_ns && elapsed_ns <= longest_ns * LOOK_TIMES)) {
		deadline_set(&run->deadlines, DEADLINE_WATCH, in_ms(WATCH_MAX_MS));
		return;
	}
	result_evidence_number(run->r, "look_usec", elapsed_ns / 1000);
	result_evidence_number(run->r, "look_cpu_usec", cpu_ns / 1000);
	err_host(&e,
		 "the memory cannot be watched any more: one pass over the program's processes takes longer than %lld ms of cpu time, or %d times that; a memory controller needs no looks (`pinfold doctor`)",
		 (long long)(longest_ns / MS_NS), LOOK_TIMES);
	end_by_error(run, RUN_LOST, "limits", &e);
}

static void look_at_memory(struct run *run)
{
	struct err e = ERR_INIT;
	if (run->watcher.looking)
		await_look(run);
	else if (watcher_look(&run->watcher, &run->watch, run->spec->limits.memory_bytes, &e) < 0)
		look_again(run, DEADLINE_WATCH);
	else
		deadline_set(&run->deadlines, DEADLINE_WATCH, in_ms(WATCH_MAX_MS));
}

/* At most a twentieth of a cpu goes into looking, unless looks would be too far apart. */
static void plan_next_look(struct run *run)
{
	const int64_t now = now_ns(), cost = now - run->watcher.begun_ns;
	const int64_t shortest = WATCH_MS * MS_NS, longest = WATCH_MAX_MS * MS_NS - cost;
	int64_t wait = cost * 19 < longest ? cost * 19 : longest;
	if (run->spec->limits.memory_bytes == LIMIT_NONE)
		wait = USAGE_MS * MS_NS;
	deadline_set(&run->deadlines, DEADLINE_WATCH, now + (wait > shortest ? wait : shortest));
}

void on_look(struct run *run, short revents)
{
	(void)revents;
	if (!watcher_take(&run->watcher, &run->watch_seen)) {
		look_again(run, DEADLINE_WATCH);
		return;
	}
	const struct watch_seen *seen = &run->watch_seen;
	run->blind_looks = 0;
	if (seen->tasks > run->watch_peak.tasks)
		run->watch_peak.tasks = seen->tasks;
	if (seen->bytes > run->watch_peak.bytes)
		run->watch_peak.bytes = seen->bytes;
	if (seen->bytes > run->spec->limits.memory_bytes) {
		result_evidence_number(run->r, "seen_bytes", (int64_t)seen->bytes);
		end_by_limit(run, RUN_OOM, "memory",
			     "what could be seen of the sandbox's memory was above its limit");
		return;
	}
	plan_next_look(run);
}

static void look_at_idle(struct run *run)
{
	const int64_t due = deadline_after(run->active_ns, run->spec->limits.idle_ns);
	if (due > now_ns())
		deadline_set(&run->deadlines, DEADLINE_IDLE, due);
	else
		end_by_limit(run, RUN_IDLE_TIMEOUT, "idle",
			     "no byte moved on stdin, stdout or stderr for the idle limit");
}

static void not_dead(struct run *run)
{
	struct err e = ERR_INIT;
	err_host(&e,
		 "the sandbox did not die within %d s of SIGKILL; a process may hang in the kernel",
		 DEATH_MS / 1000);
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
	case DEADLINE_COOL:
		pages_cool_text();
		break;
	case DEADLINE_GRACE:
		result_evidence_text(run->r, "grace", "ended");
		kill_all(run);
		break;
	case DEADLINE_DEATH:
		not_dead(run);
		break;
	case DEADLINE_EGRESS:
		egress_kill(run);
		break;
	case DEADLINE_DRAIN:
		streams_abandon(run);
		run->phase = PHASE_DONE;
		break;
	case DEADLINE_COUNT:
		break;
	}
}

void on_timer(struct run *run, short revents)
{
	(void)revents;
	uint64_t ticks;
	if (read(run->deadlines.fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		return;
	const int64_t now = now_ns();
	for (int id; (id = deadline_due(&run->deadlines, now)) >= 0 && run->phase != PHASE_DONE;)
		on_deadline(run, id);
}
