#include "report/page.h"
#include "report/parts.h"
#include "spec/parse.h"
#include "spec/spec.h"

#include <string.h>

/* ---- limits ---- */

/* A request as a number: of bytes, microseconds, or as it is. NUM_UNKNOWN: none, or no such thing. */
enum measure { IN_BYTES, IN_USEC, IN_COUNT };

static int64_t requested_of(const struct guarantee_told *g, enum measure measure)
{
	struct err ignored = ERR_INIT;
	uint64_t most = 0;
	if (!g || !g->requested.at || strlen(g->requested.at) != g->requested.len)
		return NUM_UNKNOWN;
	const char *text = g->requested.at;
	const int failed = measure == IN_BYTES	? spec_parse_size(text, &most, &ignored)
			   : measure == IN_USEC ? spec_parse_time(text, &most, &ignored)
						: spec_parse_count(text, &most, &ignored);
	if (failed < 0 || most > INT64_MAX)
		return NUM_UNKNOWN;
	return (int64_t)(measure == IN_USEC ? most / 1000 : most);
}

static struct said say_measure(enum measure measure, int64_t number)
{
	return measure == IN_BYTES  ? say_size(number)
	       : measure == IN_USEC ? say_time(number)
				    : say_count(number);
}

struct limit_row {
	const char *guarantee, *title;
	enum measure measure;
	int64_t used;
};

static void put_limit(struct table *t, const struct run_told *run, const struct limit_row *row)
{
	const struct guarantee_told *g = guarantee_told_of(run, row->guarantee);
	const int64_t most = requested_of(g, row->measure);
	table_row(t);
	html_words(table_cell(t), row->title);
	struct html *h = table_cell(t);
	if (bytes_are(run->limit, row->guarantee))
		put_tag(h, "bad", bytes_of("reached"));
	else
		put_bar(h, row->used, most);
	put_known(table_cell(t), say_measure(row->measure, row->used), row->used);
	table_cell(t);
	if (most != NUM_UNKNOWN)
		put_said(h, say_measure(row->measure, most));
	else
		put_text(h, g ? g->requested : (struct bytes){NULL, 0});
	put_text(table_cell(t), g ? g->by : (struct bytes){NULL, 0});
}

static int64_t larger_stream(const struct run_told *run)
{
	const int64_t out = run->out.there ? run->out.bytes : NUM_UNKNOWN;
	const int64_t err = run->err.there ? run->err.bytes : NUM_UNKNOWN;
	return out > err ? out : err;
}

void page_limits(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"Limit", false},
						{"How close", false},
						{"Used", true},
						{"Of", true},
						{"Held by", false}};
	const int64_t cpu = run->user_usec == NUM_UNKNOWN || run->system_usec == NUM_UNKNOWN ||
					    run->user_usec > INT64_MAX - run->system_usec
				    ? NUM_UNKNOWN
				    : run->user_usec + run->system_usec;
	const struct limit_row rows[] = {
		{"memory", "Memory", IN_BYTES, run->memory_peak},
		{"pids", "Processes and threads", IN_COUNT, run->pids_peak},
		{"wall", "Wall time", IN_USEC, run->wall_usec},
		{"cpu-time", "Processor time", IN_USEC, cpu},
		{"output", "Output, each stream", IN_BYTES, larger_stream(run)},
		{"scratch", "Scratch", IN_BYTES, run->scratch_bytes},
		{"inodes", "Files in scratch", IN_COUNT, run->scratch_inodes},
		{"idle", "Idle", IN_USEC, NUM_UNKNOWN},
		{"cpus", "Processors", IN_COUNT, NUM_UNKNOWN},
		{"nofile", "Open files, each process", IN_COUNT, NUM_UNKNOWN},
		{"io", "Disk bandwidth", IN_COUNT, NUM_UNKNOWN},
		{"egress", "Network", IN_COUNT, NUM_UNKNOWN},
	};
	struct table t;
	part_begin(p, "limits", "Limits");
	table_begin(&t, p->h, "How close the run came to each of its limits", columns, 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (guarantee_told_of(run, rows[i].guarantee))
			put_limit(&t, run, &rows[i]);
	table_end(&t);
	part_end(p);
}

/* ---- guarantees ---- */

static bool is_enforced(const struct guarantee_told *g)
{
	return bytes_are(g->state, "enforced");
}

static void put_uncovered(struct html *h, const struct guarantee_told *g)
{
	if (g->not_covered_len == 0)
		return put_text(h, (struct bytes){NULL, 0});
	html_markup(h, "<ul>");
	for (size_t i = 0; i < g->not_covered_len; i++) {
		html_markup(h, "<li>");
		html_text(h, g->not_covered[i], HTML_SHORT);
		html_markup(h, "</li>");
	}
	html_markup(h, "</ul>");
}

static void put_weak(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"Guarantee", false},
						{"State", false},
						{"Asked for", false},
						{"Held by", false},
						{"Not covered", false}};
	struct table t;
	table_begin(&t, p->h, "Not in full on this host", columns, 5);
	for (size_t i = 0; i < run->guarantees_len; i++) {
		const struct guarantee_told *g = &run->guarantees[i];
		if (is_enforced(g))
			continue;
		table_row(&t);
		put_text(table_cell(&t), g->name);
		put_tag(table_cell(&t), bytes_are(g->state, "degraded") ? "warn" : "bad",
			g->state.at ? g->state : bytes_of("not told"));
		put_text(table_cell(&t), g->requested);
		put_text(table_cell(&t), g->by);
		put_uncovered(table_cell(&t), g);
	}
	table_end(&t);
}

static void put_strong(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"Guarantee", false},
						{"State", false},
						{"Asked for", false},
						{"Held by", false},
						{"Read back", false}};
	struct table t;
	table_begin(&t, p->h, "Enforced in full", columns, 5);
	for (size_t i = 0; i < run->guarantees_len; i++) {
		const struct guarantee_told *g = &run->guarantees[i];
		if (!is_enforced(g))
			continue;
		table_row(&t);
		put_text(table_cell(&t), g->name);
		put_tag(table_cell(&t), "good", g->state);
		put_text(table_cell(&t), g->requested);
		put_text(table_cell(&t), g->by);
		put_code(table_cell(&t), g->value);
	}
	table_end(&t);
}

void page_guarantees(const struct part *p, const struct run_told *run)
{
	size_t strong = 0;
	for (size_t i = 0; i < run->guarantees_len; i++)
		strong += is_enforced(&run->guarantees[i]);
	part_begin(p, "guarantees", "Guarantees");
	html_markup(p->h, "<p class=\"note\">");
	html_printf(p->h, "%zu of %zu enforced in full.", strong, run->guarantees_len);
	html_markup(p->h, "</p>\n");
	if (strong < run->guarantees_len)
		put_weak(p, run);
	if (strong > 0)
		put_strong(p, run);
	part_end(p);
}
