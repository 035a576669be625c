/* Any bytes as a rule's header; and as waivers, literals, hosts. What is refused is refused in
 * words that a terminal may see. */
#include "pipeline/scan/literal.h"
#include "pipeline/scan/rules.h"
#include "pipeline/scan/spelled.h"

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

static void literals(struct span t)
{
	char said[64], host[64];
	const size_t len = literal_read(t, said, sizeof(said));
	must(len < sizeof(said) && said[len] == '\0');
	literal_outside(said);
	literal_blob(t);
	for (int whole = 0; whole < 2; whole++)
		if (literal_host(t, whole, host, sizeof(host)))
			must(strlen(host) > 0);
	spelled_match(said, said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct rule rule = {.id = NULL};
	struct scan_waivers w = {.at = NULL};
	const char *text = (const char *)data;
	size_t line;
	if (rule_header_read((struct span){text, size}, &line, &a, &rule, &e) == 0)
		must(rule.id && rule.message && rule.sandbox && rule.severity < SCAN_SEVERITIES);
	else
		must(rule.id == NULL);
	if (!rule.id)
		check_words(&e);
	if (scan_waivers_read(text, size, &a, &w, &e) < 0)
		check_words(&e);
	for (size_t i = 0; i < w.len; i++)
		must(*w.at[i].id && *w.at[i].path && *w.at[i].reason);
	literals((struct span){text, size});
	return 0;
}
