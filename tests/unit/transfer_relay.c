/* An unpacker that was taken over: whatever records it writes, nothing but a tree below the
 * archive's own folder goes on, within the limits, and the stream that pid 1 reads stays one. */
#include "transfer/relay.h"

#include "transfer/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096 };

struct said {
	struct stream_record record;
	const char *name, *text;
	const char *bytes; /* what follows; NULL: nothing */
};

static int memory(void)
{
	const int fd = memfd_create("stream", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void say(int to, const struct said *s)
{
	struct stream_record r = s->record;
	r.name_len = s->name ? (uint16_t)strlen(s->name) : r.name_len;
	r.text_len = s->text ? (uint16_t)strlen(s->text) : r.text_len;
	assert_int_equal(write(to, &r, sizeof(r)), sizeof(r));
	if (s->name)
		assert_int_equal(write(to, s->name, r.name_len), r.name_len);
	if (s->text)
		assert_int_equal(write(to, s->text, r.text_len), r.text_len);
	if (s->bytes)
		assert_int_equal(write(to, s->bytes, strlen(s->bytes)), strlen(s->bytes));
}

static const struct input archive = {.source = "a.tar", .target = "to/in", .unpack = true};
static const struct said the_end = {.record = {.type = STREAM_END}};

/* What relay_archive() makes of them; out: what it wrote. */
static int relayed(const struct said *list, size_t len, struct input_budget *left, int out,
		   struct err *e)
{
	char *buffers = malloc(2 * STREAM_BUFFER);
	const int from = memory();
	for (size_t i = 0; i < len; i++)
		say(from, &list[i]);
	assert_int_equal(lseek(from, 0, SEEK_SET), 0);
	const struct relay w = {.from = from,
				.to = out,
				.input = &archive,
				.left = left,
				.in = buffers,
				.out = buffers + STREAM_BUFFER};
	const int rc = relay_archive(&w, e);
	close(from);
	free(buffers);
	return rc;
}

static struct input_budget plenty(void)
{
	return (struct input_budget){1 << 20, 1000, 1 << 20, 1000};
}

static void refused(const char *what, const struct said *list, size_t len, const char *why)
{
	struct err e = ERR_INIT;
	struct input_budget left = plenty();
	const int out = memory();
	if (relayed(list, len, &left, out, &e) != -1)
		fail_msg("%s was passed on", what);
	if (!strstr(e.msg, why))
		fail_msg("%s: %s", what, e.msg);
	close(out);
}

#define ONE(what, ...)                                               \
	do {                                                         \
		const struct said list[] = {{__VA_ARGS__}, the_end}; \
		refused(what, list, 2, "makes no sense");            \
	} while (0)

static void test_names(void **state)
{
	static const char *const bad[] = {"", ".", "..", "a/b", "/", "/etc", "../x", "a/"};
	char lengthy[300];
	(void)state;
	memset(lengthy, 'n', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	static const uint32_t types[] = {STREAM_FOLDER, STREAM_ENTER, STREAM_INLINE, STREAM_FILE};
	for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
			const struct said list[] = {{{.type = types[t]}, bad[i]}, the_end};
			refused(bad[i], list, 2, "");
		}
		ONE("a name of 299 bytes", {.type = types[t]}, lengthy);
	}
}

static void test_hard_links(void **state)
{
	static const char *const bad[] = {"..",	  "../x", "a/../../x", "/etc/passwd",
					  "a//b", "a/",	  "./a",       "."};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ONE(bad[i], {.type = STREAM_HARD_LINK}, "name", bad[i]);
	ONE("a hard link to no name", {.type = STREAM_HARD_LINK}, "name");
	ONE("a link to no name", {.type = STREAM_LINK}, "name");
}

static void test_records(void **state)
{
	(void)state;
	ONE("another input", {.type = STREAM_INPUT}, "elsewhere");
	ONE("a type that there is none of", {.type = STREAM_REFUSED + 1});
	ONE("a type of 0", {.type = 0});
	ONE("a huge type", {.type = UINT32_MAX});
	ONE("modes beyond a file's", {.type = STREAM_FOLDER, .mode = 010000}, "f");
	ONE("more than a second of nanoseconds", {.type = STREAM_FOLDER, .nsec = 1000000000}, "f");
	ONE("out of the archive's own folder", {.type = STREAM_BACK});
	ONE("and with a mode", {.type = STREAM_LEAVE});
	ONE("data of no file", {.type = STREAM_DATA});
	ONE("the end of no file", {.type = STREAM_FILE_END});
	ONE("an inline file that is large", {.type = STREAM_INLINE, .size = STREAM_SMALL + 1}, "f");
	ONE("a file of more than there can be", {.type = STREAM_FILE, .size = UINT64_MAX}, "f");
	ONE("a text where none belongs", {.type = STREAM_FOLDER}, "f", "text");
	ONE("a name where none belongs", {.type = STREAM_FILE_END}, "f");
}

static void test_ends(void **state)
{
	const struct said open_folder[] = {{{.type = STREAM_FOLDER}, "f"}, the_end};
	const struct said open_file[] = {{{.type = STREAM_FILE, .size = 9}, "f"}, the_end};
	const struct said no_end[] = {{{.type = STREAM_FOLDER}, "f"}};
	const struct said nul[] = {{{.type = STREAM_FOLDER, .name_len = 3}, NULL, NULL, "a"}};
	(void)state;
	refused("an end within a folder", open_folder, 2, "makes no sense");
	refused("an end within a file", open_file, 2, "makes no sense");
	refused("no end", no_end, 1, "ended early");
	refused("a record that is cut off", nul, 1, "ended early");
	refused("nothing", NULL, 0, "ended early");
}

static void test_data(void **state)
{
	static const struct {
		const char *what;
		uint64_t offset, size;
	} bad[] = {{"beyond the file", 0, 11},
		   {"an offset beyond it", 11, 0},
		   {"a sum that overflows", 5, UINT64_MAX - 2},
		   {"the largest offset", UINT64_MAX, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct said list[] = {{{.type = STREAM_FILE, .size = 10}, "f"},
					    {{.type = STREAM_DATA,
					      .offset = bad[i].offset,
					      .size = bad[i].size}}};
		refused(bad[i].what, list, 2, "makes no sense");
	}
	const struct said back[] = {{{.type = STREAM_FILE, .size = 10}, "f"},
				    {{.type = STREAM_DATA, .offset = 5, .size = 2}, NULL, NULL, "ab"},
				    {{.type = STREAM_DATA, .offset = 6, .size = 1}, NULL, NULL, "c"}};
	const struct said within[] = {{{.type = STREAM_FILE, .size = 10}, "f"},
				      {{.type = STREAM_FOLDER}, "g"}};
	refused("data before what came", back, 3, "makes no sense");
	refused("a folder within a file", within, 2, "makes no sense");
}

/* Bytes of the sizes that were said, and not of those that come: each page once. */
static void test_limits(void **state)
{
	struct err e = ERR_INIT;
	struct input_budget left = {2 * PAGE, 3, 2 * PAGE, 3};
	const int out = memory();
	const struct said fits[] =
		{{{.type = STREAM_FILE, .size = INT64_MAX}, "f"},
		 {{.type = STREAM_DATA, .offset = 4090, .size = 3}, NULL, NULL, "abc"},
		 {{.type = STREAM_DATA, .offset = 4093, .size = 4}, NULL, NULL, "defg"},
		 {{.type = STREAM_FILE_END}},
		 {{.type = STREAM_LINK}, "l", "short"},
		 {{.type = STREAM_INLINE}, "empty"},
		 the_end};
	(void)state;
	assert_int_equal(relayed(fits, 7, &left, out, &e), 0);
	assert_int_equal(left.bytes, 0);
	assert_int_equal(left.inodes, 0);
	const struct said byte[] = {{{.type = STREAM_INLINE, .size = 1}, "f", NULL, "x"}, the_end};
	left = (struct input_budget){PAGE - 1, 5, PAGE - 1, 5};
	assert_int_equal(relayed(byte, 2, &left, out, &e), -1);
	assert_non_null(strstr(e.msg, "4095 bytes"));
	left = (struct input_budget){PAGE, 0, PAGE, 0};
	assert_int_equal(relayed(byte, 2, &left, out, &e), -1);
	assert_non_null(strstr(e.msg, "more names"));
	close(out);
}

/* What goes on is the archive's own folder, at its place, and hard links lead there. */
static void test_stream(void **state)
{
	struct err e = ERR_INIT;
	struct input_budget left = plenty();
	const int out = memory();
	char buffer[STREAM_BUFFER];
	struct reader r = {.from = out, .buf = buffer};
	struct stream_record h;
	const struct said list[] = {{{.type = STREAM_FOLDER, .mode = 0755}, "d"},
				    {{.type = STREAM_INLINE, .size = 2, .mode = 04755}, "f", NULL, "hi"},
				    {{.type = STREAM_BACK}},
				    {{.type = STREAM_HARD_LINK}, "h", "d/f"},
				    the_end};
	static const struct {
		uint32_t type;
		const char *name, *text;
	} want[] = {{STREAM_INPUT, "to/in", ""}, {STREAM_FOLDER, "in", ""},
		    {STREAM_FOLDER, "d", ""},	 {STREAM_INLINE, "f", ""},
		    {STREAM_BACK, "", ""},	 {STREAM_HARD_LINK, "h", "in/d/f"},
		    {STREAM_LEAVE, "", ""}};
	(void)state;
	assert_int_equal(relayed(list, 5, &left, out, &e), 0);
	assert_int_equal(lseek(out, 0, SEEK_SET), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const char *bytes;
		assert_int_equal(reader_record(&r, &h, &e), 0);
		assert_int_equal(h.type, want[i].type);
		assert_string_equal(r.name, want[i].name);
		assert_string_equal(r.text, want[i].text);
		if (h.type == STREAM_INPUT)
			assert_int_equal(h.mode, STREAM_UNPACKED);
		if (h.type == STREAM_INLINE)
			assert_int_equal(reader_some(&r, h.size, &bytes, &e), 2);
	}
	assert_int_equal(reader_record(&r, &h, &e), -1);
	close(out);
}

/* Its reason is shown, letters alone. */
static void test_reason(void **state)
{
	struct err e = ERR_INIT;
	struct input_budget left = plenty();
	const int out = memory();
	const struct said list[] = {
		{{.type = STREAM_REFUSED, .mode = ERR_USAGE}, NULL, "bad \x1b[2J\xff\nnews"}};
	(void)state;
	assert_int_equal(relayed(list, 1, &left, out, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.msg, "input a.tar is not unpacked: bad ?[2J??news");
	const struct said odd[] = {{{.type = STREAM_REFUSED, .mode = UINT32_MAX}, NULL, "x"}};
	assert_int_equal(relayed(odd, 1, &left, out, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_hard_links),
		cmocka_unit_test(test_records), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_data),	cmocka_unit_test(test_limits),
		cmocka_unit_test(test_stream),	cmocka_unit_test(test_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
