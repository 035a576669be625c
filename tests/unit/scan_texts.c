/* The pure parts of the scanner: literals, names that match, kinds of files, records, headers of
 * rules; each with what lies just beyond its bound. */
#include "pipeline/scan/kind.h"
#include "pipeline/scan/literal.h"
#include "pipeline/scan/rules.h"
#include "pipeline/scan/spelled.h"
#include "pipeline/scan/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct span span_of(const char *text)
{
	return (struct span){text, strlen(text)};
}

static void literals(void **state)
{
	(void)state;
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"'a'", "a"},
		{"\"a\"", "a"},
		{"'''a'b'''", "a'b"},
		{"rb'a'", "a"},
		{"u8\"a\"", "a"},
		{"$@\"a\"", "a"},
		{"`a`", "a"},
		{"<stdio.h>", "stdio.h"},
		{"\"\\x65val\"", "eval"},
		{"'\\u0065val'", "eval"},
		{"'\\145val'", "eval"},
		{"'\\n'", "\\n"},
		{"'\\x'", "\\x"},
		{"'\\xff'", "\\xff"},
		{"'\\x00'", "\\x00"},
		{"''", ""},
		{"'", ""},
		{"", ""},
		{"abc", "abc"},
		{"\\", "\\"},
	};
	char to[64];
	for (size_t i = 0; i < LENGTH(rows); i++) {
		literal_read(span_of(rows[i].text), to, sizeof(to));
		if (strcmp(to, rows[i].said) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].text, to, rows[i].said);
	}
	assert_int_equal(literal_read(span_of("'abcdef'"), to, 4), 3);
	assert_string_equal(to, "abc");
}

static void outside(void **state)
{
	(void)state;
	static const char *const out[] = {"/etc/passwd",     "~",
					  "~/.ssh",	     "../x",
					  "a/../../b",	     "C:\\Users",
					  "/tmp/../etc",     "/dev/sda",
					  "/tmpx",	     "/scratchpad",
					  "/dev/null/../sda"};
	static const char *const in[] = {"a",	    "a/b",	  "./a",       "a/../b", "/tmp/x",
					 "/tmp",    "/scratch/a", "/dev/null", "..",	 "",
					 "//x.org", "/",	  "~user",     "a..b",	 "/* x */"};
	for (size_t i = 0; i < LENGTH(out); i++)
		if (!literal_outside(out[i]))
			fail_msg("%s leads out", out[i]);
	for (size_t i = 0; i < LENGTH(in); i++)
		if (literal_outside(in[i]))
			fail_msg("%s leads nowhere", in[i]);
}

static void hosts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool whole;
		const char *host; /* NULL: none */
	} rows[] = {
		{"get('https://a.example.org/x')", false, "a.example.org"},
		{"https://u:p@a.example.org:8443/", false, "a.example.org"},
		{"http://[2001:db8::1]/", false, "2001:db8::1"},
		{"http://[2001:db8::1", false, NULL},
		{"://a.example.org", false, NULL},
		{"f('://') + 'https://b.example.org'", false, "b.example.org"},
		{"https:"
		 "///x",
		 false, NULL},
		{"https://-a.example.org", false, NULL},
		{"'a.example.org'", true, "a.example.org"},
		{"'a.example.org'", false, NULL},
		{"192.0.2.1", true, "192.0.2.1"},
		{"localhost", true, NULL},
		{"a.", true, NULL},
		{".a", true, NULL},
		{"a b.c", true, NULL},
		{"", true, NULL},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char to[64] = "";
		const bool got = literal_host(span_of(rows[i].text), rows[i].whole, to, sizeof(to));
		if (got != (rows[i].host != NULL) || (got && strcmp(to, rows[i].host) != 0))
			fail_msg("%s: \"%s\"", rows[i].text, to);
	}
	char small[8];
	assert_false(literal_host(span_of("https://long.example.org"), false, small, sizeof(small)));
}

static void blobs(void **state)
{
	(void)state;
	char text[600] = "";
	for (size_t i = 0; i < 199; i++)
		text[i] = "aB3+xY9/"[i % 8];
	assert_false(literal_blob(span_of(text)));
	text[199] = 'Z';
	assert_true(literal_blob(span_of(text)));
	text[100] = ' ';
	assert_false(literal_blob(span_of(text)));
	memset(text, 'a', 300);
	assert_false(literal_blob(span_of(text)));
	for (size_t i = 0; i < 300; i++)
		text[i] = "0123456789abcdef"[i * 7 % 16];
	assert_true(literal_blob(span_of(text)));
	for (size_t i = 0; i < 400; i++)
		text[i] = "\\x41"[i % 4];
	assert_true(literal_blob(span_of(text)));
}

