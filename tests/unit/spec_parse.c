/* Sizes, times, counts and cpus: right values by hand, and what must be refused. */
#include "spec/parse.h"
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef int parse_fn(const char *text, uint64_t *value, struct err *e);

struct good {
	const char *text;
	uint64_t value;
};

struct bad {
	const char *text;
	const char *says; /* part of the message */
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void all_good(parse_fn *parse, const struct good *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct err e = ERR_INIT;
		uint64_t value = 77;
		if (parse(rows[i].text, &value, &e) < 0)
			fail_msg("%s: refused: %s", rows[i].text, e.msg);
		if (value != rows[i].value)
			fail_msg("%s: %llu, not %llu", rows[i].text, (unsigned long long)value,
				 (unsigned long long)rows[i].value);
	}
}

static void all_bad(parse_fn *parse, const struct bad *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct err e = ERR_INIT;
		uint64_t value = 77;
		if (parse(rows[i].text, &value, &e) == 0)
			fail_msg("'%s': accepted as %llu", rows[i].text, (unsigned long long)value);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(value, 77);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("'%s': says '%s', not '%s'", rows[i].text, e.msg, rows[i].says);
	}
}

static void sizes(void **state)
{
	(void)state;
	static const struct good rows[] = {
		{"0", 0},
		{"1", 1},
		{"4096", 4096},
		{"007", 7},
		{"1K", 1024},
		{"64M", 67108864},
		{"1.5G", 1610612736},
		{"0.5M", 524288},
		{"2T", 2199023255552},
		{"none", UINT64_MAX},
		{"0.1K", 102}, /* 102.4: what is smaller than a byte is dropped */
		{"9223372036854775807", INT64_MAX},
		{"8388607T", 9223370937343148032},
		{"1.001G", 1074815565},
	};
	all_good(spec_parse_size, rows, LENGTH(rows));
}

static void not_sizes(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{"", "not a size"},
		{" 1", "not a size"},
		{"1 ", "not a size"},
		{"-1", "not a size"},
		{"+1", "not a size"},
		{"1e3", "not a size"},
		{"1e400", "not a size"},
		{"NaN", "not a size"},
		{"inf", "not a size"},
		{"0x10", "not a size"},
		{"1.5", "not a size"},
		{".5G", "not a size"},
		{"1.G", "not a size"},
		{"1,5G", "not a size"},
		{"M", "not a size"},
		{"1P", "not a size"},
		{"64m", "write 64M"},
		{"64MB", "write 64M"},
		{"64MiB", "write 64M"},
		{"64kB", "write 64K"},
		{"1.5gib", "write 1.5G"},
		{"64MM", "not a size"},
		{"64 M", "not a size"},
		{"64B", "not a size"},
		{"9223372036854775808", "too large"},
		{"8388608T", "too large"},
		{"99999999999999999999", "not a size"},
		{"18446744073709551615", "too large"},
		{"18446744073709551616", "not a size"},
		{"1.0000000001G", "not a size"},
		{"1.0001G", "with G there are at most 3 decimals"},
		{"None", "not a size"},
		{"none ", "not a size"},
		{"\xd9\xa1", "\\xd9\\xa1"},
		{"1\n", "\\x0a"},
		{"unlimited", "not a size"},
		{"max", "not a size"},
	};
	all_bad(spec_parse_size, rows, LENGTH(rows));
}

static void times(void **state)
{
	(void)state;
	static const struct good rows[] = {
		{"500ms", 500000000},
		{"2s", 2000000000},
		{"5m", 300000000000},
		{"1h", 3600000000000},
		{"1us", 1000},
		{"1ns", 1},
		{"0s", 0},
		{"1.5s", 1500000000},
		{"0.25h", 900000000000},
		{"none", UINT64_MAX},
		{"0.001us", 1},
		{"9223372036s", 9223372036000000000},
	};
	all_good(spec_parse_time, rows, LENGTH(rows));
}

static void not_times(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{"10", "write 10s"},
		{"0", "no unit"},
		{"0.5ns", "nanoseconds are whole"},
		{"1.0005us", "with us there are at most 3"},
		{"1.5", "no unit"},
		{"", "not a time"},
		{"-1s", "not a time"},
		{"+1s", "not a time"},
		{"1e3s", "not a time"},
		{"NaNs", "not a time"},
		{"1m30s", "not a time"},
		{"5min", "write 5m"},
		{"2sec", "write 2s"},
		{"2 s", "not a time"},
		{"s", "not a time"},
		{"1d", "not a time"},
		{"1hours", "write 1h"},
		{"1e400s", "not a time"},
		{"9223372037s", "too long"},
		{"18446744073709551615h", "too long"},
		{"10S", "write 10s"},
		{"1\xc2\xb5s", "write 1us"},
		{"forever", "not a time"},
	};
	all_bad(spec_parse_time, rows, LENGTH(rows));
}

