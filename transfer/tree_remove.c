/* A tree is removed by descriptors and without recursion. It is as deep as those that are stored at most. */
#include "base/dir.h"
#include "base/fd.h"
#include "transfer/tree_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = COLLECT_DEPTH_MAX + 16 };

struct removal {
	struct level {
		DIR *list;
		int fd;				 /* of list */
		char name[COLLECT_NAME_MAX + 1]; /* in the one before it */
	} levels[LEVELS];
	size_t depth;
};

/* Ours, and perhaps shut by its mode. */
static int open_folder(int dir, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	autoclose int fd = openat(dir, name, flags);
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(dir, name, flags);
	return fd >= 0 && fchmod(fd, 0700) == 0 ? fd_take(&fd) : -1;
}

static int push(struct removal *r, int dir, const char *name)
{
	if (r->depth == LEVELS) {
		errno = ENAMETOOLONG;
		return -1;
	}
	struct level *level = &r->levels[r->depth];
	autoclose int fd = open_folder(dir, name);
	level->list = fd >= 0 ? fdopendir(fd) : NULL;
	if (!level->list)
		return -1;
	level->fd = fd_take(&fd);
	snprintf(level->name, sizeof(level->name), "%s", name);
	r->depth++;
	return 0;
}

static int pop(struct removal *r, int dir)
{
	const struct level *level = &r->levels[--r->depth];
	closedir(level->list);
	return unlinkat(r->depth ? level[-1].fd : dir, level->name, AT_REMOVEDIR);
}

static int step(struct removal *r, int dir)
{
	const struct level *level = &r->levels[r->depth - 1];
	const struct dirent *d = dir_next(level->list);
	if (!d)
		return errno ? -1 : pop(r, dir);
	if (unlinkat(level->fd, d->d_name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? push(r, level->fd, d->d_name) : -1;
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
		closedir(r.levels[--r.depth].list);
	errno = error;
	return -1;
}
