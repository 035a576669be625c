/* The program's resource limits: what each row wants, what the caller's hard limits leave of it.
 *
 * An ordinary process cannot raise a hard limit, and pid 1 inherits ours: so what will hold is
 * known here, one read a row, and the program's step sets only what differs. See getrlimit(2). */
#include "runtime/run.h"

#include <assert.h>
#include <string.h>

struct wish {
	rlim_t soft, hard;
	const char *name;
	const char *felt; /* what a program would meet with less, NULL: it would not notice */
	int resource;
	bool lift; /* worth raising the hard limit for, where we may (CAP_SYS_RESOURCE) */
	bool early; /* the kernel makes the creator's soft limit the user namespace's: raise it before */
};

#define WISH(which, at_first, at_most, ...) \
	{.resource = which, .soft = at_first, .hard = at_most, __VA_ARGS__}

static rlim_t smaller(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* execve(2) gives the words a quarter of the soft stack limit, and 128 KiB of room is for the kernel's own. */
static rlim_t stack_for(const struct launch *l)
{
	rlim_t bytes = 128 << 10;
	for (char **word = l->argv; *word; word++)
		bytes += strlen(*word) + 1 + sizeof(*word);
	for (char **word = l->envp; *word; word++)
		bytes += strlen(*word) + 1 + sizeof(*word);
	return 4 * bytes > 8 << 20 ? 4 * bytes : 8 << 20;
}

/* Raising what we may is not worth failing for: the row is what is left. */
static int fit(struct rlimit_row *row, const struct wish *w, struct err *e)
{
	struct rlimit has;
	if (prlimit(0, w->resource, NULL, &has) < 0)
		return err_sys(e, "read resource limit %d", w->resource);
	const bool lift = w->lift && has.rlim_max < w->hard;
	const struct rlimit more = {.rlim_cur = w->early ? has.rlim_max : has.rlim_cur,
				    .rlim_max = lift ? w->hard : has.rlim_max};
	if ((lift || more.rlim_cur != has.rlim_cur) && prlimit(0, w->resource, &more, NULL) == 0)
		has = more;
	row->resource = w->resource;
	row->hard = smaller(w->hard, has.rlim_max);
	row->soft = smaller(w->soft, row->hard);
	row->inherited = row->soft == has.rlim_cur && row->hard == has.rlim_max;
	return 0;
}

/* A default that is cut is told, what was asked for and cannot be had is refused. */
static int check_asked(const struct plan *p, const struct spec *s, rlim_t tasks, struct result *r,
		       struct err *e)
{
	const unsigned long long files = rlimit_hard(&p->launch, RLIMIT_NOFILE);
	const unsigned long long forks = rlimit_hard(&p->launch, RLIMIT_NPROC);
	const unsigned long long pids = s->limits.pids;
	if (s->limits.nofile > files)
		return err_host(e,
				"--nofile %llu is above this process's hard limit of %llu (ulimit -Hn)",
				(unsigned long long)s->limits.nofile, files);
	if (tasks <= forks)
		return 0;
	if (spec_given(s, offsetof(struct spec, limits.pids)))
		return err_host(e,
				"--pids %llu needs %llu processes, and this process's hard limit is %llu (ulimit -Hu)",
				pids, (unsigned long long)tasks, forks);
	result_warn(r,
		    "the default of %llu pids is cut to this process's hard limit of %llu processes (ulimit -Hu)",
		    pids, forks);
	return 0;
}

static void tell_cut(const struct rlimit_row *row, const struct wish *w, struct result *r)
{
	if (w->felt && row->soft < w->soft)
		result_warn(r,
			    "this process's hard limit %s of %llu holds inside too: %s may come of it",
			    w->name, (unsigned long long)row->hard, w->felt);
}

int plan_rlimits(struct plan *p, const struct spec *s, struct result *r, struct err *e)
{
	const bool single = p->launch.ids.form == IDS_FORM_SINGLE;
	const rlim_t nofile = s->limits.nofile ? s->limits.nofile : single ? 256 : 1024;
	/* pid 1, which is uid 0 inside or the single id, counts where the program has the same kuid. */
	const bool shared = single || p->launch.ids.uid == 0;
	const rlim_t tasks = s->limits.pids == LIMIT_NONE ? 0 : s->limits.pids + shared;
	const rlim_t nproc = (p->place.controllers & CG_PIDS) || !tasks ? RLIM_INFINITY : tasks;
	const rlim_t pending = single ? 256 : 4096, none = RLIM_INFINITY;
	const struct wish rows[] = {
		WISH(RLIMIT_NOFILE, nofile, nofile),
		/* Not 0: a core_pattern that is a pipe ignores 0, and is stopped by 1. */
		WISH(RLIMIT_CORE, 1, 1, .lift = true),
		WISH(RLIMIT_NPROC, nproc, nproc, .early = true),
		/* A stack without a soft limit changes the address space layout of old programs. */
		WISH(RLIMIT_STACK, stack_for(&p->launch), none, .name = "RLIMIT_STACK (ulimit -Hs)",
		     .felt = "SIGSEGV or E2BIG"),
		/* Memory that no other limit sees without a controller. */
		WISH(RLIMIT_MEMLOCK, 8 << 20, 8 << 20, .early = true),
		WISH(RLIMIT_MSGQUEUE, 819200, 819200, .early = true),
		WISH(RLIMIT_SIGPENDING, pending, pending, .early = true),
		/* Would starve the host. */
		WISH(RLIMIT_RTPRIO, 0, 0),
		WISH(RLIMIT_NICE, 0, 0),
		/* No part of the contract: time, memory and files have limits of ours that say so
		 * when they are reached, and these would end a program without a word. */
		WISH(RLIMIT_CPU, none, none, .lift = true, .name = "RLIMIT_CPU (ulimit -Ht)",
		     .felt = "SIGXCPU or SIGKILL"),
		WISH(RLIMIT_FSIZE, none, none, .lift = true, .name = "RLIMIT_FSIZE (ulimit -Hf)",
		     .felt = "SIGXFSZ or EFBIG"),
		WISH(RLIMIT_DATA, none, none, .lift = true, .name = "RLIMIT_DATA (ulimit -Hd)",
		     .felt = "ENOMEM"),
		WISH(RLIMIT_AS, none, none, .lift = true, .name = "RLIMIT_AS (ulimit -Hv)",
		     .felt = "ENOMEM or SIGSEGV"),
		/* Without effect on this program or this kernel; lifted to be the same for every caller. */
		WISH(RLIMIT_RSS, none, none, .lift = true),
		WISH(RLIMIT_LOCKS, none, none, .lift = true),
		WISH(RLIMIT_RTTIME, none, none, .lift = true),
	};
	static_assert(sizeof(rows) / sizeof(*rows) == RLIM_NLIMITS, "every limit has its row");
	for (size_t i = 0; i < RLIM_NLIMITS; i++) {
		if (fit(&p->launch.rlimits[i], &rows[i], e) < 0)
			return -1;
		tell_cut(&p->launch.rlimits[i], &rows[i], r);
	}
	return check_asked(p, s, tasks, r, e);
}

rlim_t rlimit_hard(const struct launch *l, int resource)
{
	for (size_t i = 0; i < RLIM_NLIMITS; i++)
		if (l->rlimits[i].resource == resource)
			return l->rlimits[i].hard;
	return RLIM_INFINITY;
}
