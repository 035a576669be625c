#include "report/page.h"

#include "report/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *mood_class(enum mood mood)
{
	static const char *const classes[MOOD_COUNT] = {"good", "bad", "bad", "still", "warn"};
	return classes[mood];
}

/* A tick, a cross, a square, a bar, two bars: not told by colour alone. */
static void put_icon(struct html *h, enum mood mood)
{
	static const char *const ways[MOOD_COUNT] = {
		[MOOD_GOOD] = "M6 12.5L10.5 17L18.5 8",
		[MOOD_FAILED] = "M7.5 7.5L16.5 16.5M16.5 7.5L7.5 16.5",
		[MOOD_STOPPED] = "M8.5 8.5L15.5 8.5L15.5 15.5L8.5 15.5L8.5 8.5",
		[MOOD_NEVER] = "M7 12L17 12",
		[MOOD_WAITING] = "M9.5 8L9.5 16M14.5 8L14.5 16",
	};
	html_markup(h, "<svg class=\"icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><circle cx=\"12\" "
		       "cy=\"12\" r=\"11\"/><path d=\"");
	html_words(h, ways[mood]);
	html_markup(h, "\"/></svg>\n");
}

void page_verdict(struct html *h, const struct verdict *v, const struct headline *line)
{
	html_markup(h, "<div class=\"verdict ");
	html_words(h, mood_class(v->mood));
	html_markup(h, "\">\n");
	put_icon(h, v->mood);
	html_markup(h, "<div>\n<h1>");
	html_words(h, v->word);
	html_markup(h, "</h1>\n<p class=\"sentence\">");
	html_words(h, v->sentence);
	html_markup(h, ".</p>\n");
	if (line->message.at) {
		html_markup(h, "<p class=\"said\">");
		html_text(h, line->message, HTML_LONG);
		html_markup(h, "</p>\n");
	}
	if (v->meaning) {
		html_markup(h, "<p class=\"meaning\">");
		html_words(h, v->meaning);
		html_markup(h, "</p>\n");
	}
	html_markup(h, "<p class=\"status\">status ");
	put_code(h, line->status);
	if (line->id.at) {
		html_markup(h, " <span class=\"dot\">&#183;</span> ");
		html_words(h, line->of);
		html_markup(h, " ");
		put_code(h, line->id);
	}
	html_markup(h, "</p>\n</div>\n</div>\n");
}

/* ---- key figures ---- */

void page_figure(struct html *h, const char *term, struct said said)
{
	fact_begin(h, term);
	put_said(h, said);
	fact_end(h);
}

void page_figures(struct html *h, const struct run_told *run)
{
	const int64_t out = run->out.there ? run->out.bytes : 0;
	const int64_t err = run->err.there ? run->err.bytes : 0;
	html_markup(h, "<dl class=\"figures\">\n");
	page_figure(h, "Wall time", say_time(run->wall_usec));
	page_figure(h, "Processor time", say_time(sum_of(run->user_usec, run->system_usec)));
	page_figure(h, "Memory, at most", say_size(run->memory_peak));
	page_figure(h, "Processes, at most", say_count(run->pids_peak));
	page_figure(h, "Output", say_size(sum_of(out, err)));
	page_figure(h, "Written to scratch", say_size(run->scratch_bytes));
	html_markup(h, "</dl>\n");
}

/* ---- the cause ---- */

void page_fact(struct html *h, const char *term, struct bytes text)
{
	if (!text.at)
		return;
	fact_begin(h, term);
	html_text(h, text, HTML_LONG);
	fact_end(h);
}

static void put_evidence(struct html *h, const struct run_told *run)
{
	static const struct column columns[] = {{"Evidence", false}, {"Found", true}};
	struct table t;
	table_begin(&t, h, "What the verdict rests on", columns, 2);
	for (size_t i = 0; i < run->evidence_len; i++) {
		const struct fact_told *fact = &run->evidence[i];
		table_row(&t);
		put_code(table_cell(&t), fact->name);
		table_cell(&t);
		if (fact->number != NUM_UNKNOWN)
			put_said(h, say_count(fact->number));
		else
			put_text(h, fact->text);
	}
	table_end(&t);
}

static void put_cause(const struct part *p, const struct run_told *run)
{
	struct html *h = p->h;
	const struct part open = {h, p->stage, p->rank == RANK_PAGE ? RANK_PAGE : RANK_OPEN};
	if (!run->message.at && !run->limit.at && !run->stage.at && run->evidence_len == 0)
		return;
	part_begin(&open, "cause", "Why it ended");
	if (run->message.at) {
		html_markup(h, "<p class=\"message\">");
		html_text(h, run->message, HTML_LONG);
		html_markup(h, "</p>\n");
	}
	facts_begin(h);
	page_fact(h, "Limit reached", run->limit);
	page_fact(h, "Stage", run->stage);
	facts_end(h);
	if (run->evidence_len > 0)
		put_evidence(h, run);
	part_end(p);
}

