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
	struct report report = {.job = NULL};
	if (read_report(&report, &t, a, e) < 0)
		return -1;
	assert_null(report.job);
	*run = report.stages->run;
	return 0;
}

static int read_run_events(struct run_told *run, const struct named_text *t, struct arena *a,
			   struct err *e)
{
	struct stage_told only = {.run = *run};
	struct report report = {NULL, &only, 1};
	const int done = read_events(&report, t, a, e);
	*run = only.run;
	return done;
}

static void what_is_missing_is_not_told(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct run_told run = {.wall_usec = 0};
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
	struct fact_told none[4] = {0};
	struct run_told run = {.evidence = none};
	const char *text =
		"{\"schema\":\"pinfold.result/1\",\"status\":\"oom\",\"ok\":false,\"cause\":{\"limit\":"
		"\"memory\",\"evidence\":{\"n\":3,\"t\":\"x\",\"b\":{\"encoding\":\"base64\",\"data\":"
		"\"AP8=\"},\"z\":null}},\"usage\":{\"memory_peak_bytes\":5}}";
	assert_int_equal(read_text(&run, text, &a, &e), 0);
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
		struct run_told run = {.wall_usec = 0};
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
	assert_int_equal(read_run_events(&run, &t, &a, &e), 0);
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
	assert_int_equal(read_run_events(&run, &t, &a, &e), 0);
	assert_int_equal(run.samples_len, 1);
	assert_int_equal(run.lines_bad, 5);
	assert_true(run.started_usec == 6 && run.moments_len == 1);
}

/* ---- jobs ---- */

#define A_JOB "{\"schema\":\"pinfold.job-result/1\",\"id\":\"j\",\"status\":\"failed\",\n"
#define A_RUN "{\"schema\":\"pinfold.result/1\",\"id\":\"%s\",\"status\":\"exited\"}"

static int read_a_job(struct report *report, const char *text, struct arena *a, struct err *e)
{
	const struct named_text t = {"j", text, strlen(text)};
	return read_report(report, &t, a, e);
}

static void a_job_that_says_nothing_else(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct report r = {.job = NULL};
	assert_int_equal(read_a_job(&r, A_JOB "\"stages\":[{},{\"result\":null}]}", &a, &e), 0);
	const struct job_told none = {.ok = true}, *job = r.job ? r.job : &none;
	assert_true(bytes_are(job->status, "failed") && r.stages_len == 2 && !job->ok);
	assert_true(job->wall_usec == NUM_UNKNOWN && job->source.bytes == NUM_UNKNOWN &&
		    job->cost.estimate[COST_CPU].high == NUM_UNKNOWN &&
		    job->analysis.counts[COUNT_NOTE] == NUM_UNKNOWN);
	assert_false(job->source.there || job->analysis.there || job->cost.there ||
		     r.stages[0].has_run || r.stages[0].has_diagnostics);
	assert_int_equal(r.stages[1].run.started_usec, NUM_UNKNOWN);
}

