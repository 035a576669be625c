/* A job, from a const struct job to a result. */
#ifndef PINFOLD_PIPELINE_RUN_H
#define PINFOLD_PIPELINE_RUN_H

#include "pipeline/budget.h"
#include "pipeline/cost.h"
#include "pipeline/job.h"
#include "pipeline/scan/scan.h"
#include "pipeline/stage_run.h"

enum job_status {
	JOB_LOST, /* of a result that nobody filled */
	JOB_SUCCEEDED,
	JOB_FAILED,
	JOB_STOPPED,
	JOB_NEEDS_APPROVAL,
	JOB_CANCELLED,
	JOB_REFUSED,
	JOB_STATUS_COUNT,
};

/* What commands/ knows and a document does not. All borrowed. */
struct job_options {
	const char *pinfold;	   /* the program that runs a stage */
	const char *libexec;	   /* folder of the siblings */
	const char *store;	   /* NULL: unknown */
	const char *artifacts_dir; /* NULL: nothing is handed back */
	int events;		   /* fd, -1 none */
	bool no_cache;
	const char *id; /* NULL: chosen at random */
	int64_t begun_ns;
};

enum { JOB_WARNINGS_MAX = 64 };

struct job_source_result {
	char commit[65]; /* "" none */
	char archive_digest[72];
	const char *trust; /* "declared", "first-use", "recorded"; NULL none */
	struct stage_output tree;
};

struct job_cost_result {
	struct cost_point points[JOB_CONFIGURATIONS_MAX]; /* as many as there are small configurations */
	struct cost_estimate estimates[COST_QUANTITIES];
	bool estimated;
	const char *over[COST_QUANTITIES + 1]; /* what was not within what was approved */
	size_t over_len;
	uint64_t measured[COST_QUANTITIES]; /* of the full configuration */
	bool measured_full;
	/* In the shared budget; money is the budget's to say. */
	struct budget_amount reserved, settled;
	bool has_reserved, has_settled;
};

struct job_analysis {
	bool done;
	struct scan_findings findings;
	struct scan_waivers waivers;
	struct scan_verdict verdict;
};

struct job_result {
	char id[65];
	enum job_status status;
	char stage[64]; /* the first that was not ok; "" none */
	char message[1024];
	struct job_source_result source;
	struct job_analysis analysis;
	struct job_cost_result cost;
	struct stage_run **runs; /* the arena's; in the order in which they were begun */
	size_t runs_len, runs_room;
	int64_t wall_usec, stages_usec;
	char *warnings[JOB_WARNINGS_MAX];
	size_t warnings_len;
};

/* What a budget allows of each; COST_UNKNOWN: nothing is said of it. */
void cost_approved(const struct job_budget *b, uint64_t approved[COST_QUANTITIES]);

void job_result_init(struct job_result *r);
void job_result_close(struct job_result *r);
void job_warn(struct job_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Refused before anything ran. */
void job_result_refuse(struct job_result *r, const struct err *why);
const char *job_status_name(enum job_status s);

/* Run it. Always fills r; there is no other outcome. TERM, INT, HUP and QUIT are blocked by the
 * caller, and end it in order. */
void job_run(const struct job *job, const struct job_options *o, struct job_result *r);

/* The document of docs/job-result.schema.json; malloc'ed, NULL when memory is out. job may be NULL: it was not read. */
char *job_result_write(const struct job *job, const struct job_result *r);

#endif
