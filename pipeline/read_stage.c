/* Stages: their sandbox keys are the spec's own, read by its reader. */
#include "pipeline/diagnostics/diagnostics.h"
#include "pipeline/reading.h"
#include "spec/keys.h"
#include "spec/parse.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES_DEFAULT (256ULL << 20)

/* The job says these itself, or has a place for them of its own. */
static const char *const not_for_stages[] = {"result", "events", "id", "stdout", "stderr", "tty"};

/* What a run stage has where nobody says otherwise, if that is less than what it would have. */
static const struct {
	const char *name, *value;
} tighter[] = {
	{"pids", "64"},
	{"scratch", "64M"},
	{"scratch-inodes", "4096"},
	{"output", "4M"},
};

/* ---- members that are no keys ---- */

static int read_name(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const char *const taken[] = {"source", "fetch", "unpack", "analyse"};
	struct job_stage *s = into;
	if (reading_text(r, p, &s->name, e) < 0)
		return -1;
	if (!reading_is_name(s->name)) {
		err_usage(e, "%s is no name (lower-case letters, digits, _ and -; %d at most)",
			  show(s->name).text, JOB_NAME_MAX);
		return reading_refuse(r, p->value.at, p->name, e);
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (strcmp(s->name, taken[i]) == 0) {
			err_usage(e, "%s is the job's own word", s->name);
			return reading_refuse(r, p->value.at, p->name, e);
		}
	return 0;
}

static int read_kind(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const char *const words[] = {[STAGE_RUN] = "run", [STAGE_BUILD] = "build", NULL};
	struct job_stage *s = into;
	int word = 0;
	if (reading_word(r, p, words, &word, e) < 0)
		return -1;
	s->kind = (enum stage_kind)word;
	return 0;
}

static bool has_option(const char *text, const char *option)
{
	const char *colon = strchr(text, ':');
	return colon && strstr(colon, option);
}

static int add_output(struct reading *r, struct job_stage *s, const char *text, struct err *e)
{
	struct artifact_list list = {0};
	struct arena *a = r->job->arena;
	if (has_option(text, ":type=") || has_option(text, ":schema=") ||
	    has_option(text, ":required"))
		return err_usage(e, "%s: an output has max=SIZE and files=NUMBER alone",
				 show(text).text);
	if (artifact_list_add(&list, arena_printf(a, "%s:type=tree", text), a, e) < 0)
		return -1;
	const struct artifact_rule *rule = &list.rules[0];
	if (strpbrk(rule->path, "*?["))
		return err_usage(e, "%s: an output is one file or folder, no pattern",
				 show(text).text);
	for (size_t i = 0; i < s->outputs_len; i++)
		if (strcmp(s->outputs[i].path, rule->path) == 0)
			return err_usage(e, "%s: given twice", show(text).text);
	s->outputs[s->outputs_len++] = (struct job_output){rule->path,
							   has_option(text, ":max=")
								   ? rule->max_bytes
								   : OUTPUT_BYTES_DEFAULT,
							   rule->max_files};
	return 0;
}

static int read_output(struct reading *r, const struct place *p, void *into, struct err *e)
{
	const char *text;
	if (reading_text(r, p, &text, e) < 0)
		return -1;
	return add_output(r, into, text, e) < 0 ? reading_refuse(r, p->value.at, p->name, e) : 0;
}

static int read_outputs(struct reading *r, const struct place *p, void *into, struct err *e)
{
	const struct reading_each each = {read_output, into, JOB_OUTPUTS_MAX};
	if (r->d.j.text[p->value.at] == '[' && reading_count(r, p) == 0)
		return 0;
	return reading_each(r, p, '[', &each, e);
}

static int read_diagnostics(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_stage *s = into;
	if (reading_text(r, p, &s->diagnostics, e) < 0)
		return -1;
	if (diagnostics_kind_of(s->diagnostics) >= 0)
		return 0;
	err_usage(e, "%s is none of gcc, python, mcs, javac, node, rustc, go, shell",
		  show(s->diagnostics).text);
	return reading_refuse(r, p->value.at, p->name, e);
}

static const struct job_member own[] = {
	{"name", read_name},
	{"kind", read_kind},
	{"outputs", read_outputs},
	{"diagnostics", read_diagnostics},
	{"cache", member_bool, offsetof(struct job_stage, cache)},
	{NULL, NULL},
};
static const char *const own_names[] = {"name", "kind", "outputs", "diagnostics", "cache", NULL};

/* ---- keys ---- */

static uint64_t *number_at(struct spec *s, const struct key *k)
{
	return (uint64_t *)((uintptr_t)s + k->offset);
}

static int tighten(struct spec *whole, struct err *e)
{
	for (size_t i = 0; i < sizeof(tighter) / sizeof(*tighter); i++) {
		const struct key *k = key_find(tighter[i].name);
		const uint64_t before = *number_at(whole, k);
		if (spec_set(whole, k->name, tighter[i].value, e) < 0)
			return -1;
		if (*number_at(whole, k) > before)
			*number_at(whole, k) = before;
	}
	return spec_set(whole, "priority", "low", e);
}

/* What the run is told of it, in so many words: by now it is within the ceilings. */
static int tell_tighter(const struct spec *whole, struct spec *asked, uint64_t said, struct err *e)
{
	for (size_t i = 0; i < sizeof(tighter) / sizeof(*tighter); i++) {
		const struct key *k = key_find(tighter[i].name);
		if (said >> (k - spec_keys) & 1)
			continue;
		char *text = key_value_text(whole, k);
		const int done = text ? spec_set(asked, k->name, text, e)
				      : err_host(e, "out of memory");
		free(text);
		if (done < 0)
			return -1;
	}
	if (said >> (key_find("priority") - spec_keys) & 1)
		return 0;
	return spec_set(asked, "priority", "low", e);
}

/* The scratch is memory, and a default is no more than that. */
static void shrink_scratch(struct spec *whole, uint64_t said)
{
	struct limits *l = &whole->limits;
	if (!(said >> (key_find("scratch") - spec_keys) & 1) && l->scratch_bytes > l->memory_bytes)
		l->scratch_bytes = l->memory_bytes;
}

/* What a template says is a default: where the host allows less, the run is told that. */
static int tell_lowered(const struct spec *whole, struct spec *asked, uint64_t said, struct err *e)
{
	const struct spec *ceilings = whole->rules.ceilings;
	for (size_t i = 0; ceilings && i < spec_keys_len; i++) {
		const bool scratch = strcmp(spec_keys[i].name, "scratch") == 0;
		if (!(said >> i & 1) || !(scratch || ceilings->given >> i & 1))
			continue;
		char *text = key_value_text(whole, &spec_keys[i]);
		const int done = text ? spec_set(asked, spec_keys[i].name, text, e)
				      : err_host(e, "out of memory");
		free(text);
		if (done < 0)
			return -1;
	}
	return 0;
}

static int read_both(struct reading *r, const struct place *p, const char *const *others,
		     struct job_stage *s, struct err *e)
{
	struct arena *a = r->job->arena;
	if (spec_init(&s->asked, a, e) < 0 || spec_init(&s->whole, a, e) < 0)
		return -1;
	s->asked.speaking = ORIGIN_FILE;
	if (document_set_beside(&s->asked, &r->d, p->value.at, others, e) < 0)
		return -1;
	const uint64_t said = s->asked.given;
	if (r->configure && r->configure(&s->whole, e) < 0)
		return -1;
	s->whole.speaking = ORIGIN_DEFAULT;
	if (s->kind == STAGE_RUN && tighten(&s->whole, e) < 0)
		return -1;
	s->whole.speaking = r->of_template ? ORIGIN_DEFAULT : ORIGIN_FILE;
	if (document_set_beside(&s->whole, &r->d, p->value.at, others, e) < 0)
		return -1;
	if (spec_apply_ceilings(&s->whole, e) < 0)
		return reading_refuse(r, p->value.at, p->name, e);
	shrink_scratch(&s->whole, r->of_template ? 0 : said);
	if (r->of_template && tell_lowered(&s->whole, &s->asked, said, e) < 0)
		return -1;
	return s->kind == STAGE_RUN ? tell_tighter(&s->whole, &s->asked, said, e) : 0;
}

static int refuse_keys(struct reading *r, const struct place *p, struct err *e)
{
	size_t at = p->value.at;
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		autodecoded name = {document_decode(&r->d, m.key)};
		const char *text = json_string_value(name.value) ? json_string_value(name.value) : "";
		for (size_t i = 0; i < sizeof(not_for_stages) / sizeof(*not_for_stages); i++)
			if (strcmp(text, not_for_stages[i]) == 0) {
				err_usage(e, "%s: the job says this for its stages", text);
				return reading_refuse(r, m.key.at, p->name, e);
			}
	}
	return 0;
}

