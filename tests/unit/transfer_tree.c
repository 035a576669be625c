/* Links that stay in a tree; trees that come entry by entry, good ones and those whose entries make no sense. */
#include "base/fd.h"
#include "transfer/collect.h"
#include "transfer/tree_store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void links(void **state)
{
	(void)state;
	static const struct {
		const char *target;
		size_t depth;
		bool stays;
	} all[] = {
		{"a", 0, true},	      {"a/b", 0, true},	       {"./a", 0, true},
		{".", 0, true},	      {"..", 0, false},	       {"..", 1, true},
		{"../a", 1, true},    {"../..", 1, false},     {"../../a", 2, true},
		{"/", 9, false},      {"/a", 9, false},	       {"", 9, false},
		{"a/..", 9, false},   {"a/../b", 9, false},    {"../a/../b", 9, false},
		{".//../a", 1, true}, {"..//a", 1, true},      {"...", 0, true},
		{"..a", 0, true},     {"./../../x", 1, false},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (collect_link_stays(all[i].target, all[i].depth) != all[i].stays)
			fail_msg("%s at %zu", all[i].target, all[i].depth);
}

static int fresh(char path[64])
{
	strcpy(path, "/tmp/pinfold-tree-XXXXXX");
	assert_non_null(mkdtemp(path));
	const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		abort();
	return dir;
}

static void good(void **state)
{
	(void)state;
	char path[64], digest[65], again[65], text[16] = "", of_file[65] = "";
	memset(of_file, 'd', 64);
	struct err e = ERR_INIT;
	const int dir = fresh(path);
	for (int round = 0; round < 2; round++) {
		struct tree_store t = TREE_STORE_INIT;
		assert_int_equal(tree_store_begin(&t, dir, 1, S_IFDIR | 0755, &e), 0);
		assert_int_equal(tree_store_folder(&t, "a", 0, &e), 0);
		assert_int_equal(tree_store_file(&t, "f", 0750, &e), 0);
		assert_int_equal(tree_store_data(&t, "xy", 2, 4096, &e), 0);
		assert_int_equal(tree_store_file_end(&t, 8192, of_file, &e), 0);
		assert_int_equal(tree_store_leave(&t, &e), 0);
		assert_int_equal(tree_store_link(&t, "l", "a/f", &e), 0);
		assert_int_equal(tree_store_publish(&t, round ? "second" : "first",
						    round ? again : digest, &e),
				 0);
		assert_int_equal(t.bytes, 8192);
		tree_store_drop(&t);
		tree_store_drop(&t);
	}
	assert_string_equal(digest, again);
	assert_true(readlinkat(dir, "first/l", text, sizeof(text)) == 3);
	struct stat st;
	assert_int_equal(fstatat(dir, "first/a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(fstatat(dir, "first/a/f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(st.st_size, 8192);
	assert_int_equal(fchmodat(dir, "first/a", 0, 0), 0);
	assert_int_equal(tree_remove(dir, "first"), 0);
	assert_int_equal(tree_remove(dir, "second"), 0);
	assert_int_equal(tree_remove(dir, "second"), -1);
	assert_int_equal(rmdir(path), 0);
	close(dir);
}

/* Each is refused, and nothing of it stays. */
static void bad(void **state)
{
	(void)state;
	static const char *const names[] = {"", ".", "..", "a/b", "/", "b", "a", NULL};
	char path[64];
	const int dir = fresh(path);
	for (size_t i = 0; names[i]; i++) {
		struct tree_store t = TREE_STORE_INIT;
		struct err e = ERR_INIT;
		assert_int_equal(tree_store_begin(&t, dir, 1, S_IFDIR | 0755, &e), 0);
		assert_int_equal(tree_store_folder(&t, "b", 0755, &e), 0);
		assert_int_equal(tree_store_leave(&t, &e), 0);
		assert_int_equal(tree_store_file(&t, names[i], 0644, &e), -1);
		assert_int_equal(e.kind, ERR_HOST);
		tree_store_drop(&t);
	}
	struct tree_store t = TREE_STORE_INIT;
	struct err e = ERR_INIT;
	char digest[65];
	assert_int_equal(tree_store_begin(&t, dir, 1, S_IFDIR | 0755, &e), 0);
	assert_int_equal(tree_store_link(&t, "l", "../x", &e), -1);
	assert_int_equal(tree_store_leave(&t, &e), -1);
	assert_int_equal(tree_store_folder(&t, "m", 0755, &e), 0);
	assert_int_equal(tree_store_publish(&t, "t", digest, &e), -1);
	tree_store_drop(&t);
	assert_int_equal(rmdir(path), 0);
	close(dir);
}

static void deep(void **state)
{
	(void)state;
	char path[64];
	const int dir = fresh(path);
	struct tree_store t = TREE_STORE_INIT;
	struct err e = ERR_INIT;
	assert_int_equal(tree_store_begin(&t, dir, 1, S_IFDIR | 0755, &e), 0);
	for (int i = 1; i < COLLECT_DEPTH_MAX; i++)
		assert_int_equal(tree_store_folder(&t, "d", 0755, &e), 0);
	assert_int_equal(tree_store_folder(&t, "d", 0755, &e), -1);
	tree_store_drop(&t);
	assert_int_equal(rmdir(path), 0);
	close(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(good),
		cmocka_unit_test(bad),
		cmocka_unit_test(deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
