#include "pipeline/fetch.h"
#include "pipeline/reading.h"
#include "spec/parse.h"

#include <string.h>

static int read_name(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job *job = into;
	if (reading_text(r, p, &job->name, e) < 0)
		return -1;
	bool good = strlen(job->name) <= 64;
	for (const char *c = job->name; *c; c++)
		good &= (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') ||
			(*c >= 'a' && *c <= 'z') || (c > job->name && strchr("_. -", *c));
	if (good)
		return 0;
	err_usage(e, "%s is no name (letters, digits, _ . - and blanks; 64 at most)",
		  show(job->name).text);
	return reading_refuse(r, p->value.at, p->name, e);
}

static int read_image(struct reading *r, const struct place *p, void *into, struct err *e)
{
	struct job *job = into;
	struct spec s;
	if (reading_text(r, p, &job->image, e) < 0)
		return -1;
	if (spec_init(&s, job->arena, e) < 0 || spec_set_image(&s, job->image, e) < 0)
		return reading_refuse(r, p->value.at, NULL, e);
	return 0;
}

static const struct job_member rows[] = {
	{"name", read_name},	   {"image", read_image}, {"source", read_source},
	{"analyse", read_analyse}, {"lang", read_lang},	  {"stages", read_stages},
	{"matrix", read_matrix},   {"cost", read_cost},	  {NULL, NULL},
};

/* ---- what the parts are to each other ---- */

/* at: of what is to blame. */
static int check_parts(const struct job *job, size_t *at, struct err *e)
{
	const bool fetched = job->source.kind == SOURCE_GIT || job->source.kind == SOURCE_ARCHIVE;
	if (job->stages_len == 0 && !job->lang.name)
		return err_usage(e, "a job has stages, or lang");
	*at = job->lang.at;
	if (job->stages_len > 0 && job->lang.name)
		return err_usage(e, "lang is instead of stages, and the job has both");
	if (job->lang.name && job->source.kind == SOURCE_NONE)
		return err_usage(e, "lang is for a source, and there is none");
	*at = job->analyse.at;
	if (job->analyse.said && job->source.kind == SOURCE_NONE)
		return err_usage(e, "analyse is for a source, and there is none");
	*at = job->source.at;
	if (fetched && !job->source.image && !job->image)
		return err_usage(e, "source: nothing says which image has the programs that fetch; "
				    "give image");
	*at = job->cost.at;
	if (job->cost.wanted && job->matrix.combinations)
		return err_usage(e, "a job has a matrix or cost, not both");
	return 0;
}

/* The runs that fetch are made of what the source says: what they would be refused for is its. */
static int check_fetch(const struct job *job, size_t *at, struct err *e)
{
	struct job_stage *stage;
	*at = job->source.at;
	if (job->source.kind == SOURCE_NONE)
		return 0;
	if (fetch_stage(job, &stage, e) < 0)
		return -1;
	struct spec copy = stage->whole;
	if (copy.artifacts.len > 0)
		copy.artifacts_dir = "artifacts";
	return spec_check(&copy, e);
}

/* Where no stage is another for another value, the first small configuration is the full one. */
static int check_sets(const struct job *job, size_t *at, struct err *e)
{
	const bool sets = job->cost.wanted || job->matrix.combinations;
	*at = job->cost.wanted ? job->cost.at : job->matrix.at;
	for (size_t i = 0; i < job->stages_len; i++)
		if (job->stages[i].varies)
			return 0;
	return sets ? err_usage(e,
				"no stage names a parameter of it, as @{NAME} in its command or env")
		    : 0;
}

static int read_document(struct reading *r, struct err *e)
{
	if (document_parse(&r->d, "a job", e) < 0)
		return -1;
	const size_t at = locate_start(&r->d.j);
	const struct place whole = {.value = {at, r->d.j.len}, .name_at = at};
	if (reading_object(r, &whole, rows, r->job, e) < 0)
		return -1;
	size_t odd = at;
	if (check_parts(r->job, &odd, e) < 0)
		return reading_refuse(r, odd, NULL, e);
	if ((r->job->lang.name ? read_template(r, e) : check_job(r, e)) < 0)
		return -1;
	if (check_fetch(r->job, &odd, e) < 0 || check_sets(r->job, &odd, e) < 0)
		return reading_refuse(r, odd, NULL, e);
	return 0;
}

int job_read(struct job *job, const struct job_text *from, struct arena *a, struct err *e)
{
	struct reading r = {.job = job, .configure = from->configure};
	*job = (struct job){.arena = a, .configure = from->configure, .analyse = {.gate = GATE_ERROR}};
	document_init(&r.d, from->name, from->text, from->len);
	const int done = read_document(&r, e);
	json_decref(r.d.root);
	return done;
}
