#include "pipeline/scan/notebook.h"

#include "spec/locate.h"
#include "spec/syntax.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

/* A cell's text is a text or an array of lines. What is not fits in neither is no text. */
static char *cell_text(json_t *source, struct arena *a)
{
	if (json_is_string(source))
		return arena_strndup(a, json_string_value(source), json_string_length(source));
	size_t len = 0, used = 0, i;
	json_t *line;
	json_array_foreach(source, i, line) len += json_is_string(line) ? json_string_length(line)
									: 0;
	char *text = arena_alloc(a, len + 1);
	json_array_foreach(source, i, line)
	{
		if (!json_is_string(line))
			continue;
		memcpy(text + used, json_string_value(line), json_string_length(line));
		used += json_string_length(line);
	}
	return text;
}

static bool begins(const char *text, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Where a line's shell command begins; 0: it has none. Only what IPython takes for one. */
static size_t command_at(const char *line, size_t len)
{
	static const char *const magics[] = {"%sx ", "%system ", "%pip ", "%conda ", "!!", "!"};
	size_t at = 0;
	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (begins(line + at, len - at, magics[i])) {
			/* %pip and %conda are programs of that name. */
			const bool whole = magics[i][1] == 'p' || magics[i][1] == 'c';
			return at + (whole ? 1 : strlen(magics[i]));
		}
	/* name = !command */
	size_t name = at;
	while (name < len && (isalnum((unsigned char)line[name]) || strchr("_, ", line[name])) &&
	       line[name])
		name++;
	if (name > at && name < len && line[name] == '=') {
		for (name++; name < len && line[name] == ' ';)
			name++;
		if (name < len && line[name] == '!')
			return name + 1;
	}
	return 0;
}

static bool is_shell_cell(const char *text)
{
	static const char *const magics[] = {"%%bash",	 "%%sh",	  "%%!",	"%%sx",
					     "%%system", "%%script bash", "%%script sh"};
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const size_t len = strlen(magics[i]);
		if (strncmp(text, magics[i], len) == 0 &&
		    (text[len] == '\n' || text[len] == ' ' || !text[len]))
			return true;
	}
	return false;
}

static void blank(char *text, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		text[i] = text[i] == '\n' ? '\n' : ' ';
}

/* Divide a cell into code and shell, both with every line where it was. */
static void divide(struct cell *c, char *code, struct arena *a)
{
	const size_t len = strlen(code);
	char *shell = arena_strndup(a, code, len);
	const bool whole = is_shell_cell(code);
	bool any = false;
	for (size_t at = 0; at < len;) {
		const size_t line = strcspn(code + at, "\n");
		const bool magic = code[at] == '%' || whole;
		const size_t command = whole ? 0 : command_at(code + at, line);
		if (command > 0 || (whole && at > 0)) {
			blank(shell, at, at + command);
			if (!any && command < line)
				c->first = arena_strndup(a, code + at + command, line - command);
			any = any || command < line;
			blank(code, at, at + line);
		} else {
			blank(shell, at, at + line);
			if (magic)
				blank(code, at, at + line);
		}
		at += line + (code[at + line] == '\n');
	}
	c->code = code;
	c->shell = any ? shell : NULL;
}

static const char *language_name(json_t *root, struct arena *a)
{
	json_t *meta = json_object_get(root, "metadata");
	json_t *name = json_object_get(json_object_get(meta, "language_info"), "name");
	if (!json_is_string(name))
		name = json_object_get(json_object_get(meta, "kernelspec"), "language");
	if (!json_is_string(name) || json_string_length(name) == 0 || json_string_length(name) > 32)
		return "python";
	char *lower = arena_strdup(a, json_string_value(name));
	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return lower;
}

/* nbformat 3 has its cells in worksheets. */
static json_t *find_cells(json_t *root)
{
	json_t *cells = json_object_get(root, "cells");
	if (cells)
		return cells;
	return json_object_get(json_array_get(json_object_get(root, "worksheets"), 0), "cells");
}

static int take_cells(json_t *root, struct arena *a, struct notebook *n, struct err *e)
{
	json_t *cells = find_cells(root), *one;
	size_t i;
	if (!json_is_array(cells))
		return err_usage(e, "it has no array of cells");
	n->language = language_name(root, a);
	n->cut = json_array_size(cells) > NOTEBOOK_CELLS_MAX;
	n->cells = arena_alloc(a, (json_array_size(cells) + 1) * sizeof(*n->cells));
	json_array_foreach(cells, i, one)
	{
		json_t *type = json_object_get(one, "cell_type");
		json_t *source = json_object_get(one, "source");
		source = source ? source : json_object_get(one, "input");
		if (i == NOTEBOOK_CELLS_MAX)
			break;
		/* What says that it is no code is none; what says nothing may be run. */
		if (!source || (json_is_string(type) && strcmp(json_string_value(type), "code") != 0))
			continue;
		struct cell *c = &n->cells[n->len++];
		c->number = (uint32_t)i + 1;
		divide(c, cell_text(source, a), a);
	}
	return 0;
}

int notebook_parse(const char *text, size_t len, struct arena *a, struct notebook *n, struct err *e)
{
	json_error_t je;
	const struct json_text j = {text, len};
	struct notebook made = {.cells = NULL};
	if (locate_too_deep(&j, NOTEBOOK_DEPTH_MAX) < len)
		return err_usage(e, "it is nested deeper than %d", NOTEBOOK_DEPTH_MAX);
	json_t *root = json_loadb(text, len, JSON_ALLOW_NUL, &je);
	if (!root)
		return err_usage(e, "line %d, column %d: %s", je.line, je.column, syntax_words(&je));
	const int failed = take_cells(root, a, &made, e);
	json_decref(root);
	if (!failed)
		*n = made;
	return failed;
}
