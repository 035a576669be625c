/* A language's template becomes stages: written as a document, and read like one, so that they are
 * what anybody could have written. */
#include "pipeline/reading.h"
#include "pipeline/template.h"
#include "spec/parse.h"
#include "spec/writer.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_FOLDER_INSIDE "/run/input/source"
#define OUTPUT_FOLDER_INSIDE "/run/input"

static void write_settings(struct json_writer *w, const struct template_stage *t)
{
	for (const struct template_setting *s = t->settings; s->key; s++)
		if (strcmp(s->key, "env") != 0)
			json_text(w, s->key, s->value);
	json_begin(w, "env", '[');
	for (const struct template_setting *s = t->settings; s->key; s++)
		if (strcmp(s->key, "env") == 0)
			json_text(w, NULL, s->value);
	json_end(w, '[');
}

struct written {
	const struct language *l;
	const struct template_stage *t;
	const char *name, *image, *input, *folder, *stdin_from;
};

/* Words of a template are no parameters, whatever a file is called. */
static const char *escaped(const char *word, struct arena *a)
{
	const char *done = "";
	for (const char *at; (at = strstr(word, "@{")); word = at + 2)
		done = arena_printf(a, "%s%.*s@@{", done, (int)(at - word), word);
	return arena_printf(a, "%s%s", done, word);
}

static void write_stage(struct json_writer *w, const struct written *s,
			const struct template_ask *ask, struct arena *a)
{
	struct template_ask own = *ask;
	own.folder = s->folder;
	const char *const *words = template_command(s->l, s->t, &own, a);
	json_begin(w, NULL, '{');
	json_text(w, "name", s->name);
	json_text(w, "kind", s->name);
	json_text(w, "image", s->image ? s->image : s->t->image->name);
	json_text(w, "diagnostics", diagnostics_kind_names[s->t->says]);
	json_begin(w, "command", '[');
	for (; *words; words++)
		json_text(w, NULL, escaped(*words, a));
	json_end(w, '[');
	json_begin(w, "inputs", '{');
	json_begin(w, "read-only", '[');
	json_text(w, NULL, s->input);
	json_end(w, '[');
	json_end(w, '{');
	if (strcmp(s->name, "build") == 0 && s->l->output) {
		json_begin(w, "outputs", '[');
		json_text(w, NULL, s->l->output);
		json_end(w, '[');
	}
	if (s->stdin_from)
		json_text(w, "stdin", s->stdin_from);
	write_settings(w, s->t);
	json_end(w, '{');
}

static char *write_stages(const struct job *job, const struct language *l,
			  const struct template_ask *ask)
{
	const struct written build = {l,	 &l->build,
				      "build",	 job->lang.build_image,
				      "@source", SOURCE_FOLDER_INSIDE,
				      NULL};
	const struct written run = {l,
				    &l->run,
				    "run",
				    job->lang.run_image,
				    l->output ? "@build" : "@source",
				    l->output ? OUTPUT_FOLDER_INSIDE : SOURCE_FOLDER_INSIDE,
				    job->lang.stdin_from};
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_begin(&w, "stages", '[');
	write_stage(&w, &build, ask, job->arena);
	write_stage(&w, &run, ask, job->arena);
	json_end(&w, '[');
	json_end(&w, '{');
	return json_finish(&w, true);
}

static int refuse_language(const struct job *job, struct err *e)
{
	const char *known = languages[0].names[0];
	for (size_t i = 1; i < languages_len; i++)
		known = arena_printf(job->arena, "%s%s%s", known,
				     i + 1 < languages_len ? ", " : " and ", languages[i].names[0]);
	return err_usage(e, "there is no template for %s; there are some for %s",
			 show(job->lang.name).text, known);
}

static int find_language(const struct job *job, const struct language **l, struct err *e)
{
	const struct job_lang *lang = &job->lang;
	*l = language_find(lang->name);
	if (!*l)
		return refuse_language(job, e);
	if (!lang->files || !lang->files[0])
		return err_usage(e, "it names no files");
	return 0;
}

static int read_stages_of(struct reading *r, struct err *e)
{
	static const struct job_member rows[] = {{"stages", read_stages}, {NULL, NULL}};
	const size_t at = locate_start(&r->d.j);
	const struct place whole = {.value = {at, r->d.j.len}, .name_at = at};
	if (document_parse(&r->d, "a template", e) < 0)
		return -1;
	return reading_object(r, &whole, rows, r->job, e) < 0 ? -1 : check_job(r, e);
}

int read_template(struct reading *r, struct err *e)
{
	const struct language *l;
	const struct job_lang *lang = &r->job->lang;
	const struct template_ask ask = {.version = lang->version,
					 .options = (const char *const *)lang->options,
					 .files = (const char *const *)lang->files,
					 .args = (const char *const *)lang->args};
	if (find_language(r->job, &l, e) < 0 || language_check(l, &ask, e) < 0)
		return reading_refuse(r, lang->at, NULL, e);
	char *text = write_stages(r->job, l, &ask);
	if (!text)
		return err_host(e, "out of memory");
	struct reading own = {.job = r->job, .configure = r->configure, .of_template = true};
	document_init(&own.d, "", text, strlen(text));
	const int done = read_stages_of(&own, e);
	json_decref(own.d.root);
	free(text);
	/* Where lang stands is where the user wrote it. */
	return done < 0 && e->kind == ERR_USAGE ? reading_refuse(r, lang->at, NULL, e) : done;
}
