/* The key table: what its rows must fulfil, defaults, and what each key refuses. */
#include "spec/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The rows of one object stand together: its bit is told by that. */
static bool stands_with_its_own(size_t i)
{
	const char *object = spec_keys[i].object;
	if (!object || i == 0 ||
	    (spec_keys[i - 1].object && strcmp(spec_keys[i - 1].object, object) == 0))
		return true;
	for (size_t j = 0; j < i; j++)
		if (spec_keys[j].object && strcmp(spec_keys[j].object, object) == 0)
			return false;
	return true;
}

static void rows_are_whole(void **state)
{
	(void)state;
	assert_true(spec_keys_len < 61); /* bits 61 to 63 of a set are egress, image and command */
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		assert_ptr_equal(key_find(k->name), k); /* so no name stands twice */
		assert_non_null(k->help);
		assert_true((k->type == KEY_BOOL) == (k->placeholder == NULL));
		assert_true((k->type == KEY_ENUM) == (k->words != NULL));
		assert_true(k->type < KEY_TYPE_COUNT && k->group < GROUP_COUNT);
		assert_true((k->object == NULL) == (k->member == NULL));
		assert_true(stands_with_its_own(i));
		assert_true(strchr(".", k->help[strlen(k->help) - 1]) == NULL);
		for (size_t j = 0; j < i; j++)
			assert_true(spec_keys[j].offset != k->offset ||
				    k->type == KEY_INPUT_RO); /* one list */
		if (i > 0)
			assert_true(spec_keys[i - 1].group <= k->group);
	}
	assert_null(key_find("egress"));
	assert_ptr_equal(key_find_member("egress", "bytes"), key_find("egress-bytes"));
	assert_non_null(key_find_member("egress", NULL));
	assert_null(key_find_member("egress", "memory"));
	assert_null(key_find_member("memory", NULL));
	assert_string_equal(key_member(key_find("allow")), "allow");
	assert_string_equal(key_member(key_find("memory")), "memory");
	assert_null(key_find(""));
	assert_null(key_find("mem"));
}

static void defaults(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(s.image_kind, IMAGE_NONE);
	assert_int_equal(s.limits.memory_bytes, 512 << 20);
	assert_int_equal(s.limits.cpus_milli, 1000);
	assert_int_equal(s.limits.pids, 256);
	assert_int_equal(s.limits.wall_ns, 60000000000);
	assert_true(s.limits.cpu_time_ns == LIMIT_NONE && s.limits.idle_ns == LIMIT_NONE);
	assert_int_equal(s.limits.scratch_bytes, 256 << 20);
	assert_int_equal(s.limits.scratch_inodes, 65536);
	assert_int_equal(s.limits.output_bytes, 16 << 20);
	assert_int_equal(s.limits.nofile, 0);
	assert_true(s.limits.read_bps == LIMIT_NONE && s.limits.write_bps == LIMIT_NONE);
	assert_true(s.limits.read_iops == LIMIT_NONE && s.limits.write_iops == LIMIT_NONE);
	assert_int_equal(s.limits.priority, PRIORITY_NORMAL);
	assert_int_equal(s.egress.allow.len, 0);
	assert_true(s.egress.bytes == LIMIT_NONE);
	assert_int_equal(s.ids, IDS_AUTO);
	assert_int_equal(s.uid, 1000);
	assert_int_equal(s.proc, PROC_OWN);
	assert_int_equal(s.on_exit, ON_EXIT_KILL);
	assert_int_equal(s.slots.count, 0);
	assert_true(s.slots_memory_bytes == LIMIT_NONE && s.queue_ns == LIMIT_NONE);
	assert_int_equal(s.grace_ns, 2000000000);
	assert_int_equal(s.stdin_kind, STDIN_NULL);
	assert_string_equal(s.workdir, "/scratch");
	assert_string_equal(s.hostname, "pinfold");
	assert_null(s.env[0]);
	assert_false(s.tty);
	assert_true(s.require == 0 && s.given == 0 && s.command_len == 0);
	assert_null(s.cgroup_parent);
	assert_null(s.seccomp_file);
	assert_null(s.stdout_file);
	assert_null(s.stderr_file);
	assert_null(s.result);
	assert_null(s.events);
	assert_null(s.audit);
	assert_null(s.id);
}

