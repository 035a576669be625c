/* What no name leads to. */
#include "rootfs/image/store.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct collector {
	const struct store *s;
	struct gc_report *r;
	struct stored_list names;
};

/* Each entry of a folder but the dots. */
static int each_entry(int dir, int (*each)(struct collector *, const char *, struct err *),
		      struct collector *c, struct err *e)
{
	autoclose int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream)
		return err_sys(e, "image store: list a folder");
	fd_take(&fd);
	int rc = 0;
	const struct dirent *entry;
	while (rc == 0 && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = each(c, entry->d_name, e);
	closedir(stream);
	return rc;
}

static bool has_blob(const struct stored_name *n, const char *hex)
{
	if (strcmp(digest_hex(&n->document.digest), hex) == 0 ||
	    strcmp(digest_hex(&n->manifest.config.digest), hex) == 0)
		return true;
	for (size_t i = 0; i < n->manifest.layers_len; i++)
		if (strcmp(digest_hex(&n->manifest.layers[i].digest), hex) == 0)
			return true;
	return false;
}

/* The digest that what is called so has. False: none of ours is called so, which is told. */
static bool is_ours(struct collector *c, const char *folder, const char *hex, struct digest *d)
{
	char text[80];
	struct err why = ERR_INIT;
	snprintf(text, sizeof(text), DIGEST_PREFIX "%.70s", hex);
	if (digest_parse(d, text, &why) == 0)
		return true;
	err_host(&why, "image store: %s/%s is none of ours, and is left alone", folder, hex);
	debris_add(&c->r->debris, &why);
	return false;
}

/* 1; 0: it was gone, or is a folder, which is told. */
static int remove_file(struct collector *c, int dir, const char *folder, const char *hex,
		       struct err *e)
{
	struct err why = ERR_INIT;
	if (unlinkat(dir, hex, 0) == 0)
		return 1;
	if (errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return err_sys(e, "image store: remove %s/%s", folder, hex);
	err_host(&why, "image store: %s/%s is a folder, and is left alone", folder, hex);
	debris_add(&c->r->debris, &why);
	return 0;
}

static int collect_blob(struct collector *c, const char *hex, struct err *e)
{
	struct stat st = {0};
	struct digest d;
	if (!is_ours(c, "blobs/sha256", hex, &d))
		return 0;
	for (size_t i = 0; i < c->names.len; i++)
		if (has_blob(&c->names.names[i], hex))
			return 0;
	fstatat(c->s->blobs, hex, &st, AT_SYMLINK_NOFOLLOW);
	const int gone = remove_file(c, c->s->blobs, "blobs/sha256", hex, e);
	if (gone <= 0)
		return gone;
	c->r->blobs++;
	c->r->blob_bytes += (uint64_t)st.st_size;
	return 0;
}

static int collect_tree(struct collector *c, const char *hex, struct err *e)
{
	struct digest id;
	if (!is_ours(c, "trees", hex, &id))
		return 0;
	for (size_t i = 0; i < c->names.len; i++)
		if (strcmp(digest_hex(&c->names.names[i].id), hex) == 0)
			return 0;
	struct err why = ERR_INIT;
	autoclose int lock = -1;
	if (store_lock_tree(c->s, &id, &lock, &why) < 0) {
		if (why.kind == ERR_USAGE)
			c->r->held++;
		else
			debris_add(&c->r->debris, &why);
		return 0;
	}
	c->r->trees++;
	return store_remove_tree(c->s, &id, e);
}

/* A download that nobody is at: whoever comes back to it begins anew. */
static int collect_partial(struct collector *c, const char *name, struct err *e)
{
	struct digest d;
	if (!is_ours(c, "partial", name, &d))
		return 0;
	autoclose int fd = openat(c->s->partial, name,
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	const int gone = remove_file(c, c->s->partial, "partial", name, e);
	if (gone > 0)
		c->r->partials++;
	return gone < 0 ? -1 : 0;
}

static int collect_alone(struct collector *c, struct err *e)
{
	autoarena arena = ARENA_INIT;
	if (store_list(c->s, &c->names, &c->r->debris, &arena, e) < 0)
		return -1;
	/* Of a name that cannot be read nobody knows what it keeps. */
	if (c->r->debris.name)
		return 0;
	if (each_entry(c->s->trees, collect_tree, c, e) < 0)
		return -1;
	return each_entry(c->s->blobs, collect_blob, c, e);
}

int store_gc(const struct store *s, struct gc_report *r, struct err *e)
{
	struct gc_report made = {.debris.tell = r->debris.tell};
	struct collector c = {.s = s, .r = &made};
	int rc = 0;
	if (flock(s->dir, LOCK_EX | LOCK_NB) == 0) {
		rc = collect_alone(&c, e);
		flock(s->dir, LOCK_UN);
	} else if (errno == EWOULDBLOCK) {
		made.busy = true;
	} else {
		return err_sys(e, "image store: lock");
	}
	if (rc < 0 || each_entry(s->partial, collect_partial, &c, e) < 0)
		return -1;
	const int work = store_sweep(s, e);
	if (work < 0)
		return -1;
	made.work = (unsigned)work;
	*r = made;
	return 0;
}
