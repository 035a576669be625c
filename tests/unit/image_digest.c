/* Which texts are digests, and that ours are the right ones. */
#include "rootfs/image/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* FIPS 180-2, appendix B: of "abc"; and of nothing. */
#define ABC   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void spellings(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct digest d = {"untouched"};
	static const char *const bad[] = {
		"",
		ABC,
		"sha256",
		"sha256:",
		"sha256:../../x",
		"SHA256:" ABC,
		"sha512:" ABC ABC,
		"md5:" ABC,
		"sha256:" ABC "0",
		"sha256: " ABC,
		"sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a/",
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a\n",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (digest_parse(&d, bad[i], &e) == 0)
			fail_msg("%s is taken for a digest", bad[i]);
		assert_int_equal(e.kind, ERR_USAGE);
		for (const char *c = e.msg; *c; c++)
			assert_in_range(*c, ' ', '~');
		assert_string_equal(d.text, "untouched");
	}
	assert_int_equal(digest_parse(&d, "sha256:" ABC, &e), 0);
	assert_string_equal(d.text, "sha256:" ABC);
	assert_string_equal(digest_hex(&d), ABC);
}

static void values(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct digest d, again;
	autohash h = HASH_INIT;
	assert_int_equal(hash_init(&h, &e), 0);
	hash_update(&h, "abc", 3);
	hash_final(&h, &d);
	assert_string_equal(d.text, "sha256:" ABC);
	hash_restart(&h);
	hash_final(&h, &d);
	assert_string_equal(d.text, "sha256:" EMPTY);
	hash_restart(&h);
	hash_update(&h, "a", 1);
	hash_update(&h, "bc", 2);
	hash_final(&h, &again);
	assert_string_equal(digest_hex(&again), ABC);
	assert_false(digest_same(&d, &again));
	assert_true(digest_same(&d, &d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings),
		cmocka_unit_test(values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
