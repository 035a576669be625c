/* Inside runtime/: the state of one run on the supervisor's side, and who does what with it.
 *
 *   sandbox.c    theory of operation; prepare, start, supervise, conclude
 *   plan.c       spec -> plan (ids, image, cgroup place, filter, words, limits)
 *   rlimits.c    the program's resource limits, within the caller's
 *   ledger.c     plan and facts -> guarantees
 *   spawn.c      clone3, id maps, the image tree, GO
 *   supervise.c  one poll loop until everything is dead and drained, its events handled here and in
 *   limits.c     deadlines, and looks at the memory: taken in a thread by
 *   watcher.c    who calls watch_memory.c and twins.c, which know nothing of a run
 *   stdio.c      streams
 *   inputs.c     the sender of inputs
 *   egress.c     the broker: start, reports, end
 *   audit.c      where records go; knows nothing of a run
 *   queue.c      the wait for a slot, with slots.c, which knows their file
 *   ending.c     how a run is told to end
 *   collect.c    artifacts, and validate.c, which looks at one
 *   conclude.c   evidence, usage, verdict -> result
 */
#ifndef PINFOLD_RUNTIME_RUN_H
#define PINFOLD_RUNTIME_RUN_H

#include "base/clock.h"
#include "cgroup/cgroup.h"
#include "runtime/collect.h"
#include "runtime/control.h"
#include "runtime/deadline.h"
#include "runtime/egress.h"
#include "runtime/inputs.h"
#include "runtime/relay.h"
#include "runtime/sandbox.h"
#include "runtime/tty.h"
#include "runtime/watcher.h"
#include "seccomp/seccomp.h"

#include <sys/resource.h>
#include <sys/types.h>

enum phase {
	PHASE_SETUP,   /* from clone3 until the program's execve */
	PHASE_RUNNING, /* limits count */
	PHASE_GRACE,   /* a signal was forwarded; the program may still end by itself */
	PHASE_KILLED,  /* SIGKILL is out; waiting for death */
	PHASE_DRAIN,   /* all dead; passing on what is in the pipes */
	PHASE_DONE,
};

struct run {
	const struct spec *spec;
	const struct sandbox_options *o;
	struct result *r;
	struct plan plan;
	struct cgroup cg;

	enum phase phase;
	bool all_dead; /* the leaf is empty and pid 1 reaped */
	bool decided;  /* r->status and r->cause are final */
	bool main_exited;
	bool scope_refused; /* systemd made none, or one that cannot be used */
	bool hurried;	    /* the drain was told to end soon */
	bool told_to_stop;  /* while artifacts were collected, or the last event was to be taken */
	unsigned queue_position; /* while it waits for a slot: 1 is the first */
	uint64_t early_signals; /* to be forwarded once the program can be reached: bit N-1 is signal N */
	int main_status;
	bool idmapped;

	pid_t init;
	int init_pidfd, program, control, registry, caller, signals, populated;
	bool init_dead;
	int user_namespace; /* the sandbox's, for who collects its artifacts; -1 */
	struct rusage rusage;

	int pty; /* master, -1 */
	struct tty_caller terminal;
	struct feed feed;
	struct stream out, err;
	struct outlet events;
	struct notify notify;
	struct watch watch;
	struct watcher watcher;
	struct watch_seen watch_seen, watch_peak; /* the last look, and the largest of all */
	unsigned blind_looks;			  /* in a row that could not be taken */
	bool event_dropped;
	struct watch_cpu watch_cpu; /* before the kill, where there is no leaf */

	struct egress_link egress;
	struct input_link inputs;
	struct deadlines deadlines;
	int64_t started_ns, ended_ns, active_ns;
	const char *mounts; /* of a rehearsal; the arena's */
};

/* ---- plan.c ---- */
/* Controllers that the limits ask for: CG_* bits. */
unsigned plan_controllers(const struct limits *lim);

/* SHA-256 of the spec as it was understood. */
void digest_spec(const struct spec *s, struct result *r);

/* ---- rlimits.c ---- */
/* Every row of launch.rlimits, as it will hold. Raises limits of this process where a row says so.
 * -1 and *e (ERR_HOST): more was asked for than this process may give. What is less than it should
 * be, and would be felt, is a warning. */
int plan_rlimits(struct plan *p, const struct spec *s, struct result *r, struct err *e);
rlim_t rlimit_hard(const struct launch *l, int resource);

/* ---- ledger.c ---- */
/* Rows as they stand by the plan; cg is the leaf if it was made, else NULL (predicted). */
void ledger_fill(const struct plan *p, const struct spec *s, const struct cgroup *cg,
		 struct result *r);
