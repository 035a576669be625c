/* Making what an entry describes, at its place. */
#include "rootfs/image/unpack.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITE_EARLY = 1 << 20 };

static int failed(const struct spot *s, const char *what, struct err *e)
{
	char said[SHOWN_BYTES];
	return err_sys(e, "%s %s", what, path_shown(said, s->path.text));
}

static int needs_name(const struct spot *s, struct err *e)
{
	return *s->base ? 0 : err_usage(e, "the root of a layer is no folder");
}

/* Owner and time of what no descriptor can be had of; its place is ours alone. */
static int finish_by_name(struct unpack *u, const struct spot *s, struct err *e)
{
	uid_t uid;
	gid_t gid;
	struct timespec times[2];
	if (disk_owner(u, &u->now, &uid, &gid) &&
	    fchownat(s->dir, s->base, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(s, "give an owner to", e);
	disk_times(&u->now, times);
	if (utimensat(s->dir, s->base, times, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(s, "set the time of", e);
	return journal_now(u, &s->path, e);
}

/* ---- regular files ---- */

int archive_refused(struct unpack *u, struct archive *a, struct err *e)
{
	char said[SHOWN_BYTES];
	const char *text = archive_error_string(a);
	if (u->source_err.kind != ERR_NONE) {
		*e = u->source_err;
		return -1;
	}
	return err_usage(e, "the layer cannot be read: %s",
			 path_shown(said, text ? text : "it is damaged"));
}

static int create(struct unpack *u, const struct spot *s, struct err *e)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(s->dir, s->base, flags, 0600);
	if (fd < 0 && errno == EEXIST) {
		if (remove_all(u, s, e) < 0)
			return -1;
		fd = openat(s->dir, s->base, flags, 0600);
	}
	return fd < 0 ? failed(s, "make the file", e) : fd;
}

static int write_at(int fd, const char *bytes, size_t len, uint64_t offset)
{
	while (len > 0) {
		const ssize_t n = pwrite(fd, bytes, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int copy_data(struct unpack *u, struct archive *a, int fd, const struct spot *s, struct err *e)
{
	char said[SHOWN_BYTES];
	const void *bytes;
	size_t len;
	la_int64_t offset;
	uint64_t at = 0;
	int more;
	struct record_entry *r = &u->now;
	contents_start(&u->contents, r->holes);
	while ((more = archive_read_data_block(a, &bytes, &len, &offset)) == ARCHIVE_OK) {
		const uint64_t from = (uint64_t)offset;
		if (len == 0)
			continue;
		if (from < at || from > r->size || len > r->size - from || (from > at && !r->holes)) {
			return err_usage(e, "%s: its data does not fit its size",
					 path_shown(said, s->path.text));
		}
		if (write_at(fd, bytes, len, from) < 0)
			return failed(s, "write", e);
		contents_add(&u->contents, from, bytes, len);
		at = from + len;
	}
	if (more != ARCHIVE_EOF)
		return archive_refused(u, a, e);
	if (at < r->size && !r->holes)
		return err_usage(e, "%s: its data is shorter than its size",
				 path_shown(said, s->path.text));
	if (at < r->size && ftruncate(fd, (off_t)r->size) < 0)
		return failed(s, "extend", e);
	contents_end(&u->contents, &r->digest);
	return 0;
}

int make_file(struct unpack *u, struct archive *a, struct archive_entry *entry,
	      const struct spot *s, struct err *e)
{
	uid_t uid;
	gid_t gid;
	struct timespec times[2];
	struct record_entry *r = &u->now;
	const int64_t size = archive_entry_size(entry);
	if (needs_name(s, e) < 0 || charge_bytes(u, size < 0 ? UINT64_MAX : (uint64_t)size, e) < 0)
		return -1;
	r->size = (uint64_t)size;
	r->holes = archive_entry_sparse_count(entry) > 0;
	autoclose int fd = create(u, s, e);
	if (fd < 0 || copy_data(u, a, fd, s, e) < 0)
		return -1;
	if (disk_owner(u, r, &uid, &gid) && fchown(fd, uid, gid) < 0)
		return failed(s, "give an owner to", e);
	/* The attributes before the mode, which may forbid them, the time last. */
	if (apply_xattrs(u, fd, e) < 0)
		return -1;
	if (fchmod(fd, r->mode) < 0)
		return failed(s, "set the mode of", e);
	disk_times(r, times);
	if (futimens(fd, times) < 0)
		return failed(s, "set the time of", e);
	/* The disk may begin while the next are unpacked; whether it was written, syncfs() tells. */
	if (r->size >= WRITE_EARLY)
		sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return journal_now(u, &s->path, e);
}

int drain(struct unpack *u, struct archive *a, struct err *e)
{
	const void *bytes;
	size_t len;
	la_int64_t offset;
	int r;
	do
		r = archive_read_data_block(a, &bytes, &len, &offset);
	while (r == ARCHIVE_OK);
	return r == ARCHIVE_EOF ? 0 : archive_refused(u, a, e);
}

/* ---- folders ---- */

static int open_folder(const struct spot *s, struct err *e)
{
	const char *name = *s->base ? s->base : ".";
	const int fd = fd_openat2(s->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, RESOLVE_STEP);
	return fd < 0 ? failed(s, "open the folder", e) : fd;
}

/* 1: made, 0: was there, -1. */
static int have_folder(struct unpack *u, const struct spot *s, struct err *e)
{
	struct stat st;
	if (!*s->base)
		return 0;
	if (mkdirat(s->dir, s->base, 0700) == 0)
		return 1;
	if (errno != EEXIST || fstatat(s->dir, s->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(s, "make the folder", e);
	if (S_ISDIR(st.st_mode))
		return 0;
	if (remove_all(u, s, e) < 0)
		return -1;
	return mkdirat(s->dir, s->base, 0700) < 0 ? failed(s, "make the folder", e) : 1;
}

int make_folder(struct unpack *u, const struct spot *s, struct err *e)
{
	const int made = have_folder(u, s, e);
	if (made < 0)
		return -1;
	if (!made || u->now.xattrs_len > 0) {
		autoclose int fd = open_folder(s, e);
		if (fd < 0)
			return -1;
		if (!made && clear_xattrs(fd) < 0)
			return failed(s, "clear the folder", e);
		if (apply_xattrs(u, fd, e) < 0)
			return -1;
	}
	return journal_now(u, &s->path, e);
}

/* ---- links and FIFOs ---- */

int make_symlink(struct unpack *u, const char *target, const struct spot *s, struct err *e)
{
	char said[SHOWN_BYTES];
	if (needs_name(s, e) < 0)
		return -1;
	if (!target || !*target || strlen(target) >= PATH_BYTES)
		return err_usage(e, "%s: a link to nothing, or to too long a name",
				 path_shown(said, s->path.text));
	u->now.target = target;
	int made = symlinkat(target, s->dir, s->base);
	if (made < 0 && errno == EEXIST) {
		if (remove_all(u, s, e) < 0)
			return -1;
		made = symlinkat(target, s->dir, s->base);
	}
	return made < 0 ? failed(s, "make the link", e) : finish_by_name(u, s, e);
}

int make_fifo(struct unpack *u, const struct spot *s, struct err *e)
{
	if (needs_name(s, e) < 0 || remove_all(u, s, e) < 0)
		return -1;
	/* A FIFO was made just now, so nothing is followed. */
	if (mknodat(s->dir, s->base, S_IFIFO | 0600, 0) < 0 ||
	    fchmodat(s->dir, s->base, u->now.mode, 0) < 0)
		return failed(s, "make the FIFO", e);
	return finish_by_name(u, s, e);
}

static int journal_link(struct unpack *u, const struct path *target, const struct path *path,
			struct err *e)
{
	struct journal_item item = {.op = JOURNAL_LINK,
				    .path = path->text,
				    .path_len = path->len,
				    .rest = target->text,
				    .rest_len = target->len};
	if (charge_record(u, path->len + target->len, e) < 0 ||
	    table_add(&u->linked, table_hash(&u->key, target->text, target->len), NULL, e) < 0 ||
	    journal_add(&u->journal, &item, e) < 0)
		return -1;
	return touched_set(u, path, TOUCHED, e);
}

/* from is in the folder dir: not followed if it is a link. */
static int link_to(struct unpack *u, const struct spot *from, const struct spot *s, struct err *e)
{
	struct stat old, new;
	if (needs_name(s, e) < 0)
		return -1;
	int made = linkat(from->dir, from->base, s->dir, s->base, 0);
	if (made < 0 && errno == EEXIST) {
		if (fstatat(from->dir, from->base, &old, AT_SYMLINK_NOFOLLOW) < 0 ||
		    fstatat(s->dir, s->base, &new, AT_SYMLINK_NOFOLLOW) < 0)
			return failed(s, "look up", e);
		if (old.st_ino == new.st_ino && old.st_dev == new.st_dev)
			return strcmp(from->path.text, s->path.text) == 0
				       ? touched_set(u, &s->path, TOUCHED, e)
				       : journal_link(u, &from->path, &s->path, e);
		if (remove_all(u, s, e) < 0)
			return -1;
		made = linkat(from->dir, from->base, s->dir, s->base, 0);
	}
	return made < 0 ? failed(s, "make the hard link", e)
			: journal_link(u, &from->path, &s->path, e);
}

static bool was_skipped(const struct unpack *u, const struct path *path)
{
	return table_find(&u->skipped, table_hash(&u->key, path->text, path->len), NULL);
}

int make_hard_link(struct unpack *u, const char *target, const struct path *name, struct err *e)
{
	char said[SHOWN_BYTES];
	struct path clean;
	struct spot from, s;
	struct stat st;
	if (path_clean(&clean, target, u->o.limits.depth, e) < 0)
		return -1;
	const int there = clean.len ? spot_find(u, &clean, FIND_LOOK, &from, e) : 0;
	if (there < 0)
		return -1;
	if (!there || fstatat(from.dir, from.base, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (!there || !was_skipped(u, &from.path)) {
			return err_usage(e, "%s: a hard link to what is not there",
					 path_shown(said, name->text));
		}
		u->report.devices_skipped++;
		return 0;
	}
	if (S_ISDIR(st.st_mode))
		return err_usage(e, "%s: a hard link to a folder", path_shown(said, name->text));
	/* Finding the other place may close this one. */
	autoclose int dir = fcntl(from.dir, F_DUPFD_CLOEXEC, 0);
	if (dir < 0)
		return err_sys(e, "duplicate a descriptor");
	from.dir = dir;
	return spot_find(u, name, FIND_MAKE, &s, e) < 0 ? -1 : link_to(u, &from, &s, e);
}
