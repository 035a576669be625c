/* One run of one stage: what it is told, what became of it. Inside pipeline/ only.
 *
 * A run is `pinfold run` in a process of its own: should its supervision crash, this process still
 * has the job's result to write, with a stage that is lost. It is told by a spec in a memory file
 * and answers by a result in another; its streams come through pipes, are kept in files of the work
 * folder, and passed on.
 */
#ifndef PINFOLD_PIPELINE_STAGE_RUN_H
#define PINFOLD_PIPELINE_STAGE_RUN_H

#include "pipeline/diagnostics/diagnostics.h"
#include "pipeline/job.h"
#include "pipeline/work.h"
#include "runtime/sibling.h"

#include <jansson.h>

enum stage_state { RUN_SKIPPED, RUN_RAN, RUN_CACHED };
enum cache_state { CACHE_OFF, CACHE_MISS, CACHE_HIT };

/* One of its outputs, where it is. */
struct stage_output {
	const char *path; /* of what was kept, on the host; NULL: it was not */
	const char *file; /* its name in outputs/ */
	char digest[72];  /* "sha256:..." */
	int64_t bytes;
};

/* Where one of its inputs comes from: in the order of the stage's links. */
struct stage_input {
	const struct stage_output *from;
};

struct stage_run {
	const struct job_stage *stage;
	const char *kind;	   /* "fetch", "analyse", "build", "run" */
	const char *configuration; /* of cost; NULL: none */
	const struct job_setting *set;
	size_t set_len;
	size_t number; /* in the job; names its folder */
	struct stage_input inputs[INPUTS_MAX];
	bool quiet;		   /* its stdout is not passed on */
	bool mute;		   /* nothing of it is */
	bool to_stdout;		   /* it is the job's output; else it goes to stderr */
	const struct slots *slots; /* of the matrix; NULL: as the stage says */

	enum stage_state state;
	enum cache_state cache;
	const char *cache_why; /* it is off */
	char key[72];	       /* "sha256:..."; "": none */
	char image_id[72];     /* of the stored image; "": it is none */

	int dir;	  /* its folder, or the entry's; -1: none */
	const char *path; /* of that */
	struct sibling process;
	int spec, answer, events; /* while it runs */
	int out_pipe, err_pipe;	  /* what it says comes by these */
	int out, err;		  /* and is kept in these files */
	int unkept;		  /* errno, where it could not be; 0: it was */
	int64_t out_at, err_at;	  /* passed on so far */
	struct lines {
		char *text;
		size_t len, room;
	} lines; /* of events, not yet whole */

	char *result_text; /* malloc'ed; NULL: none */
	json_t *result;
	struct stage_output outputs[JOB_OUTPUTS_MAX];
	struct diagnostics *diagnostics; /* malloc'ed; NULL: none were asked for, or they could not be read */
	const char *handed;		 /* its folder in artifacts-dir; NULL: none */
	const char *handed_out, *handed_err; /* what it said, in there */
	bool ok;
	char why[400]; /* it is not, in a sentence; "": it is */
};

void stage_run_init(struct stage_run *run, const struct job_stage *stage, size_t number);
void stage_run_close(struct stage_run *run);

/* The stage's spec with this run's values in it: parameters, inputs, streams, artifacts. The arena's. */
struct stage_place {
	struct work *work;
	const char *store; /* of images */
	struct arena *arena;
	const char *pinfold; /* the program */
	bool no_cache;
	int stderr_fd; /* pinfold's own words */
	bool with_events;
};

/* Look into the cache: true when the run is done by that (state, result, outputs, dir are set).
 * Else key and cache say what came of it. */
bool stage_run_cached(struct stage_run *run, const struct stage_place *at);

/* Start it: process, events (if wanted), pipes and files are set. -1 and *e: it does not run. */
int stage_run_start(struct stage_run *run, const struct stage_place *at, struct err *e);
/* The process has ended: take its answer. */
void stage_run_finish(struct stage_run *run, const struct stage_place *at);
/* Its compiler's words, read in a jail; *e is filled where that failed. */
int stage_run_diagnose(struct stage_run *run, struct err *e);
/* A good one goes into the cache, and its folder with it. */
void stage_run_keep(struct stage_run *run, const struct stage_place *at);

/* "exited", ...; "" where there is no result. */
const char *stage_run_status(const struct stage_run *run);

/* ---- parts of it, by file ---- */

/* told.c */
/* What the run is told, as JSON; malloc'ed. NULL: memory is out, or *e. */
char *told_write(const struct stage_run *run, const struct stage_place *at, struct err *e);
/* All that goes in, digests in place of paths: what the key is the digest of. NULL: memory is out. */
char *told_identity(const struct stage_run *run, const struct stage_place *at);
/* Why it may not come out of the cache; NULL: it may. */
const char *told_uncacheable(const struct stage_run *run, const struct stage_place *at);

/* answer.c */
/* result_text to result, ok, why, outputs. False: it is none. */
bool answer_read(struct stage_run *run, const struct stage_place *at);

#endif
