/* One cgroup v2 leaf: find a parent, create, limit, read, kill, remove.
 *
 * Knows cgroupfs and where a leaf may be made; knows nothing of processes beyond the cgroup's own
 * view. All on the parent's side, by directory fds. See cgroup-v2.rst, systemd's CGROUP_DELEGATION.
 *
 * Whose tree is it? Being able to write is not being allowed to: a systemd is the single writer of
 * its tree and may switch a controller off, and a limit with it, in the middle of a run. So where a
 * systemd manages the tree (init.scope at its top), a subtree counts as delegated only at or below
 * our nearest ancestor that carries its mark, the xattr user.delegate or trusted.delegate; for an
 * ordinary user and for root alike. Where none does, writing rights are the delegation for an
 * ordinary user, and root makes pinfold.slice at the top, which in a container is the container's
 * own cgroup.
 *
 * Scopes. A scope cannot be empty, and from an ssh session or a system service an ordinary user may
 * not enter the tree of the user's own systemd: the kernel wants write access to cgroup.procs of
 * the common ancestor. systemd moves for us (a user's systemd asks pid 1), but only processes that
 * exist. So for a scope the order is another one: the runtime clones pid 1 first, waiting, without
 * CLONE_INTO_CGROUP and without CLONE_NEWCGROUP; cgroup_create() has systemd make
 * pinfold-<id>.scope around it, makes the leaf in it, moves the process into the leaf, enables
 * controllers and writes limits; then the runtime lets pid 1 go on, which unshares its cgroup
 * namespace there. The supervisor itself never leaves its caller's cgroup. systemd removes a scope,
 * evidence and all, when nothing lives in it; a keeper process next to the leaf puts that off until
 * cgroup_destroy(). It dies with the supervisor, so that a killed one leaves no scope.
 *
 * Leaves are held by flock(2) on their directory, which goes with the supervisor: the next run's
 * cgroup_destroy() and `pinfold gc` take those that nobody holds and nothing is in.
 */
#ifndef PINFOLD_CGROUP_CGROUP_H
#define PINFOLD_CGROUP_CGROUP_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/result.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum cgroup_source {
	CGROUP_NONE,	/* no leaf: nothing v2 that we may write to */
	CGROUP_GIVEN,	/* --cgroup-parent */
	CGROUP_SUBTREE, /* a delegated subtree that we are in or may enter */
	CGROUP_SCOPE,	/* a transient scope from systemd, user's or system's */
	CGROUP_SLICE, /* root without systemd: pinfold.slice of our own, which hands the controllers down */
	CGROUP_TOP, /* the same where there is none to hand down: the top itself, at half the cost */
};

enum cgroup_controller { /* bits */
			 CG_MEMORY = 1,
			 CG_PIDS = 2,
			 CG_CPU = 4,
			 CG_IO = 8,
};
enum { CG_CONTROLLERS = 4 };
/* "memory", "pids", "cpu", "io": the controller whose bit is 1 << index. */
const char *controller_name(unsigned index);

struct cgroup {
	enum cgroup_source source;
	int dir;    /* the leaf; -1: no leaf (source CGROUP_NONE) */
	int parent; /* directory fd of its parent, for rmdir */
	char name[80];
	char path[352];	      /* below the cgroup2 mount, for people and for explain */
	unsigned controllers; /* that the leaf has: CG_* bits */
	char why_not[4][120]; /* per controller, in the order of the bits: why it is missing, with errno; "" if there */
	char why_no_leaf[200]; /* source CGROUP_NONE: each rung of the ladder, why not */
	char mend[160];	       /* the command or file that would give the controllers */
	bool swap_file;	       /* memory.swap.max exists */
	bool no_swap;	       /* it does not, and the host has no swap */
	bool has_kill;	       /* cgroup.kill exists (5.14) */
	char made[96]; /* the parent's own name where it goes with its last leaf: slice, scope; else "" */
	pid_t keeper; /* a scope's: pinfold-scope, which keeps it alive until cgroup_destroy(); 0 none */
	int keep; /* it ends when this is closed */
	/* What the kernel showed when each file was read back; "" where it was not written;
	 * io: the devices and the limits that each of them has. */
	struct {
		char memory[24], swap[24], pids[24], cpu[48], weight[24], io[64];
	} value;
};

#define CGROUP_INIT {.source = CGROUP_NONE, .dir = -1, .parent = -1, .keep = -1}

/* Walk the ladder: the first place where a leaf gets every controller in want, else the one that
 * gives most of them. Creates nothing (systemd is asked only whether it listens), but unless dry
 * enables controllers for the children of a subtree or a given parent; dry is for explain and
 * doctor. Never an error but for a given parent that is unusable (ERR_USAGE with errno and what is
 * missing); one without the controllers is usable. */
