/* Removing a tree that an image made: deep, without permissions, and never through a link. */
#include "rootfs/image/store.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEVELS_MAX = 64 }; /* descriptors at a time: what lies deeper is moved up first */

struct eraser {
	int top; /* where what lies deep is moved to */
	unsigned moved;
};

static int erase_entry(struct eraser *x, int dir, const char *name, unsigned level, struct err *e);

/* For reading, even if its mode forbids that to its owner. */
static int open_folder(int dir, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags);
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, flags);
	return fd < 0 ? err_sys(e, "remove %s: open it", name) : fd;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int erase_contents(struct eraser *x, DIR *stream, unsigned level, struct err *e)
{
	const int fd = dirfd(stream);
	if (fd < 0)
		return err_sys(e, "remove: list a folder");
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(stream);
		if (!entry)
			return errno ? err_sys(e, "remove: list a folder") : 0;
		if (!is_dots(entry->d_name) && erase_entry(x, fd, entry->d_name, level, e) < 0)
			return -1;
	}
}

static int erase_folder(struct eraser *x, int dir, const char *name, unsigned level, struct err *e)
{
	autoclose int fd = open_folder(dir, name, e);
	if (fd < 0)
		return -1;
	struct stat st;
	/* Nothing can be taken out of a folder that may not be written to. */
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700 && fchmod(fd, 0700) < 0)
		return err_sys(e, "remove %s: change its mode", name);
	DIR *stream = fdopendir(fd);
	if (!stream)
		return err_sys(e, "remove %s: list it", name);
	fd_take(&fd);
	const int rc = erase_contents(x, stream, level, e);
	closedir(stream);
	if (rc == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0)
		return err_sys(e, "remove the folder %s", name);
	return rc;
}

static int move_up(struct eraser *x, int dir, const char *name, struct err *e)
{
	char up[32];
	/* Its ".." changes, which takes the right to write to it. */
	if (fchmodat(dir, name, 0700, 0) < 0)
		return err_sys(e, "remove %s: change its mode", name);
	do
		snprintf(up, sizeof(up), ".deep-%u", x->moved++);
	while (renameat2(dir, name, x->top, up, RENAME_NOREPLACE) < 0 && errno == EEXIST);
	return faccessat(x->top, up, F_OK, AT_SYMLINK_NOFOLLOW) < 0
		       ? err_sys(e, "remove %s: move it up", name)
		       : 0;
}

static int erase_entry(struct eraser *x, int dir, const char *name, unsigned level, struct err *e)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_sys(e, "remove %s", name);
	return level == LEVELS_MAX ? move_up(x, dir, name, e)
				   : erase_folder(x, dir, name, level + 1, e);
}

int erase_tree(int dir, const char *name, struct err *e)
{
	struct eraser x = {.top = dir};
	if (erase_entry(&x, dir, name, 0, e) < 0)
		return -1;
	/* What was moved up may hold more that is too deep, which gets a higher number. */
	for (unsigned i = 0; i < x.moved; i++) {
		char up[32];
		snprintf(up, sizeof(up), ".deep-%u", i);
		if (erase_entry(&x, dir, up, 0, e) < 0)
			return -1;
	}
	return 0;
}
