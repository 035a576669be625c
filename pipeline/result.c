#include "pipeline/run.h"

#include "pipeline/report.h"
#include "spec/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char *const statuses[JOB_STATUS_COUNT] = {
	[JOB_LOST] = "lost",
	[JOB_SUCCEEDED] = "succeeded",
	[JOB_FAILED] = "failed",
	[JOB_STOPPED] = "stopped",
	[JOB_NEEDS_APPROVAL] = "needs-approval",
	[JOB_CANCELLED] = "cancelled",
	[JOB_REFUSED] = "refused",
};

const char *job_status_name(enum job_status s)
{
	return statuses[s];
}

void job_result_init(struct job_result *r)
{
	*r = (struct job_result){.status = JOB_LOST};
}

void job_result_close(struct job_result *r)
{
	for (size_t i = 0; i < r->runs_len; i++)
		stage_run_close(r->runs[i]);
	scan_free(&r->analysis.findings);
	while (r->warnings_len > 0)
		free(r->warnings[--r->warnings_len]);
	r->runs_len = 0;
}

void job_warn(struct job_result *r, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, fmt);
	const int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (r->warnings_len < JOB_WARNINGS_MAX)
		r->warnings[r->warnings_len++] = text;
	else
		free(text);
}

void job_result_refuse(struct job_result *r, const struct err *why)
{
	r->status = JOB_REFUSED;
	snprintf(r->message, sizeof(r->message), "%s", why->msg);
}

/* ---- the document ---- */

static const char *const source_kinds[] =
	{[SOURCE_NONE] = "", [SOURCE_GIT] = "git", [SOURCE_ARCHIVE] = "archive", [SOURCE_FOLDER] = "folder", [SOURCE_FILES] = "files"};

static void write_source(struct json_writer *w, const struct job *job, const struct job_result *r)
{
	const struct job_source_result *s = &r->source;
	if (!job || job->source.kind == SOURCE_NONE) {
		json_null_value(w, "source");
		return;
	}
	json_begin(w, "source", '{');
	json_text(w, "kind", source_kinds[job->source.kind]);
	json_text(w, "from", job_source_name(&job->source));
	report_text(w, "ref", job->source.ref);
	report_text(w, "commit", s->commit);
	report_text(w, "archive_digest", s->archive_digest);
	report_text(w, "trust", s->trust);
	report_text(w, "digest", s->tree.digest);
	if (s->tree.path)
		json_number(w, "bytes", s->tree.bytes);
	else
		json_null_value(w, "bytes");
	json_end(w, '{');
}

static void write_cache(struct json_writer *w, const struct stage_run *run)
{
	static const char *const states[] =
		{[CACHE_OFF] = "off", [CACHE_MISS] = "miss", [CACHE_HIT] = "hit"};
	json_begin(w, "cache", '{');
	json_text(w, "state", states[run->cache]);
	report_text(w, "key", run->key);
	report_text(w, "reason", run->cache == CACHE_OFF ? run->cache_why : NULL);
	json_end(w, '{');
}

static void write_outputs(struct json_writer *w, const struct stage_run *run)
{
	json_begin(w, "outputs", '[');
	for (size_t i = 0; i < run->stage->outputs_len; i++) {
		const struct stage_output *o = &run->outputs[i];
		json_begin(w, NULL, '{');
		json_text(w, "path", run->stage->outputs[i].path);
		report_text(w, "digest", o->digest);
		if (o->path)
			json_number(w, "bytes", o->bytes);
		else
			json_null_value(w, "bytes");
		json_end(w, '{');
	}
	json_end(w, '[');
}

static void write_files(struct json_writer *w, const struct stage_run *run)
{
	json_begin(w, "files", '{');
	report_text(w, "folder", run->handed);
	report_text(w, "stdout", run->handed ? run->handed_out : NULL);
	report_text(w, "stderr", run->handed ? run->handed_err : NULL);
	json_end(w, '{');
}

static void write_stage(struct json_writer *w, const struct stage_run *run)
{
	static const char *const states[] =
		{[RUN_SKIPPED] = "skipped", [RUN_RAN] = "ran", [RUN_CACHED] = "cached"};
	json_begin(w, NULL, '{');
	json_text(w, "name", run->stage->name);
	json_text(w, "kind", run->kind);
	report_set(w, run);
	report_text(w, "configuration", run->configuration);
	json_text(w, "state", states[run->state]);
	json_bool(w, "ok", run->ok);
	report_text(w, "message", run->why);
	write_cache(w, run);
	write_outputs(w, run);
	write_files(w, run);
	report_diagnostics(w, run);
	if (run->result_text)
		json_raw(w, "result", run->result_text);
	else
		json_null_value(w, "result");
	json_end(w, '{');
}

static void write_host(struct json_writer *w)
{
	struct utsname u;
	json_begin(w, "host", '{');
	report_text(w, "kernel", uname(&u) == 0 ? u.release : NULL);
	json_text(w, "pinfold", PINFOLD_VERSION);
	json_end(w, '{');
}

char *job_result_write(const struct job *job, const struct job_result *r)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "schema", "pinfold.job-result/1");
	report_text(&w, "id", r->id);
	report_text(&w, "name", job ? job->name : NULL);
	json_text(&w, "status", job_status_name(r->status));
	json_bool(&w, "ok", r->status == JOB_SUCCEEDED);
	json_begin(&w, "cause", '{');
	report_text(&w, "stage", r->stage);
	report_text(&w, "message", r->message);
	json_end(&w, '{');
	write_source(&w, job, r);
	report_analysis(&w, job, r);
	report_cost(&w, job, r);
	json_begin(&w, "stages", '[');
	for (size_t i = 0; i < r->runs_len; i++)
		write_stage(&w, r->runs[i]);
	json_end(&w, '[');
	json_begin(&w, "usage", '{');
	json_number(&w, "wall_usec", r->wall_usec);
	json_number(&w, "stages_usec", r->stages_usec);
	json_end(&w, '{');
	write_host(&w);
	json_begin(&w, "warnings", '[');
	for (size_t i = 0; i < r->warnings_len; i++)
		json_text(&w, NULL, r->warnings[i]);
	json_end(&w, '[');
	json_end(&w, '{');
	return json_finish(&w, true);
}
