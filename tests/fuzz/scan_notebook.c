/* Any bytes as a notebook: refused in words that a terminal may see, or code and shell of a cell
 * have the same lines, and no byte stands in both. */
#include "pipeline/scan/notebook.h"

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

static void check(const struct cell *c)
{
	if (!c->shell)
		return;
	must(c->first != NULL && strlen(c->code) == strlen(c->shell));
	for (size_t i = 0; c->code[i]; i++) {
		must((c->code[i] == '\n') == (c->shell[i] == '\n'));
		must(c->code[i] == '\n' || c->code[i] == ' ' || c->shell[i] == ' ');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct notebook n;
	if (notebook_parse((const char *)data, size, &a, &n, &e) < 0) {
		check_words(&e);
		return 0;
	}
	must(n.len <= NOTEBOOK_CELLS_MAX && n.language[0]);
	for (size_t i = 0; i < n.len; i++)
		check(&n.cells[i]);
	return 0;
}
