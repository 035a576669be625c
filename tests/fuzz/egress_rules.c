/* Any text as rules, one a line. Each is refused, in words that a terminal may see, or its
 * canonical text reads back as itself; and the list keeps within its bounds. */
#include "network/egress/address.h"
#include "network/egress/name.h"
#include "spec/egress.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e)
{
	must(e->kind == ERR_USAGE);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

static void check_rule(const struct egress_rule *r, struct arena *a)
{
	struct egress_rule again;
	struct err e = ERR_INIT;
	struct name below;
	must(egress_rule_read(&again, r->text, a, &e) == 0);
	must(strcmp(again.text, r->text) == 0);
	must(again.target == r->target && again.transport == r->transport);
	must(again.private_too == r->private_too && again.unchecked == r->unchecked);
	for (size_t i = 0; i < r->ports_len; i++) {
		must(r->ports[i].first > 0 && r->ports[i].first <= r->ports[i].last);
		must(i == 0 || r->ports[i].first > r->ports[i - 1].last + 1);
	}
	if (r->target == EGRESS_BLOCK) {
		enum address_verdict v = address_judge(r, &r->network, r->ports[0].first);
		must(v != ADDRESS_OUTSIDE && v != ADDRESS_NO_PORT && v != ADDRESS_NOT_GLOBAL);
		return;
	}
	must(name_matches(r->name, r) == (r->target == EGRESS_NAME));
	const char *text = arena_printf(a, "x.%s", r->name->text);
	if (name_read(&below, text, strlen(text)) == NAME_GOOD)
		must(name_matches(&below, r) == (r->target == EGRESS_WILDCARD));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	while (size > 0) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;
		size_t before = list.len;
		if (egress_list_add(&list, arena_strndup(&a, (const char *)data, len), &a, &e) < 0) {
			check_refusal(&e);
			must(list.len == before);
		}
		data += end ? len + 1 : len;
		size -= end ? len + 1 : len;
	}
	must(list.len <= EGRESS_RULES_MAX);
	must(list.ports_len[EGRESS_TCP] + list.ports_len[EGRESS_UDP] <= EGRESS_PORTS_MAX);
	for (size_t i = 0; i < list.len; i++) {
		check_rule(&list.rules[i], &a);
		must(i == 0 || strcmp(list.rules[i - 1].text, list.rules[i].text) < 0);
	}
	return 0;
}