void ledger_proc_outer(struct result *r);
/* Which cpus pid 1 has chosen: those from first on. */
void ledger_cpus(const struct plan *p, unsigned first, struct result *r);
/* The broker died while the program ran. */
void ledger_egress_lost(struct result *r);
void ledger_ownership(const struct plan *p, bool idmapped, struct result *r);
/* 0; -1 and *e (ERR_USAGE: it was the caller's condition) names the first required guarantee that is not enforced. */
int ledger_require(const struct result *r, uint64_t require, struct err *e);

/* ---- sandbox.c ---- */
/* The cgroup leaf and its rows of the ledger. */
int make_leaf(struct run *run, struct err *e);

/* Takes one signal, which is there: whether it is one that ends us, which is remembered. */
bool told_to_stop(struct run *run);

/* ---- spawn.c ---- */
/* stdio pipes, control socket, clone3, maps, tree, GO. On failure nothing is left running, and
 * *stage is "spawn", or where pid 1 failed if it was the first to. */
int spawn(struct run *run, const char **stage, struct err *e);
/* From here on what would end us is a read, and nothing that was begun stays behind. */
int open_signals(struct run *run, struct err *e);

/* ---- terminal.c ---- */
/* The pty's master came: join it with the caller's terminal. */
int tty_join(struct run *run, struct err *e);

/* ---- supervise.c ---- */
void supervise(struct run *run);
/* The program's process is ready for execve and holds until we answer. takes listener. */
void program_is_starting(struct run *run, int listener);

/* ---- limits.c ---- */
enum { DEATH_MS = 5000 }; /* not dead so long after SIGKILL is `lost` */
void setup_begins(struct run *run);
void start_limits(struct run *run);
void on_timer(struct run *run, short revents);
/* A look at the memory has ended. */
void on_look(struct run *run, short revents);

/* ---- stdio.c ---- */
void on_out_from(struct run *run, short revents);
void on_err_from(struct run *run, short revents);
void on_out_to(struct run *run, short revents);
void on_err_to(struct run *run, short revents);
void on_feed_from(struct run *run, short revents);
void on_feed_to(struct run *run, short revents);
void on_events(struct run *run, short revents);
/* The drain's time is over: what has not been taken is lost, and the result says so. */
void streams_abandon(struct run *run);

/* ---- ending.c ---- */
/* Its main process did, and nothing else decided the run. */
bool ended_by_itself(const struct run *run);
/* Evidence, then SIGKILL to everything; once. */
void kill_all(struct run *run);
void end_by_limit(struct run *run, enum run_status status, const char *limit, const char *message);
void end_by_error(struct run *run, enum run_status status, const char *stage, const struct err *e);
/* Decide `cancelled` with one piece of evidence; whoever calls says whether there is a grace. */
void cancel(struct run *run, const char *key, const char *value, const char *message);

/* ---- conclude.c ---- */
/* Decide the outcome, once. limit may be "". */
void run_decide(struct run *run, enum run_status status, const char *limit, const char *message);
/* exited or signaled, by what the main process came to. */
void run_decide_by_main(struct run *run);
/* The main process's end is not the last word: something that it did before has yet to be judged. */
void run_reopen(struct run *run);
void run_fail(struct run *run, enum run_status status, const char *stage, const struct err *e);
/* The set-up failed: refused where the caller or the host's policy is behind it (stage "host", with
 * the way out), setup-failed otherwise. */
void refuse_or_fail(struct run *run, const char *stage, const struct err *e);
/* Composition and counters while the processes are alive, before SIGKILL goes out. */
void evidence_before_kill(struct run *run);
/* After everything is dead: counters, peaks, verdicts that only they tell. */
void evidence_after_death(struct run *run);
void report_streams(struct run *run);

/* The whole tree's cpu time, from the leaf, else as far as /proc shows it. 0 or -1. */
int run_cpu_usec(const struct run *run, uint64_t *usec);

/* To the audit, if there is one: what was denied, and why (NULL: that says its kind). */
void run_audit(struct run *run, enum audit_kind kind, const char *name, const char *reason);
void run_event(struct run *run, enum event_type type, const char *name);
void run_event_egress(struct run *run, const struct egress_row *row);
void run_event_artifact(struct run *run, const struct artifact_row *row);
/* Write what can be written now; what cannot be written at all is a warning, and the end of the events. */
void events_flush(struct run *run);
/* What is still there now is lost, which is a warning too. */
void events_end(struct run *run);

#endif
