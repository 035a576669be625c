/* Sweeps over parameters, what they may cost, and the short form for one program. */
#include "pipeline/cost.h"
#include "pipeline/reading.h"
#include "spec/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- matrix ---- */

struct parameters {
	struct job_parameter list[JOB_PARAMETERS_MAX];
	size_t len;
	size_t combinations;
};

static int parameter_name(struct reading *r, const struct place *p, struct err *e)
{
	if (reading_is_name(p->name))
		return 0;
	err_usage(e, "%s is no name (lower-case letters, digits, _ and -; %d at most)",
		  show(p->name).text, JOB_NAME_MAX);
	return reading_refuse(r, p->name_at, NULL, e);
}

static int read_one_value(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_parameter *parameter = into;
	return reading_value(r, p, &parameter->values[parameter->values_len++], e);
}

static int read_parameter(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct parameters *all = into;
	struct job_parameter *one = &all->list[all->len];
	const struct reading_each each = {read_one_value, one, JOB_COMBINATIONS_MAX};
	if (parameter_name(r, p, e) < 0)
		return -1;
	*one = (struct job_parameter){.name = p->name};
	one->values = arena_alloc(r->job->arena, (reading_count(r, p) + 1) * sizeof(*one->values));
	if (reading_each(r, p, '[', &each, e) < 0)
		return -1;
	all->len++;
	all->combinations *= one->values_len;
	if (all->combinations <= JOB_COMBINATIONS_MAX)
		return 0;
	err_usage(e, "there are more than %d combinations", JOB_COMBINATIONS_MAX);
	return reading_refuse(r, p->name_at, p->name, e);
}

static int read_parameters(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_matrix *m = into;
	struct parameters *all = arena_alloc(r->job->arena, sizeof(*all));
	const struct reading_each each = {read_parameter, all, JOB_PARAMETERS_MAX};
	all->combinations = 1;
	if (reading_each(r, p, '{', &each, e) < 0)
		return -1;
	m->parameters = all->list;
	m->parameters_len = all->len;
	m->combinations = all->combinations;
	return 0;
}

/* By the parser of --slots. */
static int read_slots(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_matrix *m = into;
	struct spec s;
	const char *text;
	if (reading_value(r, p, &text, e) < 0)
		return -1;
	if (spec_init(&s, r->job->arena, e) < 0 || spec_set(&s, "slots", text, e) < 0)
		return reading_refuse(r, p->value.at, NULL, e);
	m->slots = s.slots;
	m->slots_said = true;
	if (m->slots.count > 0)
		return 0;
	err_usage(e, "at least one runs at once");
	return reading_refuse(r, p->value.at, p->name, e);
}

int read_matrix(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] = {{"parameters", read_parameters},
						 {"slots", read_slots},
						 {"keep-going", member_bool,
						  offsetof(struct job_matrix, keep_going)},
						 {NULL, NULL}};
	struct job_matrix *m = &((struct job *)into)->matrix;
	m->slots.count = 1;
	m->at = p->value.at;
	if (reading_object(r, p, rows, m, e) < 0)
		return -1;
	if (m->combinations)
		return 0;
	err_usage(e, "a matrix has parameters");
	return reading_refuse(r, p->value.at, p->name, e);
}

void job_combination(const struct job_matrix *m, size_t i, struct job_setting *set)
{
	for (size_t p = m->parameters_len; p-- > 0;) {
		const struct job_parameter *one = &m->parameters[p];
		set[p] = (struct job_setting){one->name, one->values[i % one->values_len]};
		i /= one->values_len;
	}
}

/* ---- cost ---- */

struct settings {
	struct job_setting list[JOB_PARAMETERS_MAX];
	size_t len;
};

static int read_setting(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct settings *all = into;
	struct job_setting *one = &all->list[all->len];
	if (parameter_name(r, p, e) < 0)
		return -1;
	one->name = p->name;
	if (reading_value(r, p, &one->value, e) < 0)
		return -1;
	all->len++;
	return 0;
}

static int read_set(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_configuration *c = into;
	struct settings *all = arena_alloc(r->job->arena, sizeof(*all));
	const struct reading_each each = {read_setting, all, JOB_PARAMETERS_MAX};
	if (reading_each(r, p, '{', &each, e) < 0)
		return -1;
	c->set = all->list;
	c->set_len = all->len;
	return 0;
}

