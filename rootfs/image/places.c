/* From names to descriptors. A path is walked one component at a time, from the deepest folder of
 * it that is open already; what is walked is remembered by its path without links. */
#include "rootfs/image/unpack.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_FLAGS = O_PATH | O_DIRECTORY | O_NOFOLLOW };

struct walk {
	struct unpack *u;
	enum find find;
	unsigned links;
	unsigned depth;
	struct place at; /* fd is borrowed: a slot's or the root */
	char todo[2 * PATH_BYTES];
	size_t next; /* in todo */
};

static bool is_below(const struct path *path, const struct path *top)
{
	return path->len >= top->len && memcmp(path->text, top->text, top->len) == 0 &&
	       (path->len == top->len || path->text[top->len] == '/');
}

void places_forget(struct unpack *u, const struct path *gone)
{
	u->asked.len = 0;
	for (size_t i = 0; i < PLACES; i++) {
		if (u->places[i].fd >= 0 && is_below(&u->places[i].path, gone))
			fd_close(&u->places[i].fd);
	}
}

static struct place *slot_of(struct unpack *u, uint64_t hash)
{
	return &u->places[hash % PLACES];
}

static struct place *known(struct unpack *u, uint64_t hash, const char *path, size_t len)
{
	struct place *p = slot_of(u, hash);
	const bool same = p->fd >= 0 && p->hash == hash && p->path.len == len &&
			  memcmp(p->path.text, path, len) == 0;
	return same ? p : NULL;
}

/* w->at.path is what fd, taken, was opened for. */
static void remember(struct walk *w, int fd)
{
	struct place *p = slot_of(w->u, w->at.hash);
	fd_close(&p->fd);
	p->fd = fd;
	p->hash = w->at.hash;
	p->path.len = w->at.path.len;
	memcpy(p->path.text, w->at.path.text, w->at.path.len + 1);
	w->at.fd = fd;
}

static void to_root(struct walk *w)
{
	w->at.fd = w->u->root;
	w->at.path.len = 0;
	w->at.path.text[0] = '\0';
	w->depth = 0;
}

/* ".." out of a link; at the root it stays there, as for the kernel. */
static int climb(struct walk *w, struct err *e)
{
	if (w->depth <= 1) {
		to_root(w);
		return 1;
	}
	w->depth--;
	w->at.path.len = path_parent(&w->at.path);
	w->at.path.text[w->at.path.len] = '\0';
	w->at.hash = table_hash(&w->u->key, w->at.path.text, w->at.path.len);
	const struct place *p = known(w->u, w->at.hash, w->at.path.text, w->at.path.len);
	if (p) {
		w->at.fd = p->fd;
		return 1;
	}
	const int fd = fd_openat2(w->u->root, w->at.path.text, FOLDER_FLAGS, 0, RESOLVE_STEP);
	if (fd < 0)
		return err_sys(e, "open a folder of the tree");
	remember(w, fd);
	return 1;
}

/* name in w->at is a link: what it says comes before what is left. */
static int follow(struct walk *w, const char *name, struct err *e)
{
	char said[SHOWN_BYTES], todo[2 * PATH_BYTES];
	const ssize_t len = readlinkat(w->at.fd, name, todo, PATH_BYTES);
	if (len < 0)
		return err_sys(e, "read the link %s", path_shown(said, name));
	if (++w->links > LINKS_MAX)
		return err_usage(e, "%s: too many symbolic links", path_shown(said, name));
	const char *rest = w->todo + w->next;
	const size_t rest_len = strlen(rest);
	if (len == PATH_BYTES || (size_t)len + rest_len + 2 > sizeof(todo))
		return err_usage(e, "%s: the name is too long", path_shown(said, name));
	todo[len] = '/';
	memcpy(todo + len + 1, rest, rest_len + 1);
	if (todo[0] == '/')
		to_root(w);
	memcpy(w->todo, todo, (size_t)len + rest_len + 2);
	w->next = 0;
	return 1;
}

static int make(struct walk *w, const char *name, struct err *e)
{
	char said[SHOWN_BYTES];
	if (mkdirat(w->at.fd, name, 0700) < 0)
		return err_sys(e, "make the folder %s", path_shown(said, name));
	return 1;
}

