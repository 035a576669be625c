/* Findings for people. Whatever comes from a stranger is escaped: paths, details, lines of source. */
#include "commands/commands.h"
#include "commands/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCE_MAX = 512 };

struct colours {
	const char *severity[SCAN_SEVERITIES], *bold, *dim, *end;
};

/* Only where somebody looks, and has not asked for none. */
static struct colours choose_colours(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
	const bool wanted = isatty(STDOUT_FILENO) && !(none && *none) && term &&
			    strcmp(term, "dumb") != 0;
	if (!wanted)
		return (struct colours){{"", "", ""}, "", "", ""};
	return (struct colours){{"\033[36m", "\033[33m", "\033[31m"}, "\033[1m", "\033[2m", "\033[0m"};
}

static void print_times(const char *text, size_t times)
{
	while (times-- > 0)
		fputs(text, stdout);
}

/* A tab is one column here, so that the caret is below what it is about. */
static void print_source(const struct scan_finding *f, const struct colours *c)
{
	char line[SOURCE_MAX];
	const size_t len = strlen(f->source);
	if (f->line == 0 || len == 0 || len >= sizeof(line))
		return;
	memcpy(line, f->source, len + 1);
	for (char *t = line; *t; t++)
		*t = *t == '\t' ? ' ' : *t;
	printf("%7u | ", f->line);
	print_text(line);
	const size_t at = f->caret < len ? f->caret : len;
	const size_t marks = f->caret_len > 0 ? text_columns(line + at, f->caret_len) : 1;
	printf("\n        | ");
	print_times(" ", text_columns(line, at));
	printf("%s^", c->severity[f->severity]);
	print_times("~", marks > 1 ? marks - 1 : 0);
	printf("%s\n", c->end);
}

static void print_place(const struct scan_finding *f, const struct colours *c)
{
	fputs(c->bold, stdout);
	print_text(*f->path ? f->path : "(the tree)");
	if (f->line > 0)
		printf(":%u:%u", f->line, f->column);
	printf(":%s %s%s%s ", c->end, c->severity[f->severity], scan_severity_name(f->severity),
	       c->end);
	print_text(f->id);
	if (f->tool) {
		printf(" (");
		print_text(f->tool);
		printf(")");
	}
	printf(": ");
	print_text(f->message);
	if (*f->detail) {
		printf(": ");
		print_text(f->detail);
	}
	if (*f->host) {
		printf(" [");
		print_text(f->host);
		printf("]");
	}
	printf("\n");
}

/* What it means for a sandbox is said once for each rule. */
static bool said_before(const struct scan_findings *all, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(all->at[i].id, all->at[at].id) == 0)
			return true;
	return false;
}

static void print_finding(const struct scan_report *r, size_t at, const struct colours *c)
{
	const struct scan_finding *f = &r->findings->at[at];
	print_place(f, c);
	print_source(f, c);
	if (f->waived) {
		printf("        = waived: ");
		print_text(f->waived->reason);
		printf("\n");
	}
	if (*f->sandbox && !said_before(r->findings, at)) {
		printf("        %s= %s%s\n", c->dim, f->sandbox, c->end);
	}
}

static void print_unused(const struct scan_waivers *w)
{
	for (size_t i = 0; i < w->len; i++) {
		if (w->at[i].used > 0)
			continue;
		printf("unused waiver: ");
		print_text(w->at[i].id);
		printf(" in ");
		print_text(w->at[i].path);
		printf("\n");
	}
}

static void print_gate(const struct scan_report *r)
{
	if (r->gate == SCAN_GATE_NONE)
		printf("; no gate\n");
	else
		printf("; gate %s: %s\n", scan_severity_name((enum scan_severity)r->gate),
		       r->verdict->stop ? "stop" : "go");
}

void scan_print(const struct scan_report *r, size_t files)
{
	const struct colours c = choose_colours();
	const size_t *counts = r->verdict->counts;
	for (size_t i = 0; i < r->findings->len; i++)
		print_finding(r, i, &c);
	if (r->findings->cut)
		printf("more findings than %d: the rest is not shown\n", SCAN_FINDINGS_MAX);
	print_unused(r->waivers);
	printf("%zu file%s: %zu error%s, %zu warning%s, %zu note%s", files, files == 1 ? "" : "s",
	       counts[SCAN_ERROR], counts[SCAN_ERROR] == 1 ? "" : "s", counts[SCAN_WARNING],
	       counts[SCAN_WARNING] == 1 ? "" : "s", counts[SCAN_NOTE],
	       counts[SCAN_NOTE] == 1 ? "" : "s");
	if (r->verdict->waived > 0)
		printf(", %zu waived", r->verdict->waived);
	print_gate(r);
}
