/* Patterns as fnmatch(3) has them, held against it; names of stored files; destinations of inputs. */
#include "spec/transfer.h"
#include "transfer/glob.h"
#include "transfer/store.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void patterns(void **state)
{
	(void)state;
	static const char *const patterns[] = {"*",	 "*.json", "a*b*c", "?",     "??", "[abc]",
					       "[a-c]x", "[!a-c]", "[]]",   "[]-a]", ".*", "a[",
					       "[a",	 "***",	   "*a",    "a",     "",   "[^a]*",
					       "x*y*z*", "[a-]",   ".[a]"};
	static const char *const names[] = {"a",     "b",     "c",  "ax",   "abc", "abbc", "x.json",
					    ".json", ".",     "a[", "[a",   "]",   "-",	   "",
					    "xyz",   "xayaz", ".a", "aaab", "d"};
	for (size_t i = 0; i < LENGTH(patterns); i++) {
		for (size_t j = 0; j < LENGTH(names); j++) {
			const bool want = fnmatch(patterns[i], names[j],
						  FNM_PERIOD | FNM_NOESCAPE) == 0;
			if (glob_match(patterns[i], strlen(patterns[i]), names[j]) != want)
				fail_msg("%s and %s: not %d", patterns[i], names[j], !want);
		}
	}
	/* In reasonable time: exponential for who backtracks over every star. */
	char name[256], pattern[256];
	memset(name, 'a', 255);
	name[255] = '\0';
	for (size_t i = 0; i < 127; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	memcpy(pattern + 254, "b", 2);
	assert_false(glob_match(pattern, 255, name));
}

static void stored_names(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"a.json", "a.json"},	{"out/a.json", "out+a.json"},
		{"-rf", "%2Drf"},	{".hidden", "%2Ehidden"},
		{"a-b_c.d", "a-b_c.d"}, {"a+b", "a%2Bb"},
		{"a b\n", "a%20b%0A"},	{"\xff\x1b[2J", "%FF%1B%5B2J"},
		{"x/../y", "x+..+y"},	{"~", "%7E"},
		{"%2D", "%252D"},
	};
	char name[STORE_NAME_BYTES], other[STORE_NAME_BYTES], path[4096];
	for (size_t i = 0; i < LENGTH(rows); i++) {
		store_name(name, rows[i][0]);
		assert_string_equal(name, rows[i][1]);
	}
	memset(path, 'a', 4095);
	path[4095] = '\0';
	store_name(name, path);
	path[4094] = 'b';
	store_name(other, path);
	assert_true(strlen(name) <= 255 && strchr(name, '~'));
	assert_string_not_equal(name, other);
	path[252] = '\0';
	store_name(name, path);
	assert_string_equal(name, path);
}

static void destinations(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	static const char *const rows[][4] = {
		/* text, source, target, its last name */
		{"/data/set", "/data/set", "set", "set"},
		{"/data/set//", "/data/set//", "set", "set"},
		{"/a:b:c/d", "/a:b", "c/d", "d"},
		{".:x", ".", "x", "x"},
		{"/data:.", "/data", ".", "."},
	};
	struct input_list list = {0};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		assert_int_equal(input_list_add(&list, rows[i][0], false, &a, &e), 0);
		assert_string_equal(list.inputs[i].source, rows[i][1]);
		assert_string_equal(list.inputs[i].target, rows[i][2]);
		assert_string_equal(input_name(&list.inputs[i]), rows[i][3]);
	}
	assert_int_equal(input_lists_check(&list, &e), -1); /* two are called set */
	for (size_t i = list.len; i < INPUTS_MAX; i++)
		assert_int_equal(input_list_add(&list, "/x:y", true, &a, &e), 0);
	assert_int_equal(input_list_add(&list, "/x:y", true, &a, &e), -1);
	assert_non_null(strstr(e.msg, "64 inputs at most"));
}

/* FIPS 180-4's examples, and every length around a block and a padding against libmd's. */
static void digests(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	struct hash h, portable;
	char digest[65], other[65];
	for (size_t i = 0; i < LENGTH(rows); i++) {
		hash_begin(&h, false);
		hash_add(&h, rows[i][0], strlen(rows[i][0]));
		hash_end(&h, digest);
		assert_string_equal(digest, rows[i][1]);
	}
	unsigned char bytes[300];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		for (size_t cut = 0; cut <= len; cut += 13) {
			hash_begin(&h, false);
			hash_begin(&portable, true);
			hash_add(&h, bytes, cut);
			hash_add(&h, bytes + cut, len - cut);
			hash_add(&portable, bytes, len);
			hash_end(&h, digest);
			hash_end(&portable, other);
			assert_string_equal(digest, other);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(patterns), cmocka_unit_test(stored_names),
					   cmocka_unit_test(destinations), cmocka_unit_test(digests)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
