#include "pipeline/listing.h"

#include "base/fd.h"
#include "transfer/collect.h"
#include "transfer/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int add_entry(struct hash *h, int dir, const char *name, unsigned depth);

static int is_entry(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct hash *h, int dir, const char *name, unsigned depth)
{
	struct dirent **list;
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int len = fd >= 0 ? scandirat(fd, ".", &list, is_entry, by_bytes) : -1;
	int done = len < 0 ? -1 : 0;
	for (int i = 0; i < len; i++) {
		if (done == 0)
			done = add_entry(h, fd, list[i]->d_name, depth);
		free(list[i]);
	}
	if (len >= 0)
		free(list);
	hash_add(h, "u", sizeof("u"));
	return done;
}

static int add_entry(struct hash *h, int dir, const char *name, unsigned depth)
{
	struct stat st;
	char line[160];
	if (depth == 0) {
		errno = ELOOP;
		return -1;
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	/* How large a folder is, is its file system's own affair. */
	snprintf(line, sizeof(line), "%o %lld %" PRId64 ".%09ld %" PRId64 ".%09ld ", st.st_mode,
		 S_ISDIR(st.st_mode) ? 0 : (long long)st.st_size, (int64_t)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec, (int64_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	hash_add(h, line, strlen(line));
	hash_add(h, name, strlen(name) + 1);
	return S_ISDIR(st.st_mode) ? add_folder(h, dir, name, depth - 1) : 0;
}

int listing_digest(int dir, const char *const *names, char digest[65])
{
	/* What is handed on, and the folder that it lies in. */
	enum { DEPTH_MAX = COLLECT_DEPTH_MAX + 3 };
	struct hash h;
	hash_begin(&h, false);
	for (; *names; names++) {
		/* A stage may have none of one; what is missing deeper down is an error. */
		if (faccessat(dir, *names, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			continue;
		if (add_entry(&h, dir, *names, DEPTH_MAX) < 0)
			return -1;
	}
	hash_end(&h, digest);
	return 0;
}
