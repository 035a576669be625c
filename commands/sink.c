#include "commands/sink.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READER_MS = 5000 }; /* what whoever reads an fd:N may take to take a document */

/* "fd:N" names a descriptor that the caller left open for us. -2: where is not of that form. */
static int parse_fd(const char *where, struct err *e)
{
	char *end;
	if (strncmp(where, "fd:", 3) != 0)
		return -2;
	unsigned long n = strtoul(where + 3, &end, 10);
	if (*end || end == where + 3 || n > INT_MAX || fcntl((int)n, F_GETFD) < 0)
		return err_usage(e, "%s: no such open descriptor", where);
	int mode = fcntl((int)n, F_GETFL);
	if ((mode & O_ACCMODE) == O_RDONLY)
		return err_usage(e, "%s is not open for writing", where);
	int fd = fcntl((int)n, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? err_sys(e, "duplicate %s", where) : fd;
}

static int open_folder(const char *where, const char **name, struct err *e)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(where, '/');
	*name = slash ? slash + 1 : where;
	if (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)
		return err_usage(e, "%s does not name a file", where);
	size_t len = slash ? (size_t)(slash - where) + 1 : 0;
	if (len >= sizeof(folder))
		return err_usage(e, "the path of the result is too long");
	snprintf(folder, sizeof(folder), "%.*s", (int)len, where);
	int dir = open(slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? err_sys(e, "open the folder of %s", where) : dir;
}

static int stat_name(int dir, const char *name, int flags, struct statx *st)
{
	return statx(dir, name, AT_SYMLINK_NOFOLLOW | flags, STATX_BASIC_STATS, st);
}

/* The kernel's own answer to whether name may be taken out of its folder, and nothing done: it
 * looks at the sticky bit, at append-only and immutable, and at ids that are not mapped, before it
 * finds that a file is no folder (may_delete() in fs/namei.c). 0 would be an empty folder that
 * somebody put there just now: gone, and so nothing to replace. Other errors are not about the old
 * file, and making the new one meets them. */
static bool may_replace(int dir, const char *name)
{
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno != EPERM;
}

static int refuse_to_replace(int dir, const char *where, const struct statx *st, struct err *e)
{
	struct statx folder = {0};
	stat_name(dir, "", AT_EMPTY_PATH, &folder);
	const uint64_t own = st->stx_attributes, around = folder.stx_attributes;
	const char *why = own & STATX_ATTR_APPEND	  ? "is append-only"
			  : own & STATX_ATTR_IMMUTABLE	  ? "is immutable"
			  : around & STATX_ATTR_APPEND	  ? "is in an append-only folder"
			  : around & STATX_ATTR_IMMUTABLE ? "is in an immutable folder"
			  : folder.stx_mode & S_ISVTX	  ? "is another user's in a sticky folder"
							  : "is protected by the kernel";
	return err_usage(e,
			 "%s exists, %s and so cannot be replaced; name another file, or open one and give fd:N",
			 where, why);
}

/* -1 and *e. */
static int open_place(int dir, const char *where, enum sink_form *form, struct err *e)
{
	autoclose int file = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	*form = SINK_UNNAMED;
	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		/* An overlay before 6.3, NFS: nothing may lie there half made, so the text waits in memory. */
		if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0)
			file = memfd_create("result", MFD_CLOEXEC);
		*form = SINK_MEMORY;
	}
	return file < 0 ? err_sys(e, "make a file in the folder of %s", where) : fd_take(&file);
}

/* Nothing is renamed over a mount (EBUSY), and its folder need not be writable. */
static int open_mount(int dir, const char *name, const char *where, struct err *e)
{
	int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open %s, a mount of its own, which is written in place", where)
		      : fd;
}

static int open_file(struct sink *k, int dir, const char *name, struct err *e)
{
	struct statx st;
	const bool exists = stat_name(dir, name, 0, &st) == 0;
	if (!exists && errno != ENOENT)
		return err_sys(e, "stat %s", k->where);
	if (exists && !S_ISREG(st.stx_mode))
		return err_usage(e,
				 "%s exists and is not a regular file; use fd:N for pipes and devices",
				 k->where);
	if (exists && (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)) {
		k->form = SINK_IN_PLACE;
		return open_mount(dir, name, k->where, e);
	}
	if (exists && !may_replace(dir, name))
		return refuse_to_replace(dir, k->where, &st, e);
	return open_place(dir, k->where, &k->form, e);
}

int sink_open(struct sink *k, const char *where, struct err *e)
{
	if (!where)
		return 0;
	k->where = where;
	k->form = SINK_DESCRIPTOR;
	int fd = parse_fd(where, e);
	if (fd == -1)
		return -1;
	if (fd >= 0) {
		k->fd = fd;
		return 0;
	}
	const char *name;
	autoclose int dir = open_folder(where, &name, e);
	if (dir < 0)
		return -1;
	autoclose int file = open_file(k, dir, name, e);
	if (file < 0)
		return -1;
	k->fd = fd_take(&file);
	k->dir = fd_take(&dir);
	k->name = name;
	return 0;
}

