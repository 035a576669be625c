#include "rootfs/image/store.h"

#include "base/fd.h"
#include "rootfs/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HASH_BYTES = 256 * 1024,
	WRITE_BEHIND =
		16 << 20, /* what is copied goes to the disk in parts of this, while more is read */
};

/* ---- opening ---- */

/* Every folder of path that is missing; the last is the store, so others are as the umask has them. */
static int make_path(const char *path, struct err *e)
{
	char part[PATH_MAX];
	const size_t len = strlen(path);
	if (len >= sizeof(part) || path[0] != '/')
		return err_usage(e, "image store: %s is no absolute path", path);
	memcpy(part, path, len + 1);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return err_sys(e, "image store: make %s", part);
		*slash = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "image store: make %s", path);
	return 0;
}

static int check_owner(int folder, const char *path, struct err *e)
{
	return stored_check_owner(folder, e) < 0 ? err_wrap(e, "image store: %s", path) : 0;
}

static int open_folder(int dir, const char *name, struct err *e)
{
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "image store: make %s", name);
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "image store: open %s", name);
	return check_owner(fd, name, e) < 0 ? -1 : fd_take(&fd);
}

int store_open(struct store *s, const char *path, struct err *e)
{
	autostore made = STORE_INIT;
	if (make_path(path, e) < 0)
		return -1;
	made.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (made.dir < 0)
		return err_sys(e, "image store: open %s", path);
	if (check_owner(made.dir, path, e) < 0)
		return -1;
	autoclose int blobs = open_folder(made.dir, "blobs", e);
	if (blobs < 0 || (made.blobs = open_folder(blobs, "sha256", e)) < 0 ||
	    (made.partial = open_folder(made.dir, "partial", e)) < 0 ||
	    (made.trees = open_folder(made.dir, "trees", e)) < 0 ||
	    (made.names = open_folder(made.dir, "names", e)) < 0 ||
	    (made.tmp = open_folder(made.dir, "tmp", e)) < 0)
		return -1;
	*s = made;
	/* Its cleanup looks at it: it owns nothing any more. */
	made = (struct store)STORE_INIT; /* NOLINT(clang-analyzer-deadcode.DeadStores) */
	return 0;
}

void store_close(struct store *s)
{
	int *fds[] = {&s->dir, &s->blobs, &s->partial, &s->trees, &s->names, &s->tmp};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		fd_close(fds[i]);
}

int store_share(const struct store *s, struct err *e)
{
	while (flock(s->dir, LOCK_SH) < 0)
		if (errno != EINTR)
			return err_sys(e, "image store: lock");
	return 0;
}

void store_unshare(const struct store *s)
{
	flock(s->dir, LOCK_UN);
}

/* ---- blobs ---- */

int store_open_blob(const struct store *s, const struct digest *d, struct err *e)
{
	const int fd = stored_open_file(s->blobs, digest_hex(d), e);
	if (fd < 0 && e->sys == ENOENT)
		return err_host(e, "image store: blob %s is not there; load or pull the image again",
				d->text);
	return fd;
}

static int hash_file(int fd, struct digest *d, uint64_t *size, struct err *e)
{
	static _Thread_local char buf[HASH_BYTES];
	autohash h = HASH_INIT;
	uint64_t total = 0;
	ssize_t n;
	if (hash_init(&h, e) < 0)
		return -1;
	while ((n = pread(fd, buf, sizeof(buf), (off_t)total)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "image store: read a blob");
		hash_update(&h, buf, (size_t)n);
		total += (uint64_t)n;
	}
	hash_final(&h, d);
	*size = total;
	return 0;
}

static int check_size(const struct descriptor *d, uint64_t size, struct err *e)
{
	return size == d->size
		       ? 0
		       : err_usage(e, "blob %s has %llu bytes, and should have %llu", d->digest.text,
				   (unsigned long long)size, (unsigned long long)d->size);
}

static int check_digest(const struct descriptor *d, const struct digest *found, struct err *e)
{
	return digest_same(found, &d->digest)
		       ? 0
		       : err_usage(e, "blob %s is another one: its digest is %s", d->digest.text,
				   found->text);
}

int store_check_blob(int fd, const struct descriptor *d, struct err *e)
{
	struct stat st;
	struct digest found;
	uint64_t size = 0;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_usage(e, "blob %s is no file", d->digest.text);
	if (hash_file(fd, &found, &size, e) < 0 || check_size(d, size, e) < 0)
		return -1;
	return check_digest(d, &found, e);
}

bool store_holds_blob(const struct store *s, const struct descriptor *d)
{
	struct err ignored = ERR_INIT;
	struct stat st;
	autoclose int fd = openat(s->blobs, digest_hex(&d->digest),
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == d->size &&
	       store_check_blob(fd, d, &ignored) == 0;
}

int store_put_blob(const struct store *s, int dir, const char *name, const struct descriptor *d,
		   struct err *e)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "image store: open the new blob %s", d->digest.text);
	/* Even if the store has the right one: what was read out of these bytes is used. */
	const int rc = store_check_blob(fd, d, e);
	if (rc < 0 || store_holds_blob(s, d)) {
		unlinkat(dir, name, 0);
		return rc;
	}
	return store_keep_blob(s, dir, name, &d->digest, e);
}

