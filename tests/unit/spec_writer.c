/* The JSON writer: jansson, which is no relation of it, must read back what went in. */
#include "spec/base64.h"
#include "spec/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static char *one_text(const char *text, bool indent)
{
	struct json_writer w;
	json_open(&w, indent);
	json_text(&w, NULL, text);
	return json_finish(&w, false);
}

static void shapes(void **state)
{
	(void)state;
	for (int indent = 0; indent < 2; indent++) {
		struct json_writer w;
		json_open(&w, indent);
		json_begin(&w, NULL, '{');
		json_begin(&w, "empty", '{');
		json_end(&w, '{');
		json_begin(&w, "list", '[');
		json_number(&w, NULL, INT64_MIN);
		json_number(&w, NULL, INT64_MAX);
		json_begin(&w, NULL, '[');
		json_end(&w, '[');
		json_end(&w, '[');
		json_bool(&w, "yes", true);
		json_bool(&w, "no", false);
		json_null_value(&w, "nothing");
		json_text(&w, "a\"b", "");
		json_end(&w, '{');
		char *text = json_finish(&w, indent);
		assert_string_equal(text,
				    indent ? "{\n  \"empty\": {},\n  \"list\": [\n    -9223372036854775808,\n    9223372036854775807,\n"
					     "    []\n  ],\n  \"yes\": true,\n  \"no\": false,\n  \"nothing\": null,\n  \"a\\\"b\": \"\"\n}\n"
					   : "{\"empty\":{},\"list\":[-9223372036854775808,9223372036854775807,[]],\"yes\":true,"
					     "\"no\":false,\"nothing\":null,\"a\\\"b\":\"\"}");
		free(text);
	}
}

static void characters(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"plain ~", "\"plain ~\""},
		{"\"\\/", "\"\\\"\\\\/\""},
		{"\n\t\r", "\"\\n\\t\\u000d\""},
		{"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
		{"\x1b[2J", "\"\\u001b[2J\""},
		{"\xc2\x9b", "\"\\u009b\""},	 /* CSI, of one character */
		{"\xe2\x80\xae", "\"\\u202e\""}, /* right-to-left override */
		{"\xc3\xa4\xf0\x9f\x98\x80", "\"\\u00e4\\ud83d\\ude00\""},
		{"\xf4\x8f\xbf\xbf", "\"\\udbff\\udfff\""},
		{"\xef\xbf\xbf", "\"\\uffff\""},
		{"\xed\x9f\xbf\xee\x80\x80", "\"\\ud7ff\\ue000\""},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char *text = one_text(rows[i][0], false);
		assert_string_equal(text, rows[i][1]);
		free(text);
	}
}

/* Not UTF-8 by RFC 3629; the base64 by hand (base64(1)). */
static void bytes(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"\xff", "/w=="},
		{"a\x80", "YYA="},
		{"ab\xc3", "YWLD"},
		{"\xc0\xaf", "wK8="},
		{"\xed\xa0\x80", "7aCA"},
		{"\xf4\x90\x80\x80", "9JCAgA=="},
		{"\xe0\x80\x80", "4ICA"},
		{"\xf0\x80\x80\x80", "8ICAgA=="},
		{"\xf5\x80\x80\x80", "9YCAgA=="},
		{"\xc3", "ww=="},
		{"\xe2\x82", "4oI="},
		{"\xf8\x88\x80\x80\x80", "+IiAgIA="},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char *text = one_text(rows[i][0], false);
		char want[64];
		snprintf(want, sizeof(want), "{\"data\":\"%s\",\"encoding\":\"base64\"}", rows[i][1]);
		assert_string_equal(text, want);
		free(text);
	}
}

/* Every sequence of up to three bytes: valid for jansson exactly if we took it for text. */
static void every_short_sequence(void **state)
{
	(void)state;
	for (unsigned int n = 1; n < 1U << 24; n += n < 0x10000 ? 1 : 251) {
		char in[4] = {(char)n, (char)(n >> 8), (char)(n >> 16), '\0'};
		char *text = one_text(in, false);
		json_t *read = json_loads(text, JSON_DECODE_ANY, NULL);
		assert_non_null(read);
		json_t *theirs = json_string(in);
		if (theirs) {
			assert_true(json_is_string(read));
			assert_string_equal(json_string_value(read), in);
		} else {
			const char *data = json_string_value(json_object_get(read, "data"));
			char out[8];
			assert_non_null(data);
			size_t len = base64_decode(data, strlen(data), out);
			assert_int_equal(len, strlen(in));
			assert_memory_equal(out, in, len);
		}
		json_decref(theirs);
		json_decref(read);
		free(text);
	}
}

static void long_documents(void **state)
{
	(void)state;
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '[');
	for (int i = 0; i < 50000; i++)
		json_text(&w, NULL, i % 2 ? "\xff\xfe\xfd" : "0123456789\n");
	json_end(&w, '[');
	char *text = json_finish(&w, true);
	json_t *read = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(read), 50000);
	assert_string_equal(json_string_value(json_array_get(read, 49998)), "0123456789\n");
	json_decref(read);
	free(text);
}

static void base64_is_strict(void **state)
{
	(void)state;
	static const char *const bad[] = {"A",	     "AA",	 "AAA",
					  "=",	     "====",	 "A===",
					  "AA=A",    "AA==AAAA", "QR==",
					  "QUJ=",    "Q Q=",	 "QQ=\n",
					  "QQ--",    "QQ__",	 "\xff\xff\xff\xff",
					  "AAA=A==="};
	char out[16];
	for (size_t i = 0; i < LENGTH(bad); i++) {
		if (base64_decode(bad[i], strlen(bad[i]), out) != (size_t)-1)
			fail_msg("%s: accepted", bad[i]);
	}
	assert_int_equal(base64_decode("", 0, out), 0);
	assert_int_equal(base64_decode("QUI=", 4, out), 2);
	assert_memory_equal(out, "AB", 2);
	assert_int_equal(base64_decode("QUJDRA==", 8, out), 4);
	assert_memory_equal(out, "ABCD", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),	  cmocka_unit_test(characters),
		cmocka_unit_test(bytes),	  cmocka_unit_test(every_short_sequence),
		cmocka_unit_test(long_documents), cmocka_unit_test(base64_is_strict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
