/* A folder that stands for a cgroup: the files are made with what the kernel would show. */
#ifndef PINFOLD_TESTS_UNIT_CGROUP_FAKE_H
#define PINFOLD_TESTS_UNIT_CGROUP_FAKE_H

#include "cgroup/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake {
	char path[64];
	struct cgroup cg;
};

static inline int fake_setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));
	if (!f)
		return -1;
	*state = f;
	strcpy(f->path, "/tmp/pinfold-fake-XXXXXX");
	if (!mkdtemp(f->path))
		return -1;
	f->cg = (struct cgroup)CGROUP_INIT;
	f->cg.dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->cg.dir < 0 ? -1 : 0;
}

static inline int fake_teardown(void **state)
{
	struct fake *f = *state;
	DIR *list = opendir(f->path);
	for (const struct dirent *d; list && (d = readdir(list));)
		if (d->d_type == DT_REG)
			unlinkat(f->cg.dir, d->d_name, 0);
	closedir(list);
	close(f->cg.dir);
	rmdir(f->path);
	free(f);
	return 0;
}

static inline void fake_file(const struct fake *f, const char *name, const char *text)
{
	int fd = openat(f->cg.dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline void fake_shows(const struct fake *f, const char *name, const char *expect)
{
	char text[512];
	assert_true(read_whole(f->cg.dir, name, text, sizeof(text)) >= 0);
	assert_string_equal(text, expect);
}

#endif
