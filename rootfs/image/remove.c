/* Removing: whole subtrees, and what lower layers have in them. As deep as the limit on the depth of paths,
 * with one descriptor and one small buffer a level. All folders are 0700 while this runs. */
#include "rootfs/image/unpack.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_BYTES = 4096, LIST_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW };

/* Called for each name in a folder; may remove it. */
typedef int visit(void *arg, int dir, const struct dirent64 *entry, struct err *e);

static int list_once(int dir, visit *each, void *arg, struct err *e)
{
	char bytes[LIST_BYTES] __attribute__((aligned(16)));
	ssize_t n;
	while ((n = getdents64(dir, bytes, sizeof(bytes))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(bytes + at);
			at += d->d_reclen;
			if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
				continue;
			if (each(arg, dir, d, e) < 0)
				return -1;
		}
	}
	return n < 0 ? err_sys(e, "list a folder of the tree") : 0;
}

static int list(int parent, const char *name, visit *each, void *arg, struct err *e)
{
	char said[SHOWN_BYTES];
	autoclose int dir = fd_openat2(parent, name, LIST_FLAGS, 0, RESOLVE_STEP);
	if (dir < 0)
		return err_sys(e, "open the folder %s", path_shown(said, name));
	return list_once(dir, each, arg, e);
}

static bool is_folder(int dir, const struct dirent64 *d)
{
	struct stat st;
	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* ---- everything ---- */

static int remove_subtree(int parent, const char *name, struct err *e);

static int remove_entry(void *arg, int dir, const struct dirent64 *d, struct err *e)
{
	(void)arg;
	char said[SHOWN_BYTES];
	if (is_folder(dir, d))
		return remove_subtree(dir, d->d_name, e);
	return unlinkat(dir, d->d_name, 0) < 0 ? err_sys(e, "remove %s", path_shown(said, d->d_name))
					       : 0;
}

static int remove_subtree(int parent, const char *name, struct err *e)
{
	char said[SHOWN_BYTES];
	/* File systems may skip names in a list that shrinks: again until it is empty. */
	for (int tries = 0; unlinkat(parent, name, AT_REMOVEDIR) < 0; tries++) {
		if (errno != ENOTEMPTY && errno != EEXIST)
			return err_sys(e, "remove the folder %s", path_shown(said, name));
		if (tries == 10)
			return err_host(e, "the folder %s does not become empty",
					path_shown(said, name));
		if (list(parent, name, remove_entry, NULL, e) < 0)
			return -1;
	}
	return 0;
}

int remove_all(struct unpack *u, const struct spot *s, struct err *e)
{
	struct stat st;
	char said[SHOWN_BYTES];
	if (fstatat(s->dir, s->base, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : err_sys(e, "look up %s", path_shown(said, s->path.text));
	}
	if (!S_ISDIR(st.st_mode)) {
		if (unlinkat(s->dir, s->base, 0) < 0)
			return err_sys(e, "remove %s", path_shown(said, s->path.text));
	} else if (remove_subtree(s->dir, s->base, e) < 0) {
		return -1;
	}
	places_forget(u, &s->path);
	return 1;
}

/* ---- what lower layers have ---- */

struct lower {
	struct unpack *u;
	struct path path; /* of the folder that is listed */
	size_t removed;	  /* in this pass */
};

/* Of the folder's own nothing is left but that it is there. */
static int forget_metadata(struct unpack *u, int dir, const struct path *path, struct err *e)
{
	char said[SHOWN_BYTES];
	autoclose int fd = fd_openat2(dir, path_base(path), LIST_FLAGS, 0, RESOLVE_STEP);
	if (fd < 0 || clear_xattrs(fd) < 0)
		return err_sys(e, "clear the folder %s", path_shown(said, path->text));
	return journal_implied(u, path, e);
}

/* A name in dir. */
static int hide(struct lower *l, int dir, const char *name, bool folder, struct err *e)
{
	char said[SHOWN_BYTES];
	struct path path;
	if (path_join(&path, l->path.text, name, e) < 0)
		return -1;
	const enum touched how = touched_get(l->u, path.text, path.len);
	if (how == UNTOUCHED) {
		l->removed++;
		places_forget(l->u, &path);
		if (journal_gone(l->u, &path, e) < 0)
			return -1;
		if (folder)
			return remove_subtree(dir, name, e);
		return unlinkat(dir, name, 0) < 0
			       ? err_sys(e, "remove %s", path_shown(said, path.text))
			       : 0;
	}
	if (!folder)
		return 0;
	if (how == TOUCHED_BELOW && forget_metadata(l->u, dir, &path, e) < 0)
		return -1;
	return remove_lower_within(l->u, dir, name, &path, e);
}

static int hide_entry(void *arg, int dir, const struct dirent64 *d, struct err *e)
{
	return hide(arg, dir, d->d_name, is_folder(dir, d), e);
}

/* Once for each folder and layer: what comes into it later is of the layer itself. A layer of many
 * whiteouts would have the same long folder listed for each. */
int remove_lower_within(struct unpack *u, int dir, const char *name, const struct path *path,
			struct err *e)
{
	const uint64_t hash = table_hash(&u->key, path->text, path->len);
	if (table_find(&u->cleaned, hash, NULL))
		return 0;
	struct lower l = {.u = u, .path = *path};
	do {
		l.removed = 0;
		if (list(dir, name, hide_entry, &l, e) < 0)
			return -1;
	} while (l.removed > 0);
	return table_add(&u->cleaned, hash, NULL, e);
}

int remove_lower(struct unpack *u, const struct spot *s, struct err *e)
{
	struct stat st;
	char said[SHOWN_BYTES];
	if (fstatat(s->dir, s->base, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : err_sys(e, "look up %s", path_shown(said, s->path.text));
	}
	struct lower l = {.u = u, .path = s->path};
	l.path.len = path_parent(&s->path);
	l.path.text[l.path.len] = '\0';
	return hide(&l, s->dir, s->base, S_ISDIR(st.st_mode), e);
}
