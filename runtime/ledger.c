/* The ledger: which guarantee holds by what mechanism, and what is not covered where the host gives
 * less.
 *
 * Rows that a step of the set-up enforces and reads back are enforced once the program starts at
 * all: a step that fails ends the run. What depends on the host is decided here, in one place.
 */
#include "base/text.h"
#include "runtime/confine.h"
#include "runtime/cpus.h"
#include "runtime/run.h"
#include "spec/parse.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef void text_fn(uint64_t, char[PARSE_TEXT_BYTES]);

/* What the spec says of a row, and true if it is a limit at all. */
static_assert(sizeof(((struct guarantee *)0)->requested) >= PARSE_TEXT_BYTES,
	      "a formatted value fits");
static bool requested(struct guarantee *g, uint64_t value, text_fn *text)
{
	if (value == LIMIT_NONE)
		snprintf(g->requested, sizeof(g->requested), "none");
	else
		text(value, g->requested);
	return value != LIMIT_NONE;
}

/* A limit that was lifted is not degraded: nothing was promised. */
static void not_asked(struct guarantee *g)
{
	guarantee_enforced(g, "not limited", "");
}

struct facts {
	const struct plan *p;
	const struct spec *s;
	const struct cgroup *cg;
	struct guarantee *rows;
	unsigned controllers;
	const char *mend;
};

#define NOT_WATCHED                                                                          \
	"page tables, kernel memory, pipes, sockets, page cache, growth between two looks, " \
	"files behind descriptors in flight, shared memory in no page table"
#define NOT_OPEN \
	", descriptors of undumpable processes, unreadable programs beyond one's private memory"
static_assert(sizeof(((struct guarantee *)0)->not_covered) >= sizeof(NOT_WATCHED NOT_OPEN),
	      "what is not covered is said in full");

static void because(struct guarantee *g, const char *why)
{
	snprintf(g->why, sizeof(g->why), "%s", why);
}

static void memory_rows(const struct facts *f)
{
	const struct limits *lim = &f->s->limits;
	struct guarantee *memory = &f->rows[G_MEMORY], *swap = &f->rows[G_SWAP];
	if (!requested(memory, lim->memory_bytes, spec_format_size)) {
		not_asked(memory);
		not_asked(swap);
		return;
	}
	snprintf(swap->requested, sizeof(swap->requested), "0");
	if (f->controllers & CG_MEMORY) {
		guarantee_enforced(memory, "memory.max", "");
		guarantee_enforced(swap, "memory.swap.max", "");
		return;
	}
	/* An ordinary user's supervisor may not open what belongs to root: the descriptors of a
	 * process that is not dumpable, the mappings of a program that it could not read. */
	const bool all_open = f->p->launch.ids.form == IDS_FORM_SLOT;
	guarantee_degraded(memory, "watch of /proc and the scratch", "",
			   all_open ? NOT_WATCHED : NOT_WATCHED NOT_OPEN, f->mend);
	guarantee_degraded(swap, "watch of /proc", "", "swapped shared memory", f->mend);
}

/* Which of them is for pid 1 to choose, see ledger_cpus(). */
static const char *cpus_foreseen(const struct facts *f, char *buf, size_t size)
{
	const struct launch *l = &f->p->launch;
	char allowed[CPUS_TEXT];
	cpus_list(allowed, sizeof(allowed), &l->cpus_allowed);
	if (l->set_affinity)
		snprintf(buf, size, "%u of %s", l->cpus, allowed);
	else
		snprintf(buf, size, "%s", allowed);
	return buf;
}

static void pids_row(const struct facts *f)
{
	struct guarantee *pids = &f->rows[G_PIDS];
	const rlim_t hard = rlimit_hard(&f->p->launch, RLIMIT_NPROC);
	char value[32];
	snprintf(value, sizeof(value), "%llu", (unsigned long long)hard);
	if (!requested(pids, f->s->limits.pids, spec_format_count)) {
		if (hard == RLIM_INFINITY)
			not_asked(pids);
		else
			guarantee_enforced(pids, "the caller's own RLIMIT_NPROC", value);
	} else if (f->controllers & CG_PIDS) {
		guarantee_enforced(pids, "pids.max", "");
	} else {
		guarantee_degraded(pids, "RLIMIT_NPROC", value,
				   "reaching it is not counted, a refused fork is EAGAIN all the same",
				   f->mend);
	}
}

/* Read from the plan, which cut every row to what the caller may give; the step sets and reads back just that. */
static void rlimit_rows(const struct facts *f)
{
	struct guarantee *nofile = &f->rows[G_NOFILE], *core = &f->rows[G_CORE];
	const struct launch *l = &f->p->launch;
	const rlim_t files = rlimit_hard(l, RLIMIT_NOFILE), bytes = rlimit_hard(l, RLIMIT_CORE);
	const uint64_t asked = f->s->limits.nofile;
	char value[32];
	snprintf(value, sizeof(value), "%llu", (unsigned long long)files);
	requested(nofile, asked ? asked : files, spec_format_count);
	guarantee_enforced(nofile, "RLIMIT_NOFILE", value);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)bytes);
	if (bytes == 1) {
		guarantee_enforced(core, "RLIMIT_CORE", value);
		return;
	}
	guarantee_degraded(core, "RLIMIT_CORE", value,
			   "a core_pattern that is a pipe: its handler is started on the host and gets the core",
			   "a hard limit of 1 or more for the caller (ulimit -Hc, LimitCORE=)");
	because(core, "the caller's hard limit is 0, which the kernel heeds for files alone");
}

