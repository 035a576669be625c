#include "transfer/walk.h"

#include "base/dir.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *special_name(mode_t mode)
{
	return S_ISSOCK(mode)	? "a socket"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISCHR(mode)	? "a device"
	       : S_ISBLK(mode)	? "a device"
				: NULL;
}

/* ---- hard links ---- */

static size_t place_of(const struct link_table *t, uint64_t dev, uint64_t ino)
{
	size_t at = (size_t)((ino * 0x9e3779b97f4a7c15ULL ^ dev) >> 7) & (t->room - 1);
	while (t->entries[at].path && (t->entries[at].ino != ino || t->entries[at].dev != dev))
		at = (at + 1) & (t->room - 1);
	return at;
}

static bool grow(struct link_table *t)
{
	struct link_table more = {.room = t->room ? t->room * 2 : 256, .len = t->len};
	more.entries = calloc(more.room, sizeof(*more.entries));
	if (!more.entries)
		return false;
	for (size_t i = 0; i < t->room; i++)
		if (t->entries[i].path)
			more.entries[place_of(&more, t->entries[i].dev, t->entries[i].ino)] =
				t->entries[i];
	free(t->entries);
	*t = more;
	return true;
}

const char *links_first(struct link_table *t, const struct stat *st, const char *path,
			bool *out_of_memory)
{
	if (t->len * 2 >= t->room && !grow(t)) {
		*out_of_memory = true;
		return NULL;
	}
	struct link_entry *entry = &t->entries[place_of(t, st->st_dev, st->st_ino)];
	if (entry->path)
		return entry->path;
	*entry = (struct link_entry){st->st_dev, st->st_ino, strdup(path)};
	*out_of_memory |= !entry->path;
	t->len++;
	return NULL;
}

void links_free(struct link_table *t)
{
	for (size_t i = 0; i < t->room; i++)
		free(t->entries[i].path);
	free(t->entries);
	*t = (struct link_table){0};
}

/* ---- the walk ---- */

struct frame {
	DIR *dir;
	int fd;		 /* of dir */
	size_t path_len; /* of the walk's path, with this folder */
	struct stat st;
};

struct state {
	const struct walk *w;
	struct frame *frames;
	size_t depth; /* frames in use */
	char path[PATH_MAX];
};

/* Where it is in the source, which has another name inside. */
static const char *inner(const struct state *s)
{
	const char *rest = s->path + strlen(s->w->top);
	return *rest ? rest + 1 : "it";
}

static struct vet_words words(const struct state *s)
{
	return (struct vet_words){s->w->shown, inner(s)};
}

static int refuse_special(const struct state *s, mode_t mode, struct err *e)
{
	return err_usage(e, "input %s is refused: %s is %s", s->w->shown, inner(s),
			 special_name(mode));
}

/* The path with name behind it. */
static int extend(struct state *s, const char *name, struct err *e)
{
	const size_t len = s->depth ? s->frames[s->depth - 1].path_len : 0;
	const int n = snprintf(s->path + len, sizeof(s->path) - len, "%s%s", len ? "/" : "", name);
	if (n < 0 || (size_t)n >= sizeof(s->path) - len)
		return err_usage(e, "input %s: a path in it is longer than %zu bytes", s->w->shown,
				 sizeof(s->path) - 1);
	return 0;
}

static int tell(const struct state *s, struct visit v, struct err *e)
{
	v.path = s->path;
	v.inner = inner(s);
	v.depth = s->depth;
	return s->w->visit(s->w->arg, &v, e);
}

