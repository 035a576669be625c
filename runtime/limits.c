/* The limits that the supervisor itself watches: each is a deadline, set for the moment. */
#include "base/pages.h"
#include "runtime/run.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

enum {
	SETUP_MS = 30000, /* generous: an emulated machine under load */
	CPU_LOOK_MS = 2,  /* the cpu time is looked at no closer than this */
	WATCH_MS = 20,	  /* and the memory, where /proc is all there is */
	USAGE_MS = 1000,
	BLIND_LOOKS = 50, /* so many in a row that fail: the limit is not watched any more */
};

static int64_t in_ms(int64_t ms)
{
	return now_ns() + ms * MS_NS;
}

void setup_begins(struct run *run)
{
	deadline_set(&run->deadlines, DEADLINE_SETUP, in_ms(SETUP_MS));
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
	if (lim->memory_bytes != LIMIT_NONE && !(run->cg.controllers & CG_MEMORY))
		deadline_set(&run->deadlines, DEADLINE_WATCH, now + WATCH_MS * MS_NS);
	deadline_set(&run->deadlines, DEADLINE_COOL, now + COOL_MS * MS_NS);
	if (run->events.fd >= 0)
		deadline_set(&run->deadlines, DEADLINE_USAGE, now + USAGE_MS * MS_NS);
}

/* A look may fail while the sandbox is dying. One that keeps failing is a limit that nobody enforces. */
static void look_again(struct run *run, enum deadline_id id)
{
	struct err e = ERR_INIT;
	if (++run->blind_looks < BLIND_LOOKS) {
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

static void look_at_memory(struct run *run)
{
	const int64_t begin = now_ns();
	uint64_t bytes, tasks;
	if (!watch_memory(&run->watch, run->spec->limits.memory_bytes, &bytes)) {
		look_again(run, DEADLINE_WATCH);
		return;
	}
	run->blind_looks = 0;
	if (watch_pids(&run->watch, &tasks) && tasks > run->watch_peak_pids)
		run->watch_peak_pids = tasks;
	if (bytes > run->watch_peak_bytes)
		run->watch_peak_bytes = bytes;
	if (bytes > run->spec->limits.memory_bytes) {
		result_evidence_number(run->r, "seen_bytes", (int64_t)bytes);
		end_by_limit(run, RUN_OOM, "memory",
			     "what could be seen of the sandbox's memory was above its limit");
		return;
	}
	/* At most a twentieth of a cpu goes into looking. */
	const int64_t end = now_ns(), cost = (end - begin) * 20;
	deadline_set(&run->deadlines, DEADLINE_WATCH,
		     end + (cost > WATCH_MS * MS_NS ? cost : WATCH_MS * MS_NS));
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
