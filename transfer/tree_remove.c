/* A tree is removed by descriptors and without recursion. It is as deep as those that are stored at most. */
#include "base/fd.h"
#include "transfer/tree_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = COLLECT_DEPTH_MAX + 16 };

struct removal {
	DIR *levels[LEVELS];
	char names[LEVELS][COLLECT_NAME_MAX + 1]; /* of each, in the one before it */
	size_t depth;
};

/* Ours, and perhaps shut by its mode. */
static DIR *open_folder(int dir, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags);
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, flags);
	DIR *list = fd >= 0 && fchmod(fd, 0700) == 0 ? fdopendir(fd) : NULL;
	if (!list && fd >= 0)
		fd_close(&fd);
	return list;
}

static int push(struct removal *r, int dir, const char *name)
{
	DIR *list = r->depth < LEVELS ? open_folder(dir, name) : NULL;
	if (r->depth == LEVELS)
		errno = ENAMETOOLONG;
	if (!list)
		return -1;
	snprintf(r->names[r->depth], sizeof(r->names[0]), "%s", name);
	r->levels[r->depth++] = list;
	return 0;
}

static int pop(struct removal *r, int dir)
{
	closedir(r->levels[--r->depth]);
	const int above = r->depth ? dirfd(r->levels[r->depth - 1]) : dir;
	return unlinkat(above, r->names[r->depth], AT_REMOVEDIR);
}

static int step(struct removal *r, int dir)
{
	DIR *list = r->levels[r->depth - 1];
	errno = 0;
	const struct dirent *d = readdir(list);
	if (!d)
		return errno ? -1 : pop(r, dir);
	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return 0;
	if (unlinkat(dirfd(list), d->d_name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? push(r, dirfd(list), d->d_name) : -1;
}

int tree_remove(int dir, const char *name)
{
	struct removal r = {.depth = 0};
	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	if (push(&r, dir, name) < 0)
		return -1;
	while (r.depth > 0 && step(&r, dir) == 0)
		;
	if (r.depth == 0)
		return 0;
	const int error = errno;
	while (r.depth > 0)
		closedir(r.levels[--r.depth]);
	errno = error;
	return -1;
}
