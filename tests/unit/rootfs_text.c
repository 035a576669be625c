/* The words that the child puts together and takes apart by hand. */
#include "tests/unit/rootfs_tree.h"

static void numbers(void **state)
{
	(void)state;
	static const struct {
		uint64_t number;
		const char *text;
	} rows[] = {
		{0, "0"},     {9, "9"},		{10, "10"},
		{100, "100"}, {65541, "65541"}, {UINT64_MAX, "18446744073709551615"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[32];
		char *end = put_number(buf, rows[i].number);
		assert_string_equal(buf, rows[i].text);
		assert_ptr_equal(end, buf + strlen(buf));
	}
}

static void words(void **state)
{
	(void)state;
	char buf[32];
	assert_ptr_equal(put(put(buf, "/../"), "root"), buf + 8);
	assert_string_equal(buf, "/../root");
	assert_true(same_text("", ""));
	assert_true(same_text("/proc", "/proc"));
	assert_false(same_text("/proc", "/pro"));
	assert_false(same_text("/pro", "/proc"));
	assert_string_equal(after("/dev/null", "/dev/"), "null");
	assert_null(after("/de", "/dev/"));
	assert_int_equal(length("abc"), 3);
}

static void fields(void **state)
{
	(void)state;
	char text[] = "one two  four";
	char *at = text;
	assert_string_equal(next_field(&at), "one");
	assert_string_equal(next_field(&at), "two");
	assert_string_equal(next_field(&at), "");
	assert_string_equal(next_field(&at), "four");
	assert_null(next_field(&at));
}

static void mount_lines(void **state)
{
	(void)state;
	struct mount_line m;
	char private[] = "71 93 0:42 /dev /dev ro,nosuid - tmpfs pinfold rw,size=512k";
	assert_true(mount_line_read(&m, private));
	assert_string_equal(m.point, "/dev");
	assert_string_equal(m.options, "ro,nosuid");
	assert_string_equal(m.type, "tmpfs");
	assert_null(m.tag);
	char tagged[] = "71 93 0:42 / / ro shared:1 master:7 - ext4 /dev/sda rw";
	assert_true(mount_line_read(&m, tagged));
	assert_string_equal(m.tag, "master:7");
	static const char *const bad[] = {"", "71 93 0:42 / /", "71 93 0:42 / / ro",
					  "71 93 0:42 / / ro shared:1", "71 93 0:42 / / ro -"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char copy[64];
		snprintf(copy, sizeof(copy), "%s", bad[i]);
		assert_false(mount_line_read(&m, copy));
	}
}

struct lines {
	char seen[8][64];
	int count, stop_at;
};

static int add_line(void *arg, char *line, struct err *e)
{
	struct lines *l = arg;
	snprintf(l->seen[l->count++], sizeof(l->seen[0]), "%s", line);
	return l->count == l->stop_at ? err_usage(e, "stop") : 0;
}

/* Through a pipe, so that read(2) returns piece by piece. */
static int walk(const char *text, size_t room, struct lines *l, struct err *e)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], text, strlen(text)), strlen(text));
	close(fds[1]);
	char buf[256];
	int result = lines_walk(fds[0], &(struct line_walk){buf, room, add_line, l}, e);
	close(fds[0]);
	return result;
}

static void lines(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct lines l = {.stop_at = -1};
	/* 10 bytes of room: lines straddle the reads */
	assert_int_equal(walk("alpha\nbeta\n\ngamma-xyz\nlast", 11, &l, &e), 0);
	assert_int_equal(l.count, 5);
	assert_string_equal(l.seen[0], "alpha");
	assert_string_equal(l.seen[2], "");
	assert_string_equal(l.seen[3], "gamma-xyz");
	assert_string_equal(l.seen[4], "last");
}

static void line_too_long(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct lines l = {.stop_at = -1};
	assert_int_equal(walk("ok\n0123456789\n", 11, &l, &e), -1);
	assert_int_equal(e.sys, E2BIG);
	assert_int_equal(l.count, 1);
}

static void line_stops(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct lines l = {.stop_at = 2};
	assert_int_equal(walk("a\nb\nc\n", 64, &l, &e), -1);
	assert_int_equal(l.count, 2);
	assert_string_equal(e.msg, "stop");
}

static void fd_runs(void **state)
{
	(void)state;
	int spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int a = fcntl(spare, F_DUPFD_CLOEXEC, 100), b = fcntl(spare, F_DUPFD_CLOEXEC, 101);
	int far = fcntl(spare, F_DUPFD_CLOEXEC, 110), keep = fcntl(spare, F_DUPFD_CLOEXEC, 105);
	struct fd_run run = FD_RUN_INIT;
	fd_run_add(&run, a);
	fd_run_add(&run, b);
	assert_true(fcntl(a, F_GETFD) >= 0);
	fd_run_add(&run, far);
	fd_run_close(&run);
	assert_int_equal(fcntl(a, F_GETFD), -1);
	assert_int_equal(fcntl(b, F_GETFD), -1);
	assert_int_equal(fcntl(far, F_GETFD), -1);
	assert_true(fcntl(keep, F_GETFD) >= 0);
	fd_run_close(&run);
	close(keep);
	close(spare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),    cmocka_unit_test(words),
		cmocka_unit_test(fields),     cmocka_unit_test(mount_lines),
		cmocka_unit_test(lines),      cmocka_unit_test(line_too_long),
		cmocka_unit_test(line_stops), cmocka_unit_test(fd_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
