/* The document of a job to the model: pinfold.job-result/1, but for the runs in it. */
#include "report/node.h"
#include "report/read.h"

#include <string.h>

static struct value_told *read_set(struct reading *r, const struct node *stage, size_t *len)
{
	const struct node set = node_object(r, stage, "set");
	struct value_told *values = ROWS(r, struct value_told, json_object_size(set.value));
	*len = 0;
	for (void *at = json_object_iter((json_t *)set.value); at;
	     at = json_object_iter_next((json_t *)set.value, at)) {
		const char *key = json_object_iter_key(at);
		values[(*len)++] = (struct value_told){bytes_of(arena_strdup(r->arena, key)),
						       node_text(r, &set, key)};
	}
	return values;
}

static struct handed_told *read_outputs(struct reading *r, const struct node *stage, size_t *len)
{
	const struct node list = node_array(r, stage, "outputs", len);
	struct handed_told *rows = ROWS(r, struct handed_told, *len);
	for (size_t i = 0; i < *len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		rows[i] = (struct handed_told){node_text(r, &n, "path"), node_text(r, &n, "digest"),
					       node_number(r, &n, "bytes")};
	}
	return rows;
}

/* code: what the key of its rule or code is. */
static struct finding_told read_finding(struct reading *r, const struct node *n, const char *code,
					const char *file)
{
	return (struct finding_told){
		.severity = node_text(r, n, "severity"),
		.code = node_text(r, n, code),
		.file = node_text(r, n, file),
		.message = node_text(r, n, "message"),
		.detail = node_text(r, n, "detail"),
		.tool = node_text(r, n, "tool"),
		.waived = node_text(r, n, "waived"),
		.line = node_number(r, n, "line"),
		.column = node_number(r, n, "column"),
	};
}

static void read_diagnostics(struct stage_told *s, struct reading *r, const struct node *stage)
{
	const struct node list = node_array(r, stage, "diagnostics", &s->diagnostics_len);
	s->has_diagnostics = list.value;
	s->diagnostics = ROWS(r, struct finding_told, s->diagnostics_len);
	for (size_t i = 0; i < s->diagnostics_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		s->diagnostics[i] = read_finding(r, &n, "code", "file");
	}
}

static void read_stage(struct stage_told *s, struct reading *r, const struct node *n)
{
	const struct node cache = node_object(r, n, "cache"), files = node_object(r, n, "files");
	const struct node result = node_object(r, n, "result");
	*s = (struct stage_told){
		.name = node_text(r, n, "name"),
		.kind = node_text(r, n, "kind"),
		.configuration = node_text(r, n, "configuration"),
		.state = node_text(r, n, "state"),
		.message = node_text(r, n, "message"),
		.ok = node_flag(r, n, "ok"),
		.cache = node_text(r, &cache, "state"),
		.cache_key = node_text(r, &cache, "key"),
		.cache_reason = node_text(r, &cache, "reason"),
		.folder = node_text(r, &files, "folder"),
		.has_run = result.value,
	};
	s->set = read_set(r, n, &s->set_len);
	s->outputs = read_outputs(r, n, &s->outputs_len);
	read_diagnostics(s, r, n);
	s->run = (struct run_told){.started_usec = NUM_UNKNOWN};
	if (s->has_run && !r->bad)
		read_run(&s->run, r, &result);
}

static void read_stages(struct report *report, struct reading *r, const struct node *root)
{
	const struct node list = node_array(r, root, "stages", &report->stages_len);
	if (report->stages_len > STAGES_MAX) {
		node_refuse(r, &list, "more of them than any job has");
		report->stages_len = 0;
	}
	report->stages = ROWS(r, struct stage_told, report->stages_len);
	for (size_t i = 0; i < report->stages_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		read_stage(&report->stages[i], r, &n);
	}
}

static void read_source(struct source_told *s, struct reading *r, const struct node *root)
{
	const struct node n = node_object(r, root, "source");
	*s = (struct source_told){
		.there = n.value,
		.kind = node_text(r, &n, "kind"),
		.from = node_text(r, &n, "from"),
		.ref = node_text(r, &n, "ref"),
		.commit = node_text(r, &n, "commit"),
		.archive_digest = node_text(r, &n, "archive_digest"),
		.trust = node_text(r, &n, "trust"),
		.digest = node_text(r, &n, "digest"),
		.bytes = node_number(r, &n, "bytes"),
	};
}

