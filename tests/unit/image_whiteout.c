/* Whiteouts hide what lower layers have, and that alone, wherever they stand in their own. */
#include "tests/unit/image_tar.h"

static void whiteouts_in_any_order(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		autotar t = {0};
		struct image m;
		image_make(&m);
		tar_dir(&t, "a", 0700);
		tar_dir(&t, "a/b", 0711);
		tar_file(&t, "a/b/old", "");
		tar_file(&t, "a/old", "");
		tar_file(&t, "x", "old");
		tar_dir(&t, "y", 0700);
		tar_file(&t, "y/old", "old");
		image_layer(&m, &t);
		for (int part = 0; part < 2; part++) {
			if (part == late) {
				tar_file(&t, "a/.wh..wh..opq", "");
				tar_file(&t, ".wh.x", "");
				tar_file(&t, ".wh.y", "");
			} else {
				tar_dir(&t, "a", 0750);
				tar_file(&t, "a/b/new", "new");
				tar_file(&t, "x", "new");
				tar_file(&t, "y/new", "new");
			}
		}
		image_layer(&m, &t);
		image_finish(&m);
		assert_false(is_there(&m, "a/old"));
		assert_false(is_there(&m, "a/b/old"));
		assert_false(is_there(&m, "y/old"));
		has_text(&m, "a/b/new", "new");
		has_text(&m, "y/new", "new");
		has_text(&m, "x", "new");
		has_mode(&m, "a", S_IFDIR | 0750);
		/* What lower layers said of it is hidden as well, and this one says nothing. */
		has_mode(&m, "a/b", S_IFDIR | 0755);
		has_mode(&m, "y", S_IFDIR | 0755);
		image_remove(&m);
	}
}

static void opaque_folder(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "d/x", "x");
	tar_file(&t, "d/deep/er/z", "z");
	image_layer(&m, &t);
	tar_file(&t, "d/.wh..wh..opq", "");
	tar_file(&t, "d/y", "y");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "d/y", "y");
	assert_false(is_there(&m, "d/x"));
	assert_false(is_there(&m, "d/deep"));
	assert_false(is_there(&m, "d/.wh..wh..opq"));
	assert_false(is_there(&m, "d/.wh..opq"));
	image_remove(&m);
}

/* Each folder is cleaned once in a layer, and in the next one again. */
static void opaque_again(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "d/x", "x");
	tar_file(&t, "d/deep/er/z", "z");
	image_layer(&m, &t);
	tar_file(&t, "d/deep/er/own", "1");
	tar_file(&t, "d/deep/.wh..wh..opq", "");
	tar_file(&t, "d/deep/er/.wh..wh..opq", "");
	tar_file(&t, "d/.wh..wh..opq", "");
	tar_file(&t, "d/y", "y");
	tar_file(&t, "d/.wh..wh..opq", "");
	tar_file(&t, ".wh.d", "");
	image_layer(&m, &t);
	has_text(&m, "d/y", "y");
	has_text(&m, "d/deep/er/own", "1");
	assert_false(is_there(&m, "d/x"));
	assert_false(is_there(&m, "d/deep/er/z"));
	tar_file(&t, "d/.wh..wh..opq", "");
	image_layer(&m, &t);
	image_finish(&m);
	assert_true(is_there(&m, "d"));
	assert_false(is_there(&m, "d/y"));
	assert_false(is_there(&m, "d/deep"));
	image_remove(&m);
}

static void opaque_root(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "old", "");
	tar_file(&t, "d/old", "");
	image_layer(&m, &t);
	tar_file(&t, "d/new", "");
	tar_file(&t, ".wh..wh..opq", "");
	image_layer(&m, &t);
	image_finish(&m);
	assert_false(is_there(&m, "old"));
	assert_false(is_there(&m, "d/old"));
	assert_true(is_there(&m, "d/new"));
	image_remove(&m);
}

/* A whiteout looks for its folder and makes none; what it names is looked for in it alone. */
static void whiteouts_of_nothing(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "f", "f");
	tar_file(&t, ".wh.f", ""); /* of this layer: there is nothing below the lowest */
	image_layer(&m, &t);
	tar_file(&t, "no/.wh.x", "");
	tar_file(&t, "no/.wh..wh..opq", "");
	tar_file(&t, "f/.wh.x", "");
	tar_file(&t, ".wh.g", "");
	tar_file(&t, ".wh..wh.aufs", "");
	tar_file(&t, ".wh..wh.plnk/1.2", "");
	image_layer(&m, &t);
	image_finish(&m);
	assert_false(is_there(&m, "no"));
	assert_false(is_there(&m, ".wh..wh.plnk"));
	has_text(&m, "f", "f");
	assert_int_equal(unpack_report(m.u)->metadata_skipped, 2);
	assert_int_equal(unpack_report(m.u)->whiteouts, 5);
	image_remove(&m);
}

static void whiteouts_through_links(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_symlink(&t, "bin", "usr/bin");
	tar_file(&t, "usr/bin/x", "");
	tar_file(&t, "usr/bin/y", "");
	tar_symlink(&t, "out", m.outside);
	tar_symlink(&t, "up", "../../outside");
	image_layer(&m, &t);
	tar_file(&t, "bin/.wh.x", "");
	tar_file(&t, "out/.wh.secret", "");
	tar_file(&t, "up/.wh.secret", "");
	tar_file(&t, "out/.wh..wh..opq", "");
	image_layer(&m, &t);
	image_finish(&m);
	assert_false(is_there(&m, "usr/bin/x"));
	assert_true(is_there(&m, "usr/bin/y"));
	has_link(&m, "bin", "usr/bin");
	/* The control: the link leads there. */
	assert_int_equal(faccessat(m.root, "out/secret", F_OK, 0), 0);
	image_remove(&m);
}

static void whiteouts_without_a_name(void **state)
{
	(void)state;
	static const char *const names[] = {".wh.",   ".wh..",	 ".wh...",
					    "d/.wh.", "d/.wh..", "d/.wh..."};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		autotar t = {0};
		tar_file(&t, names[i], "");
		is_refused(&t, "a whiteout of no name");
	}
	autotar t = {0};
	tar_file(&t, ".wh.../x", "");
	is_refused(&t, "a whiteout as a folder");
	tar_file(&t, ".wh.d/x", "");
	is_refused(&t, "a whiteout as a folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whiteouts_in_any_order),
		cmocka_unit_test(opaque_folder),
		cmocka_unit_test(opaque_again),
		cmocka_unit_test(opaque_root),
		cmocka_unit_test(whiteouts_of_nothing),
		cmocka_unit_test(whiteouts_through_links),
		cmocka_unit_test(whiteouts_without_a_name),
	};
	become_tester();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
