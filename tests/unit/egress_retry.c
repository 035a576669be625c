/* What a server says first, whole and in pieces: an answer, or that it wants a second ClientHello;
 * and what a client may say before that. */
#include "network/egress/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MESSAGE_BYTES = 4 + 2 + 32 + 1 };

static const unsigned char retry_random[32] =
	"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
	"\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

/* A ServerHello up to its random number and a byte behind it, in records of size bytes. */
static size_t hello(unsigned char *out, const unsigned char random[32], size_t size)
{
	unsigned char message[MESSAGE_BYTES] = {2, 0, 0, 90, 3, 3};
	size_t len = 0;
	memcpy(message + 6, random, 32);
	for (size_t at = 0; at < sizeof(message); at += size) {
		const size_t part = sizeof(message) - at < size ? sizeof(message) - at : size;
		const unsigned char header[] = {22, 3, 3, 0, (unsigned char)part};
		memcpy(out + len, header, sizeof(header));
		memcpy(out + len + sizeof(header), message + at, part);
		len += sizeof(header) + part;
	}
	return len;
}

static void retries(void **state)
{
	(void)state;
	for (size_t size = 1; size <= MESSAGE_BYTES; size++) {
		unsigned char bytes[6 * MESSAGE_BYTES];
		const size_t len = hello(bytes, retry_random, size);
		enum retry r = RETRY_MORE;
		size_t seen = 0;
		while (r == RETRY_MORE && seen < len)
			r = retry_read(bytes, ++seen);
		assert_int_equal(r, RETRY_YES);
		assert_true(seen >= MESSAGE_BYTES - 1 + 5);
		assert_int_equal(retry_read(bytes, len), RETRY_YES);
	}
}

/* Each bit of the random number makes it an answer, and the first that differs is enough. */
static void answers(void **state)
{
	(void)state;
	for (size_t bit = 0; bit < 8 * sizeof(retry_random); bit++) {
		unsigned char random[32], bytes[6 * MESSAGE_BYTES];
		memcpy(random, retry_random, sizeof(random));
		random[bit / 8] ^= (unsigned char)(1U << bit % 8);
		const size_t len = hello(bytes, random, 1 + bit % MESSAGE_BYTES);
		assert_int_equal(retry_read(bytes, len), RETRY_NO);
	}
	assert_int_equal(retry_read((const unsigned char *)"HTTP/1.1 400", 12), RETRY_NO);
	assert_int_equal(retry_read((const unsigned char *)"\x16\x03\x03\0\x04\x01\0\0\0", 9),
			 RETRY_NO);
	assert_int_equal(retry_read(NULL, 0), RETRY_MORE);
}

static void alerts(void **state)
{
	(void)state;
	static const unsigned char alert[] = {21, 3, 3, 0, 2, 1, 112};
	unsigned char bytes[RETRY_BYTES_MAX + sizeof(alert)];
	memcpy(bytes, alert, sizeof(alert));
	for (size_t len = 1; len <= sizeof(alert); len++)
		assert_int_equal(retry_read(bytes, len), RETRY_MORE);
	const size_t len = sizeof(alert) + hello(bytes + sizeof(alert), retry_random, 100);
	assert_int_equal(retry_read(bytes, len), RETRY_YES);
	/* Who never comes to the point is taken for the worse. */
	for (size_t at = 0; at < RETRY_BYTES_MAX; at += sizeof(alert))
		memcpy(bytes + at, alert, sizeof(alert));
	assert_int_equal(retry_read(bytes, RETRY_BYTES_MAX - 1), RETRY_MORE);
	assert_int_equal(retry_read(bytes, RETRY_BYTES_MAX), RETRY_YES);
	assert_int_equal(retry_read(bytes, sizeof(bytes)), RETRY_YES);
}

static void skipped(void **state)
{
	(void)state;
	static const unsigned char bytes[] = {20, 3, 3, 0, 1, 1, 23, 3,	 3, 0, 3, 22, 22, 22,
					      21, 3, 3, 0, 2, 1, 0,  22, 3, 3, 0, 9,  1};
	enum { HELLO_AT = 21 };
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		bool whole;
		const size_t at = retry_skip(bytes, len, &whole);
		assert_int_equal(at, len < HELLO_AT ? len : HELLO_AT);
		assert_int_equal(whole, len == 0 || len == 6 || len == 14 || len >= HELLO_AT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retries),
		cmocka_unit_test(answers),
		cmocka_unit_test(alerts),
		cmocka_unit_test(skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
