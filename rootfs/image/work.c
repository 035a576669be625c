/* Work that nobody sees yet, and the right to do it. */
#include "rootfs/image/store.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char claim_prefix[] = "claim-";

/* Whether (dir, name) is still what fd holds: between opening and locking it may have been removed. */
static bool same_file(int dir, const char *name, int fd)
{
	struct stat held, there;
	return fstat(fd, &held) == 0 && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

static int make_folder(struct work *w, struct err *e)
{
	uint64_t number;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_sys(e, "image store: a random name");
	snprintf(w->name, sizeof(w->name), "w-%016llx", (unsigned long long)number);
	if (mkdirat(w->tmp, w->name, 0700) < 0)
		return err_sys(e, "image store: make tmp/%s", w->name);
	w->dir = openat(w->tmp, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (w->dir < 0 && errno != ENOENT)
		return err_sys(e, "image store: open tmp/%s", w->name);
	return 0;
}

int work_open(struct work *w, const struct store *s, struct err *e)
{
	struct work made = {.tmp = s->tmp, .dir = -1};
	for (;;) {
		if (make_folder(&made, e) < 0)
			return -1;
		if (made.dir < 0)
			continue; /* a sweep was quicker than our lock */
		if (flock(made.dir, LOCK_EX | LOCK_NB) == 0 &&
		    same_file(made.tmp, made.name, made.dir))
			break;
		fd_close(&made.dir);
	}
	*w = made;
	return 0;
}

void work_close(struct work *w)
{
	struct err ignored = ERR_INIT;
	if (w->dir < 0)
		return;
	erase_tree(w->tmp, w->name, &ignored);
	fd_close(&w->dir);
}

static void claim_name(const struct digest *id, char name[80])
{
	snprintf(name, 80, "%s%s", claim_prefix, digest_hex(id));
}

/* Open or make (dir, name), and have it alone. */
static int lock_file(int dir, const char *name, struct err *e)
{
	struct stat st;
	for (;;) {
		autoclose int fd = openat(dir, name,
					  O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
					  0600);
		if (fd < 0 || fstat(fd, &st) < 0)
			return err_sys(e, "image store: open %s", name);
		if (!S_ISREG(st.st_mode))
			return err_host(e, "image store: %s is no regular file", name);
		while (flock(fd, LOCK_EX) < 0)
			if (errno != EINTR)
				return err_sys(e, "image store: lock %s", name);
		if (same_file(dir, name, fd))
			return fd_take(&fd);
	}
}

int store_claim(const struct store *s, const struct digest *id, struct err *e)
{
	char name[80];
	claim_name(id, name);
	return lock_file(s->tmp, name, e);
}

int store_open_partial(const struct store *s, const struct digest *d, struct err *e)
{
	return lock_file(s->partial, digest_hex(d), e);
}

void store_unclaim(const struct store *s, const struct digest *id, int *claim)
{
	char name[80];
	claim_name(id, name);
	if (*claim >= 0)
		unlinkat(s->tmp, name, 0);
	fd_close(claim);
}

/* 1: it was dead and is gone; 0: somebody is at work there. */
static int sweep_entry(const struct store *s, const char *name, struct err *e)
{
	autoclose int fd = openat(s->tmp, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	/* Whoever works here has a folder or file that can be opened: a link or a socket is nobody's. */
	if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == EACCES))
		return erase_tree(s->tmp, name, e) < 0 ? -1 : 1;
	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(e, "image store: open tmp/%s", name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : err_sys(e, "image store: lock tmp/%s", name);
	if (!same_file(s->tmp, name, fd))
		return 0;
	return erase_tree(s->tmp, name, e) < 0 ? -1 : 1;
}

int store_sweep(const struct store *s, struct err *e)
{
	autoclose int fd = openat(s->tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream)
		return err_sys(e, "image store: list tmp");
	fd_take(&fd);
	int removed = 0;
	const struct dirent *entry;
	while (removed >= 0 && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		const int gone = sweep_entry(s, entry->d_name, e);
		removed = gone < 0 ? -1 : removed + gone;
	}
	closedir(stream);
	return removed;
}
