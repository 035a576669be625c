/* The scanner's readers of documents: SARIF, notebooks, ELF files, waivers; and the gate. */
#include "pipeline/scan/elf.h"
#include "pipeline/scan/notebook.h"
#include "pipeline/scan/scan.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A buffer of its own size, so that a sanitizer sees a byte too much. */
static char *exact(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	memcpy(copy, text, len);
	return copy;
}

static const char sarif_head[] =
	"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\",\"rules\":"
	"[{\"id\":\"A\",\"defaultConfiguration\":{\"level\":\"error\"}},7,{},"
	"{\"id\":\"C\",\"defaultConfiguration\":{\"level\":\"note\"}},{\"id\":\"C\"}"
	"]}},\"results\":[";

static const struct {
	const char *result;
	int found; /* -1: refused */
	enum scan_severity severity;
	const char *id, *path;
	uint32_t line, column, end_line, end_column;
} sarif_rows[] = {
	{"", 0},
	{"{}", 1, SCAN_WARNING, "(no id)", "", 0, 0, 0, 0},
	{"7", -1},
	{"{\"ruleId\":\"A\"}", 1, SCAN_ERROR, "A", "", 0, 0, 0, 0},
	{"{\"ruleIndex\":0}", 1, SCAN_ERROR, "A", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"C\"}", 1, SCAN_NOTE, "C", "", 0, 0, 0, 0}, /* the first of two */
	{"{\"ruleIndex\":-1,\"ruleId\":\"B\"}", 1, SCAN_WARNING, "B", "", 0, 0, 0, 0},
	{"{\"ruleIndex\":999999999999999999}", 1, SCAN_WARNING, "(no id)", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"A\",\"level\":\"none\"}", 0},
	{"{\"ruleId\":\"B\",\"level\":\"fatal\"}", 1, SCAN_ERROR, "B", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"B\",\"kind\":\"what\"}", 1, SCAN_WARNING, "B", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"A\",\"kind\":\"pass\"}", 0},
	{"{\"ruleId\":\"A\",\"kind\":\"open\",\"level\":\"note\"}", 1, SCAN_NOTE, "A", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"A\",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"./a%20b%2Fc%zz%00\"},"
	 "\"region\":{\"startLine\":3}}}]}",
	 1, SCAN_ERROR, "A", "a b/c%zz%00", 3, 1, 3, 1},
	{"{\"ruleId\":\"A\",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"a\"},"
	 "\"region\":{\"startLine\":3,\"startColumn\":5,\"endLine\":2,\"endColumn\":1}}}]}",
	 1, SCAN_ERROR, "A", "a", 3, 5, 3, 5},
	/* A line of no file is no place. */
	{"{\"ruleId\":\"A\",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"file://\"},"
	 "\"region\":{\"startLine\":3}}}]}",
	 1, SCAN_ERROR, "A", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"A\",\"locations\":[{\"physicalLocation\":{\"region\":{\"startLine\":-3}}}]}",
	 1, SCAN_ERROR, "A", "", 0, 0, 0, 0},
	{"{\"ruleId\":\"A\",\"locations\":7,\"message\":[]}", 1, SCAN_ERROR, "A", "", 0, 0, 0, 0},
};

static void sarif(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(sarif_rows); i++) {
		char text[1024];
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct scan_findings all = {.arena = &a};
		const int len = snprintf(text, sizeof(text), "%s%s]}]}", sarif_head,
					 sarif_rows[i].result);
		char *copy = exact(text, (size_t)len);
		const int rc = scan_sarif_read(copy, (size_t)len, &all, &e);
		free(copy);
		const struct scan_finding *f = all.at;
		if (rc != (sarif_rows[i].found < 0 ? -1 : 0) ||
		    (rc == 0 && all.len != (size_t)sarif_rows[i].found))
			fail_msg("row %zu: %d, %zu findings, %s", i, rc, all.len, e.msg);
		if (sarif_rows[i].id && all.len > 0 &&
		    (f->severity != sarif_rows[i].severity || strcmp(f->id, sarif_rows[i].id) != 0 ||
		     strcmp(f->path, sarif_rows[i].path) != 0 || f->line != sarif_rows[i].line ||
		     f->column != sarif_rows[i].column || f->end_line != sarif_rows[i].end_line ||
		     f->end_column != sarif_rows[i].end_column || strcmp(f->tool, "t") != 0))
			fail_msg("row %zu: %s %s %u:%u-%u:%u", i, f->id, f->path, f->line,
				 f->column, f->end_line, f->end_column);
		scan_free(&all);
	}
}