/* A mark that would stay as it is, in any string of the value; as deep as a document may be. */
static int refuse_marks(struct reading *r, struct slice value, const char *name, struct err *e)
{
	const char first = r->d.j.text[value.at];
	size_t at = value.at;
	if (first == '{' || first == '[') {
		for (struct member m; locate_next(&r->d.j, &at, &m);)
			if (refuse_marks(r, m.value, name, e) < 0)
				return -1;
		return 0;
	}
	autodecoded v = {document_decode(&r->d, value)};
	const char *text = json_string_value(v.value);
	const char *mark = text ? strstr(text, "@{") : NULL;
	if (!mark || !strchr(mark, '}'))
		return 0;
	err_usage(e, "%s: parameters are put into command and env alone", show(text).text);
	return reading_refuse(r, value.at, name, e);
}

/* Of what they are not put into. */
static int check_marks(struct reading *r, const struct place *p, struct err *e)
{
	size_t at = p->value.at;
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		autodecoded name = {document_decode(&r->d, m.key)};
		const char *text = json_string_value(name.value) ? json_string_value(name.value) : "";
		const bool put = strcmp(text, "command") == 0 || strcmp(text, "env") == 0;
		if (!put && refuse_marks(r, m.value, text, e) < 0)
			return -1;
	}
	return 0;
}

