#include "pipeline/report.h"

void report_text(struct json_writer *w, const char *key, const char *text)
{
	if (text && *text)
		json_text(w, key, text);
	else
		json_null_value(w, key);
}

void report_set(struct json_writer *w, const struct stage_run *run)
{
	if (!run || run->set_len == 0) {
		json_null_value(w, "set");
		return;
	}
	json_begin(w, "set", '{');
	for (size_t i = 0; i < run->set_len; i++)
		json_text(w, run->set[i].name, run->set[i].value);
	json_end(w, '{');
}

static void number_or_null(struct json_writer *w, const char *key, uint64_t number, bool known)
{
	if (known && number <= INT64_MAX)
		json_number(w, key, (int64_t)number);
	else
		json_null_value(w, key);
}

void report_diagnostics(struct json_writer *w, const struct stage_run *run)
{
	const struct diagnostics *d = run->diagnostics;
	if (!d) {
		json_null_value(w, "diagnostics");
		return;
	}
	json_begin(w, "diagnostics", '[');
	for (uint32_t i = 0; i < d->len; i++) {
		const struct diagnostic *row = &d->rows[i];
		json_begin(w, NULL, '{');
		report_text(w, "file", row->file);
		number_or_null(w, "line", row->line, row->line > 0);
		number_or_null(w, "column", row->column, row->column > 0);
		json_text(w, "severity", severity_names[row->severity]);
		report_text(w, "code", row->code);
		json_text(w, "message", row->message);
		json_end(w, '{');
	}
	json_end(w, '[');
}

/* ---- analysis ---- */

enum { FINDINGS_MAX = 1000 };

static void write_finding(struct json_writer *w, const struct scan_finding *f)
{
	json_begin(w, NULL, '{');
	json_text(w, "id", f->id);
	json_text(w, "severity", scan_severity_name(f->severity));
	report_text(w, "path", f->path);
	number_or_null(w, "line", f->line, f->line > 0);
	number_or_null(w, "column", f->column, f->column > 0);
	json_text(w, "message", f->message);
	report_text(w, "detail", f->detail);
	json_text(w, "tool", f->tool ? f->tool : "pinfold");
	report_text(w, "waived", f->waived ? f->waived->reason : NULL);
	json_end(w, '{');
}

/* The worst first. */
static void write_findings(struct json_writer *w, const struct scan_findings *all)
{
	size_t written = 0;
	json_begin(w, "findings", '[');
	for (int severity = SCAN_SEVERITIES - 1; severity >= 0; severity--)
		for (size_t i = 0; i < all->len && written < FINDINGS_MAX; i++)
			if (all->at[i].severity == (enum scan_severity)severity) {
				write_finding(w, &all->at[i]);
				written++;
			}
	json_end(w, '[');
}

static void write_waivers(struct json_writer *w, const struct scan_waivers *all)
{
	json_begin(w, "waivers", '[');
	for (size_t i = 0; i < all->len; i++) {
		json_begin(w, NULL, '{');
		json_text(w, "id", all->at[i].id);
		json_text(w, "path", all->at[i].path);
		json_text(w, "reason", all->at[i].reason);
		json_number(w, "used", (int64_t)all->at[i].used);
		json_end(w, '{');
	}
	json_end(w, '[');
}

void report_analysis(struct json_writer *w, const struct job *job, const struct job_result *r)
{
	static const char *const gates[] =
		{[GATE_NONE] = "none", [GATE_NOTE] = "note", [GATE_WARNING] = "warning", [GATE_ERROR] = "error"};
	const struct job_analysis *a = &r->analysis;
	if (!job || !a->done) {
		json_null_value(w, "analysis");
		return;
	}
	json_begin(w, "analysis", '{');
	json_text(w, "gate", gates[job->analyse.gate]);
	json_begin(w, "counts", '{');
	for (int i = SCAN_SEVERITIES - 1; i >= 0; i--)
		json_number(w, scan_severity_name((enum scan_severity)i),
			    (int64_t)a->verdict.counts[i]);
	json_number(w, "waived", (int64_t)a->verdict.waived);
	json_end(w, '{');
	json_bool(w, "complete", !a->findings.cut && a->findings.len <= FINDINGS_MAX);
	write_findings(w, &a->findings);
	write_waivers(w, &a->waivers);
	json_end(w, '{');
}

/* ---- cost ---- */

static void write_measure(struct json_writer *w, const char *key, const uint64_t v[COST_QUANTITIES])
{
	json_begin(w, key, '{');
	for (int q = 0; q < COST_QUANTITIES; q++)
		number_or_null(w, cost_quantity_names[q], v[q], true);
	json_end(w, '{');
}

static void write_points(struct json_writer *w, const struct job_cost *c,
			 const struct job_cost_result *r)
{
	json_begin(w, "points", '[');
	for (size_t i = 0; r->estimated && i < c->minimal_len; i++) {
		json_begin(w, NULL, '{');
		json_text(w, "configuration", c->minimal[i].name);
		json_double(w, "scale", r->points[i].scale);
		write_measure(w, "measured", r->points[i].measured);
		json_end(w, '{');
	}
	json_end(w, '[');
}

static void write_estimate(struct json_writer *w, const struct job_cost_result *r)
{
	if (!r->estimated) {
		json_null_value(w, "estimate");
		return;
	}
	json_begin(w, "estimate", '{');
	for (int q = 0; q < COST_QUANTITIES; q++) {
		const struct cost_estimate *one = &r->estimates[q];
		json_begin(w, cost_quantity_names[q], '{');
		number_or_null(w, "value", one->estimate, true);
		number_or_null(w, "low", one->low, true);
		number_or_null(w, "high", one->high, true);
		json_text(w, "method", cost_method_names[one->method]);
		json_end(w, '{');
	}
	json_end(w, '{');
}

static void write_approved(struct json_writer *w, const struct job_cost *c)
{
	uint64_t approved[COST_QUANTITIES];
	cost_approved(&c->approved, approved);
	if (c->has_approved)
		write_measure(w, "approved", approved);
	else
		json_null_value(w, "approved");
	report_text(w, "by", !c->has_approved ? NULL : c->approved_by_flag ? "flag" : "document");
}

/* Of the shared budget; what it is worth is in the budget's file. */
static void write_amount(struct json_writer *w, const char *key, bool there,
			 const struct budget_amount *a)
{
	if (!there) {
		json_null_value(w, key);
		return;
	}
	json_begin(w, key, '{');
	for (int q = 0; q < BUDGET_MONEY; q++)
		number_or_null(w, budget_quantity_names[q], a->of[q], true);
	json_end(w, '{');
}

void report_cost(struct json_writer *w, const struct job *job, const struct job_result *r)
{
	if (!job || !job->cost.wanted) {
		json_null_value(w, "cost");
		return;
	}
	json_begin(w, "cost", '{');
	json_double(w, "scale", job->cost.full.scale);
	write_points(w, &job->cost, &r->cost);
	write_estimate(w, &r->cost);
	write_approved(w, &job->cost);
	if (r->cost.measured_full)
		write_measure(w, "measured", r->cost.measured);
	else
		json_null_value(w, "measured");
	write_amount(w, "reserved", r->cost.has_reserved, &r->cost.reserved);
	write_amount(w, "settled", r->cost.has_settled, &r->cost.settled);
	json_begin(w, "over", '[');
	for (size_t i = 0; i < r->cost.over_len; i++)
		json_text(w, NULL, r->cost.over[i]);
	json_end(w, '[');
	json_end(w, '{');
}
