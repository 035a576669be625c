/* The names of images: what is taken, as what, and what is refused. */
#include "rootfs/image/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define BY_DIGEST \
	"r.test/x:1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void same_text(const char *got, const char *want)
{
	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

static void taken(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		struct reference parts;
		const char *whole; /* NULL: as text */
	} rows[] = {
		{"debian", {NULL, "debian", "latest", NULL}, "debian:latest"},
		{"debian:12", {NULL, "debian", "12", NULL}, NULL},
		{"library/debian:12", {NULL, "library/debian", "12", NULL}, NULL},
		{"a/b/c", {NULL, "a/b/c", "latest", NULL}, "a/b/c:latest"},
		{"docker.io/debian", {"docker.io", "debian", "latest", NULL}, "docker.io/debian:latest"},
		{"localhost/x:y", {"localhost", "x", "y", NULL}, NULL},
		{"localhost", {NULL, "localhost", "latest", NULL}, "localhost:latest"},
		{"localhost:5000", {NULL, "localhost", "5000", NULL}, NULL},
		{"localhost:5000/x", {"localhost:5000", "x", "latest", NULL}, "localhost:5000/x:latest"},
		{"127.0.0.1:5000/a/b:T.a-g_1", {"127.0.0.1:5000", "a/b", "T.a-g_1", NULL}, NULL},
		{"[::1]:5000/x:1", {"[::1]:5000", "x", "1", NULL}, NULL},
		{"host:1/x:1", {"host:1", "x", "1", NULL}, NULL},
		{"Registry.Example.COM/x:1",
		 {"registry.example.com", "x", "1", NULL},
		 "registry.example.com/x:1"},
		{"r.test/x@sha256:" HEX, {"r.test", "x", NULL, "sha256:" HEX}, NULL},
		{"r.test/x:1@sha256:" HEX, {"r.test", "x", "1", "sha256:" HEX}, NULL},
		{"a-b--c/d__e.f_g:x", {NULL, "a-b--c/d__e.f_g", "x", NULL}, NULL},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct reference r;
		if (reference_parse(&r, rows[i].text, &a, &e) < 0)
			fail_msg("%s: %s", rows[i].text, e.msg);
		same_text(r.registry, rows[i].parts.registry);
		same_text(r.repository, rows[i].parts.repository);
		same_text(r.tag, rows[i].parts.tag);
		same_text(r.digest, rows[i].parts.digest);
		same_text(reference_format(&r, &a), rows[i].whole ? rows[i].whole : rows[i].text);
	}
}

/* What is written out reads back as the same. */
static void round_trip(void **state)
{
	(void)state;
	static const char *const rows[] = {"debian", "R.TEST:80/x", BY_DIGEST};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct reference r;
		assert_int_equal(reference_parse(&r, rows[i], &a, &e), 0);
		char *once = reference_format(&r, &a);
		assert_int_equal(reference_parse(&r, once, &a, &e), 0);
		assert_string_equal(reference_format(&r, &a), once);
	}
}

static const char *const wrong[] = {
	"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	"",
	"/",
	"/x",
	"x/",
	"a//b",
	"./x",
	"../x",
	"a/../b",
	"r.test/../x",
	"r.test/x/..",
	"r.test/",
	"-a",
	"a-",
	"a.",
	"a..b",
	"a___b",
	"Debian",
	"r.test/Upper",
	"x:",
	"x:.a",
	"x:-a",
	"x:a/b",
	"x:a b",
	"x:a\nb",
	"x y",
	"x\x1b[2J",
	"x\xff",
	"r.test:/x",
	"r.test:0/x",
	"r.test:65536/x",
	"r.test:123456/x",
	"r.test:8a/x",
	"r..test/x",
	".test/x",
	"test./x",
	"-a.test/x",
	"a-.test/x",
	"a_b.test/x",
	"user@r.test/x",
	"user:pw@r.test/x",
	"https://r.test/x",
	"[::1/x",
	"[]:5000/x",
	"[::1]x/y",
	"[::1%25lo]/x",
	"x@",
	"x@sha256",
	"x@sha256:",
	"x@sha256:../../x",
	"x@sha256:0123",
	("x@sha256:" HEX "0"),
	"x@sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	("x@SHA256:" HEX),
	("x@sha512:" HEX HEX),
	"x@md5:0123456789abcdef0123456789abcdef",
	("x@sha256:" HEX ":tag"),
	("x@sha256:" HEX "@sha256:" HEX),
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(wrong); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct reference r = {.tag = "untouched"};
		if (reference_parse(&r, wrong[i], &a, &e) == 0)
			fail_msg("taken: %s", wrong[i]);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_string_equal(r.tag, "untouched");
		for (const char *c = e.msg; *c; c++)
			assert_in_range(*c, 0x20, 0x7e);
	}
}

static void lengths(void **state)
{
	(void)state;
	char text[600];
	for (int over = 0; over < 2; over++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct reference r;
		snprintf(text, sizeof(text), "%.*s", 255 + over, HEX HEX HEX HEX);
		assert_int_equal(reference_parse(&r, text, &a, &e), -over);
		snprintf(text, sizeof(text), "x:%.*s", 128 + over, HEX HEX HEX);
		assert_int_equal(reference_parse(&r, text, &a, &e), -over);
		memset(text, 'a', sizeof(text));
		snprintf(text + 253, sizeof(text) - 253, "%s/x", over ? ".aa" : ".a");
		assert_int_equal(reference_parse(&r, text, &a, &e), -over);
	}
}

static void remote(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct reference r;
	assert_int_equal(reference_parse(&r, "debian:12", &a, &e), 0);
	assert_int_equal(reference_remote(&r, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "HOST[:PORT]/debian"));
	assert_int_equal(reference_parse(&r, "r.test/debian:12", &a, &e), 0);
	assert_int_equal(reference_remote(&r, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),   cmocka_unit_test(round_trip), cmocka_unit_test(refused),
		cmocka_unit_test(lengths), cmocka_unit_test(remote),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