static void no_sarif(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"",
		"{",
		"[]",
		"{}",
		"\"2.1.0\"",
		"{\"version\":\"2.1.0\"}",
		"{\"version\":\"2.1.0\",\"runs\":[]}",
		"{\"version\":\"2.1.0\",\"runs\":[{}]}",
		"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}}}]}",
		"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}},\"results\":null}]}",
		"{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"t\"}},\"results\":[7]}]}",
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct scan_findings all = {.arena = &a};
		assert_int_equal(scan_sarif_read(rows[i], strlen(rows[i]), &all, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(all.len, 0);
		scan_free(&all);
	}
	char deep[SARIF_DEPTH_MAX + 2];
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct scan_findings all = {.arena = &a};
	memset(deep, '[', sizeof(deep));
	assert_int_equal(scan_sarif_read(deep, sizeof(deep), &all, &e), -1);
	assert_non_null(strstr(e.msg, "deeper"));
}

/* What is written is read back, waivers and all. */
static void round_trip(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct scan_findings all = {.arena = &a}, back = {.arena = &a};
	const struct scan_finding f = {.id = "x.y",
				       .path = "a \303\244%/\001.py",
				       .message = "m",
				       .detail = "d",
				       .sandbox = "s",
				       .source = "eval(x)",
				       .host = "a.example.org",
				       .severity = SCAN_ERROR,
				       .line = 3,
				       .column = 2,
				       .end_line = 3,
				       .end_column = 9};
	struct scan_waivers none = {.at = NULL};
	scan_add(&all, &f);
	const struct scan_verdict v = scan_gate(&all, &none, SCAN_ERROR);
	const struct scan_report r = {&all, &none, &v, SCAN_ERROR};
	char *text = scan_sarif_write(&r);
	assert_non_null(text);
	assert_int_equal(scan_sarif_read(text, strlen(text), &back, &e), 0);
	assert_int_equal(back.len, 1);
	assert_string_equal(back.at[0].path, f.path);
	assert_string_equal(back.at[0].detail, f.detail);
	assert_string_equal(back.at[0].host, f.host);
	assert_null(back.at[0].tool);
	assert_int_equal(back.at[0].end_column, 9);
	free(text);
	scan_free(&all);
	scan_free(&back);
}

static void gate(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct scan_findings all = {.arena = &a};
	struct scan_waiver rows[] = {{"a", "x/*.py", "because", 9}, {"a", "x", "because", 0}};
	struct scan_waivers w = {rows, 2}, none = {NULL, 0};
	for (int s = 0; s < SCAN_SEVERITIES; s++) {
		const struct scan_finding f = {.id = "a",
					       .path = "x/y.py",
					       .message = "",
					       .line = (uint32_t)s + 1,
					       .severity = (enum scan_severity)s};
		scan_add(&all, &f);
	}
	assert_true(scan_gate(&all, &none, SCAN_ERROR).stop);
	assert_true(scan_gate(&all, &none, SCAN_NOTE).stop);
	assert_false(scan_gate(&all, &none, SCAN_GATE_NONE).stop);
	all.len = 2;
	assert_false(scan_gate(&all, &none, SCAN_ERROR).stop);
	assert_true(scan_gate(&all, &none, SCAN_WARNING).stop);
	const struct scan_verdict v = scan_gate(&all, &w, SCAN_NOTE);
	assert_false(v.stop);
	assert_int_equal(v.waived, 2);
	assert_int_equal(rows[0].used, 2);
	assert_int_equal(rows[1].used, 0);
	assert_ptr_equal(all.at[0].waived, &rows[0]);
	all.cut = true;
	assert_true(scan_gate(&all, &w, SCAN_ERROR).stop);
	assert_false(scan_gate(&all, &w, SCAN_GATE_NONE).stop);
	scan_free(&all);
}

static void findings(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct scan_findings all = {.arena = &a};
	const struct scan_finding f =
		{.id = "a", .path = "x", .message = "", .detail = "", .line = 1, .column = 1};
	struct scan_finding g = f;
	for (size_t i = 0; i < SCAN_FINDINGS_MAX + 1; i++)
		scan_add(&all, &f);
	assert_int_equal(all.len, SCAN_FINDINGS_MAX);
	assert_true(all.cut);
	scan_sort(&all);
	assert_int_equal(all.len, 1);
	g.line = 0;
	scan_add(&all, &g);
	g.detail = "another";
	scan_add(&all, &g);
	g = f;
	g.tool = "t";
	scan_add(&all, &g);
	scan_sort(&all);
	assert_int_equal(all.len, 4);
	assert_int_equal(all.at[0].line, 0);
	scan_free(&all);
}

/* Of what stands twice in one place the worst stays, whoever says it; of no place, each message. */
static void the_worst_stays(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct scan_findings all = {.arena = &a};
	const struct scan_finding rows[] = {
		{.id = "a", .path = "x", .message = "", .detail = "", .tool = "s", .line = 3, .end_line = 9},
		{.id = "a",
		 .path = "x",
		 .message = "",
		 .detail = "",
		 .tool = "t",
		 .line = 3,
		 .severity = SCAN_ERROR},
		{.id = "a", .path = "", .message = "one", .detail = "", .tool = "t"},
		{.id = "a", .path = "", .message = "two", .detail = "", .tool = "t"},
		{.id = "a", .path = "", .message = "one", .detail = "", .tool = "t"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++)
		scan_add(&all, &rows[i]);
	scan_sort(&all);
	assert_int_equal(all.len, 3);
	assert_string_equal(all.at[0].message, "one");
	assert_string_equal(all.at[1].message, "two");
	assert_int_equal(all.at[2].severity, SCAN_ERROR);
	assert_string_equal(all.at[2].tool, "t");
	scan_free(&all);
}

static void notebooks(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct notebook n;
	static const char text[] =
		"{\"metadata\":{\"language_info\":{\"name\":\"Python\"}},\"cells\":[{\"cell_type\":\"markdown\",\"source\":\"x\"},"
		"{\"cell_type\":\"code\",\"source\":[\"a\\n\",7,\"  !ls -l\\n\",\"b = !id\\n\",\"%time c\\n\",\"d != e\"]},"
		"{\"source\":\"f\"},{\"cell_type\":\"code\"},7,{\"cell_type\":\"code\",\"source\":\"%%sh\\ng\"},"
		"{\"cell_type\":\"code\",\"source\":\"%pip install x\"}]}";
	char *copy = exact(text, sizeof(text) - 1);
	assert_int_equal(notebook_parse(copy, sizeof(text) - 1, &a, &n, &e), 0);
	free(copy);
	assert_string_equal(n.language, "python");
	assert_int_equal(n.len, 4);
	assert_int_equal(n.cells[0].number, 2);
	assert_string_equal(n.cells[0].code, "a\n        \n       \n       \nd != e");
	assert_string_equal(n.cells[0].shell, " \n   ls -l\n     id\n       \n      ");
	assert_string_equal(n.cells[0].first, "ls -l");
	assert_int_equal(n.cells[1].number, 3);
	assert_null(n.cells[1].shell);
	assert_string_equal(n.cells[2].shell, "    \ng");
	assert_string_equal(n.cells[2].code, "    \n ");
	assert_string_equal(n.cells[3].shell, " pip install x");
	assert_int_equal(notebook_parse("{\"cells\":{}}", 12, &a, &n, &e), -1);
	assert_int_equal(notebook_parse("{\"worksheets\":[{\"cells\":[{\"input\":\"x\"}]}]}", 42,
					&a, &n, &e),
			 0);
	assert_int_equal(n.len, 1);
}

static void elf(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct elf f = {.bits = 7};
	FILE *self = fopen("/proc/self/exe", "r");
	if (!self) {
		fail_msg("/proc/self/exe does not open");
		return;
	}
	char *bytes = malloc(64 << 20);
	const size_t len = fread(bytes, 1, 64 << 20, self);
	fclose(self);
	assert_int_equal(elf_parse(bytes, len, &f, &e), 0);
	assert_int_equal(f.bits, 8 * (int)sizeof(void *));
	assert_string_equal(f.type, "shared object");
	assert_int_equal(strncmp(f.interpreter, "/lib", 4), 0);
	bool libc = false;
	for (size_t i = 0; i < f.needed_len && i < ELF_NEEDED_MAX; i++)
		libc = libc || strcmp(f.needed[i], "libc.so.6") == 0;
	assert_true(libc);
	/* Cut anywhere it says less, or is refused; it never reads on. */
	for (size_t cut = 0; cut < 4096; cut += 7) {
		char *copy = exact(bytes, cut);
		f.bits = 7;
		if (elf_parse(copy, cut, &f, &e) < 0)
			assert_int_equal(f.bits, 7);
		free(copy);
	}
	/* Every offset of the header wrong. */
	for (size_t at = EI_NIDENT; at < sizeof(Elf64_Ehdr); at++) {
		char *copy = exact(bytes, 8192);
		copy[at] = (char)0xff;
		elf_parse(copy, 8192, &f, &e);
		free(copy);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sarif),      cmocka_unit_test(no_sarif),
		cmocka_unit_test(round_trip), cmocka_unit_test(the_worst_stays),
		cmocka_unit_test(gate),	      cmocka_unit_test(findings),
		cmocka_unit_test(notebooks),  cmocka_unit_test(elf),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
