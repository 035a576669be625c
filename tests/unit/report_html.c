/* The one writer: whatever goes in, no markup comes out but literals. */
#include "report/html.h"
#include "report/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *written(struct bytes text, size_t most)
{
	struct html h;
	html_open(&h, 1 << 20);
	html_plain(&h, text, most);
	char *page = html_finish(&h);
	assert_non_null(page);
	return page;
}

static void same(const char *text, const char *wanted)
{
	char *page = written(bytes_of(text), SIZE_MAX);
	assert_string_equal(page, wanted);
	free(page);
}

static void what_means_something_is_an_entity(void **state)
{
	(void)state;
	same("a<b>&\"'`=", "a&#60;b&#62;&#38;&#34;&#39;&#96;&#61;");
	same("tab\tand\nline", "tab\tand\nline");
	same("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void what_cannot_be_seen_is_a_number(void **state)
{
	(void)state;
	same("\x1b[2J\x7f", "\\x1b[2J\\x7f");
	same("\xff\xc0\x80", "\\xff\\xc0\\x80");
	same("\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
	same("\xe2\x80\xae\xc2\x85\xef\xbb\xbf", "\\u{202e}\\u{85}\\u{feff}");
	same("a\xc2", "a\\xc2");
	char *page = written((struct bytes){"a\0b", 3}, SIZE_MAX);
	assert_string_equal(page, "a\\x00b");
	free(page);
}

static void every_byte_comes_out_harmless(void **state)
{
	(void)state;
	for (int one = 0; one < 256; one++) {
		for (int two = 0; two < 256; two++) {
			const char pair[2] = {(char)one, (char)two};
			char *page = written((struct bytes){pair, 2}, SIZE_MAX);
			assert_null(strpbrk(page, "<>\"'`=\x1b\x7f"));
			free(page);
		}
	}
}

static void what_is_long_is_cut_and_says_so(void **state)
{
	(void)state;
	char *page = written(bytes_of("abcdef"), 3);
	assert_string_equal(page, "abc \xe2\x80\xa6 (6 bytes)");
	free(page);
	page = written(bytes_of("ab\xe2\x82\xac"
				"c"),
		       3);
	assert_string_equal(page, "ab\xe2\x82\xac \xe2\x80\xa6 (6 bytes)");
	free(page);
	page = written((struct bytes){NULL, 0}, 3);
	assert_string_equal(page, "");
	free(page);
}

static void what_is_too_much_breaks(void **state)
{
	(void)state;
	struct html h;
	html_open(&h, 10);
	html_words(&h, "0123456789");
	assert_false(h.broken);
	html_words(&h, "0");
	assert_true(h.broken);
	html_base64(&h, (struct bytes){"abc", 3});
	assert_null(html_finish(&h));
}

static void numbers(void **state)
{
	(void)state;
	static const struct {
		int64_t milli;
		const char *text;
	} rows[] = {{0, "0"},	    {1000, "1"},    {1500, "1.5"},
		    {1239, "1.23"}, {-20, "-0.02"}, {100000, "100"}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct html h;
		html_open(&h, 100);
		html_milli(&h, rows[i].milli);
		char *page = html_finish(&h);
		assert_string_equal(page, rows[i].text);
		free(page);
	}
}

/* ---- what may be a body ---- */

static int check(const char *body)
{
	struct err e = ERR_INIT;
	const int rc = page_check(bytes_of(body), &e);
	assert_int_equal(rc < 0, e.kind == ERR_BUG);
	return rc;
}

static void a_body_of_known_markup_passes(void **state)
{
	(void)state;
	assert_int_equal(check(""), 0);
	assert_int_equal(check("text &#60; and \xc3\xa4"), 0);
	assert_int_equal(check("<p class=\"x\" id=\"s0-a\">a<br>b</p>"), 0);
	assert_int_equal(check("<svg viewBox=\"0 0 1 1\"><rect width=\"1\" height=\"1\"/></svg>"), 0);
	assert_int_equal(check("<img alt=\"a\" src=\"data:image/png;base64,AA+/=\">"), 0);
}

static const char *const not_ours[] = {
	"<script>",
	"<SCRIPT>",
	"<Script/>",
	"<p",
	"<",
	"</",
	"</p",
	"<p >",
	"<p  class=\"a\">",
	"a > b",
	"<p class=a>",
	"<p class='a'>",
	"<p class>",
	"<p class=\"a",
	"<p class=\"<\">",
	"<p class=\">\">",
	"<p onclick=\"a\">",
	"<p style=\"a\">",
	"<p\nclass=\"a\">",
	"<p/class=\"a\">",
	"<p class=\"a\"id=\"b\">",
	"<img src=\"x\">",
	"<img src=\"data:image/svg+xml,\">",
	"<img src=\"data:image/png;base64,A A\">",
	"<img src=\"data:image/png;base64,&#41;\">",
	"<!-- -->",
	"<!DOCTYPE html>",
	"<?x?>",
	"<![CDATA[]]>",
	"<a href=\"#x\">",
	"<use>",
	"<image>",
	"<foreignObject>",
	"<animate>",
	"<set>",
	"<math>",
	"<template>",
	"<base>",
	"<link>",
	"<meta>",
	"<form>",
	"<input>",
	"<button>",
	"<iframe>",
	"<object>",
	"<embed>",
	"<style>",
	"<title>",
	"<body>",
	"</body>",
	"<html>",
	"<noscript>",
	"<textarea>",
	"<xmp>",
	"<plaintext>",
	"< p>",
	"<p:a>",
	"</p class=\"a\">",
	"<P>",
	"<p CLASS=\"a\">",
};

static void any_other_does_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(not_ours) / sizeof(*not_ours); i++)
		assert_int_equal(check(not_ours[i]), -1);
	struct err e = ERR_INIT;
	assert_int_equal(page_check((struct bytes){"<p>\0</p>", 8}, &e), -1);
	assert_int_equal(page_check((struct bytes){"<p class=\"\0\">", 13}, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_means_something_is_an_entity),
		cmocka_unit_test(what_cannot_be_seen_is_a_number),
		cmocka_unit_test(every_byte_comes_out_harmless),
		cmocka_unit_test(what_is_long_is_cut_and_says_so),
		cmocka_unit_test(what_is_too_much_breaks),
		cmocka_unit_test(numbers),
		cmocka_unit_test(a_body_of_known_markup_passes),
		cmocka_unit_test(any_other_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
