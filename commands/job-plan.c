/* What a job would run, for people and as JSON: nothing is started. */
#include "commands/commands.h"
#include "commands/job.h"
#include "pipeline/fetch.h"
#include "spec/keys.h"
#include "spec/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_STAGES = 3 };

/* ---- as JSON ---- */

static void write_outputs(struct json_writer *w, const struct job_stage *s)
{
	json_begin(w, "outputs", '[');
	for (size_t i = 0; i < s->outputs_len; i++) {
		json_begin(w, NULL, '{');
		json_text(w, "path", s->outputs[i].path);
		json_number(w, "max_bytes", (int64_t)s->outputs[i].max_bytes);
		json_number(w, "max_files", (int64_t)s->outputs[i].max_files);
		json_end(w, '{');
	}
	json_end(w, '[');
}

static int write_stage(struct json_writer *w, const struct job *job, const struct job_stage *s,
		       struct err *e)
{
	char *spec = spec_write_json(&s->whole);
	if (!spec)
		return err_host(e, "out of memory");
	json_begin(w, NULL, '{');
	json_text(w, "name", s->name);
	json_text(w, "kind", s->kind == STAGE_RUN ? "run" : "build");
	json_number(w, "runs", (int64_t)job_runs_of(job, s));
	json_bool(w, "cache", s->cache);
	write_outputs(w, s);
	json_raw(w, "spec", spec);
	json_end(w, '{');
	free(spec);
	return 0;
}

/* The job's own and its analyser, before those of the document. */
static int own_stages(const struct job *job, struct job_stage *stages[OWN_STAGES], struct err *e)
{
	int len = 0;
	if (job->source.kind == SOURCE_NONE)
		return 0;
	if (fetch_stage(job, &stages[len++], e) < 0)
		return -1;
	if (job->source.kind == SOURCE_ARCHIVE && unpack_stage(job, "archive", &stages[len++], e) < 0)
		return -1;
	if (!job->analyse.off && job->analyse.tool)
		stages[len++] = job->analyse.tool;
	return len;
}

static void write_source(struct json_writer *w, const struct job_source *s)
{
	if (s->kind == SOURCE_NONE) {
		json_null_value(w, "source");
		return;
	}
	json_begin(w, "source", '{');
	json_text(w, "from", job_source_name(s));
	if (s->host)
		json_text(w, "host", s->host);
	else
		json_null_value(w, "host");
	json_number(w, "max_bytes", (int64_t)s->max_bytes);
	json_number(w, "max_files", (int64_t)s->max_files);
	json_end(w, '{');
}

static int print_json(const struct job *job, struct err *e)
{
	struct json_writer w;
	struct job_stage *own[OWN_STAGES];
	const int own_len = own_stages(job, own, e);
	int done = own_len < 0 ? -1 : 0;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_text(&w, "schema", "pinfold.job-plan/1");
	write_source(&w, &job->source);
	json_begin(&w, "stages", '[');
	for (int i = 0; i < own_len && done == 0; i++)
		done = write_stage(&w, job, own[i], e);
	for (size_t i = 0; i < job->stages_len && done == 0; i++)
		done = write_stage(&w, job, &job->stages[i], e);
	json_end(&w, '[');
	json_end(&w, '{');
	char *text = json_finish(&w, true);
	if (text && done == 0)
		fputs(text, stdout);
	else if (done == 0)
		done = err_host(e, "out of memory");
	free(text);
	return done;
}

/* ---- for people ---- */

/* Up to that place. */
static void print_piece(const char *from, const char *to)
{
	char *text = strndup(from, (size_t)(to - from));
	if (text)
		print_text(text);
	free(text);
}

/* As one would write it for a shell, since a word may have blanks in it, or nothing. */
static void print_word(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "@%_+=:,./-{}";
	if (*word && strspn(word, plain) == strlen(word)) {
		printf("%s", word);
		return;
	}
	printf("'");
	for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1) {
		print_piece(word, quote);
		printf("'\\''");
	}
	print_text(word);
	printf("'");
}

/* A script: line by line, behind a bar that no line has of its own. */
static void print_script(const char *script)
{
	for (const char *end; *script; script = *end ? end + 1 : end) {
		end = script + strcspn(script, "\n");
		printf("\n    | ");
		for (; *script == '\t'; script++)
			printf("    ");
		print_piece(script, end);
	}
}

