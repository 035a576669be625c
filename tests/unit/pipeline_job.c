/* A job document read: what stages take from each other, parameters, where sources come from, what --approve says. */
#include "pipeline/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct arena arena;
static struct job job;

static int read_text(const char *text, struct err *e)
{
	*e = (struct err)ERR_INIT;
	return job_read(&job, &(struct job_text){.name = "j", .text = text, .len = strlen(text)},
			&arena, e);
}

static void must_read(const char *text)
{
	struct err e;
	if (read_text(text, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
}

static void must_refuse(const char *text, const char *says)
{
	struct err e;
	if (read_text(text, &e) == 0 || !strstr(e.msg, says) || e.kind != ERR_USAGE)
		fail_msg("%s: not \"%s\" but \"%s\"", text, says, e.msg);
}

#define A "{\"name\": \"a\", \"command\": [\"x\"], \"outputs\": [\"d/o\", \"p:max=1K:files=3\"]}"

static void links(void **state)
{
	(void)state;
	must_read("{\"image\": \"@host\", \"source\": {\"folder\": \"f\"}, \"stages\": [" A
		  ", {\"name\": \"b\", \"command\": [\"x\"], \"inputs\": {\"read-only\": [\"@a/d/o\", \"@source\"], "
		  "\"copy\": [\"/h\", \"@a/p:q\"]}}]}");
	const struct job_stage *b = &job.stages[1];
	assert_int_equal(b->links_len, 3);
	assert_int_equal(b->links[0].stage, 0);
	assert_int_equal(b->links[0].output, 0);
	assert_int_equal(b->links[1].stage, LINK_SOURCE);
	assert_int_equal(b->links[2].input, 3);
	assert_int_equal(b->links[2].output, 1);
	assert_string_equal(b->asked.inputs.inputs[0].target, "o");
	assert_string_equal(b->asked.inputs.inputs[1].target, "source");
	assert_string_equal(b->asked.inputs.inputs[3].target, "q");
	assert_int_equal(job.stages[0].outputs[1].max_bytes, 1024);
	assert_int_equal(job.stages[0].outputs[1].max_files, 3);
	assert_int_equal(job.stages[0].outputs[0].max_bytes, 256 << 20);
	must_refuse("{\"image\": \"@host\", \"stages\": [" A
		    ", {\"name\": \"b\", \"command\": [\"x\"], "
		    "\"inputs\": {\"read-only\": [\"@a/d/o\", \"@a/d/o\"]}}]}",
		    "one destination");
}

static void kinds(void **state)
{
	(void)state;
	must_read("{\"image\": \"@host\", \"stages\": [{\"name\": \"a\", \"kind\": \"build\", \"command\": [\"x\"]}, "
		  "{\"name\": \"b\", \"command\": [\"x\"]}, {\"name\": \"c\", \"command\": [\"x\"], \"pids\": 99, "
		  "\"priority\": \"normal\"}]}");
	assert_int_equal(job.stages[0].whole.limits.pids, 256);
	assert_int_equal(job.stages[1].whole.limits.pids, 64);
	assert_int_equal(job.stages[1].whole.limits.priority, PRIORITY_LOW);
	assert_int_equal(job.stages[1].asked.limits.scratch_bytes, 64 << 20);
	assert_int_equal(job.stages[2].whole.limits.pids, 99);
	assert_int_equal(job.stages[2].asked.limits.pids, 99);
	assert_int_equal(job.stages[2].asked.limits.priority, PRIORITY_NORMAL);
	assert_int_equal(job.stages[2].asked.limits.output_bytes, 4 << 20);
}

static int few_pids(struct spec *s, struct err *e)
{
	s->speaking = ORIGIN_HOST;
	return spec_set(s, "pids", "7", e);
}

/* What the configuration says is less stays so. */
static void configured(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const char *text =
		"{\"image\": \"@host\", \"stages\": [{\"name\": \"b\", \"command\": [\"x\"]}]}";
	const struct job_text from = {.name = "j",
				      .text = text,
				      .len = strlen(text),
				      .configure = few_pids};
	assert_int_equal(job_read(&job, &from, &arena, &e), 0);
	assert_int_equal(job.stages[0].whole.limits.pids, 7);
	assert_int_equal(job.stages[0].asked.limits.pids, 7);
}

static int little_memory(struct spec *s, struct err *e)
{
	static const char text[] = "{\"ceilings\": {\"memory\": \"48M\", \"pids\": 9}}";
	return spec_read_config(s, &(struct config_text){ORIGIN_HOST, "c", text, sizeof(text) - 1},
				e);
}

/* What a template says is lowered to the host's ceilings, and what a document says refused. */
static void ceilings(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const char *text =
		"{\"source\": {\"files\": [\"a.c\"]}, \"lang\": {\"name\": \"c\", \"files\": [\"a.c\"]}}";
	struct job_text from = {.name = "j",
				.text = text,
				.len = strlen(text),
				.configure = little_memory};
	if (job_read(&job, &from, &arena, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(job.stages[i].whole.limits.memory_bytes, 48 << 20);
		assert_int_equal(job.stages[i].asked.limits.memory_bytes, 48 << 20);
		assert_int_equal(job.stages[i].asked.limits.pids, 9);
		assert_int_equal(job.stages[i].whole.limits.scratch_bytes <= 48 << 20, 1);
	}
	from.text =
		"{\"image\": \"@host\", \"stages\": [{\"name\": \"b\", \"command\": [\"x\"], \"memory\": \"1G\"}]}";
	from.len = strlen(from.text);
	assert_int_equal(job_read(&job, &from, &arena, &e), -1);
	assert_non_null(strstr(e.msg, "more than the host allows"));
	e = (struct err)ERR_INIT;
	from.text =
		"{\"image\": \"@host\", \"stages\": [{\"name\": \"b\", \"command\": [\"x\"], \"memory\": \"32M\"}]}";
	from.len = strlen(from.text);
	if (job_read(&job, &from, &arena, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(job.stages[0].asked.limits.scratch_bytes, 32 << 20);
}

/* A message names the member where the mark stands, whatever that is called. */
static void a_key_is_shown(void **state)
{
	(void)state;
	must_refuse("{\"image\": \"@host\", \"matrix\": {\"parameters\": {\"n\": [1]}}, \"stages\": "
		    "[{\"name\": \"a\", \"comm\\u009b\\nd\": [\"@{n}\"]}]}",
		    ": 'comm\\xc2\\x9b\\x0ad': '@{n}': parameters are put");
}

static void parameters(void **state)
{
	(void)state;
	const struct job_setting set[] = {{"n", "1"}, {"long-name", "@{n}"}};
	const char *unknown = NULL;
	static const struct {
		const char *text, *want;
	} texts[] = {
		{"", ""},
		{"x", "x"},
		{"@{n}", "1"},
		{"a@{n}b@{n}", "a1b1"},
		{"@@{n}", "@{n}"},
		{"@@@{n}", "@@{n}"},
		{"@{long-name}", "@{n}"},
		{"@{n", "@{n"},
		{"@ {n}", "@ {n}"},
		{"${n}", "${n}"},
		{"@@{n}@{n}", "@{n}1"},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_string_equal(job_substitute(texts[i].text, set, 2, &arena, &unknown),
				    texts[i].want);
	assert_null(job_substitute("a@{other}", set, 2, &arena, &unknown));
	assert_string_equal(unknown, "other");
	must_read("{\"image\": \"@host\", \"stages\": [" A
		  ", {\"name\": \"b\", \"command\": [\"@{n}\"], \"outputs\": [\"o\"]}, "
		  "{\"name\": \"c\", \"command\": [\"x\"], \"inputs\": {\"copy\": [\"@b\"]}}, {\"name\": \"d\", \"command\": [\"@@{n}\"]}], "
		  "\"matrix\": {\"parameters\": {\"n\": [1, 2.50, \"x\"], \"m\": [true, false]}}}");
	assert_int_equal(job.matrix.combinations, 6);
	assert_false(job.stages[0].varies);
	assert_true(job.stages[1].varies);
	assert_true(job.stages[2].varies);
	assert_false(job.stages[3].varies);
	struct job_setting one[JOB_PARAMETERS_MAX];
	job_combination(&job.matrix, 3, one);
	assert_string_equal(one[0].value, "2.50");
	assert_string_equal(one[1].value, "false");
}

static void sources(void **state)
{
	(void)state;
#define WITH(source) "{\"image\": \"@host\", \"source\": {" source "}, \"stages\": [" A "]}"
	must_read(WITH("\"git\": \"https:"
		       "//Git.Example:8443/a/b.git\""));
	assert_string_equal(job.source.host, "git.example");
	assert_int_equal(job.source.port, 8443);
	assert_string_equal(job.source.ref, "HEAD");
	must_read(WITH("\"git\": \"https://[2606::1]/a\""));
	assert_string_equal(job.source.host, "[2606::1]");
	assert_int_equal(job.source.port, 443);
	must_read(WITH("\"archive\": \"https://h.example/a.zip\""));
	assert_int_equal(job.source.format, ARCHIVE_ZIP);
	must_read(WITH("\"archive\": \"https://h.example/a.tar.gz\""));
	assert_int_equal(job.source.format, ARCHIVE_TAR);
	static const char *const wrong[] = {
		"http://h/a",	     "HTTPS://h/a",   "https://",
		"https://?x",	     "https://u@h/a", "https://h:0/a",
		"https://h:65536/a", "https://h:x/a", "https://h/a b",
		"https://h/\\\"",    "ext::x",	      "/etc",
		"git://h/a",	     "ssh://h/a",     "https://h/\\u0007",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct err e;
		const char *text = arena_printf(&arena, WITH("\"git\": \"%s\""), wrong[i]);
		if (read_text(text, &e) == 0)
			fail_msg("%s was taken", wrong[i]);
	}
	must_refuse(WITH("\"git\": \"https://h/a\", \"limits\": {\"image\": \"x\"}"),
		    "not said here");
	must_refuse("{\"stages\": [" A "], \"source\": {\"git\": \"https://h/a\"}}", "image");
}

static void approvals(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	must_read(
		"{\"image\": \"@host\", \"stages\": [{\"name\": \"b\", \"command\": [\"@{n}\"]}], \"cost\": {\"configurations\": "
		"[{\"scale\": 2, \"set\": {\"n\": 2}}, {\"scale\": 1, \"set\": {\"n\": 1}}], \"full\": {\"scale\": 9, \"set\": {\"n\": 9}}}}");
	assert_int_equal(job.cost.minimal_len, 2);
	assert_string_equal(job.cost.minimal[0].name, "1");
	assert_false(job.cost.has_approved);
	assert_int_equal(job_approve(&job, "wall=1m,memory=1K", &e), 0);
	assert_true(job.cost.has_approved);
	assert_int_equal(job.cost.approved.memory_bytes, 1024);
	assert_int_equal(job.cost.approved.scratch_bytes, LIMIT_NONE);
	assert_int_equal(job_approve(&job, "walls=1m", &e), -1);
}

/* Each has a row that only says where it goes. */
static void plain_members(void **state)
{
	(void)state;
	must_read(
		"{\"image\": \"@host\", \"source\": {\"git\": \"https://a.example/b.git\", \"submodules\": true, \"image\": \"git\", "
		"\"max-bytes\": \"3M\", \"ca\": \"/ca\", \"allow\": [\"a.example:443\"]}, \"analyse\": {\"rules\": \"/rules\", "
		"\"waivers\": [{\"id\": \"i\", \"path\": \"p\", \"reason\": \"r\"}]}, \"stages\": [{\"name\": \"a\", \"cache\": false, "
		"\"command\": [\"@{n}\"]}], \"matrix\": {\"parameters\": {\"n\": [1, 2]}, \"keep-going\": true}}");
	assert_true(job.source.submodules);
	assert_string_equal(job.source.image, "git");
	assert_int_equal(job.source.max_bytes, 3 << 20);
	assert_string_equal(job.source.ca, "/ca");
	assert_string_equal(job.source.allow[0], "a.example:443");
	assert_string_equal(job.analyse.rules, "/rules");
	assert_string_equal(job.analyse.waivers[0].id, "i");
	assert_string_equal(job.analyse.waivers[0].path, "p");
	assert_string_equal(job.analyse.waivers[0].reason, "r");
	assert_string_equal(job.stages[0].name, "a");
	assert_false(job.stages[0].cache);
	assert_true(job.matrix.keep_going);
	must_read(
		"{\"image\": \"@host\", \"stages\": [{\"name\": \"b\", \"command\": [\"@{n}\"]}], \"cost\": {\"configurations\": "
		"[{\"scale\": 1, \"set\": {\"n\": 1}}], \"full\": {\"scale\": 9, \"set\": {\"n\": 9}}, \"budget-file\": \"/b\", "
		"\"budget\": {\"wall\": \"1s\", \"cpu-time\": \"2s\", \"memory\": \"3M\", \"scratch\": \"4M\"}}}");
	assert_true(job.stages[0].cache);
	assert_string_equal(job.cost.budget_file, "/b");
	assert_int_equal(job.cost.approved.wall_ns, 1000000000);
	assert_int_equal(job.cost.approved.cpu_time_ns, 2000000000);
	assert_int_equal(job.cost.approved.memory_bytes, 3 << 20);
	assert_int_equal(job.cost.approved.scratch_bytes, 4 << 20);
}

/* Names that are data are held to the same as those of members. */
static void names_once(void **state)
{
	(void)state;
	must_refuse("{\"image\": \"@host\", \"stages\": [{\"name\": \"a\", \"command\": [\"@{n}\"]}], "
		    "\"matrix\": {\"parameters\": {\"n\": [1], \"m\": [1], \"n\": [2]}}}",
		    "given twice");
	must_refuse("{\"image\": \"@host\", \"stages\": [{\"name\": \"a\", \"command\": [\"@{n}\"]}], \"cost\": {\"configurations\": "
		    "[{\"scale\": 1, \"set\": {\"n\": 1, \"n\": 2}}], \"full\": {\"scale\": 9, \"set\": {\"n\": 9}}}}",
		    "given twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),      cmocka_unit_test(kinds),
		cmocka_unit_test(configured), cmocka_unit_test(ceilings),
		cmocka_unit_test(parameters), cmocka_unit_test(sources),
		cmocka_unit_test(approvals),  cmocka_unit_test(plain_members),
		cmocka_unit_test(names_once), cmocka_unit_test(a_key_is_shown),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(&arena);
	return failed;
}
