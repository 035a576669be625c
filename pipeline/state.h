/* A job that runs, as its parts see it. Inside pipeline/ only. */
#ifndef PINFOLD_PIPELINE_STATE_H
#define PINFOLD_PIPELINE_STATE_H

#include "pipeline/run.h"
#include "pipeline/watch.h"

struct job_state {
	const struct job *job;
	const struct job_options *o;
	struct job_result *r;
	struct watch watch;
	struct work work;
	int handed;		      /* artifacts-dir; -1: none */
	struct budget budget;	      /* which cost names; not open: it names none */
	size_t number;		      /* of the next run */
	struct stage_run ***by_stage; /* [stage][combination] */
};

/* The next run, of that stage; the arena's. */
struct stage_run *job_new_run(struct job_state *j, const struct job_stage *s);

/* The source becomes a tree of the job's, which r->source names. True: it is there, or there is none to fetch. */
bool fetch_source(struct job_state *j);
/* True: what looked at it lets it through, or nothing was to look. */
bool analyse_source(struct job_state *j);

/* A stage with the values of that configuration of cost; the last is the full one. True: it is ok. */
bool job_run_configured(struct job_state *j, size_t stage, size_t configuration);
/* All of a job with cost. */
enum job_status cost_run(struct job_state *j);
void cost_measure(const struct job_state *j, size_t configuration,
		  uint64_t measured[COST_QUANTITIES]);
void cost_measure_stage(const struct stage_run *run, uint64_t measured[COST_QUANTITIES]);

/* The upper bounds of the full configuration, in b, which is open if the job names one: 1 if they
 * are reserved, or it names none; 0 if there is too little left, which the result says; -1 and *e.
 */
int cost_reserve(struct job_state *j, struct budget *b, struct err *e);
/* What that configuration took, however it ended. */
void cost_settle(struct job_state *j, struct budget *b, size_t configuration);

#endif