/* There is no folder of that name: make one, or follow. 1: try again; 2: go on with what is to do; 0, -1. */
static int no_folder(struct walk *w, const char *name, const struct path *whole, struct err *e)
{
	struct stat st;
	char said[SHOWN_BYTES];
	if (fstatat(w->at.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return err_sys(e, "look up %s", path_shown(said, name));
	} else if (S_ISLNK(st.st_mode)) {
		return follow(w, name, e) < 0 ? -1 : 2;
	} else if (S_ISDIR(st.st_mode)) {
		errno = EXDEV;
		return err_sys(e, "open the folder %s", path_shown(said, name));
	} else if (w->find == FIND_MAKE && unlinkat(w->at.fd, name, 0) < 0) {
		return err_sys(e, "replace %s by a folder", path_shown(said, name));
	}
	if (w->find == FIND_LOOK)
		return 0;
	return make(w, name, e) < 0 ? -1 : journal_implied(w->u, whole, e) < 0 ? -1 : 1;
}

/* Go into the folder name: 1, 0 if it is not there, -1. */
static int enter(struct walk *w, const char *name, struct err *e)
{
	char said[SHOWN_BYTES];
	struct path whole;
	if (path_join(&whole, w->at.path.text, name, e) < 0)
		return -1;
	const uint64_t hash = table_hash(&w->u->key, whole.text, whole.len);
	const struct place *p = known(w->u, hash, whole.text, whole.len);
	int fd = -1;
	while (!p && (fd = fd_openat2(w->at.fd, name, FOLDER_FLAGS, 0, RESOLVE_STEP)) < 0) {
		if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			return err_sys(e, "open the folder %s", path_shown(said, name));
		const int next = no_folder(w, name, &whole, e);
		if (next != 1)
			return next == 2 ? 1 : next;
	}
	if (++w->depth > w->u->o.limits.depth) {
		fd_close(&fd);
		return err_usage(e, "%s: more than %u folders deep (limit depth)",
				 path_shown(said, whole.text), w->u->o.limits.depth);
	}
	w->at.hash = hash;
	w->at.path.len = whole.len;
	memcpy(w->at.path.text, whole.text, whole.len + 1);
	if (p)
		w->at.fd = p->fd;
	else
		remember(w, fd);
	return 1;
}

static int walk(struct walk *w, struct err *e)
{
	char name[PATH_BYTES];
	for (int there = 1; there == 1;) {
		w->next += strspn(w->todo + w->next, "/");
		const size_t len = strcspn(w->todo + w->next, "/");
		if (len == 0)
			return 1;
		if (len > NAME_BYTES) {
			errno = ENAMETOOLONG;
			return err_sys(e, "a component of a symbolic link");
		}
		memcpy(name, w->todo + w->next, len);
		name[len] = '\0';
		w->next += len;
		if (strcmp(name, ".") == 0)
			continue;
		there = strcmp(name, "..") == 0 ? climb(w, e) : enter(w, name, e);
		if (there <= 0)
			return there;
	}
	return 1;
}

/* What is open already: by its own path, or by the one that was walked last and had links in it. */
static const struct place *recall(struct unpack *u, const char *dir, size_t len)
{
	if (len > 0 && u->asked.len == len && memcmp(u->asked.text, dir, len) == 0) {
		const struct place *p = slot_of(u, u->answer);
		if (p->fd >= 0 && p->hash == u->answer)
			return p;
	}
	return known(u, table_hash(&u->key, dir, len), dir, len);
}

int place_find(struct unpack *u, const struct path *name, enum find find,
	       const struct place **found, struct err *e)
{
	const char *dir = name->text;
	const size_t len = path_parent(name);
	static const struct path nothing = {.len = 0};
	*found = recall(u, dir, len);
	if (*found)
		return 1;
	struct walk w;
	w.u = u;
	w.find = find;
	w.links = 0;
	w.next = 0;
	memcpy(w.todo, dir, len);
	w.todo[len] = '\0';
	to_root(&w);
	const int there = walk(&w, e);
	if (there <= 0)
		return there;
	if (w.at.path.len == 0) {
		u->top = (struct place){.fd = u->root, .path = nothing};
		*found = &u->top;
		return 1;
	}
	*found = slot_of(u, w.at.hash);
	memcpy(u->asked.text, dir, len);
	u->asked.len = len;
	u->answer = w.at.hash;
	return 1;
}

int spot_find(struct unpack *u, const struct path *name, enum find find, struct spot *s,
	      struct err *e)
{
	const struct place *p;
	const int there = place_find(u, name, find, &p, e);
	if (there <= 0)
		return there;
	s->dir = p->fd;
	if (path_join(&s->path, p->path.text, path_base(name), e) < 0)
		return -1;
	s->base = s->path.text + (s->path.len - strlen(path_base(name)));
	return find == FIND_MAKE && touch_parents(u, &s->path, e) < 0 ? -1 : 1;
}
