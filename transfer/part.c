#include "transfer/part.h"

#include "base/dir.h"
#include "base/fd.h"
#include "transfer/tree_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name may be taken by a process of another pid namespace or host. */
enum { TRIES = 16 };

static const char prefix[] = ".pinfold-", suffix[] = ".part";

static int make(int dir, const char *name, bool folder)
{
	if (!folder)
		return openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (mkdirat(dir, name, 0700) < 0)
		return -1;
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_there(int dir, const char *name, int fd)
{
	struct stat named, ours;
	return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &ours) == 0 &&
	       named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

/* Where the file system has no locks nobody can lock it to remove it either. */
static bool hold(int dir, const char *name, int fd)
{
	return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_there(dir, name, fd);
}

int part_make(char name[PART_NAME_BYTES], int dir, unsigned number, bool folder, struct err *e)
{
	char own[PART_NAME_BYTES];
	for (int i = 0; i < TRIES; i++) {
		snprintf(own, sizeof(own), "%s%d-%u-%d%s", prefix, getpid(), number, i, suffix);
		autoclose int fd = make(dir, own, folder);
		/* Somebody may sweep before it is locked. */
		if (fd >= 0 && hold(dir, own, fd)) {
			memcpy(name, own, sizeof(own));
			return fd_take(&fd);
		}
		if (fd < 0 && errno != EEXIST && errno != ENOENT)
			break;
	}
	return err_sys(e, "make a %s in the artifacts folder", folder ? "folder" : "file");
}

static bool is_part(const char *name)
{
	const size_t len = strlen(name), ends = sizeof(prefix) + sizeof(suffix) - 2;
	if (len <= ends || strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
	    strcmp(name + len - (sizeof(suffix) - 1), suffix) != 0)
		return false;
	name += sizeof(prefix) - 1;
	return strspn(name, "0123456789-") == len - ends;
}

static void sweep_one(int dir, const char *name)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid() ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return;
	autoclose int fd = openat(dir, name,
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_there(dir, name, fd))
		tree_remove(dir, name);
}

void part_sweep(int dir)
{
	autodir *list = dir_open(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (const struct dirent *d; list && (d = dir_next(list));)
		if (is_part(d->d_name))
			sweep_one(dir, d->d_name);
}