static int read_scale(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_configuration *c = into;
	if (reading_number(r, p, &c->scale, e) < 0)
		return -1;
	if (c->scale >= COST_SCALE_LEAST && c->scale <= COST_SCALE_MOST)
		return 0;
	err_usage(e, c->scale > 0 ? "a scale is from %g to %g" : "a scale is more than 0",
		  COST_SCALE_LEAST, COST_SCALE_MOST);
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_configuration_name(struct reading *r, const struct place *p, void *into,
				   struct err *e)
{
	struct job_configuration *c = into;
	if (reading_text(r, p, &c->name, e) < 0)
		return -1;
	if (reading_is_name(c->name) && strcmp(c->name, "full") != 0)
		return 0;
	err_usage(e, "%s is no name of a small configuration", show(c->name).text);
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_configuration(struct reading *r, const struct place *p, struct job_configuration *c,
			      struct err *e)
{
	static const struct job_member rows[] = {{"name", read_configuration_name},
						 {"scale", read_scale},
						 {"set", read_set},
						 {NULL, NULL}};
	if (reading_object(r, p, rows, c, e) < 0)
		return -1;
	if (c->scale > 0 && c->set_len > 0)
		return 0;
	err_usage(e, "a configuration has a scale and a set");
	return reading_refuse(r, p->value.at, p->name, e);
}

struct configurations {
	struct job_configuration list[JOB_CONFIGURATIONS_MAX];
	size_t len;
};

static int read_minimal(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct configurations *all = into;
	struct job_configuration *c = &all->list[all->len];
	if (read_configuration(r, p, c, e) < 0)
		return -1;
	if (!c->name)
		c->name = arena_printf(r->job->arena, "%.9g", c->scale);
	for (size_t i = 0; i < all->len; i++)
		if (all->list[i].scale == c->scale || strcmp(all->list[i].name, c->name) == 0) {
			err_usage(e, "there is one of that scale or name already");
			return reading_refuse(r, p->value.at, p->name, e);
		}
	all->len++;
	return 0;
}

static int by_scale(const void *a, const void *b)
{
	const double x = ((const struct job_configuration *)a)->scale;
	const double y = ((const struct job_configuration *)b)->scale;
	return (x > y) - (x < y);
}

static int read_minimals(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_cost *c = into;
	struct configurations *all = arena_alloc(r->job->arena, sizeof(*all));
	const struct reading_each each = {read_minimal, all, JOB_CONFIGURATIONS_MAX};
	if (reading_each(r, p, '[', &each, e) < 0)
		return -1;
	qsort(all->list, all->len, sizeof(*all->list), by_scale);
	c->minimal = all->list;
	c->minimal_len = all->len;
	return 0;
}

static int read_full(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job_cost *c = into;
	static const struct job_member rows[] = {{"scale", read_scale},
						 {"set", read_set},
						 {NULL, NULL}};
	c->full.name = "full";
	if (reading_object(r, p, rows, &c->full, e) < 0)
		return -1;
	if (c->full.scale > 0 && c->full.set_len > 0)
		return 0;
	err_usage(e, "the full configuration has a scale and a set");
	return reading_refuse(r, p->value.at, p->name, e);
}

/* A budget that says nothing would be one that everything lies within. */
static bool approves(const struct job_budget *b)
{
	return b->wall_ns != LIMIT_NONE || b->cpu_time_ns != LIMIT_NONE ||
	       b->memory_bytes != LIMIT_NONE || b->scratch_bytes != LIMIT_NONE;
}

static int read_budget(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] =
		{{"wall", member_time, offsetof(struct job_budget, wall_ns)},
		 {"cpu-time", member_time, offsetof(struct job_budget, cpu_time_ns)},
		 {"memory", member_size, offsetof(struct job_budget, memory_bytes)},
		 {"scratch", member_size, offsetof(struct job_budget, scratch_bytes)},
		 {NULL, NULL}};
	struct job_cost *c = into;
	if (reading_object(r, p, rows, &c->approved, e) < 0)
		return -1;
	c->has_approved = approves(&c->approved);
	if (c->has_approved)
		return 0;
	err_usage(e, "it approves nothing; without a budget the full one waits for --approve");
	return reading_refuse(r, p->value.at, p->name, e);
}

static int approve_one(struct job_budget *b, const char *word, struct err *e)
{
	uint64_t *const times[] = {&b->wall_ns, &b->cpu_time_ns}, *const sizes[] = {&b->memory_bytes,
										    &b->scratch_bytes};
	static const char *const names[] = {"wall=", "cpu-time=", "memory=", "scratch="};
	for (size_t i = 0; i < 4; i++) {
		const size_t len = strlen(names[i]);
		if (strncmp(word, names[i], len) != 0)
			continue;
		if (*(i < 2 ? times[i] : sizes[i - 2]) != LIMIT_NONE)
			return err_usage(e, "%s: that was said already", show(word).text);
		return i < 2 ? spec_parse_time(word + len, times[i], e)
			     : spec_parse_size(word + len, sizes[i - 2], e);
	}
	return err_usage(e, "%s is not one of wall=TIME, cpu-time=TIME, memory=SIZE, scratch=SIZE",
			 show(word).text);
}

int job_approve(struct job *job, const char *text, struct err *e)
{
	struct job_budget b = {LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE};
	char *copy = arena_strdup(job->arena, text), *rest = NULL;
	if (!job->cost.wanted)
		return err_usage(e, "--approve: the job has no cost");
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (approve_one(&b, word, e) < 0)
			return err_wrap(e, "--approve");
	if (!approves(&b))
		return err_usage(e, "--approve: %s approves nothing", show(text).text);
	job->cost.approved = b;
	job->cost.has_approved = job->cost.approved_by_flag = true;
	return 0;
}

/* That is the full one, which would run before anything is known of it. Both set the same names. */
static bool is_full(const struct job_cost *c, const struct job_configuration *m)
{
	for (size_t i = 0; i < c->full.set_len; i++)
		for (size_t k = 0; k < m->set_len; k++)
			if (strcmp(m->set[k].name, c->full.set[i].name) == 0 &&
			    strcmp(m->set[k].value, c->full.set[i].value) != 0)
				return false;
	return true;
}

/* All set the same names, and none is the full one or larger. */
static int check_configurations(const struct job_cost *c, struct err *e)
{
	for (size_t i = 0; i < c->minimal_len; i++) {
		const struct job_configuration *m = &c->minimal[i];
		if (m->scale >= c->full.scale)
			return err_usage(e, "the scale of %s is not below that of the full one",
					 m->name);
		for (size_t j = 0; j < c->full.set_len; j++) {
			size_t k = 0;
			while (k < m->set_len && strcmp(m->set[k].name, c->full.set[j].name) != 0)
				k++;
			if (k == m->set_len || m->set_len != c->full.set_len)
				return err_usage(e, "%s does not set what the full one sets",
						 m->name);
		}
		if (is_full(c, m))
			return err_usage(e, "%s sets all to the values of the full one", m->name);
	}
	return 0;
}

int read_cost(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] = {{"configurations", read_minimals},
						 {"full", read_full},
						 {"budget", read_budget},
						 {"budget-file", member_text,
						  offsetof(struct job_cost, budget_file)},
						 {NULL, NULL}};
	struct job_cost *c = &((struct job *)into)->cost;
	c->wanted = true;
	c->at = p->value.at;
	c->approved = (struct job_budget){LIMIT_NONE, LIMIT_NONE, LIMIT_NONE, LIMIT_NONE};
	if (reading_object(r, p, rows, c, e) < 0)
		return -1;
	if (c->minimal_len == 0 || !c->full.name)
		err_usage(e, "cost has configurations and a full one");
	else if (check_configurations(c, e) == 0)
		return 0;
	return reading_refuse(r, p->value.at, p->name, e);
}

/* ---- lang ---- */

int read_lang(struct reading *r, const struct place *p, void *into, struct err *e)
{
	static const struct job_member rows[] = {
		{"name", member_text, offsetof(struct job_lang, name)},
		{"version", member_text, offsetof(struct job_lang, version)},
		{"options", member_strings, offsetof(struct job_lang, options)},
		{"files", member_strings, offsetof(struct job_lang, files)},
		{"args", member_strings, offsetof(struct job_lang, args)},
		{"build-image", member_text, offsetof(struct job_lang, build_image)},
		{"run-image", member_text, offsetof(struct job_lang, run_image)},
		{"stdin", member_text, offsetof(struct job_lang, stdin_from)},
		{NULL, NULL},
	};
	struct job_lang *l = &((struct job *)into)->lang;
	l->at = p->value.at;
	if (r->d.j.text[p->value.at] == '"')
		return reading_text(r, p, &l->name, e);
	if (reading_object(r, p, rows, l, e) < 0)
		return -1;
	if (l->name)
		return 0;
	err_usage(e, "a language has a name");
	return reading_refuse(r, p->value.at, p->name, e);
}
