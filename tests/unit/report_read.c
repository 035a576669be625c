/* Documents to the model, and the model in words. */
#include "report/page.h"
#include "report/plot.h"
#include "report/read.h"
#include "report/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int read_text(struct run_told *run, const char *text, struct arena *a, struct err *e)
{
	const struct named_text t = {"r", text, strlen(text)};
	return read_result(run, &t, a, e);
}

static void what_is_missing_is_not_told(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct run_told run;
	assert_int_equal(read_text(&run,
				   "{\"schema\":\"pinfold.result/1\",\"status\":\"lost\",\"usage\":null,\"cause\":{}}",
				   &a, &e),
			 0);
	assert_null(run.id.at);
	assert_true(run.wall_usec == NUM_UNKNOWN && run.code == NUM_UNKNOWN &&
		    run.artifacts_more == NUM_UNKNOWN);
	assert_int_equal(run.guarantees_len + run.warnings_len + run.evidence_len, 0);
	assert_false(run.out.there);
}

static void what_is_there_is_as_it_is(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct run_told run;
	assert_int_equal(read_text(&run,
				   "{\"schema\":\"pinfold.result/1\",\"status\":\"oom\",\"ok\":false,\"cause\":{\"limit\":"
				   "\"memory\",\"evidence\":{\"n\":3,\"t\":\"x\",\"b\":{\"encoding\":\"base64\",\"data\":"
				   "\"AP8=\"},\"z\":null}},\"usage\":{\"memory_peak_bytes\":5}}",
				   &a, &e),
			 0);
	assert_true(bytes_are(run.limit, "memory") && run.memory_peak == 5);
	assert_int_equal(run.evidence_len, 4);
	assert_true(run.evidence[0].number == 3 && bytes_are(run.evidence[1].text, "x"));
	assert_true(run.evidence[2].text.len == 2 &&
		    memcmp(run.evidence[2].text.at, "\0\xff", 2) == 0);
	assert_true(!run.evidence[3].text.at && run.evidence[3].number == NUM_UNKNOWN);
}

static void what_is_wrong_has_a_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *place;
	} rows[] = {
		{"{\"schema\":\"pinfold.result/1\",\"status\":\"x\",\n \"usage\":{\"io\":{\"8:0\":\n5}}}",
		 "r:3:1: 8:0: "},
		{"{\"schema\":\"pinfold.result/1\",\"status\":\"x\",\n\"egress\":[{},{\"port\":\"a\"}]}",
		 "r:2:22: port: "},
		{"{\"schema\":\"pinfold.result/1\",\"status\":\"x\",\n\"\\u0069d\":7}", "r:1:1: id: "},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct run_told run;
		assert_int_equal(read_text(&run, rows[i].text, &a, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_memory_equal(e.msg, rows[i].place, strlen(rows[i].place));
	}
}

/* ---- events ---- */

static void samples_are_thinned_and_peaks_stay(void **state)
{
	(void)state;
	enum { LINES = 5000, LINE = 160 };
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct run_told run = {.started_usec = NUM_UNKNOWN};
	char *text = calloc(LINES, LINE);
	size_t len = 0;
	for (int i = 0; i < LINES; i++)
		len += (size_t)snprintf(text + len, LINE,
					"{\"schema\":\"pinfold.event/1\",\"event\":\"usage\",\"at_usec\":%d,"
					"\"memory_bytes\":%d}\n",
					i, i == 3210 ? 9999 : i % 7);
	const struct named_text t = {"e", text, len};
	assert_int_equal(read_events(&run, &t, &a, &e), 0);
	assert_true(run.samples_len <= SAMPLES_MAX && run.samples_len >= SAMPLES_MAX / 2);
	bool peak = false;
	for (size_t i = 0; i < run.samples_len; i++) {
		peak |= run.samples[i].use[USE_MEMORY] == 9999;
		assert_true(i == 0 || run.samples[i].at_usec > run.samples[i - 1].at_usec);
		assert_true(run.samples[i].use[USE_PIDS] == NUM_UNKNOWN);
	}
	assert_true(peak);
	assert_int_equal(run.lines_bad, 0);
	free(text);
}

static void lines_that_are_no_events_are_counted(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct run_told run = {.started_usec = NUM_UNKNOWN};
	const char *text =
		"\n[]\n{}\n{\"schema\":\"pinfold.event/1\",\"event\":\"usage\",\"at_usec\":5}\n"
		"{\"schema\":\"pinfold.event/1\",\"event\":\"usage\",\"at_usec\":4}\n"
		"{\"schema\":\"pinfold.event/1\",\"event\":\"usage\",\"at_usec\":6,\"pids\":\"x\"}\n"
		"{\"schema\":\"pinfold.event/1\",\"event\":\"started\",\"at_usec\":6}\n{\"sch";
	const struct named_text t = {"e", text, strlen(text)};
	assert_int_equal(read_events(&run, &t, &a, &e), 0);
	assert_int_equal(run.samples_len, 1);
	assert_int_equal(run.lines_bad, 5);
	assert_true(run.started_usec == 6 && run.moments_len == 1);
}

/* ---- words ---- */

static void sizes_and_times(void **state)
{
	(void)state;
	assert_string_equal(say_size(0).text, "0 bytes");
	assert_string_equal(say_size(1).text, "1 byte");
	assert_string_equal(say_size(1023).text, "1023 bytes");
	assert_string_equal(say_size(1536).text, "1.50 KiB");
	assert_string_equal(say_size(512 << 20).text, "512 MiB");
	assert_string_equal(say_size(INT64_MAX).text, "8 EiB");
	assert_string_equal(say_size(NUM_UNKNOWN).text, "not told");
	assert_string_equal(say_time(0).text, "0 \xc2\xb5s");
	assert_string_equal(say_time(1500).text, "1.50 ms");
	assert_string_equal(say_time(61000000).text, "61 s");
	assert_string_equal(say_time(INT64_MAX / 2).text, "1281023894 h 0 min");
	assert_string_equal(say_count(1234567).text, "1,234,567");
	assert_string_equal(say_count(INT64_MAX).text, "9,223,372,036,854,775,807");
}

/* Figures at the edge of what can be said: a plot all the same. */
static void plots_of_extremes(void **state)
{
	(void)state;
	static const int64_t values[] = {0, 1, INT64_MAX, NUM_UNKNOWN};
	for (size_t v = 0; v < 4; v++) {
		for (size_t u = 0; u < 4; u++) {
			const struct point points[] = {{0, values[v]},
						       {values[u], values[v]},
						       {INT64_MAX, 0}};
			for (int kind = PLOT_SIZE; kind <= PLOT_MILLI; kind++) {
				const struct plot p = {"Title",
						       "unit",
						       (enum plot_unit)kind,
						       {{NULL, points, 3, kind == PLOT_MILLI}},
						       1,
						       values[u],
						       values[3 - v]};
				struct html h;
				struct err e = ERR_INIT;
				html_open(&h, 1 << 20);
				plot_put(&h, &p);
				const size_t len = h.len;
				char *page = html_finish(&h);
				assert_non_null(page);
				assert_int_equal(page_check((struct bytes){page, len}, &e), 0);
				assert_null(strstr(page, "nan"));
				assert_true(len < 20000);
				free(page);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_not_told),
		cmocka_unit_test(what_is_there_is_as_it_is),
		cmocka_unit_test(what_is_wrong_has_a_place),
		cmocka_unit_test(samples_are_thinned_and_peaks_stay),
		cmocka_unit_test(lines_that_are_no_events_are_counted),
		cmocka_unit_test(sizes_and_times),
		cmocka_unit_test(plots_of_extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
