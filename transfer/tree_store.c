#include "transfer/tree_store.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the program left open for everybody to write to would, in a folder that others may enter, be
 * theirs to change behind the digest. */
enum { MODE_FILE = 0600, MODE_FOLDER = 0700, MODE_MASK = 0755 };

/* ---- what is believed ---- */

static struct tree_level *top(struct tree_store *t)
{
	return &t->levels[t->depth - 1];
}

static int check_name(struct tree_store *t, const char *name, struct err *e)
{
	if (t->depth == 0)
		return err_host(e, "an entry came outside of any folder of the tree");
	if (!*name || strlen(name) > COLLECT_NAME_MAX || strchr(name, '/') ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return err_host(e, "the tree has an entry whose name is none");
	if (strcmp(top(t)->last, name) >= 0)
		return err_host(e, "the entries of the tree came out of order");
	snprintf(top(t)->last, sizeof(top(t)->last), "%s", name);
	t->entries++;
	return 0;
}

static void list(struct tree_store *t, const char *line, const char *name)
{
	hash_add(&t->listing, line, strlen(line));
	hash_add(&t->listing, name, strlen(name) + 1);
}

static void list_mode(struct tree_store *t, char kind, mode_t mode, const char *name)
{
	char line[16];
	snprintf(line, sizeof(line), "%c %03o ", kind, mode & MODE_MASK);
	list(t, line, name);
}

/* ---- folders and links ---- */

static int push(struct tree_store *t, int fd, mode_t mode)
{
	struct tree_level *level = &t->levels[t->depth++];
	*level = (struct tree_level){.fd = fd, .mode = (mode & MODE_MASK) | MODE_FOLDER};
	return 0;
}

static int make_folder(int dir, const char *name, struct err *e)
{
	autoclose int fd = -1;
	if (mkdirat(dir, name, MODE_FOLDER) < 0)
		return err_sys(e, "make a folder of the tree");
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open a folder of the tree") : fd_take(&fd);
}

int tree_store_begin(struct tree_store *t, int dir, unsigned number, mode_t mode, struct err *e)
{
	*t = (struct tree_store)TREE_STORE_INIT;
	t->dir = dir;
	t->folder = S_ISDIR(mode);
	hash_begin(&t->listing, false);
	t->levels = calloc(COLLECT_DEPTH_MAX, sizeof(*t->levels));
	if (!t->levels)
		return err_host(e, "out of memory for a tree");
	t->entries = 1;
	if (!t->folder) {
		t->file_mode = (mode & MODE_MASK) | MODE_FILE;
		return store_begin(&t->file, dir, number, e);
	}
	t->part = part_make(t->temp, dir, number, true, e);
	if (t->part < 0)
		return -1;
	const int fd = fcntl(t->part, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "open a folder of the tree");
	list_mode(t, 'd', (mode & MODE_MASK) | MODE_FOLDER, "");
	return push(t, fd, mode);
}

int tree_store_folder(struct tree_store *t, const char *name, mode_t mode, struct err *e)
{
	if (check_name(t, name, e) < 0)
		return -1;
	if (t->depth == COLLECT_DEPTH_MAX)
		return err_host(e, "the folders of the tree are nested deeper than %d",
				COLLECT_DEPTH_MAX);
	const int fd = make_folder(top(t)->fd, name, e);
	if (fd < 0)
		return -1;
	list_mode(t, 'd', (mode & MODE_MASK) | MODE_FOLDER, name);
	return push(t, fd, mode);
}

static int close_level(struct tree_store *t, struct err *e)
{
	struct tree_level *level = &t->levels[--t->depth];
	const int done = fchmod(level->fd, level->mode);
	if (done < 0)
		err_sys(e, "set the mode of a folder of the tree");
	fd_close(&level->fd);
	list(t, "u", "");
	return done;
}

int tree_store_leave(struct tree_store *t, struct err *e)
{
	return t->depth < 2 ? err_host(e, "the tree was left before its end") : close_level(t, e);
}

int tree_store_link(struct tree_store *t, const char *name, const char *target, struct err *e)
{
	if (check_name(t, name, e) < 0)
		return -1;
	if (!collect_link_stays(target, t->depth - 1))
		return err_host(e, "a link of the tree leads out of it");
	if (symlinkat(target, top(t)->fd, name) < 0)
		return err_sys(e, "make a link of the tree");
	list(t, "l ", name);
	list(t, "", target);
	return 0;
}

/* ---- files ---- */

int tree_store_file(struct tree_store *t, const char *name, mode_t mode, struct err *e)
{
	if (check_name(t, name, e) < 0)
		return -1;
	t->file = (struct store_file)STORE_FILE_INIT;
	t->file.fd = openat(top(t)->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    MODE_FILE);
	if (t->file.fd < 0)
		return err_sys(e, "make a file of the tree");
	t->file_at = 0;
	t->file_mode = (mode & MODE_MASK) | MODE_FILE;
	snprintf(t->file_name, sizeof(t->file_name), "%s", name);
	return 0;
}

int tree_store_data(struct tree_store *t, const void *bytes, size_t len, uint64_t offset,
		    struct err *e)
{
	t->file_at = offset + len;
	return store_write(&t->file, bytes, len, offset, e);
}

int tree_store_file_end(struct tree_store *t, uint64_t size, const char digest[65], struct err *e)
{
	char line[128];
	if (t->file_at < size && store_size(&t->file, size, e) < 0)
		return -1;
	if (fchmod(t->file.fd, t->file_mode) < 0)
		return err_sys(e, "set the mode of a file of the tree");
	snprintf(line, sizeof(line), "f %03o %" PRIu64 " %s ", t->file_mode, size, digest);
	list(t, line, t->folder ? t->file_name : "");
	t->bytes += size;
	if (t->folder)
		fd_close(&t->file.fd);
	return 0;
}

/* ---- all of it ---- */

static int give_name(struct tree_store *t, const char *name)
{
	char link[40];
	if (t->folder)
		return renameat2(t->dir, t->temp, t->dir, name, RENAME_NOREPLACE);
	if (t->file.temp[0])
		return renameat2(t->dir, t->file.temp, t->dir, name, RENAME_NOREPLACE);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", t->file.fd);
	return linkat(AT_FDCWD, link, t->dir, name, AT_SYMLINK_FOLLOW);
}

int tree_store_publish(struct tree_store *t, const char *name, char digest[65], struct err *e)
{
	if (t->depth != (t->folder ? 1 : 0))
		return err_host(e, "the tree ended before its folders");
	if (t->folder && close_level(t, e) < 0)
		return -1;
	if (give_name(t, name) < 0)
		return errno == EEXIST
			       ? err_usage(e, "the artifacts folder has an entry of that name already")
			       : err_sys(e, "name a tree in the artifacts folder");
	t->temp[0] = '\0';
	t->file.temp[0] = '\0';
	fd_close(&t->part);
	hash_end(&t->listing, digest);
	return 0;
}

void tree_store_drop(struct tree_store *t)
{
	while (t->depth > 0)
		fd_close(&t->levels[--t->depth].fd);
	free(t->levels);
	t->levels = NULL;
	store_drop(&t->file, t->dir);
	if (t->temp[0])
		tree_remove(t->dir, t->temp);
	t->temp[0] = '\0';
	fd_close(&t->part);
}
