/* Any bytes as another analyser's log: what is taken is within its bounds, and what we write of it we read back. */
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

static void check(const struct scan_finding *f)
{
	must(f->severity < SCAN_SEVERITIES && f->id[0] && f->tool == NULL ? true : f->tool != NULL);
	must(f->line <= INT32_MAX && f->end_line <= INT32_MAX);
	must(f->line == 0 || (f->column > 0 && f->end_line >= f->line));
	must(f->end_line != f->line || f->end_column >= f->column);
	must(strchr(f->source, '\n') == NULL);
}

static void again(struct scan_findings *all)
{
	struct err e = ERR_INIT;
	struct scan_waivers none = {.at = NULL};
	struct scan_findings back = {.arena = all->arena};
	const struct scan_verdict v = scan_gate(all, &none, SCAN_ERROR);
	const struct scan_report r = {all, &none, &v, SCAN_ERROR};
	char *text = scan_sarif_write(&r);
	must(text && scan_sarif_read(text, strlen(text), &back, &e) == 0);
	must(back.len == all->len);
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
		must(e.kind == ERR_USAGE && all.len == 0);
	}
	scan_free(&all);
	return 0;
}
