/* What only the whole document can tell: what stages take from each other, and parameters. */
#include "pipeline/reading.h"
#include "spec/parse.h"

#include <string.h>

/* ---- parameters in texts ---- */

const char *job_substitute(const char *text, const struct job_setting *set, size_t len,
			   struct arena *a, const char **unknown)
{
	const char *done = "";
	for (;;) {
		const char *at = strstr(text, "@{");
		const bool escaped = at && at > text && at[-1] == '@';
		const char *end = at ? strchr(at, '}') : NULL;
		if (!end && !escaped)
			return arena_printf(a, "%s%s", done, text);
		if (escaped) {
			done = arena_printf(a, "%s%.*s@{", done, (int)(at - 1 - text), text);
			text = at + 2;
			continue;
		}
		const char *name = arena_strndup(a, at + 2, (size_t)(end - at - 2));
		size_t i = 0;
		while (i < len && strcmp(set[i].name, name) != 0)
			i++;
		if (i == len) {
			*unknown = name;
			return NULL;
		}
		done = arena_printf(a, "%s%.*s%s", done, (int)(at - text), text, set[i].value);
		text = end + 1;
	}
}

/* The names that are set anywhere, with any values. */
static const struct job_setting *all_names(const struct job *job, struct job_setting *buf, size_t *len)
{
	*len = 0;
	for (size_t i = 0; i < job->matrix.parameters_len; i++)
		buf[(*len)++] = (struct job_setting){job->matrix.parameters[i].name, ""};
	if (!job->cost.wanted)
		return buf;
	*len = job->cost.full.set_len;
	return job->cost.full.set;
}

/* ---- where an element stands ---- */

/* The member of that name of the object at `at`; false: there is none. */
static bool find_member(const struct reading *r, size_t at, const char *name, struct slice *value)
{
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		autodecoded key = {document_decode(&r->d, m.key)};
		if (json_string_value(key.value) && strcmp(json_string_value(key.value), name) == 0) {
			*value = m.value;
			return true;
		}
	}
	return false;
}

/* Element number i of the array, or of the arrays in the object, that is that member of the stage;
 * where there is none of it, the stage. */
static size_t find_element(const struct reading *r, const struct job_stage *s, const char *name,
			   size_t i)
{
	struct slice value;
	if (!find_member(r, s->at, name, &value))
		return s->at;
	const bool nested = r->d.j.text[value.at] == '{';
	size_t outer = value.at;
	for (struct member m = {.value = value}; !nested || locate_next(&r->d.j, &outer, &m);) {
		size_t at = m.value.at;
		for (struct member one; locate_next(&r->d.j, &at, &one);)
			if (i-- == 0)
				return one.value.at;
		if (!nested)
			break;
	}
	return s->at;
}

/* ---- links ---- */

static int find_stage(const struct job *job, const char *name, size_t len)
{
	for (size_t i = 0; i < job->stages_len; i++)
		if (strlen(job->stages[i].name) == len && memcmp(job->stages[i].name, name, len) == 0)
			return (int)i;
	return -1;
}

static int find_output(const struct job_stage *from, const char *path, size_t *output, struct err *e)
{
	if (!*path && from->outputs_len == 1) {
		*output = 0;
		return 0;
	}
	for (size_t i = 0; i < from->outputs_len; i++)
		if (strcmp(from->outputs[i].path, path) == 0) {
			*output = i;
			return 0;
		}
	if (*path)
		return err_usage(e, "stage %s has no output %s", from->name, show(path).text);
	return err_usage(e,
			 from->outputs_len ? "stage %s has more than one output; write @%s/PATH"
					   : "stage %s has no outputs (nothing for @%s)",
			 from->name, from->name);
}

/* "@source", "@NAME", "@NAME/PATH". self: the number of the stage that says so. */
static int resolve(const struct job *job, size_t self, const char *source, struct job_link *l,
		   struct err *e)
{
	const size_t len = strcspn(source + 1, "/");
	const char *path = source[1 + len] ? source + 2 + len : "";
	if (strcmp(source, "@source") == 0) {
		l->stage = LINK_SOURCE;
		return job->source.kind == SOURCE_NONE ? err_usage(e, "the job has no source") : 0;
	}
	l->stage = find_stage(job, source + 1, len);
	if (l->stage < 0)
		return err_usage(e, "%s: there is no such stage; a file of that name is ./%s",
				 show(source).text, show(source).text);
	if ((size_t)l->stage == self)
		return err_usage(e, "%s: a stage cannot take what it makes itself",
				 show(source).text);
	if ((size_t)l->stage > self)
		return err_usage(e,
				 "%s: that stage comes later; stages run in the order in which "
				 "they stand, so that none waits for itself",
				 show(source).text);
	return find_output(&job->stages[l->stage], path, &l->output, e);
}

/* Without a destination of its own it is called as what it is. */
static void name_target(struct spec *s, const char *text, const char *path)
{
	const char *slash = strrchr(path, '/');
	for (size_t i = 0; i < s->inputs.len; i++)
		if (strcmp(s->inputs.inputs[i].text, text) == 0 && !strchr(text, ':'))
			s->inputs.inputs[i].target = slash ? slash + 1 : path;
}

static void name_link(const struct job *job, struct job_stage *s, const struct job_link *l)
{
	const char *text = s->asked.inputs.inputs[l->input].text;
	const char *path = l->stage == LINK_SOURCE ? "source"
						   : job->stages[l->stage].outputs[l->output].path;
	name_target(&s->asked, text, path);
	name_target(&s->whole, text, path);
}

