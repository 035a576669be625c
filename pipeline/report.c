#include "pipeline/report.h"

void report_diagnostics(struct json_writer *w, const struct stage_run *run)
{
	(void)run;
	json_null_value(w, "diagnostics");
}

void report_analysis(struct json_writer *w, const struct job *job, const struct job_result *r)
{
	(void)job;
	(void)r;
	json_null_value(w, "analysis");
}

void report_cost(struct json_writer *w, const struct job *job, const struct job_result *r)
{
	(void)job;
	(void)r;
	json_null_value(w, "cost");
}
