/* Any bytes as a result, of a run or of a job, or behind a NUL as its events: refused with a place,
 * in words that a terminal may see, or a page of known markup alone. */
#include "report/page.h"
#include "report/read.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e, const char *begin)
{
	must(e->kind == ERR_USAGE && strncmp(e->msg, begin, strlen(begin)) == 0);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static void check_body(const struct report *report)
{
	char title[PAGE_TITLE_BYTES] = "";
	struct err e = ERR_INIT;
	struct html h;
	html_open(&h, PAGE_BYTES_MAX);
	page_body(&h, report);
	page_title(title, report);
	const size_t len = h.len;
	char *body = html_finish(&h);
	must(body && strlen(body) == len);
	must(page_check((struct bytes){body, len}, &e) == 0);
	must(strnlen(title, sizeof(title)) < sizeof(title));
	free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena arena = ARENA_INIT;
	struct report report = {.job = NULL};
	struct err e = ERR_INIT;
	const char *text = (const char *)data, *cut = size ? memchr(text, '\0', size) : NULL;
	const struct named_text result = {"fuzz", text, cut ? (size_t)(cut - text) : size};
	if (read_report(&report, &result, &arena, &e) < 0) {
		check_refusal(&e, "fuzz:");
		return 0;
	}
	if (cut) {
		const struct named_text events = {"events", cut + 1, size - result.len - 1};
		if (read_events(&report, &events, &arena, &e) < 0) {
			check_refusal(&e, "events");
			return 0;
		}
	}
	check_body(&report);
	return 0;
}