static void read_analysis(struct analysis_told *a, struct reading *r, const struct node *root)
{
	static const char *const counts[COUNTS] = {"error", "warning", "note", "waived"};
	const struct node n = node_object(r, root, "analysis"), sums = node_object(r, &n, "counts");
	const struct node found = node_array(r, &n, "findings", &a->findings_len);
	const struct node waivers = node_array(r, &n, "waivers", &a->waivers_len);
	a->there = n.value;
	a->complete = node_flag(r, &n, "complete");
	a->gate = node_text(r, &n, "gate");
	for (int i = 0; i < COUNTS; i++)
		a->counts[i] = node_number(r, &sums, counts[i]);
	a->findings = ROWS(r, struct finding_told, a->findings_len);
	for (size_t i = 0; i < a->findings_len && !r->bad; i++) {
		const struct node row = node_element(&found, i);
		a->findings[i] = read_finding(r, &row, "id", "path");
	}
	a->waivers = ROWS(r, struct waiver_told, a->waivers_len);
	for (size_t i = 0; i < a->waivers_len && !r->bad; i++) {
		const struct node row = node_element(&waivers, i);
		a->waivers[i] = (struct waiver_told){node_text(r, &row, "id"),
						     node_text(r, &row, "path"),
						     node_text(r, &row, "reason"),
						     node_number(r, &row, "used")};
	}
}

/* ---- cost ---- */

static const char *const cost_keys[COST_ROWS] = {"wall_usec", "cpu_usec", "memory_bytes",
						 "scratch_bytes"};
static const char *const shared_keys[SHARED_ROWS] = {"cpu_usec", "wall_usec", "memory_mib_usec",
						     "runs"};

/* Whether it is there at all. */
static bool read_amounts(int64_t *to, struct reading *r, const struct node *up, const char *key,
			 const char *const keys[4])
{
	const struct node n = node_object(r, up, key);
	for (int i = 0; i < 4; i++)
		to[i] = node_number(r, &n, keys[i]);
	return n.value;
}

static void read_points(struct cost_told *c, struct reading *r, const struct node *cost)
{
	const struct node list = node_array(r, cost, "points", &c->points_len);
	c->points = ROWS(r, struct point_told, c->points_len);
	for (size_t i = 0; i < c->points_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		c->points[i].configuration = node_text(r, &n, "configuration");
		c->points[i].scale = node_real(r, &n, "scale");
		read_amounts(c->points[i].measured, r, &n, "measured", cost_keys);
	}
}

static void read_estimate(struct cost_told *c, struct reading *r, const struct node *cost)
{
	const struct node n = node_object(r, cost, "estimate");
	c->estimated = n.value;
	for (int i = 0; i < COST_ROWS; i++) {
		const struct node one = node_object(r, &n, cost_keys[i]);
		c->estimate[i] = (struct estimate_told){node_number(r, &one, "value"),
							node_number(r, &one, "low"),
							node_number(r, &one, "high"),
							node_text(r, &one, "method")};
	}
}

static void read_cost(struct cost_told *c, struct reading *r, const struct node *root)
{
	const struct node n = node_object(r, root, "cost");
	c->there = n.value;
	c->scale = node_real(r, &n, "scale");
	read_points(c, r, &n);
	read_estimate(c, r, &n);
	c->has_approved = read_amounts(c->approved, r, &n, "approved", cost_keys);
	c->has_measured = read_amounts(c->measured, r, &n, "measured", cost_keys);
	c->has_reserved = read_amounts(c->reserved, r, &n, "reserved", shared_keys);
	c->has_settled = read_amounts(c->settled, r, &n, "settled", shared_keys);
	c->by = node_text(r, &n, "by");
	c->over = read_texts(r, &n, "over", &c->over_len);
}

void read_job(struct report *report, struct reading *r, const struct node *root)
{
	struct job_told *job = ROWS(r, struct job_told, 1);
	const struct node cause = node_object(r, root, "cause"),
			  usage = node_object(r, root, "usage");
	const struct node host = node_object(r, root, "host");
	job->id = node_text(r, root, "id");
	job->name = node_text(r, root, "name");
	job->status = node_text(r, root, "status");
	job->ok = node_flag(r, root, "ok");
	job->stage = node_text(r, &cause, "stage");
	job->message = node_text(r, &cause, "message");
	read_source(&job->source, r, root);
	read_analysis(&job->analysis, r, root);
	read_cost(&job->cost, r, root);
	job->wall_usec = node_number(r, &usage, "wall_usec");
	job->stages_usec = node_number(r, &usage, "stages_usec");
	job->kernel = node_text(r, &host, "kernel");
	job->version = node_text(r, &host, "pinfold");
	job->warnings = read_texts(r, root, "warnings", &job->warnings_len);
	read_stages(report, r, root);
	report->job = job;
}
