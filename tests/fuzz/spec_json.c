/* Any bytes as a spec. Either they are refused, in words that a terminal may see, or they make a
 * spec whose canonical text makes the same spec again. */
#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_refusal(const struct err *e, const char *begin)
{
	must(e->kind == ERR_USAGE);
	must(strncmp(e->msg, begin, strlen(begin)) == 0);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec first, second;
	must(spec_init(&first, &a, &e) == 0);
	must(spec_init(&second, &a, &e) == 0);
	if (spec_read_json(&first, "fuzz", (const char *)data, size, &e) < 0) {
		check_refusal(&e, "fuzz:");
		return 0;
	}
	/* The canonical text has every key, so also the two that a whole spec must have. */
	const char *const words[] = {"true"};
	if (!first.image)
		must(spec_set_image(&first, "@host", &e) == 0);
	if (!first.command_len)
		must(spec_set_command(&first, words, 1, &e) == 0);
	char *text = spec_write_json(&first);
	must(text != NULL);
	must(spec_read_json(&second, "fuzz", text, strlen(text), &e) == 0);
	char *again = spec_write_json(&second);
	must(again && strcmp(text, again) == 0);
	if (spec_check(&second, &e) < 0)
		check_refusal(&e, "");
	free(again);
	free(text);
	return 0;
}
