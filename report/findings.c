/* What was found in the source, and what compilers said of it. */
#include "report/page.h"
#include "report/parts.h"

#include <inttypes.h>

enum { DIAGNOSTICS_SHOWN = 200 };

static const char *severity_class(struct bytes severity)
{
	return bytes_are(severity, "error")	? "bad"
	       : bytes_are(severity, "warning") ? "warn"
						: "still";
}

/* FILE:LINE:COLUMN, as far as it is told. */
static void put_place(struct html *h, const struct finding_told *f)
{
	if (!f->file.at)
		return put_text(h, f->file);
	html_markup(h, "<code class=\"where\">");
	html_text(h, f->file, HTML_SHORT);
	html_markup(h, "<span class=\"n\">");
	if (f->line != NUM_UNKNOWN)
		html_printf(h, ":%" PRId64, f->line);
	if (f->line != NUM_UNKNOWN && f->column != NUM_UNKNOWN)
		html_printf(h, ":%" PRId64, f->column);
	html_markup(h, "</span></code>");
}

static void put_rule(struct html *h, const struct finding_told *f)
{
	if (!f->code.at)
		return put_text(h, f->code);
	html_markup(h, "<code class=\"rule\">");
	html_text(h, f->code, HTML_SHORT);
	html_markup(h, "</code>");
}

static void put_message(struct html *h, const struct finding_told *f)
{
	html_text(h, f->message, HTML_LONG);
	if (f->detail.at) {
		html_markup(h, "<br>");
		put_code(h, f->detail);
	}
}

/* ---- the analysis ---- */

static void put_counts(const struct part *p, const struct analysis_told *a)
{
	static const char *const terms[COUNTS] = {"Errors", "Warnings", "Notes", "Waived"};
	static const struct meaning gates[] = {{"error", "stops at an error"},
					       {"warning", "stops at a warning or an error"},
					       {"note", "stops at any finding"},
					       {"none", "stops at nothing"}};
	const char *gate = words_for(a->gate, gates, 4);
	html_markup(p->h, "<p class=\"message\">The gate ");
	if (gate) {
		html_words(p->h, gate);
	} else {
		html_markup(p->h, "is ");
		put_text(p->h, a->gate);
	}
	html_markup(p->h, ".</p>\n");
	html_markup(p->h, "<dl class=\"facts counts\">\n");
	for (int i = 0; i < COUNTS; i++)
		page_figure(p->h, terms[i], say_count(a->counts[i]));
	facts_end(p->h);
}

static void put_finding(struct table *t, const struct finding_told *f)
{
	table_row(t);
	put_place(table_cell(t), f);
	struct html *h = table_cell(t);
	put_tag(h, f->waived.at ? "still" : severity_class(f->severity), f->severity);
	put_rule(table_cell(t), f);
	put_message(table_cell(t), f);
	table_cell(t);
	if (f->waived.at) {
		put_tag(h, "still", bytes_of("waived"));
		html_markup(h, " ");
	}
	put_text(h, f->waived);
	put_text(table_cell(t), f->tool);
}

static void put_findings(const struct part *p, const struct analysis_told *a)
{
	static const struct column columns[] = {{"Where", false},  {"Severity", false},
						{"Rule", false},   {"What", false},
						{"Waived", false}, {"Found by", false}};
	struct table t;
	if (a->findings_len == 0)
		return part_note(p, "Nothing was found.");
	table_begin(&t, p->h, "What was found, the worst first", columns, 6);
	for (size_t i = 0; i < a->findings_len; i++)
		put_finding(&t, &a->findings[i]);
	table_end(&t);
	if (!a->complete)
		part_note(p, "There are more findings than the result has room for.");
}

static void put_waivers(const struct part *p, const struct analysis_told *a)
{
	static const struct column columns[] = {{"Rule", false},
						{"Files", false},
						{"Reason", false},
						{"Findings waived", true}};
	struct table t;
	if (a->waivers_len == 0)
		return;
	table_begin(&t, p->h, "Waivers of the job, and what became of them", columns, 4);
	for (size_t i = 0; i < a->waivers_len; i++) {
		const struct waiver_told *w = &a->waivers[i];
		table_row(&t);
		put_code(table_cell(&t), w->id);
		put_code(table_cell(&t), w->path);
		put_text(table_cell(&t), w->reason);
		struct html *h = table_cell(&t);
		if (w->used == 0)
			put_tag(h, "still", bytes_of("not used"));
		else
			put_said(h, say_count(w->used));
	}
	table_end(&t);
}

void page_analysis(const struct part *p, const struct job_told *job)
{
	const struct analysis_told *a = &job->analysis;
	/* The source says that there is none, and so nothing to be looked at. */
	if (!a->there && !job->source.there)
		return;
	part_begin(p, "analysis", "Analysis");
	if (!a->there) {
		part_note(p, "There was none: the job asks for none, or did not get that far.");
		return part_end(p);
	}
	put_counts(p, a);
	put_findings(p, a);
	put_waivers(p, a);
	part_end(p);
}

/* ---- compilers ---- */

void page_diagnostics(const struct part *p, const struct stage_told *s)
{
	static const struct column columns[] = {{"Where", false},
						{"Severity", false},
						{"Code", false},
						{"What", false}};
	const struct part open = {p->h, p->stage, RANK_OPEN};
	struct table t;
	if (!s->has_diagnostics || s->diagnostics_len == 0)
		return;
	part_begin(&open, "diagnostics", "What the compiler said");
	table_begin(&t, p->h, "Messages, in their order", columns, 4);
	for (size_t i = 0; i < s->diagnostics_len && i < DIAGNOSTICS_SHOWN; i++) {
		const struct finding_told *f = &s->diagnostics[i];
		table_row(&t);
		put_place(table_cell(&t), f);
		put_tag(table_cell(&t), severity_class(f->severity), f->severity);
		put_rule(table_cell(&t), f);
		put_message(table_cell(&t), f);
	}
	table_end(&t);
	if (s->diagnostics_len > DIAGNOSTICS_SHOWN) {
		html_markup(p->h, "<p class=\"note\">And ");
		put_said(p->h, say_count((int64_t)s->diagnostics_len - DIAGNOSTICS_SHOWN));
		html_markup(p->h, " more, which the result has.</p>\n");
	}
	part_end(&open);
}
