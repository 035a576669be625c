/* What compilers say becomes rows: of real output (tests/diagnostics), of each begin of it, of bytes that nobody expects. */
#include "pipeline/diagnostics/diagnostics.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER "tests/diagnostics/"

static struct diagnostics found;

static char *read_file(const char *name, size_t *len)
{
	char path[300];
	snprintf(path, sizeof(path), FOLDER "%s", name);
	FILE *file = fopen(path, "r");
	char *bytes = malloc(1 << 20);
	if (!file || !bytes) {
		fail_msg("open %s", path);
		abort();
	}
	*len = fread(bytes, 1, (1 << 20) - 1, file);
	bytes[*len] = '\0';
	fclose(file);
	return bytes;
}

/* "gcc-warns.txt": gcc. */
static enum diagnostics_kind kind_of(const char *name)
{
	char word[16];
	const size_t len = strcspn(name, "-");
	assert_true(len < sizeof(word));
	memcpy(word, name, len);
	word[len] = '\0';
	const int kind = diagnostics_kind_of(word);
	if (kind < 0) {
		fail_msg("%s: no such kind", word);
		return DIAGNOSTICS_GCC;
	}
	return (enum diagnostics_kind)kind;
}

static void for_each_fixture(void (*act)(const char *name, const char *bytes, size_t len))
{
	unsigned fixtures = 0;
	const struct dirent *entry;
	DIR *folder = opendir(FOLDER);
	if (!folder) {
		fail_msg("open " FOLDER);
		return;
	}
	while ((entry = readdir(folder))) {
		const char *end = strstr(entry->d_name, ".txt");
		size_t len;
		if (!end || end[4])
			continue;
		char *bytes = read_file(entry->d_name, &len);
		act(entry->d_name, bytes, len);
		free(bytes);
		fixtures++;
	}
	closedir(folder);
	assert_true(fixtures > 45);
}

static void rows_as_text(char *to, size_t size)
{
	size_t at = 0;
	to[0] = '\0';
	for (uint32_t i = 0; i < found.len && at < size; i++) {
		const struct diagnostic *d = &found.rows[i];
		at += (size_t)snprintf(to + at, size - at, "%s|%s|%u|%u|%s|%s\n",
				       severity_names[d->severity], d->file, d->line, d->column,
				       d->code, d->message);
	}
}

static void gives_its_rows(const char *name, const char *bytes, size_t len)
{
	static char text[DIAGNOSTICS_MAX * 1024];
	char rows_name[300];
	size_t want_len;
	struct err e = ERR_INIT;
	snprintf(rows_name, sizeof(rows_name), "%.*s.rows", (int)strlen(name) - 4, name);
	char *want = read_file(rows_name, &want_len);
	diagnostics_read(&found, kind_of(name), bytes, len);
	rows_as_text(text, sizeof(text));
	if (strcmp(text, want) != 0)
		fail_msg("%s:\n%s\nwant:\n%s", name, text, want);
	assert_int_equal(diagnostics_check(&found, &e), 0);
	assert_true(found.len > 0);
	free(want);
}

static void real_output_gives_its_rows(void **state)
{
	(void)state;
	for_each_fixture(gives_its_rows);
}

/* A copy of its own, so that a sanitizer sees a byte read beyond the end. */
static void check_copy(enum diagnostics_kind kind, const char *bytes, size_t len)
{
	struct err e = ERR_INIT;
	char *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	diagnostics_read(&found, kind, copy, len);
	free(copy);
	assert_int_equal(diagnostics_check(&found, &e), 0);
}

static void may_be_cut(const char *name, const char *bytes, size_t len)
{
	const size_t step = len > 800 ? len / 200 : 1;
	for (size_t cut = 0; cut <= len; cut += step)
		check_copy(kind_of(name), bytes, cut);
}

static void any_begin_of_it_is_read(void **state)
{
	(void)state;
	for_each_fixture(may_be_cut);
}

/* Whatever it is, each reader takes it. */
static void is_taken_by_all(const char *name, const char *bytes, size_t len)
{
	(void)name;
	for (int kind = 0; kind < DIAGNOSTICS_KINDS; kind++)
		check_copy((enum diagnostics_kind)kind, bytes, len);
}

static void any_reader_takes_any_output(void **state)
{
	(void)state;
	for_each_fixture(is_taken_by_all);
	is_taken_by_all("", "", 0);
	is_taken_by_all("", "\n\n\r\n\0\n", 6);
	is_taken_by_all("", "\033[", 2);
	is_taken_by_all("", "a:1:\033]0;title", 13);
}

static void read_text(enum diagnostics_kind kind, const char *text)
{
	check_copy(kind, text, strlen(text));
}

static void what_a_terminal_would_obey_is_gone(void **state)
{
	(void)state;
	read_text(DIAGNOSTICS_GCC,
		  "a\033[31m.c:1:2:\a error: \033]0;owned\arm\x7f \x01-rf\033c\tx\r\n");
	assert_int_equal(found.len, 1);
	assert_string_equal(found.rows[0].file, "a.c");
	assert_string_equal(found.rows[0].message, "rm -rf x");
}

