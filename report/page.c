#include "report/page.h"

#include "report/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *mood_class(enum mood mood)
{
	static const char *const classes[MOOD_COUNT] = {"good", "bad", "bad", "still"};
	return classes[mood];
}

/* A tick, a cross, a square, a bar: not told by colour alone. */
static void put_icon(struct html *h, enum mood mood)
{
	static const char *const ways[MOOD_COUNT] = {
		[MOOD_GOOD] = "M6 12.5L10.5 17L18.5 8",
		[MOOD_FAILED] = "M7.5 7.5L16.5 16.5M16.5 7.5L7.5 16.5",
		[MOOD_STOPPED] = "M8.5 8.5L15.5 8.5L15.5 15.5L8.5 15.5L8.5 8.5",
		[MOOD_NEVER] = "M7 12L17 12",
	};
	html_markup(h, "<svg class=\"icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><circle cx=\"12\" "
		       "cy=\"12\" r=\"11\"/><path d=\"");
	html_words(h, ways[mood]);
	html_markup(h, "\"/></svg>\n");
}

static void put_verdict(const struct part *p, const struct stage_told *stage)
{
	const struct verdict v = verdict_of(&stage->run);
	struct html *h = p->h;
	html_markup(h, "<div class=\"verdict ");
	html_words(h, mood_class(v.mood));
	html_markup(h, "\">\n");
	put_icon(h, v.mood);
	html_markup(h, "<div>\n<h1>");
	html_words(h, v.word);
	html_markup(h, "</h1>\n<p class=\"sentence\">");
	html_words(h, v.sentence);
	html_markup(h, ".</p>\n");
	if (v.meaning) {
		html_markup(h, "<p class=\"meaning\">");
		html_words(h, v.meaning);
		html_markup(h, "</p>\n");
	}
	html_markup(h, "<p class=\"status\">status ");
	put_code(h, stage->run.status);
	if (stage->run.id.at) {
		html_markup(h, " <span class=\"dot\">&#183;</span> run ");
		put_code(h, stage->run.id);
	}
	html_markup(h, "</p>\n</div>\n</div>\n");
}

/* ---- key figures ---- */

static int64_t sum_of(int64_t one, int64_t two)
{
	if (one == NUM_UNKNOWN || two == NUM_UNKNOWN)
		return NUM_UNKNOWN;
	return one > INT64_MAX - two ? INT64_MAX : one + two;
}

static void put_figure(struct html *h, const char *term, struct said said)
{
	fact_begin(h, term);
	put_said(h, said);
	fact_end(h);
}

static void put_figures(const struct part *p, const struct run_told *run)
{
	struct html *h = p->h;
	const int64_t out = run->out.there ? run->out.bytes : 0;
	const int64_t err = run->err.there ? run->err.bytes : 0;
	html_markup(h, "<dl class=\"figures\">\n");
	put_figure(h, "Wall time", say_time(run->wall_usec));
	put_figure(h, "Processor time", say_time(sum_of(run->user_usec, run->system_usec)));
	put_figure(h, "Memory, at most", say_size(run->memory_peak));
	put_figure(h, "Processes, at most", say_count(run->pids_peak));
	put_figure(h, "Output", say_size(sum_of(out, err)));
	put_figure(h, "Written to scratch", say_size(run->scratch_bytes));
	html_markup(h, "</dl>\n");
}

/* ---- the cause ---- */

static void put_fact(struct html *h, const char *term, struct bytes text)
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
	if (!run->message.at && !run->limit.at && !run->stage.at && run->evidence_len == 0)
		return;
	part_begin(p, "cause", "Why it ended");
	if (run->message.at) {
		html_markup(h, "<p class=\"message\">");
		html_text(h, run->message, HTML_LONG);
		html_markup(h, "</p>\n");
	}
	facts_begin(h);
	put_fact(h, "Limit reached", run->limit);
	put_fact(h, "Stage", run->stage);
	facts_end(h);
	if (run->evidence_len > 0)
		put_evidence(h, run);
	part_end(p);
}

