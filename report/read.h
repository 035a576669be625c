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
};

struct named_text {
	const char *name; /* for messages */
	const char *at;
	size_t len;
};

/* pinfold.result/1. ERR_USAGE. */
int read_result(struct run_told *run, const struct named_text *text, struct arena *a, struct err *e);

/* The lines of --events of the same run: one of another run is refused (ERR_USAGE). What is no
 * event is counted: the last line of a run that was killed is torn. Samples beyond SAMPLES_MAX are
 * thinned out, the peaks of memory stay. */
int read_events(struct run_told *run, const struct named_text *text, struct arena *a, struct err *e);

#endif
