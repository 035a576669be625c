/* Documents to the model: strict about what is there, patient about what is not.
 *
 * A document of another schema, a member of a wrong type, a key that stands twice and what is no
 * JSON are refused with NAME:LINE:COLUMN; a member that is missing is not told, one that is unknown
 * is passed over: within one version of the schema members are added. For a jailed process: bounded
 * in size, depth and count. No system call but memory.
 */
#ifndef PINFOLD_REPORT_READ_H
#define PINFOLD_REPORT_READ_H

#include "report/model.h"

enum {
	RESULT_BYTES_MAX = 16 << 20,
	EVENTS_BYTES_MAX = 64 << 20,
	EVENT_LINE_MAX = 4 << 20,
	SAMPLES_MAX = 512,
	MOMENTS_MAX = 64,
	STAGES_MAX = 16384,
	EVENTS_RUNS_MAX = 1024,
};

struct named_text {
	const char *name; /* for messages */
	const char *at;
	size_t len;
};

/* pinfold.result/1, or pinfold.job-result/1 with the results of its stages in it. ERR_USAGE. */
int read_report(struct report *report, const struct named_text *text, struct arena *a, struct err *e);

/* The lines of --events of the same run, or job: one of another is refused (ERR_USAGE). What is no
 * event is counted: the last line of a run that was killed is torn. Samples beyond SAMPLES_MAX are
 * thinned out, the peaks of memory stay; the runs of a job that have such lines, EVENTS_RUNS_MAX at
 * most, share what there is. */
int read_events(struct report *report, const struct named_text *text, struct arena *a, struct err *e);

/* ---- between the files of this room ---- */

struct reading;
struct node;
/* read.c: a run's result at n, of which the schema is checked first. */
void read_run(struct run_told *run, struct reading *r, const struct node *n);
struct bytes *read_texts(struct reading *r, const struct node *up, const char *key, size_t *len);
/* read_job.c: the rest of a job's, below root. */
void read_job(struct report *report, struct reading *r, const struct node *root);
/* Room for len rows of an array. */
#define ROWS(r, type, len) ((type *)arena_alloc((r)->arena, ((len) + 1) * sizeof(type)))

#endif