static const char *const accepted_rows[][2] = {
	{"memory", "1M"},
	{"memory", "none"},
	{"cpus", "0.01"},
	{"cpus", "none"},
	{"pids", "1"},
	{"pids", "none"},
	{"wall", "1ns"},
	{"wall", "none"},
	{"scratch", "64K"},
	{"output", "0"},
	{"output", "none"},
	{"nofile", "4"},
	{"nofile", "1048576"},
	{"grace", "0s"},
	{"uid", "0"},
	{"uid", "65535"},
	{"hostname", "a"},
	{"hostname", "a-b.c9"},
	{"hostname", "3com"},
	{"id", "a"},
	{"id", "0.-_"},
	{"env", "A="},
	{"env", "_=x=y"},
	{"env", "a_B9=\x01\xff\n"},
	{"stdin", "null"},
	{"stdin", "-"},
	{"stdin", "./null"},
	{"result", "fd:3"},
	{"result", "./fd:x"},
	{"require", "all"},
	{"require", "cgroup,seccomp"},
	{"tty", "false"},
	{"workdir", "/"},
	{"ids", "range"},
	{"proc", "outer"},
	{"on-exit", "wait"},
	{"slots", "none"},
	{"slots", "512"},
	{"slots", "1:Ci_1.-"},
	{"slots-memory", "1M"},
	{"queue", "0s"},
	{"priority", "low"},
	{"read-bps", "1"},
	{"read-iops", "4294967294"},
	{"allow", "packages.example:443"},
	{"egress-bytes", "1"},
	{"egress-bytes", "none"},
	{"egress-connections", "1"},
	{"egress-connections", "256"},
	{"egress-connect-timeout", "1ns"},
	{"egress-connect-timeout", "168h"},
	{"egress-idle", "1ns"},
	{"egress-idle", "none"},
	{"input", "/a/b"},
	{"input", "a/:x/y"},
	{"input", "a:b:c"},
	{"input-ro", "..:."},
	{"artifact", "out/*.json:type=json:max=1K:required"},
	{"artifact", "[a-z]:schema=s.json"},
	{"artifacts-dir", "x"},
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(accepted_rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		assert_int_equal(spec_init(&s, &a, &e), 0);
		if (spec_set(&s, accepted_rows[i][0], accepted_rows[i][1], &e) < 0)
			fail_msg("%s %s: %s", accepted_rows[i][0], accepted_rows[i][1], e.msg);
	}
}