static int check_links(struct reading *r, size_t number, struct job_stage *s, struct err *e)
{
	const struct input_list *list = &s->asked.inputs;
	s->links = arena_alloc(r->job->arena, (list->len + 1) * sizeof(*s->links));
	for (size_t i = 0; i < list->len; i++) {
		struct job_link link = {.input = i};
		if (list->inputs[i].source[0] != '@')
			continue;
		if (resolve(r->job, number, list->inputs[i].source, &link, e) < 0)
			return reading_refuse(r, find_element(r, s, "inputs", i), "inputs", e);
		if (link.stage >= 0)
			s->varies |= r->job->stages[link.stage].varies;
		name_link(r->job, s, &link);
		s->links[s->links_len++] = link;
	}
	return 0;
}

/* ---- a stage ---- */

static int check_text(struct reading *r, struct job_stage *s, const char *text, struct err *e)
{
	struct job_setting buf[JOB_PARAMETERS_MAX];
	size_t len;
	const struct job_setting *names = all_names(r->job, buf, &len);
	const char *unknown = NULL;
	if (strstr(text, "@{") == NULL)
		return 0;
	const char *done = job_substitute(text, names, len, r->job->arena, &unknown);
	if (!done)
		return err_usage(e, "nothing sets the parameter %s; @{ itself is written @@{",
				 show(unknown).text);
	/* Marks that stay are all escaped ones: with other values the text would be another. */
	const struct job_setting none = {.name = "", .value = ""};
	s->varies |= job_substitute(text, &none, 0, r->job->arena, &unknown) == NULL;
	return 0;
}

static int check_words(struct reading *r, struct job_stage *s, struct err *e)
{
	for (size_t i = 0; i < s->asked.command_len; i++)
		if (check_text(r, s, s->asked.command[i], e) < 0)
			return reading_refuse(r, find_element(r, s, "command", i), "command", e);
	for (size_t i = 0; i < s->asked.env_len; i++)
		if (check_text(r, s, s->asked.env[i], e) < 0)
			return reading_refuse(r, find_element(r, s, "env", 0), "env", e);
	return 0;
}

static int take_image(struct reading *r, struct job_stage *s, struct err *e)
{
	if (s->asked.image || !r->job->image)
		return 0;
	return spec_set_image(&s->asked, r->job->image, e) < 0 ||
			       spec_set_image(&s->whole, r->job->image, e) < 0
		       ? -1
		       : 0;
}

/* Where the artifacts go is the job's to say, later. */
static int check_spec(struct job_stage *s, struct err *e)
{
	struct spec copy = s->whole;
	if (copy.artifacts.len > 0)
		copy.artifacts_dir = "artifacts";
	return spec_check(&copy, e);
}

static int check_stage(struct reading *r, size_t number, struct job_stage *s, struct err *e)
{
	if (check_links(r, number, s, e) < 0 || check_words(r, s, e) < 0)
		return -1;
	if (take_image(r, s, e) < 0 || check_spec(s, e) < 0)
		return reading_refuse(r, s->at, s->name, e);
	return 0;
}

/* One reader of the caller's stdin at most. */
static int check_stdin(struct reading *r, struct err *e)
{
	const struct job_stage *reader = NULL;
	for (size_t i = 0; i < r->job->stages_len; i++) {
		const struct job_stage *s = &r->job->stages[i];
		if (s->asked.stdin_kind != STDIN_CALLER)
			continue;
		if (reader || s->varies) {
			err_usage(e, "stdin is the job's, and can be read once");
			return reading_refuse(r, s->at, s->name, e);
		}
		reader = s;
	}
	return 0;
}

static int check_tool(struct reading *r, struct err *e)
{
	struct job_stage *tool = r->job->analyse.tool;
	if (!tool)
		return 0;
	if (tool->asked.artifacts.len > 0) {
		err_usage(e, "an analyser leaves its findings, and no artifacts");
		return reading_refuse(r, tool->at, "tool", e);
	}
	/* What it is there to look at, unless it says how it takes it; and what it leaves. */
	bool takes = false;
	for (size_t i = 0; i < tool->asked.inputs.len; i++)
		takes |= strcmp(tool->asked.inputs.inputs[i].source, "@source") == 0;
	struct spec *both[] = {&tool->asked, &tool->whole};
	for (size_t i = 0; i < 2; i++)
		if ((!takes && spec_set(both[i], "input-ro", "@source", e) < 0) ||
		    spec_set(both[i], "artifact",
			     arena_printf(r->job->arena, "%s:required:max=32M",
					  r->job->analyse.tool_sarif),
			     e) < 0)
			return reading_refuse(r, tool->at, "tool", e);
	if (check_stage(r, 0, tool, e) < 0)
		return -1;
	if (!tool->varies && tool->asked.stdin_kind != STDIN_CALLER)
		return 0;
	err_usage(e, tool->varies ? "it runs once, before any stage: no parameter is set"
				  : "an analyser reads the source, and not the job's stdin");
	return reading_refuse(r, tool->at, "tool", e);
}

bool job_has_artifacts(const struct job *job)
{
	for (size_t i = 0; i < job->stages_len; i++)
		if (job->stages[i].asked.artifacts.len > 0)
			return true;
	return false;
}

int check_job(struct reading *r, struct err *e)
{
	struct job *job = r->job;
	for (size_t i = 0; i < job->stages_len; i++)
		if (check_stage(r, i, &job->stages[i], e) < 0)
			return -1;
	return check_tool(r, e) < 0 ? -1 : check_stdin(r, e);
}
