#include "pipeline/scan/walk.h"

#include "base/dir.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RESOLVE_STRICT = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV
};

struct walk {
	const struct walk_visitor *v;
	size_t entries;
	char path[WALK_PATH_MAX];
};

/* One folder on the way. */
struct level {
	int fd;
	int depth;
	size_t len; /* of its path, without a '/' at the end */
	const char *name;
};

static int walk_folder(struct walk *w, const struct level *l, struct err *e);

bool walk_leads_out(const char *path, int depth)
{
	if (path[0] == '/')
		return true;
	while (*path) {
		const size_t len = strcspn(path, "/");
		if (len == 2 && path[0] == '.' && path[1] == '.')
			depth--;
		else if (len > 0 && !(len == 1 && path[0] == '.'))
			depth++;
		if (depth < 0)
			return true;
		path += len + (path[len] == '/');
	}
	return false;
}

static void visit_link(struct walk *w, const struct level *l, const char *name)
{
	char target[PATH_MAX];
	const ssize_t n = readlinkat(l->fd, name, target, sizeof(target) - 1);
	if (n < 0) {
		w->v->passed(w->v->arg, w->path, errno);
		return;
	}
	target[n] = '\0';
	if (walk_leads_out(target, l->depth))
		w->v->link(w->v->arg, w->path, target);
}

/* What was a file a moment ago: opened without waiting for anybody, and looked at again. */
static int visit_file(struct walk *w, const struct level *l, const char *name, struct err *e)
{
	struct stat st;
	autoclose int fd = fd_openat2(l->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
				      RESOLVE_STRICT);
	if (fd < 0 || fstat(fd, &st) < 0) {
		w->v->passed(w->v->arg, w->path, errno);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return 0;
	const struct walk_file f = {.path = w->path,
				    .name = name,
				    .folder = l->name,
				    .fd = fd,
				    .size = (uint64_t)st.st_size};
	return w->v->file(w->v->arg, &f, e);
}

static int visit_folder(struct walk *w, const struct level *l, const char *name, struct err *e)
{
	if (l->depth + 1 >= WALK_DEPTH_MAX) {
		w->v->passed(w->v->arg, w->path, 0);
		return 0;
	}
	autoclose int fd = fd_openat2(l->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
				      RESOLVE_STRICT);
	if (fd < 0) {
		w->v->passed(w->v->arg, w->path, errno);
		return 0;
	}
	const struct level below = {.fd = fd,
				    .depth = l->depth + 1,
				    .len = strlen(w->path),
				    .name = name};
	return walk_folder(w, &below, e);
}

/* Devices are never opened: opening alone may do something. */
static int visit(struct walk *w, const struct level *l, const char *name, struct err *e)
{
	struct stat st;
	const int n = snprintf(w->path + l->len, sizeof(w->path) - l->len, "%s%s",
			       l->len ? "/" : "", name);
	if (n < 0 || (size_t)n >= sizeof(w->path) - l->len) {
		w->path[l->len] = '\0';
		w->v->passed(w->v->arg, w->path, ENAMETOOLONG);
		return 0;
	}
	if (fstatat(l->fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0) {
		w->v->passed(w->v->arg, w->path, errno);
		return 0;
	}
	if (S_ISLNK(st.st_mode))
		visit_link(w, l, name);
	else if (S_ISREG(st.st_mode))
		return visit_file(w, l, name, e);
	else if (S_ISDIR(st.st_mode))
		return visit_folder(w, l, name, e);
	return 0;
}

struct names {
	char **at;
	size_t len, room;
};

static void free_names(struct names *n)
{
	for (size_t i = 0; i < n->len; i++)
		free(n->at[i]);
	free(n->at);
}

static int add_name(struct names *n, const char *name, struct err *e)
{
	if (n->len == n->room) {
		const size_t room = n->room ? 2 * n->room : 64;
		char **at = reallocarray(n->at, room, sizeof(*at));
		if (!at)
			return err_host(e, "out of memory");
		n->at = at;
		n->room = room;
	}
	n->at[n->len] = strdup(name);
	return n->at[n->len++] ? 0 : err_host(e, "out of memory");
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* 1: there are more names than are taken. */
static int list_folder(struct walk *w, int folder, struct names *n, struct err *e)
{
	autodir *list = dir_open(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (const struct dirent *d; list && (d = dir_next(list));) {
		if (n->len == WALK_FOLDER_MAX || ++w->entries > WALK_ENTRIES_MAX)
			return 1;
		if (add_name(n, d->d_name, e) < 0)
			return -1;
	}
	if (errno)
		w->v->passed(w->v->arg, w->path, errno);
	return 0;
}

static int walk_folder(struct walk *w, const struct level *l, struct err *e)
{
	struct names n = {.at = NULL};
	int got = list_folder(w, l->fd, &n, e);
	if (got == 1)
		w->v->passed(w->v->arg, w->path, 0);
	if (n.len > 0)
		qsort(n.at, n.len, sizeof(*n.at), compare);
	for (size_t i = 0; got >= 0 && i < n.len; i++) {
		got = visit(w, l, n.at[i], e);
		w->path[l->len] = '\0';
	}
	free_names(&n);
	return got < 0 ? -1 : 0;
}

int walk_tree(int folder, const struct walk_visitor *v, struct err *e)
{
	struct walk w = {.v = v};
	const struct level top = {.fd = folder, .name = ""};
	return walk_folder(&w, &top, e);
}