struct path {
	char text[PATH_MAX + NAME_MAX + 2];
};

/* Whole, and where the folder is by now: whoever is told may stand elsewhere. Keeps errno. */
static struct path path_of(const struct sink *k, const char *name)
{
	const int error = errno;
	char proc[32];
	struct path p;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", k->dir);
	ssize_t n = readlink(proc, p.text, PATH_MAX);
	if (n < 0)
		n = snprintf(p.text, PATH_MAX, "%.*s", (int)(k->name - k->where), k->where);
	snprintf(p.text + n, sizeof(p.text) - (size_t)n, "%s%s",
		 n > 0 && p.text[n - 1] != '/' ? "/" : "", name);
	errno = error;
	return p;
}

/* The id makes it easy to find, and chance makes it one that nobody planted. */
static int name_beside(const struct sink *k, const char *id, char name[NAME_MAX + 1])
{
	unsigned long long random;
	char tail[80];
	if (*id)
		snprintf(tail, sizeof(tail), ".pinfold-%s", id);
	else if (getrandom(&random, sizeof(random), 0) == sizeof(random))
		snprintf(tail, sizeof(tail), ".pinfold-%016llx", random);
	else
		return -1;
	snprintf(name, NAME_MAX + 1, "%.*s%s", (int)(NAME_MAX - strlen(tail)), k->name, tail);
	return 0;
}

static int link_as(const struct sink *k, const char *name)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", k->fd);
	return linkat(AT_FDCWD, path, k->dir, name, AT_SYMLINK_FOLLOW);
}

/* 0, or -1 with errno and nothing there. */
static int write_as(const struct sink *k, const char *text, const char *name)
{
	autoclose int file = openat(k->dir, name,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (file < 0)
		return -1;
	if (fd_write_all(file, text, strlen(text)) == 0)
		return 0;
	const int error = errno;
	unlinkat(k->dir, name, 0);
	errno = error;
	return -1;
}

/* Without a /proc of our own the file without a name stays without one (ENOENT). */
static int make_as(const struct sink *k, const char *text, const char *name)
{
	if (k->form == SINK_UNNAMED && link_as(k, name) == 0)
		return 0;
	return k->form == SINK_UNNAMED && errno != ENOENT ? -1 : write_as(k, text, name);
}

/* Under a name that nobody has. 0, or -1 with errno. */
static int make_beside(const struct sink *k, const char *text, const char *id,
		       char name[NAME_MAX + 1])
{
	if (name_beside(k, id, name) < 0)
		return -1;
	if (make_as(k, text, name) == 0)
		return 0;
	return errno == EEXIST && name_beside(k, "", name) == 0 ? make_as(k, text, name) : -1;
}

/* linkat(2) does not replace: the document comes to be beside the old one, and is renamed over it. */
static int replace(const struct sink *k, const char *text, const char *id, struct err *e)
{
	char beside[NAME_MAX + 1];
	if (make_beside(k, text, id, beside) < 0)
		return err_sys(e, "make a file beside %s", path_of(k, k->name).text);
	if (renameat(k->dir, beside, k->dir, k->name) == 0)
		return 0;
	return err_sys(e, "the result is in %s, as it could not be renamed to %s",
		       path_of(k, beside).text, k->name);
}

static int overwrite(const struct sink *k, const char *text, const char *id, struct err *e)
{
	char beside[NAME_MAX + 1];
	if (ftruncate(k->fd, 0) == 0 && fd_write_all(k->fd, text, strlen(text)) == 0)
		return 0;
	const int error = errno;
	const bool made = make_beside(k, text, id, beside) == 0;
	errno = error;
	return made ? err_sys(e, "the result is in %s, as %s could not be written",
			      path_of(k, beside).text, k->name)
		    : err_sys(e, "write the result to %s", path_of(k, k->name).text);
}

int sink_commit(struct sink *k, const char *text, const char *id, struct err *e)
{
	if (k->fd < 0)
		return 0;
	if (k->form == SINK_IN_PLACE)
		return overwrite(k, text, id, e);
	if (k->form != SINK_MEMORY && fd_write_within(k->fd, text, strlen(text), READER_MS) < 0)
		return err_sys(e, "write the result to %s",
			       k->dir < 0 ? k->where : path_of(k, k->name).text);
	if (k->form == SINK_DESCRIPTOR || (k->form == SINK_UNNAMED && link_as(k, k->name) == 0))
		return 0;
	return replace(k, text, id, e);
}

void sink_close(struct sink *k)
{
	fd_close(&k->fd);
	fd_close(&k->dir);
}

int sink_open_lines(const char *where, struct err *e)
{
	int fd = parse_fd(where, e);
	if (fd != -2)
		return fd;
	return fd_open_output(where, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK, 0644, e);
}