static void print_words(const struct spec *s)
{
	printf("  %-22s", "command");
	for (size_t i = 0; i < s->command_len; i++) {
		const bool script = strchr(s->command[i], '\n') != NULL;
		if (script) {
			print_script(s->command[i]);
			continue;
		}
		if (i > 0 && strchr(s->command[i - 1], '\n'))
			printf("\n  %-22s", "");
		printf(" ");
		print_word(s->command[i]);
	}
	printf("\n");
}

/* Every key of the table with what it is, and who said so. */
static int print_keys(const struct spec *s, struct err *e)
{
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		const bool of_the_job = k->type == KEY_SINK || strcmp(k->name, "stdout") == 0 ||
					strcmp(k->name, "stderr") == 0 ||
					strcmp(k->name, "id") == 0 ||
					strcmp(k->name, "artifacts-dir") == 0;
		if (of_the_job)
			continue;
		char *text = key_value_text(s, k);
		if (!text)
			return err_host(e, "out of memory");
		printf("  %-22s ", k->name);
		print_text(text);
		printf("%s%s%s\n", s->origins[i] ? "  (" : "",
		       s->origins[i] == ORIGIN_FILE ? "job"
		       : s->origins[i]		    ? origin_name((enum origin)s->origins[i])
						    : "",
		       s->origins[i] ? ")" : "");
		free(text);
	}
	return 0;
}

static int print_stage(const struct job *job, const struct job_stage *s, struct err *e)
{
	const size_t runs = job_runs_of(job, s);
	printf("\nstage %s (%s%s", s->name, s->kind == STAGE_RUN ? "run" : "build",
	       s->cache ? "" : ", never cached");
	if (runs > 1)
		printf(", %zu runs", runs);
	printf(")\n  %-22s ", "image");
	print_text(s->whole.image);
	printf("\n");
	print_words(&s->whole);
	for (size_t i = 0; i < s->outputs_len; i++) {
		printf("  %-22s ", "output");
		print_text(s->outputs[i].path);
		printf(": %llu bytes and %llu entries at most\n",
		       (unsigned long long)s->outputs[i].max_bytes,
		       (unsigned long long)s->outputs[i].max_files);
	}
	return print_keys(&s->whole, e);
}

static void print_source(const struct job *job)
{
	const struct job_source *s = &job->source;
	if (s->kind == SOURCE_NONE)
		return;
	printf("source ");
	print_text(job_source_name(s));
	printf(": %llu bytes and %llu entries at most", (unsigned long long)s->max_bytes,
	       (unsigned long long)s->max_files);
	if (s->host && !s->allow)
		printf("; %s:%u is all that its fetch may reach", s->host, s->port);
	printf("\n");
	for (const char *const *rule = (const char *const *)s->allow; rule && *rule; rule++) {
		printf("  allow ");
		print_text(*rule);
		printf("\n");
	}
	static const char *const gates[] = {"none", "note", "warning", "error"};
	if (job->analyse.off)
		printf("analyse nothing\n");
	else
		printf("analyse with pinfold scan%s; a finding of severity %s stops it, %zu waivers\n",
		       job->analyse.tool ? " and a tool" : "", gates[job->analyse.gate],
		       job->analyse.waivers_len);
}

static int print_plan(const struct job *job, struct err *e)
{
	print_source(job);
	for (size_t i = 0; i < job->matrix.parameters_len; i++) {
		const struct job_parameter *p = &job->matrix.parameters[i];
		printf("parameter %s:", p->name);
		for (size_t v = 0; v < p->values_len; v++) {
			printf(" ");
			print_text(p->values[v]);
		}
		printf("\n");
	}
	struct job_stage *own[OWN_STAGES];
	const int own_len = own_stages(job, own, e);
	for (int i = 0; i < own_len; i++)
		if (print_stage(job, own[i], e) < 0)
			return -1;
	for (size_t i = 0; own_len >= 0 && i < job->stages_len; i++)
		if (print_stage(job, &job->stages[i], e) < 0)
			return -1;
	return own_len < 0 ? -1 : 0;
}

int job_plan_verb(struct job_call *c, struct err *e)
{
	bool json = false;
	struct job_language lang = {.name = NULL};
	const struct verb_option rows[] = {{"json", NULL, &json, "as one document"},
					   JOB_LANGUAGE_ROWS(lang),
					   {NULL}};
	struct job job;
	const int words = job_words(c, rows, (struct word_count){1, -1}, e);
	if (words != 0)
		return words < 0 ? -1 : 0;
	if (job_load(c, &lang, &job, e) < 0)
		return -1;
	return json ? print_json(&job, e) : print_plan(&job, e);
}
