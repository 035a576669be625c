/* What does not fit is cut so that it shows: a field's middle, and in a message the name, never the reason. */
#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *fit(const char *text, size_t size)
{
	static char field[64];
	memset(field, '#', sizeof(field));
	text_fit(field, size, text);
	assert_int_equal(field[size], '#');
	assert_true(strlen(field) < size);
	return field;
}

static void fields(void **state)
{
	(void)state;
	assert_string_equal(fit("", 16), "");
	assert_string_equal(fit("123456789012345", 16), "123456789012345");
	assert_string_equal(fit("1234567890123456", 16), "123456...123456");
	assert_string_equal(fit("abcdefghijklmnopqrstuvwxyz", 17), "abcdef...tuvwxyz");
}

/* No character is cut in two, wherever it lies. */
static void characters(void **state)
{
	(void)state;
	static const char *const letters[] = {"ä", "日", "🄰"};
	for (size_t k = 0; k < 3; k++) {
		for (size_t shift = 0; shift < 4; shift++) {
			char text[200] = "";
			memset(text, 'x', shift);
			for (size_t i = 0; i < 20; i++)
				strncat(text, letters[k], sizeof(text) - strlen(text) - 1);
			const char *got = fit(text, 32) + shift;
			for (; *got;) {
				const size_t len = strlen(letters[k]);
				const bool letter = strncmp(got, letters[k], len) == 0;
				assert_true(letter || *got == '.');
				got += letter ? len : 1;
			}
		}
	}
	/* Bytes that are no text end somewhere too. */
	char bytes[100];
	memset(bytes, 0x80, sizeof(bytes) - 1);
	bytes[sizeof(bytes) - 1] = '\0';
	assert_non_null(strstr(fit(bytes, 32), "..."));
}

static void messages(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	char path[3000], huge[9000];
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memset(huge, 'h', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';

	err_usage(&e, "image %s: no such folder", path);
	assert_memory_equal(e.msg, "image ppp", 9);
	assert_non_null(strstr(e.msg, "p...p"));
	assert_string_equal(e.msg + strlen(e.msg) - 16, ": no such folder");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);

	errno = ENOSPC;
	err_sys(&e, "open %s", huge);
	assert_int_equal(e.sys, ENOSPC);
	assert_non_null(strstr(e.msg, "h..."));
	assert_non_null(strstr(e.msg, "...: No space left on device"));

	err_usage(&e, "the reason");
	err_wrap(&e, "%s", path);
	assert_non_null(strstr(e.msg, "p...p"));
	assert_string_equal(e.msg + strlen(e.msg) - 12, ": the reason");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(characters),
		cmocka_unit_test(messages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