static void words(void **state)
{
	(void)state;
	static const struct {
		const char *text, *word;
	} rows[] = {
		{"e''val", "eval"},
		{"\"ev\"al", "eval"},
		{"e\\val", "eval"},
		{"$'\\x65val'", "eval"},
		{"$'\\145'v$'\\u0061'l", "eval"},
		{"$'it\\'s'", "its"},
		{"$'\\q'", "q"},
		{"$'\\xff'", "xff"},
		{"$'\\x00'", "x00"},
		{"$'open", "open"},
		{"$'\\", ""},
		{"$\"curl\"", "curl"},
		/* Between quotes it is none. */
		{"\"$'a'\"", "$a"},
		{"${X}", "$X"},
		{"", ""},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char to[32] = "";
		struct spelled s = {.to = to, .size = sizeof(to)};
		assert_true(spelled_put_word(&s, span_of(rows[i].text)));
		if (strcmp(to, rows[i].word) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].text, to, rows[i].word);
	}
	char small[4] = "";
	assert_false(spelled_put_word(&(struct spelled){small, 0, 4}, span_of("$'\\x65val'")));
}

static void longer_ways(void **state)
{
	(void)state;
	static const struct {
		const char *name, *is;
	} rows[] = {
		{"os.__dict__.system", "os.system"},	   {"os.system.__call__", "os.system"},
		{"a.__dict__.__dict__.b", "a.b"},	   {"a.__dict__x", "a.__dict__x"},
		{"a.__call__.__call__()", "a.__call__()"}, {"__dict__", "__dict__"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s", rows[i].name);
		spelled_straighten(name);
		if (strcmp(name, rows[i].is) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].name, name, rows[i].is);
	}
}

static void matching(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *name;
		bool match;
	} rows[] = {
		{"os.system", "os.system", true},
		{"os.system", "os.systems", false},
		{"os.exec*", "os.execv", true},
		{"os.exec*", "os.exec", true},
		{"os.exec*", "os.execv()", false},
		{"*/sh", "/bin/sh", true},
		{"*/sh", "sh", false},
		{"*", "", true},
		{"", "", true},
		{"", "a", false},
		{"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxbyy", false},
		{"X().*", "X().f", true},
		{"X.set*()", "X.setInt()", true},
		{"X.*", "X.f().g", false},
	};
	for (size_t i = 0; i < LENGTH(rows); i++)
		if (spelled_match(rows[i].pattern, rows[i].name) != rows[i].match)
			fail_msg("%s and %s", rows[i].pattern, rows[i].name);
}

static void kinds(void **state)
{
	(void)state;
	static const struct {
		const char *name, *head;
		size_t len;
		enum kind_name kind;
		enum language language;
	} rows[] = {
		{"a.py", "", 0, KIND_SOURCE, LANGUAGE_PYTHON},
		{"a.PY", "", 0, KIND_SOURCE, LANGUAGE_PYTHON},
		{"a.h", "", 0, KIND_SOURCE, LANGUAGE_CPP},
		{"a.tsx", "", 0, KIND_SOURCE, LANGUAGE_TSX},
		{"a", "#!/bin/sh\n", 10, KIND_SOURCE, LANGUAGE_SHELL},
		{"a", "#!/usr/bin/env -S python3.11 -u\n", 32, KIND_SOURCE, LANGUAGE_PYTHON},
		{"a", "#! /usr/bin/env\tnode\n", 21, KIND_SOURCE, LANGUAGE_JAVASCRIPT},
		{"a", "#!/bin/env", 10, KIND_TEXT, LANGUAGE_NONE},
		{"a", "#!/bin/shx\n", 11, KIND_TEXT, LANGUAGE_NONE},
		{"Makefile", "#!/bin/sh\n", 10, KIND_RECIPE, LANGUAGE_NONE},
		{"makefile", "\0", 1, KIND_RECIPE, LANGUAGE_NONE},
		{"rules.mk", "", 0, KIND_RECIPE, LANGUAGE_NONE},
		{"Makefile", "PK\003\004", 4, KIND_ARCHIVE, LANGUAGE_NONE},
		{"Makefile.py", "", 0, KIND_SOURCE, LANGUAGE_PYTHON},
		{"makefiles", "", 0, KIND_TEXT, LANGUAGE_NONE},
		{"Dockerfile.dev", "", 0, KIND_RECIPE, LANGUAGE_NONE},
		{"dev.Dockerfile", "", 0, KIND_RECIPE, LANGUAGE_NONE},
		{"Containerfile", "", 0, KIND_RECIPE, LANGUAGE_NONE},
		{"dockerfile_parser.py", "", 0, KIND_SOURCE, LANGUAGE_PYTHON},
		{"Dockerfile.sh", "", 0, KIND_SOURCE, LANGUAGE_SHELL},
		{"dockerfiles", "", 0, KIND_TEXT, LANGUAGE_NONE},
		{"x.pth", "\0", 1, KIND_TEXT, LANGUAGE_NONE},
		{"pre-push", "\0\1", 2, KIND_TEXT, LANGUAGE_NONE},
		{"a.ipynb", "{", 1, KIND_NOTEBOOK, LANGUAGE_NONE},
		{"a", "PK\003\004", 4, KIND_ARCHIVE, LANGUAGE_NONE},
		/* Who runs it goes by its name. */
		{"a.py", "PK\003\004", 4, KIND_SOURCE, LANGUAGE_PYTHON},
		{"a.py", "\177ELF", 4, KIND_ELF, LANGUAGE_NONE},
		{"a", "\0\1\2\3", 4, KIND_OTHER, LANGUAGE_NONE},
		{"a", "text\n", 5, KIND_TEXT, LANGUAGE_NONE},
		{"a", "", 0, KIND_TEXT, LANGUAGE_NONE},
		{"a", "MZ", 2, KIND_TEXT, LANGUAGE_NONE},
		{"a.class", "", 0, KIND_BYTECODE, LANGUAGE_NONE},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct kind k = kind_of(rows[i].name, rows[i].head, rows[i].len);
		if (k.name != rows[i].kind ||
		    (k.name == KIND_SOURCE && k.language != rows[i].language))
			fail_msg("row %zu: %d, %d", i, k.name, k.language);
	}
}