void page_warnings(const struct part *p, const struct bytes *warnings, size_t len)
{
	if (len == 0)
		return;
	part_begin(p, "warnings", "Warnings");
	html_markup(p->h, "<ul class=\"warnings\">\n");
	for (size_t i = 0; i < len; i++) {
		html_markup(p->h, "<li>");
		html_text(p->h, warnings[i], HTML_LONG);
		html_markup(p->h, "</li>\n");
	}
	html_markup(p->h, "</ul>\n");
	part_end(p);
}

/* ---- denials and the network ---- */

static void put_denied(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"System call", false}, {"Denied", true}};
	struct table t;
	part_begin(p, "denied", "Denied system calls");
	if (run->denied_len == 0 && run->denied_more <= 0) {
		part_note(p, run->denied_complete ? "None: the filter had nothing to deny."
						  : "None is on record. Not all were counted, or no "
						    "filter was in force yet.");
		return part_end(p);
	}
	table_begin(&t, p->h, "What the filter denied, by name", columns, 2);
	for (size_t i = 0; i < run->denied_len; i++) {
		table_row(&t);
		put_code(table_cell(&t), run->denied[i].name);
		put_said(table_cell(&t), say_count(run->denied[i].count));
	}
	table_end(&t);
	if (run->denied_more > 0) {
		html_markup(p->h, "<p class=\"note\">And ");
		put_said(p->h, say_count(run->denied_more));
		html_markup(p->h, " more that were counted without a name.</p>\n");
	}
	if (!run->denied_complete)
		part_note(p, "Not all were counted.");
	part_end(p);
}

static void put_peer(struct html *h, const struct egress_told *row)
{
	put_text(h, row->name.at ? row->name : row->address);
	if (row->port != NUM_UNKNOWN)
		html_printf(h, " : %" PRId64, row->port);
	if (row->name.at && row->address.at) {
		html_markup(h, "<br><span class=\"quiet\">");
		html_text(h, row->address, HTML_SHORT);
		html_markup(h, "</span>");
	}
}

static void put_egress_row(struct table *t, const struct egress_told *row)
{
	const bool allowed = bytes_are(row->verdict, "allowed");
	table_row(t);
	put_peer(table_cell(t), row);
	put_text(table_cell(t), row->transport);
	struct html *h = table_cell(t);
	put_tag(h, allowed ? "good" : "bad", row->verdict);
	table_cell(t);
	put_text(h, row->reason.at ? row->reason : row->rule);
	if (row->error.at) {
		html_markup(h, " ");
		put_code(h, row->error);
	}
	put_said(table_cell(t), say_count(row->count));
	put_said(table_cell(t), say_size(row->sent));
	put_said(table_cell(t), say_size(row->received));
	put_said(table_cell(t), say_time(row->duration_usec));
}

/* Nothing is on record: there was nothing to be reached, or nothing was asked for. */
static void put_unused(const struct part *p, const struct run_told *run)
{
	const struct guarantee_told *g = guarantee_told_of(run, "egress");
	if (!g)
		return part_note(p, "Nothing is on record.");
	if (!g->requested.at)
		return part_note(p, "There was none: no rule of --allow was given, and nothing could be "
				    "reached.");
	html_markup(p->h, "<p class=\"note\">Nothing was asked for, though something could have been "
			  "reached, by ");
	html_text(p->h, g->requested, HTML_LONG);
	html_markup(p->h, " of --allow.</p>\n");
}

static void put_egress(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"To", false},	    {"By", false},
						{"Verdict", false}, {"Reason or rule", false},
						{"Times", true},    {"Sent", true},
						{"Received", true}, {"Lasted", true}};
	struct table t;
	part_begin(p, "egress", "Network");
	if (run->egress_len == 0) {
		put_unused(p, run);
		return part_end(p);
	}
	table_begin(&t, p->h, "What the program tried to reach", columns, 8);
	for (size_t i = 0; i < run->egress_len; i++)
		put_egress_row(&t, &run->egress[i]);
	table_end(&t);
	part_end(p);
}

/* ---- usage and origin ---- */

static void put_pressure_row(struct table *t, const char *name, struct pressure_told told)
{
	table_row(t);
	html_words(table_cell(t), name);
	put_said(table_cell(t), say_time(told.some_usec));
	put_said(table_cell(t), say_time(told.full_usec));
}

