#include "runtime/run.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

bool ended_by_itself(const struct run *run)
{
	return run->main_exited && run->decided &&
	       (run->r->status == RUN_EXITED || run->r->status == RUN_SIGNALED);
}

void kill_all(struct run *run)
{
	if (run->phase >= PHASE_KILLED)
		return;
	run_event(run, EVENT_STAGE, "kill");
	egress_end(run);
	watcher_stop(&run->watcher);
	evidence_before_kill(run);
	/* pid 1 first: its end makes the kernel kill all the others, on another cpu. */
	syscall(SYS_pidfd_send_signal, run->init_pidfd, SIGKILL, NULL, 0);
	if (run->cg.dir >= 0)
		cgroup_kill(&run->cg);
	/* While the kernel is at it, which takes longer than to read this. */
	cgroup_pressure(&run->cg, run->r);
	run->phase = PHASE_KILLED;
	for (int id = 0; id < DEADLINE_COUNT; id++)
		if (id != DEADLINE_EGRESS)
			deadline_clear(&run->deadlines, (enum deadline_id)id);
	deadline_set(&run->deadlines, DEADLINE_DEATH, now_ns() + DEATH_MS * MS_NS);
}

void end_by_limit(struct run *run, enum run_status status, const char *limit, const char *message)
{
	run_decide(run, status, limit, message);
	kill_all(run);
}

void end_by_error(struct run *run, enum run_status status, const char *stage, const struct err *e)
{
	/* What never started cannot be lost. */
	run_fail(run, status == RUN_LOST && !run->started_ns ? RUN_SETUP_FAILED : status, stage, e);
	kill_all(run);
}

void cancel(struct run *run, const char *key, const char *value, const char *message)
{
	if (!run->decided)
		result_evidence_text(run->r, key, value);
	run_decide(run, RUN_CANCELLED, "", message);
}