static void records(void **state)
{
	(void)state;
	const struct record good = {.kind = RECORD_FINDING, .rule = 2};
	struct record bad = good;
	assert_true(wire_check(&good, 3, 1));
	assert_false(wire_check(&good, 2, 1));
	bad.kind = 99;
	assert_false(wire_check(&bad, 3, 1));
	bad = good;
	memset(bad.source, 'x', sizeof(bad.source));
	assert_false(wire_check(&bad, 3, 1));
	bad = good;
	bad.inner[0] = '/';
	assert_false(wire_check(&bad, 3, 1));
	bad = good;
	bad.caret = sizeof(bad.source);
	assert_false(wire_check(&bad, 3, 1));
	assert_false(wire_check(&(struct record){.kind = RECORD_FOREIGN, .severity = 0}, 3, 1));
	assert_false(wire_check(&(struct record){.kind = RECORD_FOREIGN, .severity = 9, .id = "x"},
				3, 1));
	assert_true(wire_check(&(struct record){.kind = RECORD_FOREIGN, .severity = 2, .id = "x"},
			       3, 1));
	assert_false(wire_check(&(struct record){.kind = RECORD_LANGUAGE, .rule = 1}, 3, 1));
	char to[5];
	wire_text(to, sizeof(to), "ab\0cd", 5);
	assert_string_equal(to, "ab");
	wire_text(to, sizeof(to), "abc\303\244", 5);
	assert_string_equal(to, "abc");
	wire_text(to, sizeof(to), "ab\303\244", 4);
	assert_string_equal(to, "ab\303\244");
}

static void headers(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why; /* NULL: it is right */
	} rows[] = {
		{"; id: a.b\n; severity: note\n; message: m\n; sandbox: s\n(x)", NULL},
		{";; id: a\n;severity:error\n; message: m  \r\n; sandbox: s\n; hosts: yes\n", NULL},
		{"; id: a\n; severity: note\n; A remark, with: a colon.\n; message: m\n; sandbox: s\n",
		 NULL},
		{"", "lacks \"id\""},
		{"; id: a\n\n; severity: note\n", "lacks \"severity\""},
		{"; id: a\n; severity: note\n; message: m\n", "lacks \"sandbox\""},
		{"; id: A\n; severity: note\n; message: m\n; sandbox: s\n", "an id is of"},
		{"; id: a b\n; severity: note\n; message: m\n; sandbox: s\n", "an id is of"},
		{"; id: a\n; severity: high\n; message: m\n; sandbox: s\n", "the severity is"},
		{"; id: a\n; severity: note\n; message: m\n; sandbox: s\n; hosts: maybe\n",
		 "yes or no"},
		{"; id: a\n; id: b\n", "stands twice"},
		{"; id:\n", "is empty"},
		{"; id: a\033[m\n", "no plain text"},
		{"; what: a\n", "has no 'what'"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct rule rule = {.id = NULL};
		struct err e = ERR_INIT;
		size_t line = 0;
		const int rc = rule_header_read((struct span){rows[i].text, strlen(rows[i].text)},
						&line, &a, &rule, &e);
		if ((rc == 0) != (rows[i].why == NULL) || (rc < 0 && !strstr(e.msg, rows[i].why)))
			fail_msg("row %zu: %s", i, rc == 0 ? "taken" : e.msg);
		if (rc < 0)
			assert_null(rule.id);
		if (rows[i].why && !strcmp(rows[i].why, "stands twice"))
			assert_int_equal(line, 2);
		if (i == 1)
			assert_true(rule.hosts && rule.severity == SCAN_ERROR &&
				    !strcmp(rule.message, "m"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals), cmocka_unit_test(outside),
		cmocka_unit_test(hosts),    cmocka_unit_test(blobs),
		cmocka_unit_test(words),    cmocka_unit_test(longer_ways),
		cmocka_unit_test(matching), cmocka_unit_test(kinds),
		cmocka_unit_test(records),  cmocka_unit_test(headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
