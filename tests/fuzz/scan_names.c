/* Any bytes as a shell's words, as names of Python, as a Makefile and a Dockerfile; and as macros
 * of C, each line one, of which the last is expanded. */
#include "pipeline/scan/macro.h"
#include "pipeline/scan/recipe.h"
#include "pipeline/scan/spelled.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern const TSLanguage *tree_sitter_c(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void words(struct span t)
{
	char to[64] = "";
	struct spelled s = {.to = to, .size = sizeof(to)};
	if (spelled_put_word(&s, t))
		must(s.used < sizeof(to) && to[s.used] == '\0');
	s = (struct spelled){.to = to, .size = sizeof(to)};
	to[0] = '\0';
	if (spelled_put_name(&s, t))
		must(s.used < sizeof(to) && to[s.used] == '\0');
	spelled_straighten(to);
}

/* No line moves. */
static void recipes(const char *text, size_t size, struct arena *a)
{
	static const enum recipe kinds[] = {RECIPE_MAKE, RECIPE_DOCKER};
	for (size_t k = 0; k < 2; k++) {
		char *shell = arena_strndup(a, text, size);
		recipe_reduce(kinds[k], shell, size);
		for (size_t i = 0; i < size; i++)
			must((shell[i] == '\n') == (text[i] == '\n'));
	}
}

static void macros(const char *text, size_t size, struct names *n)
{
	static const char query[] =
		"(preproc_function_def name: (_) @macro parameters: (_) @parameters value: (_) @body)"
		"(preproc_def name: (_) @macro value: (_) @body)";
	uint32_t at;
	TSQueryError wrong;
	TSParser *parser = ts_parser_new();
	TSQuery *q = ts_query_new(tree_sitter_c(), query, sizeof(query) - 1, &at, &wrong);
	must(q && ts_parser_set_language(parser, tree_sitter_c()));
	TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)size);
	names_read(n, q, ts_tree_root_node(tree));
	ts_tree_delete(tree);
	ts_query_delete(q);
	ts_parser_delete(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { TEXT_MAX = 4096 };
	char name[SPELLED_MAX];
	autoarena a = ARENA_INIT;
	struct names n;
	if (size > TEXT_MAX)
		return 0;
	const char *text = arena_strndup(&a, (const char *)data, size);
	const char *last = memrchr(text, '\n', size);
	const struct span call = {last ? last + 1 : text,
				  size - (last ? (size_t)(last + 1 - text) : 0)};
	words((struct span){text, size});
	recipes(text, size, &a);
	names_init(&n, LANGUAGE_C, text, &a);
	macros(text, size, &n);
	for (unsigned which = 0; which < MACRO_FORMS; which++)
		if (macro_name(&n, (struct macro_text){call, which, which % 2}, name, sizeof(name)))
			must(strlen(name) > 0 && strlen(name) < sizeof(name));
	macro_swallows(&n, call, (struct span){"system", 6});
	return 0;
}
