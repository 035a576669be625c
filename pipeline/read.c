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

static int read_document(struct reading *r, struct err *e)
{
	if (document_parse(&r->d, "a job", e) < 0)
		return -1;
	const size_t at = locate_start(&r->d.j);
	const struct place whole = {.value = {at, r->d.j.len}, .name_at = at};
	if (reading_object(r, &whole, rows, r->job, e) < 0)
		return -1;
	if (!r->job->lang.name || r->job->stages_len > 0)
		return check_job(r, e);
	return read_template(r, e);
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