static const char *const refused_rows[][3] = {
	{"input", "", "the source is missing"},
	{"input", "/", "no name of its own"},
	{"input", "..", "no name of its own"},
	{"input", ":x", "the source is missing"},
	{"input", "a:", "no relative path"},
	{"input", "a:/x", "no relative path"},
	{"input", "a:../x", "no relative path"},
	{"input-ro", "a:x//y", "no relative path"},
	{"artifact", "", "not relative"},
	{"artifact", "/etc/passwd", "not relative"},
	{"artifact", "a/../b", "not relative"},
	{"artifact", "a/", "not relative"},
	{"artifact", "a:max=none", "max cannot be lifted"},
	{"artifact", "a:type=gif", "not one of json"},
	{"artifact", "a:requird", "not one of max="},
	{"artifact", "a:type=csv:schema=s", "schema= is for type=json"},
	{"artifacts-dir", "", "empty"},
	{"memory", "0", "the least is 1M"},
	{"memory", "64", "64M is mebibytes"},
	{"memory", "-1", "not a size"},
	{"cpus", "0", "the least is 0.01"},
	{"cpus", "0.009", "the least is 0.01"},
	{"cpus", "8193", "the most is 8192"},
	{"pids", "0", "none to lift"},
	{"pids", "4194304", "the most is 4194303"},
	{"wall", "0s", "none to lift"},
	{"wall", "10", "no unit"},
	{"cpu-time", "0ms", "none to lift"},
	{"idle", "0.000us", "none to lift"},
	{"scratch", "0", "the least is 64K"},
	{"scratch-inodes", "0", "the least is 16"},
	{"scratch-inodes", "4294967296", "the most"},
	{"nofile", "none", "cannot be lifted"},
	{"nofile", "0", "the least is 4"},
	{"nofile", "1048577", "the most"},
	{"grace", "none", "cannot be lifted"},
	{"read-bps", "0", "none to lift"},
	{"write-iops", "0", "none to lift"},
	{"write-iops", "4294967295", "the most"},
	{"uid", "65536", "the most"},
	{"uid", "-1", "whole number"},
	{"uid", "root", "whole number"},
	{"uid", "none", "cannot be lifted"},
	{"priority", "high", "low|normal"},
	{"ids", "", "auto|single|range"},
	{"ids", "AUTO", "auto|single|range"},
	{"tty", "yes", "neither true nor false"},
	{"hostname", "", "host name"},
	{"hostname", "-a", "host name"},
	{"hostname", "a-", "host name"},
	{"hostname", "a..b", "host name"},
	{"hostname", "a.", "host name"},
	{"hostname", "a_b", "host name"},
	{"hostname", "\xc3\xa4", "host name"},
	{"hostname", "0123456789012345678901234567890123456789012345678901234567890123", "host name"},
	{"hostname", "a.0123456789012345678901234567890123456789012345678901234567890123",
	 "host name"},
	{"id", "", "not an id"},
	{"id", "-a", "not an id"},
	{"id", ".a", "not an id"},
	{"id", "a/b", "not an id"},
	{"id", "a b", "not an id"},
	{"id", "../x", "not an id"},
	{"id", "01234567890123456789012345678901234567890123456789012345678901234", "not an id"},
	{"env", "A", "not NAME=VALUE"},
	{"env", "", "not NAME=VALUE"},
	{"env", "=x", "a name has"},
	{"env", "1A=x", "a name has"},
	{"env", "A-B=x", "a name has"},
	{"env", "A =x", "a name has"},
	{"workdir", "scratch", "absolute"},
	{"workdir", "", "absolute"},
	{"stdout", "", "empty"},
	{"stdin", "", "empty"},
	{"result", "", "empty"},
	{"result", "fd:", "fd:N"},
	{"result", "fd:-1", "fd:N"},
	{"result", "fd:x", "fd:N"},
	{"events", "fd:1048576", "fd:N"},
	{"result", "fd:none", "fd:N"},
	{"allow", "", "no host"},
	{"allow", "packages.example", "allow: 'packages.example': the port is missing"},
	{"egress-bytes", "0", "none to lift"},
	{"egress-connections", "0", "too little; the least is 1"},
	{"egress-connections", "257", "the most is 256"},
	{"egress-connections", "none", "cannot be lifted"},
	{"egress-connect-timeout", "0s", "the least is 1ns"},
	{"egress-connect-timeout", "10", "10s"},
	{"egress-connect-timeout", "none", "cannot be lifted"},
	{"egress-idle", "0s", "none to lift"},
	{"require", "", "no guarantee"},
	{"require", "memory,", "no guarantee"},
	{"require", "Memory", "no guarantee"},
	{"require", "cgroups", "no guarantee"},
	{"memroy", "64M", "did you mean memory?"},
	{"egress", "x", "unknown key"},
	{"cpu", "1", "did you mean cpus?"},
	{"command", "x", "unknown key"},
	{"", "", "unknown key"},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(refused_rows); i++) {
		const char *const *row = refused_rows[i];
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		assert_int_equal(spec_init(&s, &a, &e), 0);
		char *before = spec_write_json(&s);
		if (spec_set(&s, row[0], row[1], &e) == 0)
			fail_msg("%s %s: accepted", row[0], row[1]);
		assert_int_equal(e.kind, ERR_USAGE);
		if (!strstr(e.msg, row[2]))
			fail_msg("%s %s: says '%s', not '%s'", row[0], row[1], e.msg, row[2]);
		char *after = spec_write_json(&s);
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
}

static void long_texts(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	char *text = arena_alloc(&a, 140000);
	memset(text, 'A', 139999);
	assert_int_equal(spec_set(&s, "stdout", text, &e), -1);
	assert_non_null(strstr(e.msg, "139999 bytes; the kernel takes 4095"));
	text[4095] = '\0';
	assert_int_equal(spec_set(&s, "stdout", text, &e), 0);
	/* MAX_ARG_STRLEN is 131072 with the NUL */
	text[4095] = 'A';
	text[1] = '=';
	text[131071] = '\0';
	assert_int_equal(spec_set(&s, "env", text, &e), 0);
	text[131071] = 'A';
	text[131072] = '\0';
	assert_int_equal(spec_set(&s, "env", text, &e), -1);
	assert_non_null(strstr(e.msg, "argument too long (131072 bytes"));
}