static void what_is_wrong_in_a_job_has_a_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *place;
	} rows[] = {
		{A_JOB "\"stages\":[{},\n{\"result\":{}}]}", "j:3:11: result: no result of a run"},
		{A_JOB
		 "\"stages\":[{\"result\":\n{\"schema\":\"pinfold.job-result/1\",\"status\":\"x\"}}]}",
		 "j:3:11: schema: "},
		{A_JOB "\"stages\":[{\"result\":\n{\"schema\":\"pinfold.result/1\"}}]}",
		 "j:3:1: result: a status"},
		{A_JOB "\"stages\":[{\"set\":{\"a\":\n5}}]}", "j:3:1: a: "},
		{A_JOB "\"cost\":{\"scale\":\n\"x\"}}", "j:3:1: scale: "},
		{A_JOB "\"cost\":{\"scale\":\n-1.5}}", "j:3:1: scale: "},
		{A_JOB "\"cost\":{\"estimate\":{\"cpu_usec\":{\"low\":\n1.5}}}}", "j:3:1: low: "},
		{A_JOB "\"analysis\":{\"findings\":[{\"line\":\n\"5\"}]}}", "j:3:1: line: "},
		{A_JOB "\"source\":\n[]}", "j:3:1: source: "},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct report r = {.job = NULL};
		assert_int_equal(read_a_job(&r, rows[i].text, &a, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_string_equal(strndupa(e.msg, strlen(rows[i].place)), rows[i].place);
		assert_null(r.job);
	}
}

/* Small rows in many arrays: each has few, all of them have more than there is room for. */
static void rows_are_bounded_in_all(void **state)
{
	(void)state;
	enum { STAGES = 200, ROWS_EACH = 3000 };
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct report r = {.job = NULL};
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	fputs(A_JOB "\"stages\":[", to);
	for (int s = 0; s < STAGES; s++) {
		fputs(s ? ",{\"outputs\":[{}" : "{\"outputs\":[{}", to);
		for (int i = 1; i < ROWS_EACH; i++)
			fputs(",{}", to);
		fputs("]}", to);
	}
	fputs("]}", to);
	fclose(to);
	assert_int_equal(read_a_job(&r, text, &a, &e), -1);
	assert_non_null(strstr(e.msg, "more of them"));
	free(text);
}

static void events_go_to_the_run_whose_they_are(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct report r = {.job = NULL};
	char text[600];
	snprintf(text, sizeof(text),
		 A_JOB "\"stages\":[{\"state\":\"cached\",\"result\":" A_RUN "},{\"result\":" A_RUN
		       "},{\"result\":" A_RUN "}]}",
		 "b", "a", "b");
	assert_int_equal(read_a_job(&r, text, &a, &e), 0);
#define A_LINE(what, id, at)                                                            \
	"{\"schema\":\"pinfold.job-event/1\",\"job\":\"j\",\"what\":\"" what            \
	"\",\"event\":{\"schema\":\"pinfold.event/1\",\"event\":\"usage\",\"id\":\"" id \
	"\",\"at_usec\":" at ",\"pids\":" at "}}\n"
	const char *lines = A_LINE("run", "a", "1") A_LINE("run", "b", "2") A_LINE("run", "a", "3")
		A_LINE("run", "z", "4")
			A_LINE("begun", "z", "5") "{\"schema\":\"pinfold.event/1\"}\n{\"sch";
	const struct named_text t = {"e", lines, strlen(lines)};
	assert_int_equal(read_events(&r, &t, &a, &e), 0);
	assert_false(r.stages[0].run.has_events);
	assert_int_equal(r.stages[1].run.samples_len, 2);
	assert_int_equal(r.stages[1].run.samples[1].use[USE_PIDS], 3);
	assert_int_equal(r.stages[2].run.samples_len, 1);
	assert_true(r.job && r.job->lines_bad == 3);
	const char *other = "{\"schema\":\"pinfold.job-event/1\",\"job\":\"k\",\"what\":\"begun\"}\n";
	const struct named_text o = {"e", other, strlen(other)};
	assert_int_equal(read_events(&r, &o, &a, &e), -1);
	assert_non_null(strstr(e.msg, "another job"));
}

/* ---- words ---- */

static void each_end_of_a_job_has_words(void **state)
{
	(void)state;
	static const char *const statuses[] = {"succeeded", "failed",  "stopped", "needs-approval",
					       "cancelled", "refused", "lost"};
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		const struct job_told job = {.status = bytes_of(statuses[i]), .ok = i == 0};
		const struct verdict v = job_verdict_of(&job);
		assert_int_equal(v.mood == MOOD_GOOD, i == 0);
		assert_null(strstr(v.sentence, "no words"));
	}
	const struct job_told newer = {.status = bytes_of("abducted")};
	assert_non_null(strstr(job_verdict_of(&newer).sentence, "no words"));
	const struct stage_told skipped = {.state = bytes_of("skipped"), .ok = true};
	assert_string_equal(stage_state_of(&skipped).class, "still");
	const struct stage_told failed = {.state = bytes_of("cached")};
	assert_string_equal(stage_state_of(&failed).class, "bad");
}

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
		cmocka_unit_test(a_job_that_says_nothing_else),
		cmocka_unit_test(what_is_wrong_in_a_job_has_a_place),
		cmocka_unit_test(rows_are_bounded_in_all),
		cmocka_unit_test(events_go_to_the_run_whose_they_are),
		cmocka_unit_test(each_end_of_a_job_has_words),
		cmocka_unit_test(sizes_and_times),
		cmocka_unit_test(plots_of_extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
