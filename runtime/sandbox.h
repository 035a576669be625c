/* One run, from a const struct spec to a struct result. */
#ifndef PINFOLD_RUNTIME_SANDBOX_H
#define PINFOLD_RUNTIME_SANDBOX_H

#include "base/err.h"
#include "cgroup/cgroup.h"
#include "runtime/audit.h"
#include "runtime/collect.h"
#include "runtime/launch.h"
#include "spec/result.h"
#include "spec/spec.h"
#include "transfer/inputs.h"

/* What commands/ knows and a spec does not. All borrowed. */
struct sandbox_options {
	const char *libexec;	/* folder of the sibling programs */
	const char *cache_dir;	/* for compiled filters, NULL none */
	const char *id_range;	/* root's slots, NULL: the built-in range */
	char *const *argv;	/* of this process: pid 1 writes over its copy */
	int events;		/* fd for --events, -1 none */
	int64_t begun_ns;	/* CLOCK_BOOTTIME at the start of pinfold */
	const char *home;	/* the caller's, NULL: unknown */
	const char *input_base; /* inputs must lie in it; NULL: anywhere */
	const char *kept; /* folder of what this user's jobs hand on: inputs may lie in it, too; NULL none */
	const char *const *
		sensitive; /* what must not go in, beside what is built in; NULL-terminated, NULL: nothing */
	const char *no_scope;	 /* why systemd made none, NULL: it has not been asked */
	struct audit *audit;	 /* open, NULL: nothing is recorded */
	const char *runtime_dir; /* this user's own folder for as long as the host is up, NULL none */
	void (*queued)(unsigned position); /* tells people that the run waits for a slot; NULL: nobody */
	bool queued_again;		   /* and again when the position changes */
};

/* The plan: everything that is decided before anything is made. `run` executes it, `explain` prints
 * it, `doctor` judges it. */
struct plan {
	struct launch launch;
	struct cgroup_place place;
	unsigned wanted;	 /* controllers that the limits need */
	bool cgroup_leaf;	 /* a leaf will be made */
	struct sources *sources; /* NULL: no inputs; the arena's */
	struct artifacts_plan artifacts;
};

/* Fill the plan and the rows of the ledger in r as they would come out; nothing on the host changes
 * but, as root, a lock on an id slot. dry: for explain and doctor, the cgroup ladder is not asked
 * to enable anything. On failure r has status, stage and message. */
int plan_make(struct plan *p, const struct spec *s, const struct sandbox_options *o, bool dry,
	      struct result *r);
void plan_close(struct plan *p);

/* What `run` would find, by its very code: a throw-away sandbox of the same image, ids, mounts and
 * filter, which ends where the program would be executed. */
struct rehearsal {
	struct plan plan; /* its descriptors are closed */
	const char *mounts; /* mountinfo as the program would read it; NULL where it did not come to that. The arena's */
};

/* Nothing on the host changes: no cgroup, no name in the registry, no file of the caller's is
 * opened for writing or read. r: exited with 0 if the program could be started, as far as can be
 * told without executing it (the command is there and executable); else what `run` would say, and
 * its rows of the ledger. -1: there is no plan. */
int sandbox_rehearse(const struct spec *s, const struct sandbox_options *o, struct rehearsal *h,
		     struct result *r);

/* Run it. Always fills r; there is no other outcome. */
void sandbox_run(const struct spec *s, const struct sandbox_options *o, struct result *r);

/* A run that is refused before sandbox_run(), r saying why: its one event, the end. May add a warning to r. */
void sandbox_refused(const struct spec *s, const struct sandbox_options *o, struct result *r);

#endif
