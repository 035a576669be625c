/* The table of templates: that each row is one the runtime takes, and what its words become. */
#include "pipeline/template.h"

#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check_stage(const struct language *l, const struct template_stage *stage)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	for (const struct template_setting *row = stage->settings; row->key; row++)
		if (spec_set(&s, row->key, row->value, &e) < 0)
			fail_msg("%s: %s", l->title, e.msg);
	/* A build or a run that nobody bounded would be one for ever. */
	assert_true(s.limits.memory_bytes != LIMIT_NONE && s.limits.wall_ns != LIMIT_NONE);
	assert_true(s.limits.scratch_bytes <= s.limits.memory_bytes);
	assert_int_equal(s.egress.allow.len, 0);
	assert_true(stage->command[0] != NULL);
	assert_true(strncmp(template_image_recipe(stage->image, &a), "pinfold image build-debian ",
			    27) == 0);
}

static void every_row_is_taken_by_the_spec(void **state)
{
	(void)state;
	assert_int_equal(languages_len, 9);
	for (size_t i = 0; i < languages_len; i++) {
		check_stage(&languages[i], &languages[i].build);
		check_stage(&languages[i], &languages[i].run);
		assert_non_null(languages[i].why);
		/* What is handed on is run in an image that did not make it. */
		assert_true(!languages[i].output ||
			    languages[i].build.image != languages[i].run.image);
	}
}

static struct limits limits_of(const struct template_stage *stage, struct arena *a)
{
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, a, &e), 0);
	for (const struct template_setting *row = stage->settings; row->key; row++)
		assert_int_equal(spec_set(&s, row->key, row->value, &e), 0);
	return s.limits;
}

static void what_is_built_runs_with_less(void **state)
{
	autoarena a = ARENA_INIT;
	(void)state;
	for (size_t i = 0; i < languages_len; i++) {
		const struct limits build = limits_of(&languages[i].build, &a),
				    run = limits_of(&languages[i].run, &a);
		assert_int_equal(run.priority, PRIORITY_LOW);
		if (!languages[i].output)
			continue;
		assert_true(run.memory_bytes < build.memory_bytes);
		assert_true(run.scratch_bytes < build.scratch_bytes);
		assert_true(run.wall_ns < build.wall_ns);
		assert_true(run.pids < build.pids);
	}
}

static void names_and_extensions_are_of_one_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < languages_len; i++) {
		for (const char *const *name = languages[i].names; *name; name++)
			assert_ptr_equal(language_find(*name), &languages[i]);
		for (const char *const *end = languages[i].extensions; *end; end++) {
			char file[32] = "folder.x/a";
			strcat(file, *end);
			assert_ptr_equal(language_for_file(file), &languages[i]);
		}
	}
	assert_null(language_find("cobol"));
	assert_null(language_find(""));
	assert_null(language_for_file("c"));
	assert_null(language_for_file(".c"));
	assert_null(language_for_file("a.c/b"));
	assert_null(language_for_file("a.C.gz"));
	assert_ptr_equal(language_for_file("a.C"), language_find("c++"));
}

static void same_words(const char *const *got, const char *const *want)
{
	for (; *want; got++, want++) {
		assert_non_null(*got);
		assert_string_equal(*got, *want);
	}
	assert_null(*got);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void words_become_commands(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	const struct language *c = language_find("c"), *java = language_find("java");
	struct template_ask ask = {.version = "c11",
				   .options = LIST("-O3", "-lz"),
				   .files = LIST("main.c", "sub/-x.c"),
				   .args = LIST("one", "{main}"),
				   .folder = "/in"};
	assert_int_equal(language_check(c, &ask, &e), 0);
	same_words(template_command(c, &c->build, &ask, &a),
		   LIST("gcc", "-std=c11", "-O2", "-Wall", "-o", "program", "/in/main.c",
			"/in/sub/-x.c", "-O3", "-lz", "-lm", "-pthread"));
	/* What the caller says is never a word of the table's. */
	same_words(template_command(c, &c->run, &ask, &a), LIST("/in/program", "one", "{main}"));
	ask = (struct template_ask){.files = LIST("a/Main.java"), .folder = "."};
	assert_int_equal(language_check(java, &ask, &e), 0);
	same_words(template_command(java, &java->build, &ask, &a),
		   LIST("javac", "--release", "17", "-d", "classes", "./a/Main.java"));
	same_words(template_command(java, &java->run, &ask, &a),
		   LIST("java", "-cp", "./classes", "Main"));
}

static void refused(const char *name, const char *version, const char *file, const char *says)
{
	struct err e = ERR_INIT;
	const char *const files[] = {file, NULL};
	const struct template_ask ask = {.version = version, .files = files, .folder = "."};
	assert_int_equal(language_check(language_find(name), &ask, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(e.msg, says))
		fail_msg("%s", e.msg);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	refused("c", "c++17", "main.c", "is none of C");
	refused("python", "3.9", "main.py", "the image's alone");
	refused("c", NULL, NULL, "one at least");
	refused("c", NULL, "", "below the source's folder");
	refused("c", NULL, "/main.c", "below the source's folder");
	refused("c", NULL, "../main.c", "below the source's folder");
	refused("c", NULL, "a/../main.c", "below the source's folder");
	refused("c", NULL, "./main.c", "below the source's folder");
	refused("c", NULL, "a//main.c", "below the source's folder");
	refused("c", NULL, "a/", "below the source's folder");
	refused("c", NULL, "ma\nin.c", "below the source's folder");
	refused("c", NULL, "main.py", "ends with .c");
	refused("c", NULL, "main\xd2\x9c", "'main\\xd2\\x9c' is no C file"); /* as letters alone */
	refused("c",
		"\x9b"
		"2J",
		"main.c", "'\\x9b2J' is none of C");
	refused("java", NULL, "1Main.java", "named after a class");
	refused("java", NULL, "Ma-in.java", "named after a class");
}

static void an_image_has_a_recipe(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	assert_string_equal(template_image_recipe(language_find("c")->build.image, &a),
			    "pinfold image build-debian --packages gcc,g++,libc6-dev c-build");
	assert_string_equal(template_image_recipe(language_find("shell")->run.image, &a),
			    "pinfold image build-debian shell");
	assert_ptr_equal(template_image_find("csharp"), language_find("c#")->run.image);
	assert_ptr_equal(template_image_find("rust-build"), language_find("rust")->build.image);
	assert_null(template_image_find("debian"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_taken_by_the_spec),
		cmocka_unit_test(what_is_built_runs_with_less),
		cmocka_unit_test(names_and_extensions_are_of_one_row),
		cmocka_unit_test(words_become_commands),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(an_image_has_a_recipe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