static void task_rows(const struct facts *f)
{
	char list[CPUS_TEXT + 16];
	const struct limits *lim = &f->s->limits;
	pids_row(f);
	struct guarantee *cpus = &f->rows[G_CPUS];
	if (!requested(cpus, lim->cpus_milli, spec_format_cpus))
		not_asked(cpus);
	else if (f->controllers & CG_CPU)
		guarantee_enforced(cpus, "cpu.max", "");
	else
		guarantee_degraded(cpus, "sched_setaffinity", cpus_foreseen(f, list, sizeof(list)),
				   "parts of a cpu, cpus shared with other runs", f->mend);

	struct guarantee *time = &f->rows[G_CPU_TIME];
	if (!requested(time, lim->cpu_time_ns, spec_format_time))
		not_asked(time);
	else if (f->p->cgroup_leaf)
		guarantee_enforced(time, "cpu.stat", "");
	else
		guarantee_degraded(time, "sum of /proc/PID/stat", "",
				   "children that were never waited for, parts of a clock tick",
				   f->mend);
}

static void io_row(const struct facts *f)
{
	struct guarantee *io = &f->rows[G_IO];
	if (!(f->p->wanted & CG_IO)) {
		snprintf(io->requested, sizeof(io->requested), "none");
		not_asked(io);
		return;
	}
	snprintf(io->requested, sizeof(io->requested),
		 "io.max"); /* without the controller plan_make() refuses */
	guarantee_enforced(io, "io.max", "");
}

static void own_limits(const struct facts *f)
{
	const struct limits *lim = &f->s->limits;
	struct guarantee *g = f->rows;
	guarantee_enforced(&g[G_WALL],
			   requested(&g[G_WALL], lim->wall_ns, spec_format_time) ? "timerfd"
										 : "not limited",
			   "");
	guarantee_enforced(&g[G_IDLE],
			   requested(&g[G_IDLE], lim->idle_ns, spec_format_time) ? "timerfd"
										 : "not limited",
			   "");
	requested(&g[G_SCRATCH], lim->scratch_bytes, spec_format_size);
	guarantee_enforced(&g[G_SCRATCH], "tmpfs size=", "");
	requested(&g[G_INODES], lim->scratch_inodes, spec_format_count);
	guarantee_enforced(&g[G_INODES], "tmpfs nr_inodes=", "");
	guarantee_enforced(&g[G_OUTPUT],
			   requested(&g[G_OUTPUT], lim->output_bytes, spec_format_size)
				   ? "relay"
				   : "not limited",
			   "");
	rlimit_rows(f);
}

/* Rows that hold whenever the program starts: the step that makes each reads it back or fails the run. */
static const struct {
	enum guarantee_id id;
	const char *by;
} by_set_up[] = {
	{G_USER_NS, "clone3"},
	{G_PID_NS, "clone3"},
	{G_NET_NS, "clone3"},
	{G_MOUNT_NS, "clone3"},
	{G_IPC_NS, "clone3"},
	{G_UTS_NS, "clone3"},
	{G_CGROUP_NS, "unshare"},
	{G_ROOT_READ_ONLY, "mount_setattr"},
	{G_NO_NEW_PRIVS, "prctl"},
	{G_CAPABILITIES, "capset"},
	{G_PROC, "proc"},
	{G_STDIO, "relay"},
	{G_EGRESS, "net namespace without a device"},
	{G_GROUPS, "setgroups"},
	{G_OWNERSHIP, "id map"},
	{G_USER_QUOTAS, "kuid of its own"},
};

/* How much of the kernel's part there is shows in the value. */
static void egress_row(const struct facts *f)
{
	struct guarantee *g = &f->rows[G_EGRESS];
	const size_t rules = f->s->egress.allow.len;
	const int landlock = rules ? confine_landlock() : 0;
	char value[64];
	if (rules == 0)
		return;
	snprintf(g->requested, sizeof(g->requested), "%zu rule%s", rules, rules == 1 ? "" : "s");
	snprintf(value, sizeof(value), landlock ? "seccomp, Landlock %d" : "seccomp", landlock);
	guarantee_enforced(g, "broker in three jails", value);
}