static void counts(void **state)
{
	(void)state;
	static const struct good good[] = {{"0", 0},
					   {"1", 1},
					   {"none", UINT64_MAX},
					   {"9223372036854775807", INT64_MAX}};
	static const struct bad bad[] = {
		{"", "whole number"},
		{"-1", "whole number"},
		{"1.0", "whole number"},
		{"1k", "whole number"},
		{"1e3", "whole number"},
		{"0x1", "whole number"},
		{" 1", "whole number"},
		{"9223372036854775808", "too large"},
		{"18446744073709551616", "whole number"},
	};
	all_good(spec_parse_count, good, LENGTH(good));
	all_bad(spec_parse_count, bad, LENGTH(bad));
}

static void cpus(void **state)
{
	(void)state;
	static const struct good good[] = {{"1", 1000},	    {"0.5", 500}, {"1.25", 1250},
					   {"2.001", 2001}, {"0", 0},	  {"none", UINT64_MAX}};
	static const struct bad bad[] = {
		{"", "number of cpus"},	   {"-1", "number of cpus"},
		{".5", "number of cpus"},  {"1.2345", "number of cpus"},
		{"50%", "number of cpus"}, {"1e0", "number of cpus"},
		{"NaN", "number of cpus"}, {"18446744073709551615", "number of cpus"},
	};
	all_good(spec_parse_cpus, good, LENGTH(good));
	all_bad(spec_parse_cpus, bad, LENGTH(bad));
}

static void formats_are_short_and_exact(void **state)
{
	(void)state;
	char buf[PARSE_TEXT_BYTES];
	static const struct good size_rows[] = {{"512M", 536870912},
						{"1536M", 1610612736},
						{"0", 0},
						{"1023", 1023},
						{"1K", 1024},
						{"none", UINT64_MAX},
						{"9223372036854775807", INT64_MAX}};
	for (size_t i = 0; i < LENGTH(size_rows); i++) {
		spec_format_size(size_rows[i].value, buf);
		assert_string_equal(buf, size_rows[i].text);
	}
	static const struct good time_rows[] = {{"1m", 60000000000},
						{"90s", 90000000000},
						{"1500ms", 1500000000},
						{"1ns", 1},
						{"0s", 0},
						{"none", UINT64_MAX}};
	for (size_t i = 0; i < LENGTH(time_rows); i++) {
		spec_format_time(time_rows[i].value, buf);
		assert_string_equal(buf, time_rows[i].text);
	}
	static const struct good cpu_rows[] = {{"1", 1000},   {"0.01", 10}, {"1.25", 1250},
					       {"10", 10000}, {"0", 0},	    {"none", UINT64_MAX}};
	for (size_t i = 0; i < LENGTH(cpu_rows); i++) {
		spec_format_cpus(cpu_rows[i].value, buf);
		assert_string_equal(buf, cpu_rows[i].text);
	}
}

static void formats_read_back(void **state)
{
	(void)state;
	uint64_t x = 88172645463325252ULL; /* xorshift, so that a failure repeats */
	for (int i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		uint64_t value = (x & INT64_MAX) >> (x >> 58);
		uint64_t back;
		char buf[PARSE_TEXT_BYTES];
		struct err e = ERR_INIT;
		spec_format_size(value, buf);
		assert_int_equal(spec_parse_size(buf, &back, &e), 0);
		assert_int_equal(back, value);
		spec_format_time(value, buf);
		assert_int_equal(spec_parse_time(buf, &back, &e), 0);
		assert_int_equal(back, value);
		value /= 1000;
		spec_format_cpus(value, buf);
		assert_int_equal(spec_parse_cpus(buf, &back, &e), 0);
		assert_int_equal(back, value);
	}
}

static void shown_text_is_tame(void **state)
{
	(void)state;
	char all[512];
	for (size_t i = 0; i < sizeof(all) - 1; i++)
		all[i] = (char)(i % 255 + 1);
	all[sizeof(all) - 1] = '\0';
	for (size_t from = 0; from < sizeof(all); from++) {
		struct shown s = show(all + from);
		assert_true(strlen(s.text) < sizeof(s.text));
		for (const char *c = s.text; *c; c++)
			assert_true(*c >= 0x20 && *c < 0x7f);
	}
	assert_string_equal(show("abc").text, "'abc'");
	assert_string_equal(show("a\x1b[0m").text, "'a\\x1b[0m'");
	char forty[] = "0123456789012345678901234567890123456789";
	assert_string_equal(show(forty).text, "'0123456789012345678901234567890123456789'");
	char more[] = "0123456789012345678901234567890123456789x";
	assert_string_equal(show(more).text, "'0123456789012345678901234567890123456789'...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(not_sizes),
		cmocka_unit_test(times),
		cmocka_unit_test(not_times),
		cmocka_unit_test(counts),
		cmocka_unit_test(cpus),
		cmocka_unit_test(formats_are_short_and_exact),
		cmocka_unit_test(formats_read_back),
		cmocka_unit_test(shown_text_is_tame),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
