/* Trees as tar: one of the store by its record, or a folder as it is on disk. Both run in a jail. */
#include "rootfs/image/tar_out.h"

#include "base/arena.h"
#include "base/fd.h"
#include "rootfs/stored.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DEPTH_MAX = 512, GROUPS_MAX = 50 << 20, TARGET_MAX = 4096 };

static int open_file(int root, const char *path, struct err *e)
{
	const int fd = fd_openat2(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0,
				  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	return fd < 0 ? err_sys(e, "open %.200s", path) : fd;
}

/* ---- export ---- */

struct exporter {
	struct tar_out tar;
	struct record_reader reader;
	struct record_entry entry;
	int tree;
	char **first; /* of each group: the path that has the contents */
	size_t first_len;
};

/* The path that the group's contents are under, NULL: it is this one. */
static int group_path(struct exporter *x, const struct record_entry *r, const char **hard,
		      struct err *e)
{
	*hard = NULL;
	if (r->group == 0)
		return 0;
	if (r->group > GROUPS_MAX)
		return err_host(e, "the record is damaged");
	if (r->group >= x->first_len) {
		const size_t len = (size_t)r->group * 2 + 64;
		char **first = realloc(x->first, len * sizeof(*first));
		if (!first)
			return err_host(e, "out of memory");
		memset(first + x->first_len, 0, (len - x->first_len) * sizeof(*first));
		x->first = first;
		x->first_len = len;
	}
	*hard = x->first[r->group];
	if (!*hard && !(x->first[r->group] = strdup(r->path)))
		return err_host(e, "out of memory");
	return 0;
}

static int export_entry(struct exporter *x, struct record_entry *r, struct err *e)
{
	const char *hard, *path = r->path;
	char root[] = "./";
	if (group_path(x, r, &hard, e) < 0)
		return -1;
	if (!*path)
		r->path = root;
	if (tar_member(&x->tar, r, hard, e) < 0)
		return -1;
	if (r->type != 'f' || hard)
		return 0;
	autoclose int fd = open_file(x->tree, path, e);
	return fd < 0 ? -1 : tar_file(&x->tar, fd, path, e);
}

static int export_all(struct exporter *x, int record, struct err *e)
{
	int got;
	if (record_open(&x->reader, record, e) < 0)
		return -1;
	while ((got = record_next(&x->reader, &x->entry, e)) > 0)
		if (export_entry(x, &x->entry, e) < 0)
			return -1;
	return got < 0 ? -1 : tar_close(&x->tar, e);
}

int tree_export(int root, void *arg, struct err *e)
{
	const struct tree_out *o = arg;
	autoclose int record = stored_open_file(root, "record", e);
	if (record < 0)
		return -1;
	autoclose int tree = openat(root, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree < 0)
		return err_sys(e, "open the tree");
	struct exporter *x = calloc(1, sizeof(*x));
	if (!x)
		return err_host(e, "out of memory");
	x->tree = tree;
	tar_open(&x->tar, o->fd);
	const int rc = export_all(x, record, e);
	for (size_t i = 0; i < x->first_len; i++)
		free(x->first[i]);
	free(x->first);
	free(x);
	return rc;
}

/* ---- import ---- */

/* An inode that has several names. */
struct inode {
	dev_t dev;
	ino_t ino;
	const char *path;
};

struct importer {
	struct tar_out tar;
	struct tree_out *o;
	struct arena *arena;
	struct inode *inodes; /* open addressing, room a power of two */
	size_t inodes_len, inodes_room;
	char values[RECORD_XATTR_BYTES];
	char names[RECORD_XATTR_BYTES];
};

static struct inode *find_inode(struct inode *table, size_t room, const struct stat *st)
{
	size_t at = (size_t)(st->st_ino * 0x9e3779b97f4a7c15ULL + st->st_dev) & (room - 1);
	while (table[at].path && (table[at].ino != st->st_ino || table[at].dev != st->st_dev))
		at = (at + 1) & (room - 1);
	return &table[at];
}

static int grow_inodes(struct importer *x, struct err *e)
{
	const size_t room = x->inodes_room ? x->inodes_room * 2 : 1024;
	struct inode *table = calloc(room, sizeof(*table));
	if (!table)
		return err_host(e, "out of memory");
	for (size_t i = 0; i < x->inodes_room; i++) {
		const struct stat st = {.st_dev = x->inodes[i].dev, .st_ino = x->inodes[i].ino};
		if (x->inodes[i].path)
			*find_inode(table, room, &st) = x->inodes[i];
	}
	free(x->inodes);
	x->inodes = table;
	x->inodes_room = room;
	return 0;
}

/* The name under which the inode is in the archive already. */
static int hard_path(struct importer *x, const struct stat *st, const char *path, const char **hard,
		     struct err *e)
{
	*hard = NULL;
	if (S_ISDIR(st->st_mode) || st->st_nlink < 2)
		return 0;
	if (x->inodes_len * 2 >= x->inodes_room && grow_inodes(x, e) < 0)
		return -1;
	struct inode *i = find_inode(x->inodes, x->inodes_room, st);
	*hard = i->path;
	if (i->path)
		return 0;
	*i = (struct inode){st->st_dev, st->st_ino, arena_strdup(x->arena, path)};
	x->inodes_len++;
	return 0;
}

/* Those of users alone: others mean something to this host. */
static void read_xattrs(struct importer *x, int fd, struct record_entry *r)
{
	const ssize_t len = flistxattr(fd, x->names, sizeof(x->names));
	size_t used = 0;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(x->names + at) + 1) {
		const char *name = x->names + at;
		if (strncmp(name, "user.", 5) != 0 || r->xattrs_len == RECORD_XATTRS)
			continue;
		const ssize_t n = fgetxattr(fd, name, x->values + used, sizeof(x->values) - used);
		if (n < 0)
			continue;
		r->xattrs[r->xattrs_len++] = (struct record_xattr){name, x->values + used,
								   (size_t)n, true};
		used += (size_t)n;
	}
}