static void put_pressure(struct html *h, const struct run_told *run)
{
	static const struct column columns[] = {{"Waited for", false},
						{"Some tasks", true},
						{"All tasks", true}};
	struct table t;
	table_begin(&t, h, "Time in which tasks waited for a resource", columns, 3);
	put_pressure_row(&t, "A processor", run->pressure_cpu);
	put_pressure_row(&t, "Memory", run->pressure_memory);
	put_pressure_row(&t, "A disk", run->pressure_io);
	table_end(&t);
}

static void put_io(struct html *h, const struct run_told *run)
{
	static const struct column columns[] = {{"Device", false},
						{"Read", true},
						{"Written", true},
						{"Reads", true},
						{"Writes", true}};
	struct table t;
	if (run->io_len == 0)
		return;
	table_begin(&t, h, "Disks", columns, 5);
	for (size_t i = 0; i < run->io_len; i++) {
		table_row(&t);
		put_code(table_cell(&t), run->io[i].name);
		put_said(table_cell(&t), say_size(run->io[i].number));
		put_said(table_cell(&t), say_size(run->io[i].more[0]));
		put_said(table_cell(&t), say_count(run->io[i].more[1]));
		put_said(table_cell(&t), say_count(run->io[i].more[2]));
	}
	table_end(&t);
}

static void put_usage(const struct part *p, const struct run_told *run)
{
	struct html *h = p->h;
	part_begin(p, "usage", "Usage in detail");
	facts_begin(h);
	page_figure(h, "Processor, user", say_time(run->user_usec));
	page_figure(h, "Processor, system", say_time(run->system_usec));
	page_figure(h, "Anonymous memory at the end", say_size(run->anon));
	page_figure(h, "Cached files at the end", say_size(run->file));
	page_figure(h, "Files in memory at the end", say_size(run->shmem));
	page_figure(h, "Files in scratch", say_count(run->scratch_inodes));
	facts_end(h);
	put_pressure(h, run);
	put_io(h, run);
	part_end(p);
}

void page_code_fact(struct html *h, const char *term, struct bytes text)
{
	fact_begin(h, term);
	put_code(h, text);
	fact_end(h);
}

static void put_origin(const struct part *p, const struct run_told *run)
{
	struct html *h = p->h;
	part_begin(p, "origin", "Where it ran, and what");
	facts_begin(h);
	page_code_fact(h, "Kernel", run->kernel);
	page_code_fact(h, "Pinfold", run->version);
	page_code_fact(h, "Image", run->digest);
	page_code_fact(h, "SHA-256 of the spec", run->spec_sha256);
	facts_end(h);
	part_end(p);
}

void page_run(const struct part *p, const struct run_told *run, struct arena *a)
{
	const bool whole = p->rank == RANK_PAGE;
	put_cause(p, run);
	page_warnings(p, run->warnings, run->warnings_len);
	if (whole || run->has_events)
		page_plots(p, run, a);
	page_limits(p, run);
	if (whole || run->artifacts_len > 0 || run->artifacts_more > 0)
		page_artifacts(p, run);
	page_output(p, run);
	put_egress(p, run);
	put_denied(p, run);
	page_guarantees(p, run);
	put_usage(p, run);
	put_origin(p, run);
}

static void put_only_run(struct html *h, const struct run_told *run, struct arena *a)
{
	const struct part p = {h, 0, RANK_PAGE};
	const struct verdict v = verdict_of(run);
	page_verdict(h, &v, &(struct headline){"run", run->id, run->status, {NULL, 0}});
	page_figures(h, run);
	page_run(&p, run, a);
}

void page_body(struct html *h, const struct report *r)
{
	autoarena arena = ARENA_INIT;
	html_markup(h, "<header><span class=\"mark\">Pinfold</span> <span>Report of a ");
	html_words(h, r->job ? "job" : "run");
	html_markup(h, "</span></header>\n<main>\n<article>\n");
	if (r->job)
		page_job(h, r, &arena);
	else
		put_only_run(h, &r->stages->run, &arena);
	html_markup(h, "</article>\n</main>\n<footer>Written by <span class=\"mark\">pinfold report</span>. Texts "
		       "from the sandbox are shown as text; what cannot be seen is written as its "
		       "number.</footer>\n");
}

void page_title(char title[PAGE_TITLE_BYTES], const struct report *r)
{
	const struct verdict v = r->job ? job_verdict_of(r->job) : verdict_of(&r->stages->run);
	const struct bytes id = r->job ? r->job->id : r->stages->run.id;
	const struct bytes name = r->job && r->job->name.at ? r->job->name : id;
	snprintf(title, PAGE_TITLE_BYTES, "%s%s%.80s", v.word,
		 !name.at ? ""
		 : r->job ? ": job "
			  : ": run ",
		 name.at ? name.at : "");
}
