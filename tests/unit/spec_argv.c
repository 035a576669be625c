/* The arguments of `run`: flags in every spelling and order, files, image and command. */
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { WORDS_MAX = 16 };

/* One file system of two files. */
static int read_file(struct arena *a, const char *name, char **text, size_t *len, struct err *e)
{
	const char *is = NULL;
	if (strcmp(name, "job.json") == 0)
		is = "{\"image\": \"./tree\", \"command\": [\"run\", \"me\"], \"memory\": \"1G\", \"pids\": 7,"
		     " \"env\": [\"A=file\", \"B=file\"], \"result\": \"file.json\"}";
	else if (strcmp(name, "bad.json") == 0)
		is = "{\"memory\": 1, \"result\": \"file.json\"}";
	if (!is)
		return err_usage(e, "no file %s", name);
	*text = arena_strdup(a, is);
	*len = strlen(is);
	return 0;
}

static int count(const char *const *words)
{
	int n = 0;
	while (words[n])
		n++;
	return n;
}

static int parse(struct spec *s, struct spec_args *args, struct arena *a, const char *const *words,
		 struct err *e)
{
	assert_int_equal(spec_init(s, a, e), 0);
	*args = (struct spec_args){.read_file = read_file};
	return spec_read_argv(s, args, count(words), (char *const *)words, e);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void spellings(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	struct spec_args args;
	assert_int_equal(parse(&s, &args, &a,
			       WORDS("--memory", "1G", "--cpus=0.5", "--tty", "--stdin", "-",
				     "--env", "A=--b", "--pids=8", "--pids", "9", "--grace=0s",
				     "./i", "c", "--memory", "--", "-x"),
			       &e),
			 0);
	assert_int_equal(spec_check(&s, &e), 0);
	assert_int_equal(s.limits.memory_bytes, 1 << 30);
	assert_int_equal(s.limits.cpus_milli, 500);
	assert_true(s.tty);
	assert_int_equal(s.stdin_kind, STDIN_CALLER);
	assert_string_equal(s.env[0], "A=--b");
	assert_int_equal(s.limits.pids, 9);
	assert_string_equal(s.image, "./i");
	assert_int_equal(s.command_len, 4);
	assert_string_equal(s.command[0], "c");
	assert_string_equal(s.command[1], "--memory");
	assert_string_equal(s.command[2], "--");
	assert_string_equal(s.command[3], "-x");
	assert_null(s.command[4]);
}

static void dashes_end_flags(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	struct spec_args args;
	assert_int_equal(parse(&s, &args, &a, WORDS("--", "--odd", "--", "c"), &e), 0);
	assert_string_equal(s.image, "--odd");
	assert_string_equal(s.command[0], "c");
	assert_int_equal(parse(&s, &args, &a, WORDS("i", "--", "--", "c"), &e), 0);
	assert_string_equal(s.command[0], "--"); /* one only */
	assert_int_equal(s.command_len, 2);
	assert_int_equal(parse(&s, &args, &a, WORDS("--tty=false", "i", "c"), &e), 0);
	assert_false(s.tty);
	assert_int_equal(parse(&s, &args, &a, WORDS("--stdout=--odd", "--id=x=y", "i", "c"), &e), -1);
	assert_non_null(strstr(e.msg, "--id: 'x=y'"));
}

static void flags_override_the_file(void **state)
{
	(void)state;
	static const char *const orders[][WORDS_MAX] = {
		{"--memory", "2G", "--env", "A=flag", "--env=C=flag", "--spec", "job.json"},
		{"--spec=job.json", "--memory", "2G", "--env=A=flag", "--env", "C=flag"},
	};
	for (size_t i = 0; i < LENGTH(orders); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		struct spec_args args;
		assert_int_equal(parse(&s, &args, &a, orders[i], &e), 0);
		assert_int_equal(spec_check(&s, &e), 0);
		assert_int_equal(s.limits.memory_bytes, 2LL << 30);
		assert_int_equal(s.limits.pids, 7);
		assert_int_equal(s.env_len, 3);
		assert_string_equal(s.env[0], "A=flag");
		assert_string_equal(s.env[1], "B=file");
		assert_string_equal(s.env[2], "C=flag");
		assert_string_equal(s.image, "./tree");
		assert_string_equal(s.command[1], "me");
	}
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	struct spec_args args;
	assert_int_equal(parse(&s, &args, &a, WORDS("--spec", "job.json", "@host"), &e), 0);
	assert_int_equal(s.image_kind, IMAGE_HOST);
	assert_string_equal(s.command[0], "run");
	assert_int_equal(parse(&s, &args, &a, WORDS("--spec", "job.json", "@host", "other"), &e), 0);
	assert_string_equal(s.command[0], "other");
	assert_int_equal(s.command_len, 1);
}

static void help(void **state)
{
	(void)state;
	static const char *const wanted[][WORDS_MAX] = {
		{"--help"},
		{"-h"},
		{"--memory", "1G", "--help", "x"},
		{"--bogus", "--help"},
		{"--memory=junk", "--help"},
		{"--tty", "-h"},
	};
	static const char *const not_wanted[][WORDS_MAX] = {
		{"i", "--help"},
		{"--", "--help", "c"},
		{"--id=--help", "i", "c"},
	};
	struct spec s;
	struct spec_args args;
	for (size_t i = 0; i < LENGTH(wanted); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		assert_int_equal(parse(&s, &args, &a, wanted[i], &e), 0);
		assert_true(args.help_wanted);
	}
	for (size_t i = 0; i < LENGTH(not_wanted); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		parse(&s, &args, &a, not_wanted[i], &e);
		assert_false(args.help_wanted);
	}
}

static void refused(void **state)
{
	(void)state;
	static const struct {
		const char *words[WORDS_MAX];
		const char *says;
	} rows[] = {
		{{NULL}, "no image"},
		{{"i"}, "no command"},
		{{"i", "--"}, "no command"},
		{{"i", ""}, "command: its first word is empty"},
		{{"", "c"}, "image: the name is empty"},
		{{"--memroy", "1G", "i", "c"}, "unknown option '--memroy'; did you mean --memory?"},
		{{"--memroy=1G", "i", "c"}, "did you mean --memory?"},
		{{"-m", "1G", "i", "c"}, "unknown option '-m'"},
		{{"-memory", "1G", "i", "c"}, "did you mean --memory?"},
		{{"-spec", "job.json"}, "did you mean --spec?"},
		{{"--image", "i", "c"}, "is given without one"},
		{{"--egress", "x", "i", "c"}, "unknown option '--egress'"},
		{{"--allow", "x", "i", "c"}, "--allow: 'x': the port is missing"},
		{{"--allow", "a.example:80", "--allow", "tcp:a.example:80", "i", "c"},
		 "--allow: 'tcp:a.example:80' contradicts 'a.example:80' for port 80"},
		{{"--", "-h"}, "no command"},
		{{"---", "i", "c"}, "unknown option"},
		{{"--=x", "i", "c"}, "unknown option"},
		{{"--memory"}, "--memory: a value is missing (SIZE)"},
		{{"--memory", "--cpus", "1", "i", "c"}, "--memory: a value is missing"},
		{{"--memory=", "i", "c"}, "--memory: '' is not a size"},
		{{"--tty=1", "i", "c"}, "--tty: '1' is neither"},
		{{"--wall", "10", "i", "c"}, "--wall: '10' has no unit"},
		{{"--env", "A", "i", "c"}, "--env: 'A' is not NAME=VALUE"},
		{{"--spec"}, "--spec: the name of a file is missing"},
		{{"--spec="}, "--spec: the name of a file is missing"},
		{{"--spec", "none.json", "i", "c"}, "no file none.json"},
		{{"--spec", "job.json", "--spec", "job.json"}, "given twice"},
		{{"--spec", "bad.json", "i", "c"}, "bad.json:1:12: memory: '1' is too little"},
		{{"--scratch", "1G", "i", "c"}, "scratch 1G is larger than memory 512M"},
		{{"--scratch", "none", "i", "c"}, "scratch none is larger than memory 512M"},
		{{"--tty", "--stdin", "f", "i", "c"}, "tty and stdin FILE"},
		{{"--tty", "--stderr", "f", "i", "c"}, "tty and stderr FILE"},
		{{"--id", "a\x1b[2J", "i", "c"}, "'a\\x1b[2J' is not an id"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		struct spec_args args;
		if (parse(&s, &args, &a, rows[i].words, &e) == 0 && spec_check(&s, &e) == 0)
			fail_msg("row %zu: accepted, not '%s'", i, rows[i].says);
		assert_int_equal(e.kind, ERR_USAGE);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("row %zu: says '%s', not '%s'", i, e.msg, rows[i].says);
	}
}

/* Law 4: bad usage has a result too, so it must be known where that goes. */
static void result_is_known_whatever_fails(void **state)
{
	(void)state;
	static const struct {
		const char *words[WORDS_MAX];
		const char *result;
	} rows[] = {
		{{"--memory=junk", "--result", "r", "i", "c"}, "r"},
		{{"--result=r", "--nonsense", "i", "c"}, "r"},
		{{"--memroy", "1G", "--result=r", "i", "c"}, "r"},
		{{"--nonsense", "--result=r", "i", "c"}, "r"},
		{{"--nonsense", "i", "--result=r"}, NULL}, /* the program's own */
		{{"--result=r", "--spec", "none.json"}, "r"},
		{{"--spec", "bad.json"}, "file.json"},
		{{"--result=r", "--spec", "bad.json"}, "r"},
		{{"--result=", "i", "c"}, NULL},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		struct spec_args args;
		assert_int_equal(parse(&s, &args, &a, rows[i].words, &e), -1);
		if (rows[i].result ? !s.result || strcmp(s.result, rows[i].result) : s.result != NULL)
			fail_msg("row %zu: %s", i, s.result ? s.result : "(none)");
	}
}

static void long_words(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	struct spec_args args;
	char *word = arena_alloc(&a, 132097);
	memset(word, 'x', 132096); /* 129 KiB */
	assert_int_equal(parse(&s, &args, &a, WORDS("i", "c", word), &e), -1);
	assert_non_null(strstr(e.msg, "argument too long (132096 bytes"));
	word[131071] = '\0'; /* 127 KiB and more, up to the kernel's limit */
	assert_int_equal(parse(&s, &args, &a, WORDS("i", "c", word), &e), 0);
	assert_int_equal(spec_check(&s, &e), 0);
	char **many = arena_alloc(&a, 52 * sizeof(*many));
	many[0] = arena_strdup(&a, "i");
	for (int i = 1; i < 50; i++)
		many[i] = word;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_read_argv(&s, &args, 50, many, &e), 0);
	assert_int_equal(spec_check(&s, &e), -1);
	assert_non_null(strstr(e.msg, "too long"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings),
		cmocka_unit_test(dashes_end_flags),
		cmocka_unit_test(flags_override_the_file),
		cmocka_unit_test(help),
		cmocka_unit_test(refused),
		cmocka_unit_test(result_is_known_whatever_fails),
		cmocka_unit_test(long_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
