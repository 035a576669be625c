/* Parts of a job's result that other rooms fill. Inside pipeline/ only. */
#ifndef PINFOLD_PIPELINE_REPORT_H
#define PINFOLD_PIPELINE_REPORT_H

#include "pipeline/run.h"
#include "spec/writer.h"

/* The members of those names. */
void report_diagnostics(struct json_writer *w, const struct stage_run *run);
void report_analysis(struct json_writer *w, const struct job *job, const struct job_result *r);
void report_cost(struct json_writer *w, const struct job *job, const struct job_result *r);

#endif
