/* image.json, and how an image comes below a spec. */
#include "spec/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *env[] = {"A=1", "B=x\"y\\z", "C=\xf0\x9f\x98\x80", NULL};
static const char *none[] = {NULL};
static const char *entry[] = {"/bin/e", "-x", NULL};
static const char *cmd[] = {"c", NULL};

static struct image_facts facts(void)
{
	return (struct image_facts){.id = "sha256:00",
				    .env = env,
				    .workdir = "/w",
				    .entrypoint = entry,
				    .cmd = cmd,
				    .user = "u:g"};
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	const struct image_facts f = facts();
	struct image_facts back;
	char *text = image_facts_write(&f);
	assert_non_null(text);
	assert_int_equal(image_facts_read(&back, text, strlen(text), &a, &e), 0);
	assert_string_equal(back.id, f.id);
	assert_string_equal(back.user, f.user);
	assert_string_equal(back.workdir, f.workdir);
	for (size_t i = 0; env[i]; i++)
		assert_string_equal(back.env[i], env[i]);
	assert_null(back.env[3]);
	assert_string_equal(back.entrypoint[1], "-x");
	assert_string_equal(back.cmd[0], "c");
	/* Cut anywhere, it is read as damaged, or as nothing else than it was. */
	for (size_t len = 0; len + 2 < strlen(text); len++)
		if (image_facts_read(&back, text, len, &a, &e) == 0)
			assert_string_equal(back.user, f.user);
	free(text);
}

static void damage_is_seen(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "[]",
					  "{}",
					  "null",
					  "{\"id\":1}",
					  "{\"frob\":\"x\"}",
					  "{\"id\":\"a\",\"env\":\"x\"}",
					  "{\"env\":[1]}",
					  "\"",
					  "{"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct image_facts f;
		assert_int_equal(image_facts_read(&f, bad[i], strlen(bad[i]), &a, &e), -1);
		assert_int_equal(e.kind, ERR_HOST);
	}
}

static void the_caller_counts_more(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	static const char *const words[] = {"word"};
	const struct image_facts f = facts();
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_set(&s, "env", "A=mine", &e), 0);
	assert_int_equal(spec_set(&s, "workdir", "/mine", &e), 0);
	assert_int_equal(spec_set_command(&s, words, 1, &e), 0);
	assert_int_equal(spec_apply_image(&s, &f, &e), 0);
	assert_int_equal(s.env_len, 3);
	assert_string_equal(s.env[0], "A=mine");
	assert_string_equal(s.workdir, "/mine");
	assert_int_equal(s.command_len, 3);
	assert_string_equal(s.command[0], "/bin/e");
	assert_string_equal(s.command[2], "word");
}

static void the_image_counts_else(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	struct image_facts f = facts();
	f.workdir = "relative";
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_apply_image(&s, &f, &e), 0);
	assert_string_equal(s.workdir, "/relative");
	assert_string_equal(s.command[2], "c");
	f.entrypoint = f.cmd = none;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_apply_image(&s, &f, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(the_caller_counts_more),
		cmocka_unit_test(the_image_counts_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
