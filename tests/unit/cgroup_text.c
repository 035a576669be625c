/* What the kernel writes in mountinfo, /proc/self/cgroup and cgroupfs, and how it is read. Lines
 * are as in proc_pid_mountinfo(5) and cgroup-v2.rst. */
#include "cgroup/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void mount_line(void **state)
{
	(void)state;
	char line[] =
		"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue";
	struct mount_line m;
	assert_int_equal(mount_line_parse(&m, line), 0);
	assert_int_equal(m.id, 36);
	assert_string_equal(m.root, "/mnt1");
	assert_string_equal(m.point, "/mnt 2");
	assert_string_equal(m.options, "rw,noatime");
	assert_string_equal(m.fstype, "ext3");
	assert_string_equal(m.source, "/dev/root");
	assert_string_equal(m.super_options, "rw,errors=continue");
}

static void mount_line_without_tags(void **state)
{
	(void)state;
	char line[] =
		"40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate";
	struct mount_line m;
	assert_int_equal(mount_line_parse(&m, line), 0);
	assert_string_equal(m.fstype, "cgroup2");
	assert_string_equal(m.super_options, "rw,nsdelegate");
}

static void mount_line_broken(void **state)
{
	(void)state;
	static const char *const broken[] = {
		"",
		"36",
		"36 35 98:0 / /mnt rw",
		"36 35 98:0 / /mnt rw master:1",
		"36 35 98:0 / /mnt rw - ext3",
		"36 35 98:0 / /mnt rw - ext3 /dev/root",
	};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char line[128];
		struct mount_line m;
		snprintf(line, sizeof(line), "%s", broken[i]);
		if (mount_line_parse(&m, line) == 0)
			fail_msg("'%s' was taken", broken[i]);
	}
}

static void escapes(void **state)
{
	(void)state;
	char text[] = "a\\040b\\011c\\134d\\777\\04";
	assert_string_equal(mount_unescape(text),
			    "a b\tc\\d\\777\\04"); /* \777 is no byte, \04 no escape */
}

static int count_proc(const struct mount_line *m, void *arg)
{
	int *count = arg;
	(*count)++;
	return strcmp(m->fstype, "proc") == 0 ? 42 : 0;
}

static void mounts_of_this_machine(void **state)
{
	(void)state;
	int count = 0;
	assert_int_equal(mount_lines(count_proc, &count), 42);
	assert_true(count >= 1);
}

static void own_cgroup(void **state)
{
	(void)state;
	char pure[] = "0::/user.slice/x\n";
	char hybrid[] = "9:name=systemd:/\n4:memory:/a/0::/b\n0::/c d\n";
	char v1[] = "9:name=systemd:/\n4:memory:/a\n";
	assert_string_equal(own_cgroup_parse(pure), "/user.slice/x");
	assert_string_equal(own_cgroup_parse(hybrid), "/c d");
	assert_null(own_cgroup_parse(v1));
}

static void below(void **state)
{
	(void)state;
	assert_string_equal(path_below("/a/b", "/"), "a/b");
	assert_string_equal(path_below("/", "/"), "");
	assert_string_equal(path_below("/a/b", "/a"), "b");
	assert_string_equal(path_below("/a", "/a"), "");
	assert_null(path_below("/ab", "/a"));
	assert_null(path_below("/", "/a"));
	assert_null(path_below("relative", "/"));
}

static void parents(void **state)
{
	(void)state;
	char path[] = "a/b/c";
	assert_true(path_parent(path));
	assert_string_equal(path, "a/b");
	assert_true(path_parent(path));
	assert_true(path_parent(path));
	assert_string_equal(path, "");
	assert_false(path_parent(path));
}

static void controllers(void **state)
{
	(void)state;
	assert_int_equal(controllers_parse("cpuset cpu io memory hugetlb pids rdma misc\n"),
			 CG_CPU | CG_IO | CG_MEMORY | CG_PIDS);
	assert_int_equal(controllers_parse("cpuset hugetlb\n"), 0);
	assert_int_equal(controllers_parse("\n"), 0);
	assert_int_equal(controllers_parse("memory"), CG_MEMORY);
}

static void numbers(void **state)
{
	(void)state;
	static const char events[] = "low 0\nhigh 0\nmax 35\noom 1\noom_kill 2\noom_group_kill 1\n";
	assert_int_equal(line_number(events, "oom"), 1);
	assert_int_equal(line_number(events, "oom_kill"), 2);
	assert_int_equal(line_number(events, "low"), 0);
	assert_int_equal(line_number(events, "kill"), NUM_UNKNOWN);
	assert_int_equal(line_number("", "low"), NUM_UNKNOWN);
	assert_int_equal(line_number("max max\n", "max"), NUM_UNKNOWN);

	static const char io[] =
		"8:0 rbytes=1459200 wbytes=314773504 rios=192 wios=353\n8:16 rbytes=7\n";
	assert_int_equal(pair_number(io, "rbytes"), 1459200);
	assert_int_equal(pair_number(io, "bytes"), NUM_UNKNOWN);
	assert_int_equal(pair_number("8:16 wios=3\n8:0 rios=4\n", "rios"),
			 NUM_UNKNOWN); /* not of this line */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mount_line),
		cmocka_unit_test(mount_line_without_tags),
		cmocka_unit_test(mount_line_broken),
		cmocka_unit_test(escapes),
		cmocka_unit_test(mounts_of_this_machine),
		cmocka_unit_test(own_cgroup),
		cmocka_unit_test(below),
		cmocka_unit_test(parents),
		cmocka_unit_test(controllers),
		cmocka_unit_test(numbers),
	};
	return cmocka_run_group_tests_name("cgroup text", tests, NULL, NULL);
}
