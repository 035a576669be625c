/* What the tests of rootfs/ share: a folder of their own with files in it, and its removal. */
#ifndef PINFOLD_TESTS_UNIT_ROOTFS_TREE_H
#define PINFOLD_TESTS_UNIT_ROOTFS_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rootfs/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char path[64];
};

static inline void tree_make(struct tree *t)
{
	*t = (struct tree){.path = "/tmp/pinfold-unit-XXXXXX"};
	assert_non_null(mkdtemp(t->path));
	assert_int_equal(chmod(t->path, 0755), 0);
}

static inline int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static inline void tree_remove(struct tree *t)
{
	assert_int_equal(nftw(t->path, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline const char *tree_path(const struct tree *t, const char *name)
{
	static char path[4][512];
	static unsigned next;
	char *p = path[next++ % 4];
	snprintf(p, sizeof(path[0]), "%s/%s", t->path, name);
	return p;
}

static inline void tree_dir(const struct tree *t, const char *name)
{
	assert_int_equal(mkdir(tree_path(t, name), 0755), 0);
}

static inline void tree_link(const struct tree *t, const char *name, const char *to)
{
	assert_int_equal(symlink(to, tree_path(t, name)), 0);
}

static inline void tree_file(const struct tree *t, const char *name, mode_t mode, const void *bytes,
			     size_t len)
{
	int fd = open(tree_path(t, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		fail_msg("%s cannot be made", name);
		return; /* for the analyzer, which does not know that fail_msg() does not */
	}
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static inline void tree_text(const struct tree *t, const char *name, mode_t mode, const char *text)
{
	tree_file(t, name, mode, text, strlen(text));
}

/* A spec as far as rootfs/ reads it. */
static inline struct spec tree_spec(struct arena *a, enum image_kind kind, const char *image)
{
	struct spec s = {.arena = a,
			 .image_kind = kind,
			 .image = image,
			 .uid = 1000,
			 .workdir = "/scratch",
			 .hostname = "box"};
	s.limits.scratch_bytes = 4 << 20;
	s.limits.scratch_inodes = 100;
	return s;
}

#endif
