#include "commands/sink.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

int sink_open(struct sink *k, const char *where, struct err *e)
{
	struct stat st;
	if (!where)
		return 0;
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
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		return err_usage(e,
				 "%s exists and is not a regular file; use fd:N for pipes and devices",
				 where);
	autoclose int file = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		/* An overlay before 6.3, NFS: nothing may lie there half made, so the text waits in memory. */
		if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0)
			file = memfd_create("result", MFD_CLOEXEC);
		k->in_memory = true;
	}
	if (file < 0)
		return err_sys(e, "make a file in the folder of %s", where);
	k->fd = fd_take(&file);
	k->dir = fd_take(&dir);
	k->name = name;
	return 0;
}

static int temporary_name(char *name, size_t size)
{
	unsigned long long random;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -1;
	snprintf(name, size, ".pinfold-%016llx", random);
	return 0;
}

static int rename_over(const struct sink *k, const char *beside, struct err *e)
{
	if (renameat(k->dir, beside, k->dir, k->name) == 0)
		return 0;
	err_sys(e, "rename to %s", k->name);
	unlinkat(k->dir, beside, 0);
	return -1;
}

/* linkat(2) does not replace: where the name is taken, link beside it and rename over it. */
static int publish(const struct sink *k, struct err *e)
{
	char path[32], beside[48];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", k->fd);
	if (linkat(AT_FDCWD, path, k->dir, k->name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST || temporary_name(beside, sizeof(beside)) < 0 ||
	    linkat(AT_FDCWD, path, k->dir, beside, AT_SYMLINK_FOLLOW) < 0)
		return err_sys(e, "link %s", k->name);
	return rename_over(k, beside, e);
}

static int publish_copy(const struct sink *k, const char *text, size_t len, struct err *e)
{
	char beside[48];
	if (temporary_name(beside, sizeof(beside)) < 0)
		return err_sys(e, "getrandom");
	autoclose int file = openat(k->dir, beside,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (file < 0)
		return err_sys(e, "make a file beside %s", k->name);
	if (fd_write_all(file, text, len) < 0) {
		err_sys(e, "write the result");
		unlinkat(k->dir, beside, 0);
		return -1;
	}
	return rename_over(k, beside, e);
}

int sink_commit(struct sink *k, const char *text, size_t len, struct err *e)
{
	if (k->fd < 0)
		return 0;
	if (k->in_memory)
		return publish_copy(k, text, len, e);
	if (fd_write_within(k->fd, text, len, READER_MS) < 0)
		return err_sys(e, "write the result");
	if (k->dir < 0 || publish(k, e) == 0)
		return 0;
	/* Without a /proc of our own the file without a name stays without one. */
	return e->sys == ENOENT ? publish_copy(k, text, len, e) : -1;
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
