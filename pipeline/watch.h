/* What waits: for stages that run, for signals, for the caller, for who reads. One poll loop. Inside pipeline/. */
#ifndef PINFOLD_PIPELINE_WATCH_H
#define PINFOLD_PIPELINE_WATCH_H

#include "pipeline/run.h"
#include "runtime/relay.h"

struct watch {
	const struct job_options *o;
	struct job_result *r;
	struct stage_place place;
	int signals, caller;
	struct outlet out, err, events;
	bool cancelled;
	/* What cannot be written to what the caller gave, though somebody reads there; NULL: it
	 * can. The job is cancelled then. */
	const char *unwritten;
	int unwritten_errno;
	uint64_t events_lost;
	struct stage_run **active; /* the arena's */
	size_t active_len;
};
#define WATCH_INIT_JOB \
	{.signals = -1, .caller = -1, .out = OUTLET_INIT, .err = OUTLET_INIT, .events = OUTLET_INIT}

int watch_open(struct watch *w, const struct job_options *o, struct job_result *r, struct err *e);
/* Passes on what is left of the events, for a while. */
void watch_close(struct watch *w);

/* What of one's output is there and was not passed on. */
void watch_pass(struct watch *w, struct stage_run *run);

/* Run them all, `most` at a time; each comes out of the cache where it can. The first that is not
 * ok ends the others before they begin, unless keep_going; so does a signal. Those that began are
 * watched to their end. True: all are ok. */
struct batch {
	struct stage_run **runs;
	size_t len, most;
	bool keep_going;
};
bool watch_run(struct watch *w, const struct batch *b);

/* A child that is none of the stages': its exit code as with sibling_run(); a signal ends it, and the job. */
int watch_sibling(struct watch *w, struct sibling *s);

/* An event of the job's own; run may be NULL. inner: JSON, NULL none. */
void watch_event(struct watch *w, const struct stage_run *run, const char *what, const char *inner);

#endif