int read_stage_keys(struct reading *r, const struct place *p, const char *const *others,
		    struct job_stage *s, struct err *e)
{
	if (refuse_keys(r, p, e) < 0 || check_marks(r, p, e) < 0 || read_both(r, p, others, s, e) < 0)
		return -1;
	if (s->whole.artifacts_dir) {
		err_usage(e, "artifacts.dir: the job says where artifacts go, by --artifacts-dir");
		return reading_refuse(r, p->value.at, p->name, e);
	}
	return 0;
}

/* Those of a stage that are its own, by name; keys are passed over. */
static int read_own(struct reading *r, const struct place *p, struct job_stage *s, struct err *e)
{
	size_t at = p->value.at;
	unsigned seen = 0;
	for (struct member m; locate_next(&r->d.j, &at, &m);) {
		autodecoded name = {document_decode(&r->d, m.key)};
		const char *text = json_string_value(name.value) ? json_string_value(name.value) : "";
		unsigned i = 0;
		while (own[i].name && strcmp(own[i].name, text) != 0)
			i++;
		if (!own[i].name)
			continue;
		if (seen >> i & 1) {
			err_usage(e, "%s: given twice", own[i].name);
			return reading_refuse(r, m.key.at, p->name, e);
		}
		seen |= 1U << i;
		const struct place inner = {m.value, m.key.at, own[i].name};
		if (reading_member(r, &own[i], &inner, s, e) < 0)
			return -1;
	}
	if (seen & 1)
		return 0;
	err_usage(e, "a stage has a name");
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_stage(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job *job = into;
	struct job_stage *s = &job->stages[job->stages_len];
	if (r->d.j.text[p->value.at] != '{') {
		err_usage(e, "wrong type; here belongs an object");
		return reading_refuse(r, p->value.at, p->name, e);
	}
	*s = (struct job_stage){.cache = true, .at = p->value.at};
	if (read_own(r, p, s, e) < 0 || read_stage_keys(r, p, own_names, s, e) < 0)
		return -1;
	for (size_t i = 0; i < job->stages_len; i++)
		if (strcmp(job->stages[i].name, s->name) == 0) {
			err_usage(e, "there are two stages %s", s->name);
			return reading_refuse(r, p->value.at, p->name, e);
		}
	job->stages_len++;
	return 0;
}

int read_stages(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job *job = into;
	const struct reading_each each = {read_stage, job, JOB_STAGES_MAX};
	job->stages = arena_alloc(job->arena, JOB_STAGES_MAX * sizeof(*job->stages));
	return reading_each(r, p, '[', &each, e);
}
