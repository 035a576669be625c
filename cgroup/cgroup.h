/* One cgroup v2 leaf: find a parent, create, limit, read, kill, remove.
 *
 * Knows cgroupfs and where a leaf may be made; knows nothing of processes beyond the cgroup's own
 * view. All on the parent's side, by directory fds. See cgroup-v2.rst, systemd's CGROUP_DELEGATION.
 */
#ifndef PINFOLD_CGROUP_CGROUP_H
#define PINFOLD_CGROUP_CGROUP_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/result.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum cgroup_source {
	CGROUP_NONE,	/* no leaf: nothing v2 that we may write to */
	CGROUP_GIVEN,	/* --cgroup-parent */
	CGROUP_SUBTREE, /* a delegated subtree that we are in or may enter */
	CGROUP_SCOPE,	/* a transient scope from systemd, user's or system's */
	CGROUP_SLICE,	/* root without systemd: pinfold.slice of our own */
};

enum cgroup_controller { /* bits */
	CG_MEMORY = 1, CG_PIDS = 2, CG_CPU = 4, CG_IO = 8,
};

struct cgroup {
	enum cgroup_source source;
	int dir;    /* the leaf; -1: no leaf (source CGROUP_NONE) */
	int parent; /* directory fd of its parent, for rmdir */
	char name[80];
	char path[256]; /* below the cgroup2 mount, for people and for explain */
	unsigned controllers; /* that the leaf has: CG_* bits */
	char why_not[4][120]; /* per controller, in the order of the bits: why it is missing, with errno; "" if there */
	char why_no_leaf[200]; /* source CGROUP_NONE: each rung of the ladder, why not */
	char mend[160];	       /* the command or file that would give the controllers */
	bool swap_file; /* memory.swap.max exists */
	bool has_kill;	/* cgroup.kill exists (5.14) */
	bool has_peak;	/* memory.peak exists (5.19) */
};

#define CGROUP_INIT {.source = CGROUP_NONE, .dir = -1, .parent = -1}

/* Walk the ladder and stop at the first parent where a leaf can be made; create nothing (systemd is
 * asked only whether it is there). want: controllers that the limits need. Never an error but for a given
 * parent that is unusable (ERR_USAGE with errno and what is missing). dry: for explain and doctor, ask
 * nothing that changes the host (do not enable controllers). */
struct cgroup_place {
	enum cgroup_source source;
	int parent;
	char parent_path[256];
	unsigned controllers;
	char why_not[4][120];
	char why_no_leaf[200];
	char mend[160];
	bool user_bus; /* CGROUP_SCOPE: the user's bus, not the system's */
};
#define CGROUP_PLACE_INIT {.source = CGROUP_NONE, .parent = -1}
int cgroup_find(struct cgroup_place *p, const char *given_parent, unsigned want, bool dry, struct err *e);
void cgroup_place_close(struct cgroup_place *p);

/* Make the leaf NAME ("pinfold-<id>"; one path component) at p and write *lim to it, each file read back, all or
 * nothing; a stale empty leaf of that name is EEXIST. For a scope libexec (folder of our siblings) runs
 * pinfold-scope, which asks systemd for the scope pinfold-<id>.scope with Delegate=yes. image: fd on the root file
 * system, whose whole-disk devices io.max is set on (-1: none). pids.max is lim->pids + 1, for pid 1.
 * On success *cg owns fds and leaf until cgroup_destroy(). On failure *cg is untouched and nothing is left on disk. */
int cgroup_create(struct cgroup *cg, const struct cgroup_place *p, const char *name, const struct limits *lim,
		  int image, const char *libexec, struct err *e);

/* Rows memory swap pids cpus cpu-time io kill of the ledger, as far as this leaf enforces them with values read
 * back; what it does not is left for runtime/ to fill with the fallback (state stays absent). */
void cgroup_guarantees(const struct cgroup *cg, const struct limits *lim, struct guarantee rows[]);

/* cpu.stat usage_usec of the whole tree, ever. -1 and errno where there is no leaf. */
int cgroup_cpu_usec(const struct cgroup *cg, uint64_t *usec);

/* Whether the leaf's own limit killed: memory.events' oom and oom_group_kill (hierarchical counts and
 * .local are told apart). */
struct cgroup_events {
	int64_t oom, oom_kill, oom_group_kill, memory_max; /* memory.events.local where there, else memory.events; NUM_UNKNOWN */
	int64_t pids_max;				    /* pids.events(.local) max */
};
void cgroup_events(const struct cgroup *cg, struct cgroup_events *ev);
/* fd to poll for POLLPRI on memory.events.local (else memory.events), -1 if there is none. The caller owns it. */
int cgroup_events_fd(const struct cgroup *cg);

/* peaks, composition, io, pressure into r->usage (what is not there stays unknown). composition (anon, file, shmem)
 * is meaningful before the kill. */
void cgroup_usage(const struct cgroup *cg, struct result *r);

/* cgroup.kill (where it is missing: nothing, ENOENT). 0 or -1 with errno. */
int cgroup_kill(const struct cgroup *cg);
/* cgroup.events populated: 1, 0, or -1 with errno. */
int cgroup_populated(const struct cgroup *cg);
/* fd of cgroup.events to poll for POLLPRI. */
int cgroup_populated_fd(const struct cgroup *cg);

/* rmdir the leaf (children first, bounded), for a scope the scope too; EBUSY is retried on events for at most
 * 2 s. Safe on a half-built one. The fds are closed in any case. */
int cgroup_destroy(struct cgroup *cg, struct err *e);

/* `pinfold gc`: remove every empty leaf of ours ("pinfold-*" with populated 0 and no living run of that id) at every
 * place of the ladder. is_running(id, arg) says whether the id has a living supervisor. Counts go to *removed. */
int cgroup_gc(const char *given_parent, bool (*is_running)(const char *id, void *arg), void *arg, unsigned *removed,
	      struct err *e);

#endif
