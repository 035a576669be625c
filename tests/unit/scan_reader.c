/* The reader without its jail, so that sanitizers see it: every program of the corpus, whole and
 * cut anywhere, and the rules that come along. Run from the top of the checkout, as `make` does. */
#include "pipeline/scan/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct arena arena = ARENA_INIT;
static struct ruleset rules;

static int load(void **state)
{
	struct err e = ERR_INIT;
	(void)state;
	rules_init(&rules, &arena);
	if (rules_load(&rules, "rules", &e) < 0)
		fail_msg("%s", e.msg);
	return 0;
}

static void compiles(void **state)
{
	struct err e = ERR_INIT;
	(void)state;
	for (int l = 0; l < LANGUAGES; l++)
		if (rules_compile(&rules, (enum language)l, &e) < 0)
			fail_msg("%s", e.msg);
	assert_true(rules.len > RULE_BUILTINS + 40);
	for (size_t i = 0; i < rules.len; i++)
		assert_true(strlen(rules.at[i].message) > 0 && strlen(rules.at[i].sandbox) > 0);
}

/* Of one text, how many findings; every record is one that the scanner takes. */
static size_t read_text(const char *name, const char *text, size_t len)
{
	struct record rec;
	size_t found = 0;
	struct reader r = {.rules = &rules, .in = -1, .out = memfd_create("records", MFD_CLOEXEC)};
	/* A buffer of its own size and the NUL, so that a sanitizer sees a byte too much. */
	char *copy = malloc(len + 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	r.parser = ts_parser_new();
	r.cursor = ts_query_cursor_new();
	const struct unit u = {.name = name, .folder = "", .inner = "", .text = copy, .len = len};
	unit_read(&r, &u);
	for (off_t at = 0; pread(r.out, &rec, sizeof(rec), at) == (ssize_t)sizeof(rec);
	     at += (off_t)sizeof(rec)) {
		if (!wire_check(&rec, rules.len, LANGUAGES))
			fail_msg("%s: a record that nobody takes", name);
		found += rec.kind == RECORD_FINDING;
	}
	ts_query_cursor_delete(r.cursor);
	ts_parser_delete(r.parser);
	close(r.out);
	free(copy);
	return found;
}

static void read_file(const char *folder, const char *name)
{
	char path[512];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		fail_msg("%s does not open", path);
		return;
	}
	char *text = malloc((size_t)st.st_size + 1);
	assert_int_equal(read(fd, text, (size_t)st.st_size), st.st_size);
	close(fd);
	const size_t found = read_text(name, text, (size_t)st.st_size);
	/* Innocent programs' names begin with an i. */
	if ((found > 0) != (name[0] == 'd'))
		fail_msg("%s: %zu findings", path, found);
	for (off_t cut = 0; cut < st.st_size; cut += 1 + st.st_size / 8)
		read_text(name, text, (size_t)cut);
	free(text);
}

static void corpus(void **state)
{
	static const char *const folders[] = {"python",	    "c",	  "cpp",  "csharp",
					      "javascript", "typescript", "java", "shell"};
	(void)state;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		char folder[128];
		snprintf(folder, sizeof(folder), "tests/scan/corpus/%s", folders[i]);
		DIR *d = opendir(folder);
		if (!d) {
			fail_msg("%s is not there", folder);
			return;
		}
		for (const struct dirent *one; (one = readdir(d));)
			if (one->d_name[0] != '.')
				read_file(folder, one->d_name);
		closedir(d);
	}
}

static void odd(void **state)
{
	static const struct {
		const char *name, *text;
		size_t len;
	} rows[] = {
		{"a.py", "\0\0\0", 3},
		{"a.py", "\xff\xfe\x00", 3},
		{"a.py", "e\xf0\x9d\x91", 4},
		{"a.js", "\\u00", 4},
		{"a.js", "\\u{", 3},
		{"a.sh", "$(", 2},
		{"a.zip", "PK\003\004", 4},
		{"a.tar.gz", "\037\213\010\0\0\0\0\0\0\0", 10},
		{"a.ipynb", "{\"cells\":[{\"source\":\"!\"}]}", 26},
		{"package.json", "{\"scripts\":{\"install\":\"x\"}}", 27},
		{"package.json", "[[[", 3},
		{"x.pth", "import x", 8},
		{"setup.py", "", 0},
		{"a", "\177ELF", 4},
		{".env", "TOKEN=", 6},
		{"a.txt", "-----BEGIN PRIVATE KEY-----", 27},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		read_text(rows[i].name, rows[i].text, rows[i].len);
}

static int unload(void **state)
{
	(void)state;
	rules_close(&rules);
	arena_free(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiles),
		cmocka_unit_test(corpus),
		cmocka_unit_test(odd),
	};
	return cmocka_run_group_tests(tests, load, unload);
}