static int copy_part(int to, struct hash *h, const char *bytes, size_t len, struct err *e)
{
	hash_update(h, bytes, len);
	return fd_write_all(to, bytes, len) < 0 ? err_sys(e, "image store: write a blob") : 0;
}

/* What is in the copy is what was hashed, whatever becomes of the original meanwhile. */
static int copy_hashing(int from, int to, const struct descriptor *d, struct err *e)
{
	static _Thread_local char buf[HASH_BYTES];
	autohash h = HASH_INIT;
	struct digest found;
	uint64_t total = 0;
	ssize_t n;
	if (hash_init(&h, e) < 0)
		return -1;
	while ((n = read(from, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "image store: read a blob");
		if ((uint64_t)n > d->size - total)
			return check_size(d, total + (uint64_t)n, e);
		if (copy_part(to, &h, buf, (size_t)n, e) < 0)
			return -1;
		total += (uint64_t)n;
		/* Only early: fsync() is to come, and has the last word. */
		if (total % WRITE_BEHIND == 0)
			sync_file_range(to, 0, 0, SYNC_FILE_RANGE_WRITE);
	}
	hash_final(&h, &found);
	return check_size(d, total, e) < 0 ? -1 : check_digest(d, &found, e);
}

int store_copy_blob(const struct store *s, int dir, int from, const struct descriptor *d,
		    struct err *e)
{
	const char *name = digest_hex(&d->digest);
	struct stat st;
	if (fstat(from, &st) < 0 || !S_ISREG(st.st_mode))
		return err_usage(e, "blob %s is no file", d->digest.text);
	if (check_size(d, (uint64_t)st.st_size, e) < 0)
		return -1;
	if (store_holds_blob(s, d))
		return 0;
	autoclose int to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0 || lseek(from, 0, SEEK_SET) < 0)
		return err_sys(e, "image store: make blob %s", d->digest.text);
	if (copy_hashing(from, to, d, e) < 0) {
		unlinkat(dir, name, 0);
		return -1;
	}
	return store_keep_blob(s, dir, name, &d->digest, e);
}

/* Nobody holds it open for writing: its maker is dead, or it is us. */
int store_keep_blob(const struct store *s, int dir, const char *name, const struct digest *d,
		    struct err *e)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0400) < 0 || fsync(fd) < 0 ||
	    renameat(dir, name, s->blobs, digest_hex(d)) < 0)
		return err_sys(e, "image store: keep blob %s", d->text);
	return fsync(s->blobs) < 0 ? err_sys(e, "image store: sync blobs") : 0;
}

/* ---- trees ---- */

bool store_has_tree(const struct store *s, const struct digest *id)
{
	return faccessat(s->trees, digest_hex(id), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int store_put_tree(const struct store *s, const struct work *w, const char *name,
		   const struct digest *id, struct err *e)
{
	autoclose int tree = openat(w->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree < 0)
		return err_sys(e, "image store: open the new tree");
	autoclose int lock = openat(tree, "lock", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	if (lock < 0)
		return err_sys(e, "image store: make the lock of the new tree");
	/* Thousands of files: one call for the file system is quicker than one for each. By a
	 * descriptor from before the first was written: what failed since it was opened is told. */
	if (syncfs(w->dir) < 0)
		return err_sys(e, "image store: sync the new tree");
	if (renameat2(w->dir, name, s->trees, digest_hex(id), RENAME_NOREPLACE) < 0 && errno != EEXIST)
		return err_sys(e, "image store: keep the tree of %s", id->text);
	return fsync(s->trees) < 0 ? err_sys(e, "image store: sync trees") : 0;
}

int store_open_tree(const struct store *s, const struct digest *id, struct err *e)
{
	const int fd = openat(s->trees, digest_hex(id),
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "image store: the tree of %s", id->text) : fd;
}

int store_lock_tree(const struct store *s, const struct digest *id, int *lock, struct err *e)
{
	if (!store_has_tree(s, id)) {
		*lock = -1;
		return 0;
	}
	autoclose int tree = store_open_tree(s, id, e);
	if (tree < 0)
		return -1;
	autoclose int fd = stored_open_file(tree, "lock", e);
	if (fd < 0)
		return err_wrap(e, "image %s", id->text);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? err_usage(e, "image %s is in use: a running sandbox holds its tree",
					   id->text)
			       : err_sys(e, "image store: lock %s", id->text);
	*lock = fd_take(&fd);
	return 0;
}

/* Away from its place first: what is left when this process dies then is no half tree, but work. */
int store_remove_tree(const struct store *s, const struct digest *id, struct err *e)
{
	autowork w = WORK_INIT;
	if (work_open(&w, s, e) < 0)
		return -1;
	if (renameat(s->trees, digest_hex(id), w.dir, "tree") < 0)
		return err_sys(e, "image store: take the tree of %s away", id->text);
	return 0;
}
