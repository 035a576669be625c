/* The record of archives: the first digest counts, for its url alone, and a damaged record is none. */
#include "pipeline/trust.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ONE "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define TWO "sha256:2222222222222222222222222222222222222222222222222222222222222222"

static char folder[64];

static int open_folder(void)
{
	const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		abort();
	return dir;
}

static int make(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/pinfold-trust-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int clear(void **state)
{
	(void)state;
	const int dir = open_folder();
	unlinkat(dir, "archives", 0);
	close(dir);
	return rmdir(folder);
}

static int trust(const char *url, const char *digest)
{
	struct err e = ERR_INIT;
	const int dir = open_folder();
	const int known = trust_archive(dir, url, digest, &e);
	close(dir);
	assert_int_equal(known < 0, e.kind != ERR_NONE);
	return known;
}

static void first_counts(void **state)
{
	(void)state;
	assert_int_equal(trust("https://a.example/x", ONE), 0);
	assert_int_equal(trust("https://a.example/x", ONE), 1);
	assert_int_equal(trust("https://a.example/x", TWO), -1);
	assert_int_equal(trust("https://a.example/xy", TWO), 0);
	assert_int_equal(trust("https://a.example/", TWO), 0);
	assert_int_equal(trust("https://a.example/x", ONE), 1);
	assert_int_equal(trust("https://a.example/xy", TWO), 1);
}

static void damaged(void **state)
{
	(void)state;
	static const char *const lines[] =
		{"x\n", "\n", ONE "\n", ONE " \n", "sha256:11 https://a.example/x\n",
		 /* What is written behind half a line would be part of its address. */
		 TWO " https://a.example/xy"};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const int dir = open_folder();
		const int fd = openat(dir, "archives", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(write(fd, lines[i], strlen(lines[i])), strlen(lines[i]));
		close(fd);
		close(dir);
		assert_int_equal(trust("https://a.example/x", ONE), -1);
	}
}

static void no_file(void **state)
{
	(void)state;
	const int dir = open_folder();
	assert_int_equal(mkfifoat(dir, "archives", 0600), 0);
	close(dir);
	assert_int_equal(trust("https://a.example/x", ONE), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_counts, make, clear),
		cmocka_unit_test_setup_teardown(damaged, make, clear),
		cmocka_unit_test_setup_teardown(no_file, make, clear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
