/* Holding a tree against its record: down the record, with the folders on the way open; each folder
 * is listed when it is left, for what the record does not have. */
#include "rootfs/image/record.h"

#include "rootfs/image/path.h"
#include "rootfs/image/table.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define RESOLVE_STEP \
	(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

enum { LEVELS = PATH_BYTES / 2, LIST_BYTES = 4096, READ_BYTES = 128 << 10, WHAT_BYTES = 400 };

struct level {
	size_t len; /* of the folder's path */
	int fd;
};

struct comparison {
	struct record_compare *c;
	int root;
	struct table_key key;
	struct table paths;  /* all of the record so far */
	struct table groups; /* the inode of each */
	struct table others; /* how many names the inode has beside those of the record so far */
	uint64_t uneven;     /* groups where that is not 0 */
	struct contents contents;
	struct path path; /* of the last line */
	size_t depth;
	struct level levels[LEVELS];
	char what[WHAT_BYTES];
	char bytes[READ_BYTES];
	struct record_reader reader;
};

/* ---- differences ---- */

__attribute__((format(printf, 4, 5))) static int differs(struct comparison *x, const char *path,
							 struct err *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(x->what, sizeof(x->what), fmt, ap);
	va_end(ap);
	const struct record_difference d = {.path = path, .what = x->what};
	x->c->differences++;
	return x->c->differs(x->c->arg, &d, e);
}

static char type_of(mode_t mode)
{
	return S_ISREG(mode)	? 'f'
	       : S_ISDIR(mode)	? 'd'
	       : S_ISLNK(mode)	? 'l'
	       : S_ISFIFO(mode) ? 'p'
				: '?';
}

static int compare_owner(struct comparison *x, const struct record_entry *r, const struct stat *st,
			 struct err *e)
{
	const struct record_owners *o = &x->reader.owners;
	if (!o->kept)
		return 0;
	const uint32_t uid = record_disk_id(o, r->uid), gid = record_disk_id(o, r->gid);
	if (st->st_uid == uid && st->st_gid == gid)
		return 0;
	return differs(x, r->path, e, "owner %u:%u, in the record %u:%u", st->st_uid, st->st_gid,
		       uid, gid);
}

static int compare_stat(struct comparison *x, const struct record_entry *r, const struct stat *st,
			struct err *e)
{
	const mode_t mode = st->st_mode & 07777;
	if (mode != r->mode && r->type != 'l' &&
	    differs(x, r->path, e, "mode %04o, in the record %04o", mode, r->mode) < 0)
		return -1;
	if ((st->st_mtim.tv_sec != r->mtime || st->st_mtim.tv_nsec != r->mtime_nsec) &&
	    differs(x, r->path, e, "time %" PRId64 ".%09ld, in the record %" PRId64 ".%09" PRIu32,
		    (int64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, r->mtime, r->mtime_nsec) < 0)
		return -1;
	return compare_owner(x, r, st, e);
}

static uint64_t group_hash(const struct comparison *x, const struct record_entry *r)
{
	return table_hash(&x->key, (const char *)&r->group, sizeof(r->group));
}

/* Paths of a group are one inode, and the others have one name. 1: the inode of an earlier line. */
static int compare_group(struct comparison *x, const struct record_entry *r, const struct stat *st,
			 struct err *e)
{
	uint64_t *inode, *others;
	if (r->type == 'd')
		return 0;
	if (r->group == 0) {
		return st->st_nlink == 1 ? 0
					 : differs(x, r->path, e, "%ju names, in the record one",
						   (uintmax_t)st->st_nlink);
	}
	const uint64_t hash = group_hash(x, r);
	if (table_add(&x->groups, hash, &inode, e) < 0 || table_add(&x->others, hash, &others, e) < 0)
		return -1;
	const bool known = *inode == st->st_ino;
	if (*inode == 0) {
		*inode = st->st_ino;
		*others = st->st_nlink;
		x->uneven += *others != 0;
	}
	if (*inode != st->st_ino)
		return differs(x, r->path, e, "a file of its own, in the record a hard link");
	x->uneven -= *others != 0;
	--*others; /* below 0 and up again where a name is removed while this runs */
	x->uneven += *others != 0;
	return known;
}

/* A name that a file has outside of the tree: whoever uses it changes what is in the tree. That a
 * group is whole only the record's end tells, so it is read again; each group is told once. */
static int compare_others(struct comparison *x, int record, struct err *e)
{
	struct record_entry r;
	uint64_t *others;
	int more;
	if (record_open(&x->reader, record, e) < 0)
		return -1;
	while (x->uneven > 0 && (more = record_next(&x->reader, &r, e)) != 0) {
		if (more < 0)
			return -1;
		if (r.group == 0 || !table_find(&x->others, group_hash(x, &r), &others) || !*others)
			continue;
		*others = 0;
		x->uneven--;
		if (differs(x, r.path, e, "a name outside of the tree, which the record lacks") < 0)
			return -1;
	}
	return 0;
}

/* ---- what is inside ---- */

static int compare_link(struct comparison *x, int dir, const struct record_entry *r, struct err *e)
{
	char said[SHOWN_BYTES], target[PATH_BYTES + 1];
	const ssize_t n = readlinkat(dir, strrchr(r->path, '/') ? strrchr(r->path, '/') + 1 : r->path,
				     target, PATH_BYTES);
	if (n < 0)
		return err_sys(e, "read the link %s", path_shown(said, r->path));
	target[n] = '\0';
	if (strcmp(target, r->target) == 0)
		return 0;
	return differs(x, r->path, e, "a link to %s", path_shown(said, target));
}

static bool has_xattr(const struct record_entry *r, const char *name)
{
	for (size_t i = 0; i < r->xattrs_len; i++) {
		if (r->xattrs[i].kept && strcmp(r->xattrs[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Capabilities are never unpacked, so that they are somebody else's doing. The others that the
 * record lacks came with the place: labels, ACLs by default. */
static bool is_ours(const char *name)
{
	return strncmp(name, "user.", 5) == 0 || strcmp(name, "security.capability") == 0;
}

static int compare_xattrs(struct comparison *x, int fd, const struct record_entry *r, struct err *e)
{
	char said[SHOWN_BYTES];
	for (size_t i = 0; i < r->xattrs_len; i++) {
		const struct record_xattr *a = &r->xattrs[i];
		if (!a->kept)
			continue;
		const ssize_t n = fgetxattr(fd, a->name, x->bytes, sizeof(x->bytes));
		if ((n < 0 || (size_t)n != a->value_len ||
		     memcmp(x->bytes, a->value, a->value_len) != 0) &&
		    differs(x, r->path, e, "attribute %s", path_shown(said, a->name)) < 0)
			return -1;
	}
	const ssize_t len = flistxattr(fd, x->bytes, sizeof(x->bytes));
	if (len < 0 && errno != ENOTSUP)
		return err_sys(e, "list the attributes of %s", path_shown(said, r->path));
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(x->bytes + at) + 1) {
		const char *name = x->bytes + at;
		if (is_ours(name) && !has_xattr(r, name) &&
		    differs(x, r->path, e, "attribute %s, which the record lacks",
			    path_shown(said, name)) < 0)
			return -1;
	}
	return 0;
}

/* From where the next data is, for a file that came with holes; else from at. */
static uint64_t next_data(int fd, const struct record_entry *r, uint64_t at)
{
	const off_t to = r->holes ? lseek(fd, (off_t)at, SEEK_DATA) : -1;
	return to >= 0 ? (uint64_t)to : r->holes && errno == ENXIO ? r->size : at;
}

static int compare_contents(struct comparison *x, int fd, const struct record_entry *r, struct err *e)
{
	char said[SHOWN_BYTES];
	struct digest d;
	contents_start(&x->contents, r->holes);
	for (uint64_t at = next_data(fd, r, 0); at < r->size; at = next_data(fd, r, at)) {
		const ssize_t n = pread(fd, x->bytes, sizeof(x->bytes), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read %s", path_shown(said, r->path));
		if (n == 0)
			break;
		contents_add(&x->contents, at, x->bytes, (size_t)n);
		at += (uint64_t)n;
		x->c->bytes += (uint64_t)n;
	}
	contents_end(&x->contents, &d);
	if (digest_same(&d, &r->digest))
		return 0;
	return differs(x, r->path, e, "other contents");
}

static int compare_file(struct comparison *x, int dir, const struct record_entry *r,
			const struct stat *st, struct err *e)
{
	char said[SHOWN_BYTES];
	if ((uint64_t)st->st_size != r->size)
		return differs(x, r->path, e, "%jd bytes, in the record %" PRIu64,
			       (intmax_t)st->st_size, r->size);
	const char *slash = strrchr(r->path, '/');
	autoclose int fd = fd_openat2(dir, slash ? slash + 1 : r->path,
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, RESOLVE_STEP);
	if (fd < 0)
		return err_sys(e, "open %s", path_shown(said, r->path));
	return compare_contents(x, fd, r, e) < 0 ? -1 : compare_xattrs(x, fd, r, e);
}

/* ---- folders ---- */

/* Names in the folder that the record does not have. */
static int list_strangers(struct comparison *x, int fd, const char *folder, struct err *e)
{
	char list[LIST_BYTES] __attribute__((aligned(16)));
	struct path path;
	ssize_t n;
	while ((n = getdents64(fd, list, sizeof(list))) > 0) {
		for (ssize_t i = 0; i < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(list + i);
			i += d->d_reclen;
			if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
				continue;
			if (path_join(&path, folder, d->d_name, e) < 0)
				return -1;
			if (!table_find(&x->paths, table_hash(&x->key, path.text, path.len), NULL) &&
			    differs(x, path.text, e, "not in the record") < 0)
				return -1;
		}
	}
	return n < 0 ? err_sys(e, "list a folder of the tree") : 0;
}

static int leave(struct comparison *x, struct err *e)
{
	struct level *l = &x->levels[--x->depth];
	autoclose int fd = fd_take(&l->fd);
	if (fd < 0)
		return 0;
	struct path folder = x->path;
	folder.text[l->len] = '\0';
	return list_strangers(x, fd, folder.text, e);
}

/* Leave the folders that path is not below of; NULL: all. */
static int leave_until(struct comparison *x, const char *path, struct err *e)
{
	while (x->depth > 0) {
		const size_t len = x->levels[x->depth - 1].len;
		if (path && strncmp(path, x->path.text, len) == 0 && (len == 0 || path[len] == '/'))
			return 0;
		if (leave(x, e) < 0)
			return -1;
	}
	return 0;
}

static int enter(struct comparison *x, int dir, const char *name, const struct record_entry *r,
		 struct err *e)
{
	char said[SHOWN_BYTES];
	if (x->depth == LEVELS)
		return err_usage(e, "%s: too deep", path_shown(said, r->path));
	struct level *l = &x->levels[x->depth++];
	l->len = strlen(r->path);
	l->fd = fd_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, RESOLVE_STEP);
	if (l->fd < 0)
		return err_sys(e, "open the folder %s", path_shown(said, r->path));
	return compare_xattrs(x, l->fd, r, e);
}

/* ---- lines ---- */

static int compare_node(struct comparison *x, int dir, const char *name,
			const struct record_entry *r, struct err *e)
{
	struct stat st;
	char said[SHOWN_BYTES];
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? differs(x, r->path, e, "missing")
				       : err_sys(e, "look up %s", path_shown(said, r->path));
	}
	const char type = type_of(st.st_mode);
	if (type != r->type)
		return differs(x, r->path, e, "type %c, in the record %c", type, r->type);
	const int known = compare_stat(x, r, &st, e) < 0 ? -1 : compare_group(x, r, &st, e);
	if (known < 0)
		return -1;
	switch (type) {
	case 'f':
		return known ? 0 : compare_file(x, dir, r, &st, e);
	case 'l':
		return compare_link(x, dir, r, e);
	case 'd':
		return enter(x, dir, name, r, e);
	default:
		return 0;
	}
}

static int compare_line(struct comparison *x, const struct record_entry *r, struct err *e)
{
	const char *slash = strrchr(r->path, '/');
	if (leave_until(x, r->path, e) < 0)
		return -1;
	x->path.len = strlen(r->path);
	memcpy(x->path.text, r->path, x->path.len + 1);
	x->c->paths++;
	if (table_add(&x->paths, table_hash(&x->key, r->path, x->path.len), NULL, e) < 0)
		return -1;
	if (!*r->path)
		return compare_node(x, x->root, ".", r, e);
	/* Of a folder that is missing or none all that was in it is, too. */
	const size_t parent = slash ? (size_t)(slash - r->path) : 0;
	if (x->depth == 0 || x->levels[x->depth - 1].len != parent)
		return differs(x, r->path, e, "missing");
	return compare_node(x, x->levels[x->depth - 1].fd, slash ? slash + 1 : r->path, r, e);
}

static void comparison_free(struct comparison **x)
{
	if (!*x)
		return;
	while ((*x)->depth > 0)
		fd_close(&(*x)->levels[--(*x)->depth].fd);
	table_free(&(*x)->paths);
	table_free(&(*x)->groups);
	table_free(&(*x)->others);
	hash_free(&(*x)->contents.hash);
	free(*x);
}

int record_compare(struct record_compare *c, int root, int record, struct err *e)
{
	__attribute__((cleanup(comparison_free))) struct comparison *x = calloc(1, sizeof(*x));
	struct record_entry r;
	int more;
	if (!x)
		return err_sys(e, "memory to compare a tree");
	x->c = c;
	x->root = root;
	x->groups.has_values = x->others.has_values = true;
	if (table_key_init(&x->key, e) < 0 || hash_init(&x->contents.hash, e) < 0 ||
	    record_open(&x->reader, record, e) < 0)
		return -1;
	while ((more = record_next(&x->reader, &r, e)) > 0) {
		if (compare_line(x, &r, e) < 0)
			return -1;
	}
	if (more < 0 || leave_until(x, NULL, e) < 0)
		return -1;
	return x->uneven > 0 ? compare_others(x, record, e) : 0;
}
