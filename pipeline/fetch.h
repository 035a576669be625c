/* The stages that fetch a source; their output is the tree "source". Inside pipeline/, and for plans. */
#ifndef PINFOLD_PIPELINE_FETCH_H
#define PINFOLD_PIPELINE_FETCH_H

#include "pipeline/job.h"

enum { COMMIT_SHA1 = 40, COMMIT_SHA256 = 64 }; /* digits of an id */

/* Whether a ref is the whole id of a commit. */
bool source_is_commit(const char *text);

/* Of a job with a source: the one that fetches it. Of an archive the file "archive" is its
 * artifact, and unpack_stage() makes the tree of it. -1 and *e. */
int fetch_stage(const struct job *job, struct job_stage **stage, struct err *e);
/* archive: the path of the file. */
int unpack_stage(const struct job *job, const char *archive, struct job_stage **stage, struct err *e);

#endif
