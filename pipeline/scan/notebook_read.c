/* The cells of a notebook, each as a text of its own. */
#include "pipeline/scan/reader.h"

#include "pipeline/scan/notebook.h"

#include <stdio.h>
#include <string.h>

static enum language cell_language(const char *name)
{
	static const struct {
		const char *name;
		enum language language;
	} known[] = {
		{"python", LANGUAGE_PYTHON},
		{"ipython", LANGUAGE_PYTHON},
		{"python3", LANGUAGE_PYTHON},
		{"c++", LANGUAGE_CPP},
		{"c", LANGUAGE_C},
		{"c#", LANGUAGE_CSHARP},
		{"csharp", LANGUAGE_CSHARP},
		{"java", LANGUAGE_JAVA},
		{"bash", LANGUAGE_SHELL},
		{"javascript", LANGUAGE_JAVASCRIPT},
		{"typescript", LANGUAGE_TYPESCRIPT},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].language;
	return LANGUAGE_NONE;
}

static size_t first_word(const char *shell)
{
	return strspn(shell, " \t\r\n");
}

static void read_cell(struct reader *r, const struct unit *u, const struct cell *c, enum language l)
{
	char inner[WIRE_INNER + 32];
	snprintf(inner, sizeof(inner), "%s!/cell-%u", u->inner, c->number);
	struct unit cell = {.name = u->name,
			    .folder = u->folder,
			    .inner = inner,
			    .text = c->code,
			    .len = strlen(c->code),
			    .depth = u->depth + 1};
	if (l != LANGUAGE_NONE)
		source_read(r, &cell, l);
	if (!c->shell)
		return;
	cell.text = c->shell;
	cell.len = strlen(c->shell);
	const size_t from = first_word(c->shell);
	const size_t line = strcspn(c->shell + from, "\n");
	reader_tell(r, RULE_NOTEBOOK_MAGIC, &cell, (struct place){from, from + line}, c->first);
	source_read(r, &cell, LANGUAGE_SHELL);
}

void notebook_read(struct reader *r, const struct unit *u)
{
	autoarena a = ARENA_INIT;
	struct notebook n;
	struct err e = ERR_INIT;
	if (notebook_parse(u->text, u->len, &a, &n, &e) < 0) {
		reader_tell(r, RULE_NOTEBOOK_BROKEN, u, WHOLE, e.msg);
		return;
	}
	for (size_t i = 0; i < n.len; i++)
		read_cell(r, u, &n.cells[i], cell_language(n.language));
	if (n.cut)
		reader_tell(r, RULE_TOO_MANY, u, WHOLE, "cells");
}