static char type_of(mode_t mode)
{
	return S_ISDIR(mode)	? 'd'
	       : S_ISREG(mode)	? 'f'
	       : S_ISLNK(mode)	? 'l'
	       : S_ISFIFO(mode) ? 'p'
				: 0;
}

static int import_folder(struct importer *x, int dir, const char *path, unsigned depth,
			 struct err *e);

struct found {
	int dir;
	const char *name, *path;
	unsigned depth;
};

static int import_entry(struct importer *x, const struct found *f, struct err *e)
{
	static struct record_entry r; /* large, and only one is at work: folders come after it */
	struct stat st;
	char target[TARGET_MAX];
	const char *hard;
	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "stat %.200s", f->path);
	if (strncmp(f->name, ".wh.", 4) == 0)
		return err_usage(e,
				 "%.200s: in an image a name that begins with .wh. deletes another, so "
				 "no image can hold this file; rename it, or leave it out",
				 f->path);
	const char type = type_of(st.st_mode);
	if (!type) {
		x->o->skipped++;
		return 0;
	}
	if (hard_path(x, &st, f->path, &hard, e) < 0)
		return -1;
	r = (struct record_entry){.path = f->path,
				  .type = type,
				  .mode = st.st_mode & 07777,
				  .uid = st.st_uid,
				  .gid = st.st_gid,
				  .mtime = st.st_mtim.tv_sec,
				  .mtime_nsec = (uint32_t)st.st_mtim.tv_nsec,
				  .size = type == 'f' ? (uint64_t)st.st_size : 0,
				  .target = target};
	if (type == 'l') {
		const ssize_t n = readlinkat(f->dir, f->name, target, sizeof(target) - 1);
		if (n < 0)
			return err_sys(e, "read the link %.200s", f->path);
		target[n] = '\0';
	}
	autoclose int fd = -1;
	if ((type == 'f' && !hard) || type == 'd') {
		fd = openat(f->dir, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			return err_sys(e, "open %.200s", f->path);
		read_xattrs(x, fd, &r);
	}
	if (tar_member(&x->tar, &r, hard, e) < 0)
		return -1;
	if (type == 'f' && !hard)
		return tar_file(&x->tar, fd, f->path, e);
	return type == 'd' ? import_folder(x, fd, f->path, f->depth + 1, e) : 0;
}

/* In the order of their names, so that the same tree is the same archive. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int import_folder(struct importer *x, int dir, const char *path, unsigned depth, struct err *e)
{
	struct dirent **list;
	if (depth > DEPTH_MAX)
		return err_usage(e, "%.100s: deeper than %d folders", path, DEPTH_MAX);
	const int len = scandirat(dir, ".", &list, no_dots, by_name);
	if (len < 0)
		return err_sys(e, "list %.200s", path);
	int rc = 0;
	const bool top = strcmp(path, "./") == 0;
	for (int i = 0; i < len; i++) {
		char *below = NULL;
		if (rc == 0 &&
		    asprintf(&below, "%s%s%s", top ? "" : path, top ? "" : "/", list[i]->d_name) < 0)
			rc = err_host(e, "out of memory");
		if (rc == 0)
			rc = import_entry(x, &(struct found){dir, list[i]->d_name, below, depth}, e);
		free(below);
		free(list[i]);
	}
	free(list);
	return rc;
}

int tree_import(int root, void *arg, struct err *e)
{
	autoarena arena = ARENA_INIT;
	struct importer *x = calloc(1, sizeof(*x));
	if (!x)
		return err_host(e, "out of memory");
	x->o = arg;
	x->arena = &arena;
	tar_open(&x->tar, x->o->fd);
	const int rc = import_entry(x, &(struct found){root, ".", "./", 0}, e) < 0
			       ? -1
			       : tar_close(&x->tar, e);
	free(x->inodes);
	free(x);
	return rc;
}
