/* What a run of a stage is told. */
#include "pipeline/stage_run.h"
#include "spec/keys.h"
#include "spec/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter that is not set was refused when the document was read. */
static const char *with_values(const struct stage_run *run, const char *text, struct arena *a)
{
	const char *unknown;
	const char *done = job_substitute(text, run->set, run->set_len, a, &unknown);
	return done ? done : text;
}

static const char **words_with_values(const struct stage_run *run, const char **words, size_t len,
				      struct arena *a)
{
	const char **copy = arena_alloc(a, (len + 1) * sizeof(*copy));
	for (size_t i = 0; i < len; i++)
		copy[i] = with_values(run, words[i], a);
	return copy;
}

static const struct job_link *link_of(const struct job_stage *s, size_t input, size_t *number)
{
	for (*number = 0; *number < s->links_len; ++*number)
		if (s->links[*number].input == input)
			return &s->links[*number];
	return NULL;
}

/* by_digest: for the key; else the path. */
static const char *source_of(const struct stage_run *run, size_t number, bool by_digest)
{
	const struct stage_output *from = run->inputs[number].from;
	return by_digest ? from->digest : from->path;
}

static int set_inputs(const struct stage_run *run, struct spec *s, bool by_digest, struct err *e)
{
	const struct input_list *list = &run->stage->asked.inputs;
	struct arena *a = s->arena;
	if (list->len == 0)
		return 0;
	s->inputs = (struct input_list){0};
	for (size_t i = 0; i < list->len; i++) {
		const struct input *in = &list->inputs[i];
		size_t number;
		const char *source = link_of(run->stage, i, &number)
					     ? source_of(run, number, by_digest)
					     : in->source;
		const char *text = arena_printf(a, "%s:%s%s", source, in->target,
						in->unpack ? ":unpack" : "");
		if (input_list_add(&s->inputs, text, in->read_only, a, e) < 0)
			return -1;
	}
	return 0;
}

static int set_artifacts(const struct stage_run *run, struct spec *s, struct err *e)
{
	const struct job_stage *stage = run->stage;
	const struct artifact_list *own = &stage->asked.artifacts;
	s->artifacts = (struct artifact_list){0};
	for (size_t i = 0; i < stage->outputs_len; i++) {
		const struct job_output *o = &stage->outputs[i];
		if (spec_set(s, "artifact",
			     arena_printf(s->arena,
					  "%s:type=tree:required:max=%" PRIu64 ":files=%" PRIu64,
					  o->path, o->max_bytes, o->max_files),
			     e) < 0)
			return -1;
	}
	for (size_t i = 0; i < own->len; i++)
		if (spec_set(s, "artifact", own->rules[i].text, e) < 0)
			return -1;
	return 0;
}

static int set_slots(const struct stage_run *run, struct spec *s, struct err *e)
{
	const struct slots *slots = run->slots;
	if (!slots || spec_given(s, offsetof(struct spec, slots)))
		return 0;
	return spec_set(s, "slots",
			slots->name && *slots->name
				? arena_printf(s->arena, "%" PRIu64 ":%s", slots->count, slots->name)
				: arena_printf(s->arena, "%" PRIu64, slots->count),
			e);
}

/* Over a spec of the stage's: what differs from run to run. */
static int set_values(const struct stage_run *run, struct spec *s, bool by_digest, struct err *e)
{
	s->command = words_with_values(run, s->command, s->command_len, s->arena);
	s->env = words_with_values(run, s->env, s->env_len, s->arena);
	if (run->image_id[0] && spec_set_image(s, arena_strdup(s->arena, run->image_id), e) < 0)
		return -1;
	return set_inputs(run, s, by_digest, e);
}

char *told_write(const struct stage_run *run, const struct stage_place *at, struct err *e)
{
	struct spec s = run->stage->asked;
	s.arena = at->arena;
	s.speaking = ORIGIN_FILE;
	if (set_values(run, &s, false, e) < 0 || set_artifacts(run, &s, e) < 0 ||
	    set_slots(run, &s, e) < 0)
		return NULL;
	const char *name = arena_printf(at->arena, "%.48s.%zu", at->work->id, run->number);
	if ((s.artifacts.len > 0 &&
	     spec_set(&s, "artifacts-dir", arena_printf(at->arena, "%s/outputs", run->path), e) < 0) ||
	    spec_set(&s, "stdout", arena_printf(at->arena, "/proc/self/fd/%d", run->out_pipe), e) < 0 ||
	    spec_set(&s, "stderr", arena_printf(at->arena, "/proc/self/fd/%d", run->err_pipe), e) < 0 ||
	    spec_set(&s, "result", arena_printf(at->arena, "fd:%d", run->answer), e) < 0 ||
	    spec_set(&s, "id", name, e) < 0 ||
	    (run->events >= 0 &&
	     spec_set(&s, "events", arena_printf(at->arena, "fd:%d", run->events), e) < 0))
		return NULL;
	char *text = spec_write_given(&s);
	if (!text)
		err_host(e, "out of memory");
	return text;
}

/* ---- what a cached run is known by ---- */

char *told_identity(const struct stage_run *run, const struct stage_place *at)
{
	struct spec s = run->stage->whole;
	struct err e = ERR_INIT;
	struct json_writer w;
	s.arena = at->arena;
	if (set_values(run, &s, true, &e) < 0)
		return NULL;
	char *text = spec_write_json(&s);
	if (!text)
		return NULL;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "pinfold", PINFOLD_VERSION);
	json_text(&w, "image", run->image_id);
	json_raw(&w, "spec", text);
	json_begin(&w, "outputs", '[');
	for (size_t i = 0; i < run->stage->outputs_len; i++) {
		const struct job_output *o = &run->stage->outputs[i];
		json_begin(&w, NULL, '[');
		json_text(&w, NULL, o->path);
		json_number(&w, NULL, (int64_t)o->max_bytes);
		json_number(&w, NULL, (int64_t)o->max_files);
		json_end(&w, '[');
	}
	json_end(&w, '[');
	json_end(&w, '{');
	free(text);
	return json_finish(&w, false);
}

const char *told_uncacheable(const struct stage_run *run, const struct stage_place *at)
{
	const struct spec *s = &run->stage->whole;
	if (at->no_cache)
		return "--no-cache";
	if (!run->stage->cache)
		return "the stage says so";
	if (!run->image_id[0])
		return "the image is no stored one, and so has no digest";
	if (s->egress.allow.len > 0)
		return "what comes by the network has no digest";
	if (s->stdin_kind != STDIN_NULL)
		return "its stdin has no digest";
	if (s->inputs.len != run->stage->links_len)
		return "it takes files of this host, which have no digest";
	for (size_t i = 0; i < s->artifacts.len; i++)
		if (s->artifacts.rules[i].schema)
			return "a schema is a file of this host, which has no digest";
	if (s->seccomp_file)
		return "its filter is a file of this host, which has no digest";
	return NULL;
}
