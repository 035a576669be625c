/* Names that C's preprocessor puts together: what a macro's call comes to, which arguments it
 * swallows, and that macros without an end have one here. */
#include "pipeline/scan/macro.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

extern const TSLanguage *tree_sitter_c(void);

struct read {
	struct arena arena;
	struct names names;
};

static int read_text(struct read *r, const char *text)
{
	static const char query[] =
		"(preproc_function_def name: (identifier) @macro parameters: (_) @parameters value: (preproc_arg) @body)"
		"(preproc_def name: (identifier) @macro value: (preproc_arg) @body)";
	uint32_t at;
	TSQueryError wrong;
	TSParser *parser = ts_parser_new();
	ts_parser_set_language(parser, tree_sitter_c());
	TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)strlen(text));
	TSQuery *q = ts_query_new(tree_sitter_c(), query, sizeof(query) - 1, &at, &wrong);
	assert_non_null(q);
	r->arena = (struct arena)ARENA_INIT;
	names_init(&r->names, LANGUAGE_C, text, &r->arena);
	names_read(&r->names, q, ts_tree_root_node(tree));
	ts_query_delete(q);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
	return 0;
}

static const char definitions[] = "#define X(a, b) a##b\n"
				  "#define JOIN2(a, b) a ## b\n"
				  "#define JOIN(a, b) JOIN2(a, b)\n"
				  "#define SYS sys\n"
				  "#define RUN(x) X(sys, tem)(x)\n"
				  "#define WHOLE JOIN(po, pen)\n"
				  "#define ANY(a, ...) a##__VA_ARGS__\n"
				  "#define PLAIN(x) system(x)\n"
				  "#define TEXT(x) #x\n"
				  "#define BOTH(f, x) (#f, f(x))\n"
				  "#define APPLY(f, x) f(x)\n"
				  "#define OWN(f) JOIN(own_, f)()\n"
				  "#define LOOP(x) LOOP(x)\n"
				  "#define PING PONG\n"
				  "#define PONG PING\n"
				  "#define GROW(x) GROW(x##x x##x)\n"
				  "#define TWICE(a, b) nothing\n"
				  "#define TWICE(a, b) a##b\n"
				  "#define TWICE(a, b) other\n"
				  "#define SOMETIMES(x) \n"
				  "#define SOMETIMES(x) x\n";

static const char *name_of(const struct names *n, const char *text, bool call)
{
	static char to[64];
	for (unsigned which = 0; which < MACRO_FORMS; which++)
		if (macro_name(n, (struct macro_text){{text, strlen(text)}, which, call}, to,
			       sizeof(to)))
			return to;
	return "";
}

static void pasted(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool call;
		const char *name;
	} rows[] = {
		{"X(sys, tem)", false, "system"},
		{"X(sys, tem)", true, ""},
		{"X (sys,\n tem)(\"ls\")", true, "system"},
		{"RUN(\"a, b) c\")", true, "system"},
		{"RUN(')')", true, "system"},
		{"JOIN(SYS, tem)", false, "system"},
		{"X(SYS, tem)", false, "SYStem"},
		{"WHOLE", false, "popen"},
		{"WHOLE(\"ls\")", true, "popen"},
		{"ANY(sys, tem)", false, "system"},
		{"TWICE(sys, tem)", false, "system"},
		/* Nothing is pasted: found where it is defined. */
		{"PLAIN(x)", true, ""},
		{"APPLY(system, x)", true, ""},
		{"TEXT(system)", false, ""},
		/* No call, no macro, no end. */
		{"X", false, ""},
		{"X(sys, tem", false, ""},
		{"X(\"sys, tem)", false, ""},
		{"none(sys, tem)", false, ""},
		{"LOOP(1)", false, ""},
		{"PING", false, ""},
		{"GROW(abcdefgh)", false, ""},
		{"X(,)", false, ""},
		{"X()", false, ""},
		{"X((a, b), c)", false, ""},
		{"(X)(sys, tem)", false, ""},
		{"", false, ""},
	};
	struct read r;
	read_text(&r, definitions);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *name = name_of(&r.names, rows[i].text, rows[i].call);
		if (strcmp(name, rows[i].name) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].text, name, rows[i].name);
	}
	arena_free(&r.arena);
}

static void swallowed(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool swallowed;
	} rows[] = {
		{"TEXT(system)", true},	      {"OWN(system)", true},	  {"X(own_, system)", true},
		{"APPLY(system, x)", false},  {"BOTH(system, x)", false}, {"RUN(system)", false},
		{"SOMETIMES(system)", false}, {"none(system)", false},	  {"TEXT(system", false},
		{"LOOP(system)", false},
	};
	struct read r;
	read_text(&r, definitions);
	for (size_t i = 0; i < LENGTH(rows); i++)
		if (macro_swallows(&r.names, (struct span){rows[i].text, strlen(rows[i].text)},
				   (struct span){"system", 6}) != rows[i].swallowed)
			fail_msg("%s: %sswallowed", rows[i].text, rows[i].swallowed ? "not " : "");
	arena_free(&r.arena);
}

/* More arguments than are told apart, a body and a call beyond what is looked at. */
static void bounds(void **state)
{
	(void)state;
	char text[2 * SPELLED_MAX + 64] = "#define LONG(a) a##a ",
				    call[2 * SPELLED_MAX] = "X(sys, tem";
	struct read r;
	memset(text + strlen(text), 'x', SPELLED_MAX);
	read_text(&r, text);
	assert_string_equal(name_of(&r.names, "LONG(a)", false), "");
	arena_free(&r.arena);
	read_text(&r, definitions);
	for (size_t i = strlen(call); i + 3 < sizeof(call); i += 2)
		memcpy(call + i, ",1", 3);
	strcat(call, ")");
	assert_string_equal(name_of(&r.names, call, false), "");
	assert_string_equal(name_of(&r.names,
				    "X(sys,tem,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", false),
			    "system");
	arena_free(&r.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pasted),
		cmocka_unit_test(swallowed),
		cmocka_unit_test(bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