/* takes fd. st is what was opened; mount: a mount begins there. */
static int push(struct state *s, int fd, const struct stat *st, bool mount, struct err *e)
{
	autoclose int own = fd;
	const bool top = s->depth == 0;
	if (s->depth == WALK_DEPTH_MAX)
		return err_usage(e, "input %s: folders are nested deeper than %d", s->w->shown,
				 WALK_DEPTH_MAX);
	if (!top && vet_folder(s->w->vet, st, s->w->shown, e) < 0)
		return -1;
	const struct vet_words said = words(s);
	if (mount && vet_mount(s->w->vet, own, &said, e) < 0)
		return -1;
	if (tell(s, (struct visit){.kind = VISIT_FOLDER, .dir = own, .name = "", .st = st}, e) < 0)
		return -1;
	const int number = own;
	DIR *dir = fdopendir(own);
	if (!dir)
		return err_sys(e, "input %s: read %s", s->w->shown, inner(s));
	fd_take(&own);
	s->frames[s->depth++] = (struct frame){dir, number, strlen(s->path), *st};
	return 0;
}

static int pop(struct state *s, struct err *e)
{
	const struct frame f = s->frames[--s->depth];
	s->path[f.path_len] = '\0';
	const int rc =
		tell(s, (struct visit){.kind = VISIT_LEAVE, .dir = f.fd, .name = "", .st = &f.st}, e);
	closedir(f.dir);
	return rc;
}

static int enter(struct state *s, int parent, const char *name, struct err *e)
{
	struct stat st;
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
	autoclose int fd = fd_openat2(parent, name, (uint64_t)flags, 0, RESOLVE_NO_XDEV);
	const bool mount = fd < 0 && errno == EXDEV;
	if (mount)
		fd = openat(parent, name, flags | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, "input %s: open %s", s->w->shown, inner(s));
		e->kind = ERR_USAGE;
		return -1;
	}
	return push(s, fd_take(&fd), &st, mount, e);
}

static int entry(struct state *s, const struct dirent *d, struct err *e)
{
	const int parent = s->frames[s->depth - 1].fd;
	struct stat st;
	if (extend(s, d->d_name, e) < 0)
		return -1;
	if (s->w->lazy && d->d_type == DT_REG)
		return tell(s, (struct visit){.kind = VISIT_FILE, .dir = parent, .name = d->d_name},
			    e);
	if (fstatat(parent, d->d_name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0) {
		err_sys(e, "input %s: stat %s", s->w->shown, inner(s));
		e->kind = ERR_USAGE;
		return -1;
	}
	if (S_ISDIR(st.st_mode))
		return enter(s, parent, d->d_name, e);
	if (special_name(st.st_mode))
		return refuse_special(s, st.st_mode, e);
	const struct vet_words said = words(s);
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && vet_file(s->w->vet, &st, &said, e) < 0)
		return -1;
	return tell(s,
		    (struct visit){.kind = S_ISLNK(st.st_mode) ? VISIT_LINK : VISIT_FILE,
				   .dir = parent,
				   .name = d->d_name,
				   .st = &st},
		    e);
}

static int walk_folder(struct state *s, struct err *e)
{
	while (s->depth > 0) {
		const struct dirent *d = dir_next(s->frames[s->depth - 1].dir);
		if (!d && errno)
			return err_sys(e, "input %s: read a folder", s->w->shown);
		if (!d) {
			if (pop(s, e) < 0)
				return -1;
			continue;
		}
		if (entry(s, d, e) < 0)
			return -1;
	}
	return 0;
}

int walk_source(const struct walk *w, int fd, struct err *e)
{
	struct stat st;
	struct state s = {.w = w};
	int rc;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "input %s: stat", w->shown);
	if (extend(&s, w->top, e) < 0)
		return -1;
	if (special_name(st.st_mode))
		return err_usage(e, "input %s is refused: it is %s", w->shown,
				 special_name(st.st_mode));
	if (!S_ISDIR(st.st_mode))
		return tell(&s,
			    (struct visit){.kind = VISIT_FILE, .dir = fd, .name = "", .st = &st}, e);
	s.frames = calloc(WALK_DEPTH_MAX, sizeof(*s.frames));
	if (!s.frames)
		return err_host(e, "inputs: out of memory");
	rc = enter(&s, fd, ".", e);
	if (rc == 0)
		rc = walk_folder(&s, e);
	while (s.depth > 0)
		closedir(s.frames[--s.depth].dir);
	free(s.frames);
	return rc;
}
