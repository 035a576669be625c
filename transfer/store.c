#include "transfer/store.h"

#include "base/fd.h"
#include "transfer/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_BYTES = 32 };

int store_open(const char *path, bool dry, struct err *e)
{
	struct stat st;
	if (dry && lstat(path, &st) < 0 && errno == ENOENT)
		return -2;
	if (!dry && mkdir(path, 0700) < 0 && errno != EEXIST) {
		err_sys(e, "artifacts-dir %s", path);
		e->kind = ERR_USAGE;
		return -1;
	}
	const int dir = fd_open_output_folder(path, e);
	return dir < 0 ? err_wrap(e, "artifacts-dir") : dir;
}

static bool plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || c == '.' || c == '-';
}

void store_name(char name[STORE_NAME_BYTES], const char *path)
{
	char digest[65];
	size_t used = 0;
	for (const char *c = path; *c; c++) {
		const bool as_is = plain(*c) && !(c == path && (*c == '.' || *c == '-'));
		if (used + 3 >= STORE_NAME_BYTES) {
			SHA256Data((const uint8_t *)path, strlen(path), digest);
			snprintf(name + STORE_NAME_BYTES - HASH_BYTES - 2, HASH_BYTES + 2, "~%.*s",
				 HASH_BYTES, digest);
			/* What stands before it may be cut within %XX: that is part of the name alone. */
			return;
		}
		if (as_is || *c == '/')
			name[used++] = *c == '/' ? '+' : *c;
		else
			used += (size_t)snprintf(name + used, 4, "%%%02X", (unsigned char)*c);
	}
	name[used] = '\0';
}

int store_begin(struct store_file *f, int dir, unsigned number, struct err *e)
{
	f->temp[0] = '\0';
	f->fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (f->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		f->fd = part_make(f->temp, dir, number, false, e);
		return f->fd < 0 ? -1 : 0;
	}
	return f->fd < 0 ? err_sys(e, "make a file in the artifacts folder") : 0;
}

int store_write(const struct store_file *f, const void *bytes, size_t len, uint64_t offset,
		struct err *e)
{
	const char *p = bytes;
	while (len > 0) {
		const ssize_t n = pwrite(f->fd, p, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(e, "write to the artifacts folder");
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int store_size(const struct store_file *f, uint64_t size, struct err *e)
{
	if (ftruncate(f->fd, (off_t)size) < 0)
		return err_sys(e, "size a file in the artifacts folder");
	return 0;
}

static int give_name(const struct store_file *f, int dir, const char *name)
{
	char link[40];
	if (f->temp[0])
		return renameat2(dir, f->temp, dir, name, RENAME_NOREPLACE);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, link, dir, name, AT_SYMLINK_FOLLOW);
}

int store_publish(struct store_file *f, int dir, const char *name, struct err *e)
{
	if (fsync(f->fd) < 0)
		return err_sys(e, "flush a file of the artifacts folder");
	if (give_name(f, dir, name) < 0)
		return errno == EEXIST
			       ? err_usage(e, "the artifacts folder has a file of that name already")
			       : err_sys(e, "name a file in the artifacts folder");
	f->temp[0] = '\0';
	fd_close(&f->fd);
	return 0;
}

void store_drop(struct store_file *f, int dir)
{
	if (f->temp[0])
		unlinkat(dir, f->temp, 0);
	f->temp[0] = '\0';
	fd_close(&f->fd);
}
