/* Any bytes as a budget file: refused in words that a terminal may see, or a state that is written and read the same. */
#include "pipeline/budget.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct budget_state s, again;
	struct err e = ERR_INIT;
	if (budget_parse(&s, "fuzz", (const char *)data, size, &e) < 0) {
		must(e.kind == ERR_USAGE && strncmp(e.msg, "fuzz:", 5) == 0);
		for (const char *c = e.msg; *c; c++)
			must(*c >= 0x20 && *c < 0x7f);
		return 0;
	}
	char *text = budget_format(&s);
	must(text && budget_parse(&again, "fuzz", text, strlen(text), &e) == 0);
	must(memcmp(&s, &again, sizeof(s)) == 0);
	free(text);
	for (int q = 0; q < BUDGET_QUANTITIES; q++) {
		const uint64_t used = budget_used(&s, (enum budget_quantity)q);
		must(used <= BUDGET_MOST || used == BUDGET_UNKNOWN);
	}
	const uint64_t money = budget_money(&s, &s.spent);
	must(money <= BUDGET_MOST || money == BUDGET_UNKNOWN);
	return 0;
}
