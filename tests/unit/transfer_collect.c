/* A folder that cannot be listed is no empty one: what might be in it is said not to come. */
#include "transfer/collect.h"

#include "transfer/tree_store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_root(void **state)
{
	(void)state;
	strcpy(path, "/tmp/pinfold-collect-XXXXXX");
	if (!mkdtemp(path))
		return -1;
	const int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool made =
		root >= 0 && mkdirat(root, "scratch", 0700) == 0 &&
		mkdirat(root, "scratch/a", 0700) == 0 &&
		close(openat(root, "scratch/a/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0;
	close(root);
	return made ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	return tree_remove(AT_FDCWD, path);
}

/* What is said of the pattern first; free is how many descriptors there are for it. */
static struct collect_record first_of(const char *pattern, unsigned free, char name[64])
{
	struct artifact_rule rule = {.path = pattern, .max_bytes = 1 << 20, .max_files = 9};
	const struct artifact_list list = {.rules = &rule, .len = 1};
	struct rlimit before, few;
	struct collect_record c;
	int ends[2];
	const int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){(rlim_t)ends[1] + 1 + free, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const int done = collect_run(root, &list, ends[1]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(done, 0);
	assert_int_equal(read(ends[0], &c, sizeof(c)), sizeof(c));
	assert_in_range(c.path_len, 1, 63);
	assert_int_equal(read(ends[0], name, c.path_len), c.path_len);
	name[c.path_len] = '\0';
	close(ends[0]);
	close(ends[1]);
	close(root);
	return c;
}

static void a_folder_that_cannot_be_listed(void **state)
{
	(void)state;
	char name[64];
	struct collect_record c = first_of("*/file", 1, name);
	assert_int_equal(c.type, COLLECT_REJECT);
	assert_int_equal(c.reason, REASON_UNREADABLE);
	assert_string_equal(name, "*/file");
	c = first_of("a/*", 2, name);
	assert_int_equal(c.type, COLLECT_REJECT);
	assert_int_equal(c.reason, REASON_UNREADABLE);
	assert_string_equal(name, "a");
}

static void one_that_can(void **state)
{
	(void)state;
	char name[64];
	struct collect_record c = first_of("*/file", 9, name);
	assert_int_equal(c.type, COLLECT_FILE);
	assert_string_equal(name, "a/file");
	c = first_of("*/other", 9, name);
	assert_int_equal(c.reason, REASON_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_listed, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(one_that_can, make_root, remove_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
