#include "rootfs/stored.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_FILE_BYTES = 64 * 1024 };

static const char id_prefix[] = "sha256:";
enum { ID_PREFIX = sizeof(id_prefix) - 1, ID_HEX = 64 };

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-:@", c));
}

/* Behind the last slash, since a registry's port looks like a tag. */
static bool has_tag(const char *name)
{
	const char *slash = strrchr(name, '/');
	return strpbrk(slash ? slash : name, ":@");
}

int stored_escape(const char *name, char escaped[STORED_NAME_BYTES])
{
	const char *tag = has_tag(name) ? "" : ":latest";
	const size_t tag_len = strlen(tag);
	size_t used = 0;
	for (const char *p = name; *p; p++) {
		/* A name that begins with a dot would be hidden, or be the folder itself. */
		const bool plain = is_plain(*p) && !(p == name && *p == '.');
		if (used + 4 + tag_len > STORED_NAME_BYTES)
			return -1;
		if (plain)
			escaped[used++] = *p;
		else
			used += (size_t)snprintf(escaped + used, 4, "%%%02X", (unsigned char)*p);
	}
	memcpy(escaped + used, tag, tag_len + 1);
	return *name ? 0 : -1;
}

static bool is_id(const char *text)
{
	return strncmp(text, id_prefix, ID_PREFIX) == 0 &&
	       strspn(text + ID_PREFIX, "0123456789abcdef") == ID_HEX &&
	       text[ID_PREFIX + ID_HEX] == '\0';
}

/* ---- opening ---- */

int stored_check_owner(int folder, struct err *e)
{
	struct stat st;
	if (fstat(folder, &st) < 0)
		return err_sys(e, "stat");
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return err_host(e, "it must belong to the user and be writable by nobody else");
	return 0;
}

int stored_open_file(int dir, const char *name, struct err *e)
{
	struct stat st;
	autoclose int fd = openat(dir, name,
				  O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "image store: open %s", name);
	if (!S_ISREG(st.st_mode))
		return err_host(e, "image store: %s is no regular file", name);
	return fd_take(&fd);
}

ssize_t stored_read_file(int dir, const char *name, char *buf, size_t size, struct err *e)
{
	size_t used = 0;
	ssize_t n;
	autoclose int fd = stored_open_file(dir, name, e);
	if (fd < 0)
		return -1;
	while ((n = read(fd, buf + used, size - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "image store: read %s", name);
		used += (size_t)n;
		if (used == size)
			return err_host(e, "image store: %s is too long", name);
	}
	buf[used] = '\0';
	return (ssize_t)used;
}

static int open_folder(int dir, const char *name, int more, struct err *e)
{
	autoclose int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | more);
	if (fd < 0)
		return err_sys(e, "open");
	return stored_check_owner(fd, e) < 0 ? -1 : fd_take(&fd);
}

/* names/ or trees/. The store itself may be reached by a link; which is the user's to choose. */
static int open_part(const char *store, const char *part, struct err *e)
{
	autoclose int top = open_folder(AT_FDCWD, store, 0, e);
	if (top < 0)
		return err_wrap(e, "image store: %s", store);
	const int fd = open_folder(top, part, O_NOFOLLOW, e);
	return fd < 0 ? err_wrap(e, "image store: %s/%s", store, part) : fd;
}

bool stored_is_shut(const char *store, struct err *e)
{
	struct stat st;
	const char *why = NULL;
	autoclose int top = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0 && errno == EACCES)
		why = "it may not be entered";
	else if (top >= 0 && fstat(top, &st) == 0 && st.st_uid != geteuid())
		why = "it must belong to the user, and is another's";
	if (why)
		err_host(e,
			 "the image store %s could not be opened: %s; PINFOLD_STORE names another, "
			 "or HOME is to be this user's own",
			 store, why);
	return why;
}

/* ---- finding ---- */

/* Of a thing that is not there; else -1 and *e. */
static int none_or(const struct err *why, struct err *e)
{
	if (why->sys == ENOENT || why->sys == ENOTDIR)
		return 0;
	*e = *why;
	return -1;
}