static void identity_rows(const struct facts *f)
{
	char map[64];
	const struct ids *ids = &f->p->launch.ids;
	for (size_t i = 0; i < sizeof(by_set_up) / sizeof(*by_set_up); i++)
		guarantee_enforced(&f->rows[by_set_up[i].id], by_set_up[i].by, "");
	ids_describe(ids, map, sizeof(map));
	guarantee_enforced(&f->rows[G_IDS], "uid_map", map);
	if (ids->form == IDS_FORM_SINGLE) {
		const char *mend = "--ids range (needs /etc/subuid and Debian's uidmap)";
		guarantee_degraded(&f->rows[G_GROUPS], "single id map", "",
				   "the caller's supplementary groups stay and show as 65534, files of the image that such a group alone may read are readable",
				   mend);
		guarantee_degraded(&f->rows[G_USER_QUOTAS], "single id map", "",
				   "pipe pages, fds in flight, pending signals, the caller's RLIMIT_NPROC are shared with the caller's processes",
				   mend);
		because(&f->rows[G_GROUPS],
			"whoever maps its own id alone, without a helper, may not call setgroups (EPERM)");
		because(&f->rows[G_USER_QUOTAS], "the program's kuid is the caller's");
	}
}

static void control_rows(const struct facts *f)
{
	const struct filter *filter = &f->p->launch.filter;
	if (filter->custom)
		guarantee_enforced(&f->rows[G_SECCOMP], "custom", filter->digest);
	else
		guarantee_enforced(&f->rows[G_SECCOMP], "default", "");
	const bool killer = f->cg ? f->cg->has_kill : f->p->cgroup_leaf;
	guarantee_enforced(&f->rows[G_KILL], killer ? "cgroup.kill" : "pid namespace", "");
}

/* What the ladder of cgroup/ said about the controller behind a row. */
static void reasons(const struct plan *p, const struct cgroup *cg, struct guarantee rows[])
{
	static const struct {
		enum guarantee_id id;
		int controller;
	} behind[] = {{G_MEMORY, 0}, {G_SWAP, 0},     {G_PIDS, 1},
		      {G_CPUS, 2},   {G_CPU_TIME, 2}, {G_IO, 3}};
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++) {
		struct guarantee *g = &rows[behind[i].id];
		const char *why = cg ? cg->why_not[behind[i].controller]
				     : p->place.why_not[behind[i].controller];
		if (g->state != G_ENFORCED)
			text_fit(g->why, sizeof(g->why), why[0] ? why : p->place.why_no_leaf);
	}
}

void ledger_fill(const struct plan *p, const struct spec *s, const struct cgroup *cg,
		 struct result *r)
{
	const struct facts f = {.p = p,
				.s = s,
				.cg = cg,
				.rows = r->guarantees,
				.controllers = cg ? cg->controllers : p->place.controllers,
				.mend = p->place.mend[0] ? p->place.mend : "see `pinfold doctor`"};
	memory_rows(&f);
	task_rows(&f);
	io_row(&f);
	own_limits(&f);
	identity_rows(&f);
	egress_row(&f);
	control_rows(&f);
	if (cg)
		cgroup_guarantees(cg, &s->limits, r->guarantees);
	reasons(p, cg, r->guarantees);
}

void ledger_proc_outer(struct result *r)
{
	guarantee_degraded(&r->guarantees[G_PROC], "outer proc", "",
			   "processes of the host are listed, new user namespaces are stopped by the filter alone",
			   "run where /proc is not masked, without --proc outer");
	because(&r->guarantees[G_PROC], "the host forbids a fresh proc to user namespaces");
}

void ledger_egress_lost(struct result *r)
{
	guarantee_degraded(&r->guarantees[G_EGRESS], "broker in three jails", "",
			   "what the rules allow: after the broker's death nothing left at all", "");
	because(&r->guarantees[G_EGRESS], "the broker died while the program ran");
}

void ledger_cpus(const struct plan *p, unsigned first, struct result *r)
{
	const struct launch *l = &p->launch;
	struct guarantee *row = &r->guarantees[G_CPUS];
	cpu_set_t window;
	if (strcmp(row->by, "sched_setaffinity") != 0)
		return;
	cpus_window(&window, &l->cpus_allowed, l->cpus, first);
	cpus_list(row->value, sizeof(row->value), &window);
}

void ledger_ownership(const struct plan *p, bool idmapped, struct result *r)
{
	if (p->launch.ids.form != IDS_FORM_SLOT || p->launch.root.form == ROOTFS_HOST)
		return;
	struct guarantee *row = &r->guarantees[G_OWNERSHIP];
	if (idmapped) {
		guarantee_enforced(row, "idmapped mount", "");
		return;
	}
	guarantee_degraded(row, "plain mount", "", "owners of the image's files show as 65534",
			   "an image on ext4, xfs, btrfs or tmpfs");
	because(row, "the image's file system cannot be idmapped");
}

int ledger_require(const struct result *r, uint64_t require, struct err *e)
{
	for (int id = 0; id < G_COUNT; id++) {
		const struct guarantee *g = &r->guarantees[id];
		if (!(require >> id & 1) || g->state == G_ENFORCED)
			continue;
		return err_usage(e, "--require %s: it is %s here%s%s; not covered: %s; %s",
				 guarantee_name(id), guarantee_state_name(g->state),
				 g->why[0] ? ": " : "", g->why, g->not_covered, g->mend);
	}
	return 0;
}