static void numbers_beyond_the_bound_are_none(void **state)
{
	(void)state;
	read_text(DIAGNOSTICS_GCC, "a.c:99999999999999999999:16777217: error: x\n"
				   "a.c:16777216:0: error: y\n");
	assert_int_equal(found.len, 2);
	assert_int_equal(found.rows[0].line, 0);
	assert_int_equal(found.rows[0].column, 0);
	assert_int_equal(found.rows[1].line, 16777216);
}

static void rows_beyond_the_last_are_counted(void **state)
{
	(void)state;
	static const char line[] = "a.c:1:2: warning: x [-Wy]\n";
	char *bytes = malloc(1000 * (sizeof(line) - 1));
	assert_non_null(bytes);
	for (size_t i = 0; i < 1000; i++)
		memcpy(bytes + i * (sizeof(line) - 1), line, sizeof(line) - 1);
	check_copy(DIAGNOSTICS_GCC, bytes, 1000 * (sizeof(line) - 1));
	free(bytes);
	assert_int_equal(found.len, DIAGNOSTICS_MAX);
	assert_int_equal(found.seen[SEVERITY_WARNING], 1000);
	assert_false(found.cut);
}

static void long_texts_lose_their_middle(void **state)
{
	(void)state;
	const size_t len = 40000;
	char *bytes = malloc(2 * len + 32);
	assert_non_null(bytes);
	memset(bytes, 'f', len);
	memcpy(bytes + len, ":7: error: ", 11);
	memset(bytes + len + 11, 'm', len);
	check_copy(DIAGNOSTICS_GCC, bytes, 2 * len + 11);
	assert_int_equal(found.len, 1);
	assert_int_equal(found.rows[0].line, 7);
	assert_non_null(strstr(found.rows[0].file, "..."));
	assert_non_null(strstr(found.rows[0].message, "..."));
	/* A line that is longer than a line may be ends early, and is none. */
	check_copy(DIAGNOSTICS_GCC, bytes, len);
	assert_int_equal(found.len, 0);
	free(bytes);
}

static void no_character_is_cut_in_two(void **state)
{
	(void)state;
	static char line[8192];
	for (size_t shift = 0; shift < 3; shift++) {
		size_t at = (size_t)snprintf(line, sizeof(line), "a.c:1:2: error: %.*s", (int)shift,
					     "xyz");
		while (at + 3 < 6000) {
			memcpy(line + at, "\xe2\x80\x98", 3);
			at += 3;
		}
		check_copy(DIAGNOSTICS_GCC, line, at);
		assert_int_equal(found.len, 1);
		const char *m = found.rows[0].message + shift;
		for (; *m; m += 3) {
			if (strncmp(m, "...", 3) == 0)
				continue;
			assert_memory_equal(m, "\xe2\x80\x98", 3);
		}
	}
}

static void more_bytes_than_are_read_are_said(void **state)
{
	(void)state;
	char *bytes = calloc(1, DIAGNOSTICS_BYTES_MAX + 1);
	assert_non_null(bytes);
	memset(bytes, ':', DIAGNOSTICS_BYTES_MAX + 1);
	for (int kind = 0; kind < DIAGNOSTICS_KINDS; kind++) {
		check_copy((enum diagnostics_kind)kind, bytes, DIAGNOSTICS_BYTES_MAX + 1);
		assert_true(found.cut);
	}
	free(bytes);
}

static void a_document_too_deep_is_no_row(void **state)
{
	(void)state;
	static char bytes[60000];
	memcpy(bytes, "{\"message\":", 11);
	memset(bytes + 11, '[', sizeof(bytes) - 11);
	check_copy(DIAGNOSTICS_RUSTC, bytes, sizeof(bytes));
	assert_int_equal(found.len, 0);
	read_text(DIAGNOSTICS_RUSTC,
		  "{\"message\":\"a\\u001b[31m\\nb\",\"level\":\"error\",\"spans\":[{\"is_primary\":true,"
		  "\"file_name\":7,\"line_start\":-1,\"column_start\":1e99}],\"code\":[]}\n");
	assert_int_equal(found.len, 1);
	assert_string_equal(found.rows[0].message, "a [31m b");
	assert_int_equal(found.rows[0].line, 0);
}

static void what_is_no_word_of_the_tools_is_no_row(void **state)
{
	(void)state;
	static const char *const innocent = "Hello, world: 3\nerror rate: 5 %\n12:30:45 started\n"
					    "see main.c:3 for more\n    at the end\n";
	for (int kind = 0; kind < DIAGNOSTICS_KINDS; kind++) {
		read_text((enum diagnostics_kind)kind, innocent);
		if (found.len)
			fail_msg("%s: %s", diagnostics_kind_names[kind], found.rows[0].message);
	}
}

/* ---- in a jail ---- */

static int file_of(const char *bytes, size_t len)
{
	const int fd = memfd_create("output", MFD_CLOEXEC);
	if (fd >= 0)
		assert_int_equal(write(fd, bytes, len), len);
	return fd;
}