static int find_id(const char *store, const char *id, struct err *e)
{
	struct stat st;
	struct err why = ERR_INIT;
	autoclose int trees = open_part(store, "trees", &why);
	if (trees < 0)
		return none_or(&why, e);
	if (fstatat(trees, id + ID_PREFIX, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 1;
	return errno == ENOENT ? 0 : err_sys(e, "image store: the tree of %s", id);
}

/* The line "id sha256:..." of the file of a name. */
static int read_id(const char *text, char id[STORED_ID_BYTES])
{
	const char *line = strncmp(text, "id ", 3) == 0 ? text : strstr(text, "\nid ");
	if (!line)
		return -1;
	line += *line == '\n' ? 4 : 3;
	const size_t len = strcspn(line, "\n");
	if (len != ID_PREFIX + ID_HEX)
		return -1;
	memcpy(id, line, len);
	id[len] = '\0';
	return is_id(id) ? 0 : -1;
}

int stored_find(const char *store, const char *name, char id[STORED_ID_BYTES], struct err *e)
{
	char escaped[STORED_NAME_BYTES], text[NAME_FILE_BYTES];
	struct err why = ERR_INIT;
	if (is_id(name)) {
		snprintf(id, STORED_ID_BYTES, "%s", name);
		return find_id(store, id, e);
	}
	if (stored_escape(name, escaped) < 0)
		return 0;
	autoclose int names = open_part(store, "names", &why);
	if (names < 0 || stored_read_file(names, escaped, text, sizeof(text), &why) < 0)
		return none_or(&why, e);
	if (read_id(text, id) < 0)
		return err_host(e, "image store: %s/names/%s is damaged", store, escaped);
	return 1;
}

/* ---- a tree ---- */

/* Shared by every run; whoever removes the tree has it alone, and has moved it away when it lets go. */
static int lock_tree(int tree, const char *id, struct err *e)
{
	struct stat held, there;
	autoclose int lock = stored_open_file(tree, "lock", e);
	if (lock < 0)
		return err_wrap(e, "image %s", id);
	if (flock(lock, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? err_host(e, "image %s is being removed", id)
					    : err_sys(e, "image store: lock %s", id);
	if (fstat(lock, &held) < 0 || fstatat(tree, "lock", &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	    held.st_ino != there.st_ino)
		return err_host(e, "image %s was removed just now", id);
	return fd_take(&lock);
}

static int read_facts(int tree, struct image_facts *f, const char *id, struct arena *a, struct err *e)
{
	struct stat st;
	autoclose int fd = stored_open_file(tree, "image.json", e);
	if (fd < 0)
		return err_wrap(e, "image %s", id);
	if (fstat(fd, &st) < 0 || st.st_size > IMAGE_FACTS_BYTES_MAX)
		return err_host(e, "image store: image.json of %s is damaged", id);
	char *text = arena_alloc(a, (size_t)st.st_size + 1);
	const ssize_t n = read(fd, text, (size_t)st.st_size);
	if (n < 0)
		return err_sys(e, "image store: image.json of %s", id);
	if (image_facts_read(f, text, (size_t)n, a, e) < 0)
		return -1;
	if (strcmp(f->id, id) != 0)
		return err_host(e, "image store: image.json of %s is another image's", id);
	return 0;
}

/* Not by the name again, which somebody may have moved away meanwhile. */
static int still_there(int trees, int tree, const char *id, struct err *e)
{
	struct stat held, there;
	if (fstat(tree, &held) < 0 ||
	    fstatat(trees, id + ID_PREFIX, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	    held.st_ino != there.st_ino || held.st_dev != there.st_dev)
		return err_host(e, "image %s was removed just now", id);
	return 0;
}

int stored_open(struct stored *s, const char *store, const char *id, struct arena *a, struct err *e)
{
	const char *path = arena_printf(a, "%s/trees/%s", store, id + ID_PREFIX);
	autoclose int trees = open_part(store, "trees", e);
	if (trees < 0)
		return -1;
	autoclose int tree = open_folder(trees, id + ID_PREFIX, O_NOFOLLOW, e);
	if (tree < 0)
		return err_wrap(e, "image store: %s", path);
	autoclose int lock = lock_tree(tree, id, e);
	struct image_facts facts;
	if (lock < 0 || still_there(trees, tree, id, e) < 0 || read_facts(tree, &facts, id, a, e) < 0)
		return -1;
	const int root = openat(tree, "rootfs", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (root < 0)
		return err_sys(e, "image store: the tree of %s", id);
	*s = (struct stored){.lock = fd_take(&lock),
			     .root = root,
			     .path = arena_printf(a, "%s/rootfs", path),
			     .facts = facts};
	return 0;
}

void stored_close(struct stored *s)
{
	fd_close(&s->root);
	fd_close(&s->lock);
}
