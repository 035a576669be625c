/* The rows of the ledger that the leaf answers for. */
#include "cgroup/parts.h"

#include <string.h>

static const char *shown(const char *value)
{
	return value[0] ? value : "max"; /* a new cgroup has no limit, and none was asked for */
}

static void memory_rows(const struct cgroup *cg, struct guarantee rows[])
{
	guarantee_enforced(&rows[G_MEMORY], "memory.max", shown(cg->value.memory));
	if (cg->swap_file)
		guarantee_enforced(&rows[G_SWAP], "memory.swap.max", cg->value.swap);
	else if (cg->no_swap)
		guarantee_enforced(&rows[G_SWAP], "no swap on this host", "0");
}

void cgroup_guarantees(const struct cgroup *cg, const struct limits *lim, struct guarantee rows[])
{
	uint64_t usec;
	if (cg->dir < 0)
		return;
	if (cg->controllers & CG_MEMORY)
		memory_rows(cg, rows);
	if (cg->controllers & CG_PIDS)
		guarantee_enforced(&rows[G_PIDS], "pids.max", shown(cg->value.pids));
	if (cg->controllers & CG_CPU)
		guarantee_enforced(&rows[G_CPUS], "cpu.max", shown(cg->value.cpu));
	if (cg->value.io[0])
		guarantee_enforced(&rows[G_IO], "io.max", cg->value.io);
	if (lim->cpu_time_ns != LIMIT_NONE && cgroup_cpu_usec(cg, &usec) == 0)
		guarantee_enforced(&rows[G_CPU_TIME], "cpu.stat", "");
	if (cg->has_kill)
		guarantee_enforced(&rows[G_KILL], "cgroup.kill", "");
}