struct cgroup_place {
	enum cgroup_source source;
	int parent; /* for a slice or scope: the top of the cgroup2 mount */
	char parent_path[256];
	unsigned want;
	unsigned controllers;
	char why_not[4][120];
	char why_no_leaf[200];
	char mend[160];
	bool user_bus; /* CGROUP_SCOPE: the user's bus, not the system's */
	/* Set by the caller before cgroup_find(): why systemd made no scope; then that rung is passed over. */
	const char *no_scope;
	/* Set by the caller before cgroup_create(): */
	pid_t first; /* CGROUP_SCOPE: the process to put in */
	int image;   /* fd on the root file system, whose disks io.max is set on; -1: none */
	const char *libexec; /* folder of our siblings; borrowed */
};
#define CGROUP_PLACE_INIT {.source = CGROUP_NONE, .parent = -1, .image = -1}
int cgroup_find(struct cgroup_place *p, const char *given_parent, unsigned want, bool dry,
		struct err *e);
void cgroup_place_close(struct cgroup_place *p);

/* Make the leaf NAME ("pinfold-<id>"; one path component) at p and write *lim to it, each file read
 * back, all or nothing. A stale empty leaf of that name is replaced, one that is held is ERR_HOST
 * with EEXIST. For a scope p->first is the process to put in (see the top), and libexec, the folder
 * of our siblings, runs pinfold-scope, which asks systemd; this room starts that one process, and
 * has reaped it on return. image: fd on the root file system, whose whole-disk devices io.max is
 * set on (-1: none). pids.max is lim->pids + 1, for pid 1. Io limits without the io controller, and
 * a device that cannot be found, are ERR_HOST. cg->controllers tells what the leaf really has; it
 * may be less than p->controllers foretold. On success *cg owns fds and leaf until
 * cgroup_destroy(). On failure *cg is untouched and nothing is left on disk (in a scope: once
 * p->first is dead). */
int cgroup_create(struct cgroup *cg, const struct cgroup_place *p, const char *name,
		  const struct limits *lim, struct err *e);

/* Rows memory swap pids cpus cpu-time io kill of the ledger, as far as this leaf enforces them with values read
 * back; what it does not is left for runtime/ to fill with the fallback (state stays absent). */
void cgroup_guarantees(const struct cgroup *cg, const struct limits *lim, struct guarantee rows[]);

/* cpu.stat usage_usec of the whole tree, ever. -1 and errno where there is no leaf. */
int cgroup_cpu_usec(const struct cgroup *cg, uint64_t *usec);
/* memory.current. -1 and errno where there is no leaf or no controller. */
int cgroup_memory_bytes(const struct cgroup *cg, uint64_t *bytes);
struct cgroup_cpu {
	int64_t usage_usec, user_usec, system_usec;
};
int cgroup_cpu_times(const struct cgroup *cg, struct cgroup_cpu *cpu);

/* Whether the leaf's own limit killed: memory.events' oom and oom_group_kill (hierarchical counts
 * and .local are told apart). */
struct cgroup_events {
	int64_t oom, oom_kill, oom_group_kill,
		memory_max; /* memory.events.local where there, else memory.events; NUM_UNKNOWN */
	int64_t pids_max;   /* pids.events(.local) max */
};
void cgroup_events(const struct cgroup *cg, struct cgroup_events *ev);
/* Whether the leaf's own memory limit killed. An OOM above the leaf that picks a victim in it
 * raises oom_kill here, and with memory.oom.group oom_group_kill too; oom alone is counted where
 * the limit was reached. */
bool cgroup_events_own_oom(const struct cgroup_events *ev);

/* anon, file and shmem into r->usage; meaningful before the kill. */
void cgroup_composition(const struct cgroup *cg, struct result *r);
/* Peaks and io into r->usage (what is not there stays unknown), and the composition where
 * it is still unknown. Final when everything is dead. */
void cgroup_usage(const struct cgroup *cg, struct result *r);

/* Pressure into r->usage: how long tasks waited. Dying is no waiting of the program's. */
void cgroup_pressure(const struct cgroup *cg, struct result *r);

/* cgroup.kill (where it is missing: nothing, ENOENT). 0 or -1 with errno. */
int cgroup_kill(const struct cgroup *cg);
/* cgroup.events populated: 1, 0, or -1 with errno. */
int cgroup_populated(const struct cgroup *cg);
/* The same through the fd of cgroup_populated_fd(), which arms it again for poll(2). */
int cgroup_populated_again(int fd);
/* fd of cgroup.events to poll for POLLPRI. The caller owns it. The kernel tells at most every 10 ms. */
int cgroup_populated_fd(const struct cgroup *cg);

/* rmdir the leaf (children first, bounded), a scope and an empty slice too, and what killed runs
 * left next to it; EBUSY is retried on events for at most 2 s. Safe on a half-built one. The fds
 * are closed in any case. */
int cgroup_destroy(struct cgroup *cg, struct err *e);

/* `pinfold gc`: remove every empty leaf of ours ("pinfold-*" with populated 0 and no living run of
 * that id) at every place of the ladder; scopes are systemd's and go by themselves. is_running(id,
 * arg) says whether the id has a living supervisor; NULL: the lock on the leaf alone says. Counts
 * go to *removed. */
int cgroup_gc(const char *given_parent, bool (*is_running)(const char *id, void *arg), void *arg,
	      unsigned *removed, struct err *e);

#endif