static void in_a_jail_it_is_the_same(const char *name, const char *bytes, size_t len)
{
	static struct diagnostics jailed;
	struct err e = ERR_INIT;
	if (strcmp(name, "gcc-c.txt") != 0 && strcmp(name, "rustc-json.txt") != 0)
		return;
	const int fd = file_of(bytes, len);
	if (fd < 0) {
		fail_msg("memfd_create");
		return;
	}
	if (diagnostics_jailed(&jailed, kind_of(name), fd, &e) < 0)
		fail_msg("%s", e.msg);
	diagnostics_read(&found, kind_of(name), bytes, len);
	assert_memory_equal(&jailed, &found, sizeof(found));
	/* The caller's offset is where it was: at the end. */
	assert_int_equal(lseek(fd, 0, SEEK_CUR), len);
	close(fd);
}

static void a_jailed_reader_reads_the_same(void **state)
{
	(void)state;
	for_each_fixture(in_a_jail_it_is_the_same);
}

static void a_pipe_is_read_to_its_end(void **state)
{
	(void)state;
	static const char text[] = "main.sh: line 3: x: command not found\n";
	struct err e = ERR_INIT;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], text, sizeof(text) - 1), sizeof(text) - 1);
	close(ends[1]);
	if (diagnostics_jailed(&found, DIAGNOSTICS_SHELL, ends[0], &e) < 0)
		fail_msg("%s", e.msg);
	close(ends[0]);
	assert_int_equal(found.len, 1);
	assert_string_equal(found.rows[0].code, "command-not-found");
}

static void a_failure_leaves_the_values_alone(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const int fd = open("/proc/self", O_PATH | O_CLOEXEC);
	found.len = 33;
	assert_int_equal(diagnostics_jailed(&found, DIAGNOSTICS_GCC, fd, &e), -1);
	assert_int_equal(found.len, 33);
	assert_non_null(strstr(e.msg, "diagnostics"));
	close(fd);
}

/* What each of these does to good values. */
static void too_many(struct diagnostics *d)
{
	d->len = DIAGNOSTICS_MAX + 1;
}

static void endless(struct diagnostics *d)
{
	memset(d->rows[0].message, 'x', sizeof(d->rows[0].message));
}

static void endless_file(struct diagnostics *d)
{
	memset(d->rows[0].file, 'x', sizeof(d->rows[0].file));
}

static void endless_code(struct diagnostics *d)
{
	memset(d->rows[0].code, 'x', sizeof(d->rows[0].code));
}

static void controls(struct diagnostics *d)
{
	d->rows[0].message[0] = '\033';
}

static void silent(struct diagnostics *d)
{
	d->rows[0].message[0] = '\0';
}

static void no_severity(struct diagnostics *d)
{
	memset(&d->rows[0].severity, 77, sizeof(d->rows[0].severity));
}

static void far_line(struct diagnostics *d)
{
	d->rows[0].line = DIAGNOSTICS_NUMBER_MAX + 1;
}

static void far_column(struct diagnostics *d)
{
	d->rows[0].column = UINT32_MAX;
}

static void fewer_than_rows(struct diagnostics *d)
{
	d->seen[SEVERITY_ERROR] = 0;
}

static void more_than_bytes(struct diagnostics *d)
{
	d->seen[SEVERITY_NOTE] = UINT32_MAX;
}

static void no_truth(struct diagnostics *d)
{
	memset(&d->cut, 2, sizeof(d->cut));
}

static void what_a_jail_says_is_checked(void **state)
{
	(void)state;
	static void (*const lies[])(struct diagnostics *) = {
		too_many,    endless,  endless_file, endless_code,    controls,	       silent,
		no_severity, far_line, far_column,   fewer_than_rows, more_than_bytes, no_truth,
	};
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct err e = ERR_INIT;
		read_text(DIAGNOSTICS_GCC, "a.c:1:2: error: x\n");
		assert_int_equal(found.len, 1);
		lies[i](&found);
		assert_int_equal(diagnostics_check(&found, &e), -1);
		assert_int_equal(e.kind, ERR_BUG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_output_gives_its_rows),
		cmocka_unit_test(any_begin_of_it_is_read),
		cmocka_unit_test(any_reader_takes_any_output),
		cmocka_unit_test(what_a_terminal_would_obey_is_gone),
		cmocka_unit_test(numbers_beyond_the_bound_are_none),
		cmocka_unit_test(rows_beyond_the_last_are_counted),
		cmocka_unit_test(long_texts_lose_their_middle),
		cmocka_unit_test(no_character_is_cut_in_two),
		cmocka_unit_test(more_bytes_than_are_read_are_said),
		cmocka_unit_test(a_document_too_deep_is_no_row),
		cmocka_unit_test(what_is_no_word_of_the_tools_is_no_row),
		cmocka_unit_test(a_jailed_reader_reads_the_same),
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(a_failure_leaves_the_values_alone),
		cmocka_unit_test(what_a_jail_says_is_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