static void put_warnings(const struct part *p, const struct run_told *run)
{
	if (run->warnings_len == 0)
		return;
	part_begin(p, "warnings", "Warnings");
	html_markup(p->h, "<ul class=\"warnings\">\n");
	for (size_t i = 0; i < run->warnings_len; i++) {
		html_markup(p->h, "<li>");
		html_text(p->h, run->warnings[i], HTML_LONG);
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

static void put_egress(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"To", false},	    {"By", false},
						{"Verdict", false}, {"Reason or rule", false},
						{"Times", true},    {"Sent", true},
						{"Received", true}, {"Lasted", true}};
	struct table t;
	part_begin(p, "egress", "Network");
	if (run->egress_len == 0 && run->egress_more <= 0) {
		part_note(p, "Nothing on record. Without a rule of --allow there is no network that could "
			     "be reached.");
		return part_end(p);
	}
	table_begin(&t, p->h, "What the program tried to reach", columns, 8);
	for (size_t i = 0; i < run->egress_len; i++)
		put_egress_row(&t, &run->egress[i]);
	table_end(&t);
	if (run->egress_more > 0) {
		html_markup(p->h, "<p class=\"note\">And ");
		put_said(p->h, say_count(run->egress_more));
		html_markup(p->h, " attempts that found no row.</p>\n");
	}
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
	put_figure(h, "Processor, user", say_time(run->user_usec));
	put_figure(h, "Processor, system", say_time(run->system_usec));
	put_figure(h, "Anonymous memory at the end", say_size(run->anon));
	put_figure(h, "Cached files at the end", say_size(run->file));
	put_figure(h, "Files in memory at the end", say_size(run->shmem));
	put_figure(h, "Files in scratch", say_count(run->scratch_inodes));
	facts_end(h);
	put_pressure(h, run);
	put_io(h, run);
	part_end(p);
}

static void put_origin_fact(struct html *h, const char *term, struct bytes text)
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
	put_origin_fact(h, "Kernel", run->kernel);
	put_origin_fact(h, "Pinfold", run->version);
	put_origin_fact(h, "Image", run->digest);
	put_origin_fact(h, "SHA-256 of the spec", run->spec_sha256);
	facts_end(h);
	part_end(p);
}

static void put_stage(struct html *h, const struct stage_told *stage, size_t number, struct arena *a)
{
	const struct part p = {h, number};
	html_markup(h, "<article>\n");
	if (stage->name) {
		html_markup(h, "<p class=\"stage\">");
		html_text(h, bytes_of(stage->name), HTML_SHORT);
		html_markup(h, "</p>\n");
	}
	put_verdict(&p, stage);
	put_figures(&p, &stage->run);
	put_cause(&p, &stage->run);
	put_warnings(&p, &stage->run);
	page_plots(&p, &stage->run, a);
	page_limits(&p, &stage->run);
	page_artifacts(&p, &stage->run);
	page_output(&p, &stage->run);
	put_egress(&p, &stage->run);
	put_denied(&p, &stage->run);
	page_guarantees(&p, &stage->run);
	put_usage(&p, &stage->run);
	put_origin(&p, &stage->run);
	html_markup(h, "</article>\n");
}

void page_body(struct html *h, const struct report *r)
{
	autoarena arena = ARENA_INIT;
	html_markup(h, "<header><span class=\"mark\">Pinfold</span> <span>Report of a run</span></header>\n"
		       "<main>\n");
	for (size_t i = 0; i < r->stages_len; i++)
		put_stage(h, &r->stages[i], i, &arena);
	html_markup(h,
		    "</main>\n<footer>Written by <span class=\"mark\">pinfold report</span>. Texts from "
		    "the sandbox are shown as text; what cannot be seen is written as its number.</footer>\n");
}

void page_title(char title[PAGE_TITLE_BYTES], const struct report *r)
{
	if (r->stages_len == 0)
		return;
	const struct run_told *run = &r->stages[0].run;
	const struct verdict v = verdict_of(run);
	snprintf(title, PAGE_TITLE_BYTES, "%s%s%.80s", v.word, run->id.at ? ": run " : "",
		 run->id.at ? run->id.at : "");
}