static void env_is_sorted_and_unique(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	for (int i = 0; i < 3000; i++) {
		char text[32];
		snprintf(text, sizeof(text), "N%d=%d", i * 7919 % 1500, i);
		assert_int_equal(spec_set(&s, "env", text, &e), 0);
	}
	assert_int_equal(s.env_len, 1500);
	assert_null(s.env[1500]);
	for (size_t i = 0; i < s.env_len; i++) {
		int name, value;
		assert_int_equal(sscanf(s.env[i], "N%d=%d", &name, &value), 2);
		assert_true(value >= 1500); /* the later one won */
		assert_int_equal(value % 1500 * 7919 % 1500, name);
	}
	/* A name that begins another is another. */
	assert_int_equal(spec_init(&s, &a, &e), 0);
	static const char *const given[] = {"AB=1", "A=2", "ABC=3", "A=4"};
	for (size_t i = 0; i < LENGTH(given); i++)
		assert_int_equal(spec_set(&s, "env", given[i], &e), 0);
	assert_int_equal(s.env_len, 3);
	assert_string_equal(s.env[0], "A=4");
	assert_string_equal(s.env[1], "AB=1");
	assert_string_equal(s.env[2], "ABC=3");
}

static void require_adds_up(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_set(&s, "require", "seccomp,wall", &e), 0);
	assert_int_equal(spec_set(&s, "require", "cgroup", &e), 0);
	uint64_t want = 1ULL << G_SECCOMP | 1ULL << G_WALL | 1ULL << G_MEMORY | 1ULL << G_SWAP |
			1ULL << G_PIDS | 1ULL << G_CPUS | 1ULL << G_IO | 1ULL << G_CPU_TIME |
			1ULL << G_KILL;
	assert_true(s.require == want);
	assert_int_equal(spec_set(&s, "require", "memory,nonsense", &e), -1);
	assert_true(s.require == want);
}

static void defaults_that_follow(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_set(&s, "memory", "64M", &e), 0);
	assert_int_equal(s.limits.scratch_bytes, 64 << 20);
	assert_int_equal(spec_set(&s, "memory", "none", &e), 0);
	assert_int_equal(s.limits.scratch_bytes, 256 << 20);
	assert_int_equal(spec_set(&s, "scratch", "128M", &e), 0);
	assert_int_equal(spec_set(&s, "memory", "64M", &e), 0);
	assert_int_equal(s.limits.scratch_bytes, 128 << 20);
	assert_int_equal(spec_set(&s, "tty", "true", &e), 0);
	assert_int_equal(s.stdin_kind, STDIN_CALLER);
	assert_int_equal(spec_set(&s, "stdin", "null", &e), 0);
	assert_int_equal(spec_set(&s, "tty", "true", &e), 0);
	assert_int_equal(s.stdin_kind, STDIN_NULL);
}

static void images(void **state)
{
	(void)state;
	static const struct {
		const char *image;
		enum image_kind kind;
	} rows[] = {
		{"/", IMAGE_PATH},     {"/x", IMAGE_PATH},     {"./x", IMAGE_PATH},
		{"../x", IMAGE_PATH},  {".", IMAGE_PATH},      {"..", IMAGE_PATH},
		{"@host", IMAGE_HOST}, {"python", IMAGE_NAME}, {"build/x", IMAGE_NAME},
		{".x", IMAGE_NAME},    {"...", IMAGE_NAME},    {"..x/y", IMAGE_NAME},
		{"-", IMAGE_NAME},
	};
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		assert_int_equal(spec_set_image(&s, rows[i].image, &e), 0);
		if (s.image_kind != rows[i].kind)
			fail_msg("%s: %d", rows[i].image, s.image_kind);
	}
	assert_int_equal(spec_set_image(&s, "", &e), -1);
	assert_int_equal(spec_set_image(&s, "@hots", &e), -1);
	assert_non_null(strstr(e.msg, "@host"));
	assert_string_equal(s.image, "-");
}

static void nearest(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"memroy", "memory"},
		{"memory_", "memory"},
		{"Memory", "memory"},
		{"cpu_time", "cpu-time"},
		{"cputime", "cpu-time"},
		{"timeout", NULL},
		{"m", NULL},
		{"network", NULL},
		{"wal", "wall"},
		{"scratch-inode", "scratch-inodes"},
		{"hlep", "help"},
		{"comand", "command"},
		{"", NULL},
		{"xyzzy", NULL},
		{"a-very-long-name-that-is-nothing-like-any-key-of-ours", NULL},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *near = key_nearest(rows[i][0]);
		if (rows[i][1] ? !near || strcmp(near, rows[i][1]) : near != NULL)
			fail_msg("%s: %s", rows[i][0], near ? near : "(nothing)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_whole),  cmocka_unit_test(defaults),
		cmocka_unit_test(accepted),	   cmocka_unit_test(refused),
		cmocka_unit_test(long_texts),	   cmocka_unit_test(env_is_sorted_and_unique),
		cmocka_unit_test(require_adds_up), cmocka_unit_test(defaults_that_follow),
		cmocka_unit_test(images),	   cmocka_unit_test(nearest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
