#include "base/fd.h"
#include "commands/commands.h"
#include "commands/job.h"
#include "commands/sink.h"
#include "spec/guarantee.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	const char *result, *events, *artifacts_dir, *id, *approve;
	struct job_language lang;
	bool no_cache;
	struct sink sink;
	struct job_options o;
	struct job job;
	bool read; /* job is one */
};

static int exit_code(const struct job_result *r)
{
	static const int codes[JOB_STATUS_COUNT] = {
		[JOB_LOST] = EXIT_REFUSED,
		[JOB_SUCCEEDED] = 0,
		[JOB_FAILED] = EXIT_FAILED,
		[JOB_STOPPED] = EXIT_STOPPED,
		[JOB_NEEDS_APPROVAL] = EXIT_NEEDS_APPROVAL,
		[JOB_CANCELLED] = EXIT_CANCELLED,
		[JOB_REFUSED] = EXIT_REFUSED,
	};
	return codes[r->status];
}

/* Where the result goes is read first of all, so that a refusal has one too. */
static int read_words(struct job_call *c, struct request *q, struct err *e)
{
	const struct verb_option rows[] = {
		{"result", &q->result, NULL, "FILE|fd:N  where the result goes, as JSON"},
		{"events", &q->events, NULL, "FILE|fd:N  where events go, a line of JSON each"},
		{"artifacts-dir", &q->artifacts_dir, NULL,
		 "DIR  the folder for what stages hand back"},
		{"id", &q->id, NULL, "NAME  name of the job (not given: chosen at random)"},
		{"approve", &q->approve, NULL,
		 "NAME=VALUE,...  what the full configuration may take: wall, cpu-time, memory, scratch"},
		JOB_LANGUAGE_ROWS(q->lang),
		{"no-cache", NULL, &q->no_cache, "run every stage anew, and keep none"},
		{NULL},
	};
	return job_words(c, rows, (struct word_count){1, -1}, e);
}

static int check_id(const char *id, struct err *e)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	enum { ID_MAX = 48 }; /* a stage's has a number besides */
	if (!id ||
	    (strlen(id) <= ID_MAX && *id && strchr(letters, *id) &&
	     strspn(id + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") ==
		     strlen(id + 1)))
		return 0;
	return err_usage(e,
			 "--id: letters, digits, _ . and - alone, %d at most, a letter or digit in front",
			 ID_MAX);
}

/* Beside libexec/pinfold there is bin/pinfold; a sealed copy of it finds its siblings by PINFOLD_EXEC_PATH. */
static int find_programs(struct job_call *c, struct request *q, struct err *e)
{
	struct sandbox_options from = {.events = -1};
	char path[1024];
	options_from_environment(&from, c->arena);
	q->o.libexec = from.libexec;
	q->o.store = job_store(c);
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash = NULL;
	path[n > 0 ? (size_t)n : 0] = '\0';
	for (int up = 0; up < 3 && (slash = strrchr(path, '/')); up++)
		*slash = '\0';
	if (!slash || !*path)
		return err_host(e, "where pinfold is cannot be told");
	q->o.pinfold = arena_printf(c->arena, "%s/bin/pinfold", path);
	return 0;
}

/* The caller's stdin is one stream: the document, or what a stage reads. */
static int check_stdin(const struct job_call *c, const struct job *job, struct err *e)
{
	for (size_t i = 0; i < job->stages_len; i++)
		if (strcmp(c->argv[0], "-") == 0 && job->stages[i].asked.stdin_kind == STDIN_CALLER)
			return err_usage(e,
					 "stage %s reads stdin, which the job itself was read from",
					 job->stages[i].name);
	return 0;
}

static int prepare(struct job_call *c, struct request *q, struct err *e)
{
	if (q->result && q->events && strcmp(q->result, q->events) == 0)
		return err_usage(e, "--result and --events are one place");
	if (sink_open(&q->sink, q->result, e) < 0)
		return err_wrap(e, "--result");
	if (q->events && (q->o.events = sink_open_lines(q->events, e)) < 0)
		return err_wrap(e, "--events");
	if (check_id(q->id, e) < 0 || find_programs(c, q, e) < 0 ||
	    job_load(c, &q->lang, &q->job, e) < 0)
		return -1;
	if (q->approve && job_approve(&q->job, q->approve, e) < 0)
		return -1;
	q->read = true;
	if (check_stdin(c, &q->job, e) < 0)
		return -1;
	q->o.id = q->id;
	q->o.artifacts_dir = q->artifacts_dir;
	q->o.no_cache = q->no_cache;
	return 0;
}

