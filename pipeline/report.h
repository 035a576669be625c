/* Parts of a job's documents. Inside pipeline/ only. */
#ifndef PINFOLD_PIPELINE_REPORT_H
#define PINFOLD_PIPELINE_REPORT_H

#include "pipeline/run.h"
#include "spec/writer.h"

/* null where there is no text, or an empty one. */
void report_text(struct json_writer *w, const char *key, const char *text);
/* The members of those names. run may be NULL: it has no set. */
void report_set(struct json_writer *w, const struct stage_run *run);
void report_diagnostics(struct json_writer *w, const struct stage_run *run);
void report_analysis(struct json_writer *w, const struct job *job, const struct job_result *r);
void report_cost(struct json_writer *w, const struct job *job, const struct job_result *r);

#endif
