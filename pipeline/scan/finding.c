#include "pipeline/scan/scan.h"

#include <stdlib.h>
#include <string.h>

static const char *const severities[SCAN_SEVERITIES] = {"note", "warning", "error"};

const char *scan_severity_name(enum scan_severity s)
{
	return severities[s];
}

bool scan_severity_parse(const char *word, enum scan_severity *s)
{
	for (int i = 0; i < SCAN_SEVERITIES; i++)
		if (strcmp(word, severities[i]) == 0) {
			*s = (enum scan_severity)i;
			return true;
		}
	return false;
}

bool scan_gate_parse(const char *word, int *gate)
{
	enum scan_severity s;
	if (strcmp(word, "none") == 0) {
		*gate = SCAN_GATE_NONE;
		return true;
	}
	if (!scan_severity_parse(word, &s))
		return false;
	*gate = (int)s;
	return true;
}

static bool make_room(struct scan_findings *all)
{
	if (all->len < all->room)
		return true;
	const size_t room = all->room ? 2 * all->room : 64;
	struct scan_finding *at = reallocarray(all->at, room, sizeof(*at));
	if (!at)
		return false;
	all->at = at;
	all->room = room;
	return true;
}

static const char *keep(struct arena *a, const char *text)
{
	return text && *text ? arena_strdup(a, text) : "";
}

void scan_add(struct scan_findings *all, const struct scan_finding *f)
{
	if (all->len == SCAN_FINDINGS_MAX || !make_room(all)) {
		all->cut = true;
		return;
	}
	struct scan_finding *to = &all->at[all->len++];
	*to = *f;
	to->id = keep(all->arena, f->id);
	to->path = keep(all->arena, f->path);
	to->message = keep(all->arena, f->message);
	to->detail = keep(all->arena, f->detail);
	to->sandbox = keep(all->arena, f->sandbox);
	to->source = keep(all->arena, f->source);
	to->host = keep(all->arena, f->host);
	to->tool = f->tool ? keep(all->arena, f->tool) : NULL;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *x, const void *y)
{
	const struct scan_finding *a = x, *b = y;
	int d = strcmp(a->path, b->path);
	d = d ? d : compare_numbers(a->line, b->line);
	d = d ? d : compare_numbers(a->column, b->column);
	d = d ? d : strcmp(a->id, b->id);
	d = d ? d : !b->tool - !a->tool;
	/* The worst first, and then the longer place: it is the one that stays. */
	d = d ? d : compare_numbers(b->severity, a->severity);
	d = d ? d : strcmp(a->tool ? a->tool : "", b->tool ? b->tool : "");
	d = d ? d : compare_numbers(b->end_line, a->end_line);
	d = d ? d : compare_numbers(b->end_column, a->end_column);
	d = d ? d : strcmp(a->detail, b->detail);
	return d ? d : strcmp(a->message, b->message);
}

/* Of one file as a whole there can be several things to say under one id. */
static bool same(const struct scan_finding *a, const struct scan_finding *b)
{
	return strcmp(a->path, b->path) == 0 && a->line == b->line && a->column == b->column &&
	       strcmp(a->id, b->id) == 0 && !a->tool == !b->tool &&
	       (a->line > 0 ||
		(strcmp(a->detail, b->detail) == 0 && strcmp(a->message, b->message) == 0));
}

void scan_sort(struct scan_findings *all)
{
	size_t len = 0;
	if (all->len == 0)
		return;
	qsort(all->at, all->len, sizeof(*all->at), compare);
	for (size_t i = 0; i < all->len; i++) {
		if (len > 0 && same(&all->at[len - 1], &all->at[i]))
			continue;
		all->at[len++] = all->at[i];
	}
	all->len = len;
}

void scan_free(struct scan_findings *all)
{
	free(all->at);
	all->at = NULL;
	all->len = all->room = 0;
}
