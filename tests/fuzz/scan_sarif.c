/* Any bytes as another analyser's log: refused in words that a terminal may see, or what is taken
 * is within its bounds, and what we write of it we read back the same. */
#include "pipeline/scan/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_words(const struct err *e)
{
	must(e->kind == ERR_USAGE && e->msg[0]);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static void check(const struct scan_finding *f)
{
	must(f->severity < SCAN_SEVERITIES && f->id[0] && f->tool == NULL ? true : f->tool != NULL);
	must(f->line <= INT32_MAX && f->end_line <= INT32_MAX);
	must(f->line == 0 || (f->column > 0 && f->end_line >= f->line));
	must(f->end_line != f->line || f->end_column >= f->column);
	must(strchr(f->source, '\n') == NULL);
}

static bool same_place(const struct scan_finding *a, const struct scan_finding *b)
{
	return strcmp(a->path, b->path) == 0 && a->line == b->line && a->column == b->column &&
	       a->end_line == b->end_line && a->end_column == b->end_column &&
	       strcmp(a->source, b->source) == 0;
}

/* Of our own the rule has the message. */
static bool same(const struct scan_finding *a, const struct scan_finding *b)
{
	if (strcmp(a->id, b->id) != 0 || a->severity != b->severity || !a->tool != !b->tool)
		return false;
	return a->tool ? strcmp(a->tool, b->tool) == 0 && strcmp(a->message, b->message) == 0
		       : strcmp(a->detail, b->detail) == 0 && strcmp(a->host, b->host) == 0;
}

static void again(struct scan_findings *all)
{
	scan_sort(all);
	struct err e = ERR_INIT;
	struct scan_waivers none = {.at = NULL};
	struct scan_findings back = {.arena = all->arena};
	const struct scan_verdict v = scan_gate(all, &none, SCAN_ERROR);
	const struct scan_report r = {all, &none, &v, SCAN_ERROR};
	char *text = scan_sarif_write(&r);
	must(text && scan_sarif_read(text, strlen(text), &back, &e) == 0);
	scan_sort(&back);
	must(back.len == all->len);
	for (size_t i = 0; i < all->len; i++)
		must(same(&all->at[i], &back.at[i]) && same_place(&all->at[i], &back.at[i]));
	free(text);
	scan_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct scan_findings all = {.arena = &a};
	if (scan_sarif_read((const char *)data, size, &all, &e) == 0) {
		for (size_t i = 0; i < all.len; i++)
			check(&all.at[i]);
		if (all.len < 64)
			again(&all);
	} else {
		check_words(&e);
		must(all.len == 0);
	}
	scan_free(&all);
	return 0;
}
