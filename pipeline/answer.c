/* What a run of a stage answers: its result, by which its outputs are known. */
#include "pipeline/stage_run.h"
#include "spec/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const json_t *v, const char *name)
{
	const char *text = json_string_value(json_object_get(v, name));
	return text ? text : "";
}

const char *stage_run_status(const struct stage_run *run)
{
	return text_at(run->result, "status");
}

/* The row of an output: of type tree, and kept. */
static void take_output(struct stage_run *run, const struct stage_place *at, size_t number)
{
	const json_t *rows = json_object_get(run->result, "artifacts");
	struct stage_output *o = &run->outputs[number];
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		if (strcmp(text_at(row, "type"), "tree") != 0 ||
		    strcmp(text_at(row, "path"), run->stage->outputs[number].path) != 0)
			continue;
		if (strcmp(text_at(row, "status"), "kept") != 0 ||
		    strlen(text_at(row, "sha256")) != 64)
			return;
		o->file = arena_strdup(at->arena, text_at(row, "file"));
		o->path = arena_printf(at->arena, "%s/outputs/%s", run->path, o->file);
		snprintf(o->digest, sizeof(o->digest), "sha256:%s", text_at(row, "sha256"));
		o->bytes = json_integer_value(json_object_get(row, "size"));
		return;
	}
}

/* Which required artifact is not there, and why: the result's own sentence names none. */
static void say_missing(struct stage_run *run)
{
	const json_t *rows = json_object_get(run->result, "artifacts");
	const size_t len = strlen(run->why);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		if (!json_is_true(json_object_get(row, "required")) ||
		    strcmp(text_at(row, "status"), "kept") == 0)
			continue;
		snprintf(run->why + len, sizeof(run->why) - len, ": %.60s: %.100s",
			 show(text_at(row, "path")).text, text_at(row, "reason"));
		return;
	}
}

/* What it could not reach, if anything: inside that is a reset connection, which tells nobody why. */
static void say_unreached(struct stage_run *run)
{
	const json_t *rows = json_object_get(run->result, "egress");
	const size_t len = strlen(run->why);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *name = text_at(row, "name");
		if (strcmp(text_at(row, "verdict"), "allowed") == 0)
			continue;
		snprintf(run->why + len, sizeof(run->why) - len, "; not reached: %.60s: %.100s",
			 show(*name ? name : text_at(row, "address")).text, text_at(row, "reason"));
		return;
	}
}

/* One sentence for the job's cause. */
static void say_why(struct stage_run *run)
{
	const json_t *exit = json_object_get(run->result, "exit");
	const char *message = text_at(json_object_get(run->result, "cause"), "message");
	const char *status = stage_run_status(run);
	const json_t *code = json_object_get(exit, "code");
	/* Of a program that failed it is no wonder that something is not there. */
	const bool failed = strcmp(status, "exited") == 0 && json_integer_value(code) != 0;
	if (*message && !failed)
		snprintf(run->why, sizeof(run->why), "%s: %.200s", status, message);
	else if (json_is_integer(code))
		snprintf(run->why, sizeof(run->why), "%s with code %lld", status,
			 (long long)json_integer_value(code));
	else
		snprintf(run->why, sizeof(run->why), "%s", status);
	if (strcmp(status, "exited") == 0 && !failed)
		say_missing(run);
	else if (strcmp(status, "exited") == 0)
		say_unreached(run);
}

bool answer_read(struct stage_run *run, const struct stage_place *at)
{
	json_decref(run->result);
	run->result = run->result_text ? json_loads(run->result_text, 0, NULL) : NULL;
	if (strcmp(text_at(run->result, "schema"), "pinfold.result/1") != 0) {
		json_decref(run->result);
		run->result = NULL;
		return false;
	}
	run->ok = json_is_true(json_object_get(run->result, "ok"));
	for (size_t i = 0; i < run->stage->outputs_len; i++) {
		take_output(run, at, i);
		run->ok &= run->outputs[i].path != NULL;
	}
	if (!run->ok)
		say_why(run);
	return true;
}