static int write_result(struct request *q, const struct job_result *r, struct err *e)
{
	char *text = job_result_write(q->read ? &q->job : NULL, r);
	if (!text)
		return err_host(e, "out of memory for the result");
	const int done = sink_commit(&q->sink, text, r->id, e);
	free(text);
	return done;
}

/* What the gate did not let through; the result has all of it. */
static void mention_findings(const struct job_result *r)
{
	enum { MOST = 20 };
	size_t told = 0;
	for (size_t i = 0; r->status == JOB_STOPPED && i < r->analysis.findings.len; i++) {
		const struct scan_finding *f = &r->analysis.findings.at[i];
		if (!f->waived && told++ < MOST)
			complain("%s:%u:%u: %s: %s%s%s [%s]", f->path, f->line, f->column,
				 scan_severity_name(f->severity), f->message,
				 *f->detail ? ": " : "", f->detail, f->id);
	}
	if (told > MOST)
		complain("and %zu more findings", told - MOST);
}

/* What was refused had no sandbox, and its ledger is of nothing. */
static bool was_confined(const struct stage_run *run)
{
	const char *status = stage_run_status(run);
	return strcmp(status, "refused") != 0 && strcmp(status, "setup-failed") != 0;
}

static bool is_degraded(const struct job_result *r, const char *name)
{
	for (size_t i = 0; i < r->runs_len; i++) {
		if (!was_confined(r->runs[i]))
			continue;
		const json_t *rows = json_object_get(r->runs[i]->result, "guarantees");
		const char *status = json_string_value(json_object_get(r->runs[i]->result, "status"));
		if (status && strcmp(status, run_status_name(RUN_REFUSED)) == 0)
			continue; /* nothing was started, and so nothing was to be had */
		const json_t *row;
		size_t at;
		json_array_foreach(rows, at, row)
		{
			const char *own = json_string_value(json_object_get(row, "name"));
			const char *state = json_string_value(json_object_get(row, "state"));
			if (own && state && strcmp(own, name) == 0)
				if (strcmp(state, "enforced") != 0)
					return true;
		}
	}
	return false;
}

/* Once, for all runs, of what one of them did not accept; each result's ledger says it all. */
static void mention_degraded(const struct job *job, const struct job_result *r)
{
	char names[400] = "";
	size_t used = 0;
	uint64_t accept = UINT64_MAX;
	for (size_t i = 0; i < job->stages_len; i++)
		accept &= job->stages[i].whole.accept;
	for (int id = 0; id < G_COUNT && used < sizeof(names) - 32; id++)
		if (!(accept >> id & 1) && is_degraded(r, guarantee_name((enum guarantee_id)id)))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "",
						 guarantee_name((enum guarantee_id)id));
	if (used)
		complain("degraded here: %s; `pinfold doctor` tells why and how to mend it", names);
}

static int report(struct request *q, struct job_result *r)
{
	struct err e = ERR_INIT;
	mention_degraded(&q->job, r);
	mention_findings(r);
	for (size_t i = 0; i < r->warnings_len; i++)
		complain("warning: %s", r->warnings[i]);
	if (r->status != JOB_SUCCEEDED)
		complain("job %s%s%s", job_status_name(r->status), r->message[0] ? ": " : "",
			 r->message);
	const int code = exit_code(r);
	if (write_result(q, r, &e) == 0)
		return code;
	complain("%s", e.msg);
	return EXIT_REFUSED;
}

int job_run_verb(struct job_call *c, struct err *e)
{
	struct request q = {.sink = SINK_INIT, .o = {.events = -1, .begun_ns = c->begun_ns}};
	struct job_result r;
	const int words = read_words(c, &q, e);
	if (words > 0)
		return 0;
	job_result_init(&r);
	if (words < 0) {
		struct err other = ERR_INIT;
		if (sink_open(&q.sink, q.result, &other) < 0)
			complain("%s", other.msg);
		job_result_refuse(&r, e);
	} else if (prepare(c, &q, e) < 0) {
		job_result_refuse(&r, e);
	} else {
		setenv("PINFOLD_JOB", "1", 1); /* for what it executes, see mention_degraded() */
		job_run(&q.job, &q.o, &r);
	}
	const int code = report(&q, &r);
	job_result_close(&r);
	sink_close(&q.sink);
	fd_close(&q.o.events);
	return code;
}
