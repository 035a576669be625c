/* Names and the addresses that stand for them inside. */
#include "network/broker/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct name name(const char *text)
{
	struct name n;
	if (name_read(&n, text, strlen(text)) != NAME_GOOD)
		fail_msg("%s is no name", text);
	return n;
}

static const char *address_of(struct synthetic *s, const char *text)
{
	static char shown[ADDRESS_TEXT_BYTES];
	const struct name n = name(text);
	unsigned char bytes[4];
	struct address a;
	if (!synthetic_address(s, &n, bytes))
		return NULL;
	address_from_ipv4(&a, bytes);
	address_format(&a, shown);
	return shown;
}

static const char *name_at(const struct synthetic *s, const char *text)
{
	struct address a;
	assert_true(address_read(&a, text, strlen(text)));
	const struct name *n = synthetic_name(s, &a);
	return n ? n->text : NULL;
}

static void test_one_each(void **state)
{
	struct synthetic s;
	(void)state;
	synthetic_init(&s, 10);
	assert_string_equal(address_of(&s, "a.example"), "198.18.1.0");
	assert_string_equal(address_of(&s, "b.example"), "198.18.1.1");
	assert_string_equal(address_of(&s, "A.EXAMPLE."), "198.18.1.0");
	assert_string_equal(name_at(&s, "198.18.1.0"), "a.example");
	assert_string_equal(name_at(&s, "198.18.1.1"), "b.example");
	synthetic_close(&s);
}

/* Neither the resolver's own address nor what is before, behind or of another family stands for a name. */
static void test_no_others(void **state)
{
	static const char *const none[] = {"198.18.0.1",  "198.18.0.255",
					   "198.18.1.1",  "198.17.1.0",
					   "198.19.1.0",  "127.0.0.1",
					   "0.0.0.0",	  "255.255.255.255",
					   "::1",	  "2001:db8::c612:100",
					   "::198.18.1.0"};
	struct synthetic s;
	(void)state;
	synthetic_init(&s, 10);
	assert_null(name_at(&s, "198.18.1.0"));
	assert_non_null(address_of(&s, "a.example"));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (name_at(&s, none[i]))
			fail_msg("%s stands for a name", none[i]);
	assert_string_equal(name_at(&s, "::ffff:198.18.1.0"), "a.example");
	synthetic_close(&s);
}

static void test_bounded(void **state)
{
	struct synthetic s;
	char text[32];
	(void)state;
	synthetic_init(&s, 4096);
	for (int i = 0; i < 4096; i++) {
		snprintf(text, sizeof(text), "n%d.files.example", i);
		assert_non_null(address_of(&s, text));
	}
	assert_null(address_of(&s, "one.more.example"));
	/* 4095 = 15 * 256 + 255, so 198.18.(1 + 15).255 */
	assert_string_equal(address_of(&s, "n4095.files.example"), "198.18.16.255");
	assert_string_equal(name_at(&s, "198.18.16.255"), "n4095.files.example");
	assert_string_equal(address_of(&s, "n0.files.example"), "198.18.1.0");
	synthetic_close(&s);
}

/* What is kept is no copy, counts like one, and is the same name to who asks for it. */
static void test_kept(void **state)
{
	struct synthetic s;
	struct name a, b;
	(void)state;
	assert_int_equal(name_read(&a, "a.example", 9), NAME_GOOD);
	assert_int_equal(name_read(&b, "b.example", 9), NAME_GOOD);
	synthetic_init(&s, 2);
	assert_true(synthetic_keep(&s, &a));
	assert_true(synthetic_keep(&s, &a));
	assert_string_equal(address_of(&s, "a.example"), "198.18.1.0");
	assert_string_equal(address_of(&s, "b.example"), "198.18.1.1");
	assert_true(synthetic_keep(&s, &b));
	assert_null(address_of(&s, "c.example"));
	assert_ptr_equal(name_at(&s, "198.18.1.0"), a.text);
	assert_ptr_not_equal(name_at(&s, "198.18.1.1"), b.text);
	synthetic_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_each),
					   cmocka_unit_test(test_no_others),
					   cmocka_unit_test(test_bounded),
					   cmocka_unit_test(test_kept)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
