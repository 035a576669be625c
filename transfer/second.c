#include "transfer/second.h"

#include "base/dir.h"
#include "base/fd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file with several names, and the place that one of them is in. */
struct second {
	uint64_t ino;
	const struct vet_place *place;
};

/* Of one file system. */
struct vet_seconds {
	uint64_t dev;
	struct second *all;
	size_t len, room;
	struct vet_seconds *next;
};

struct look {
	struct vet_seconds *found;
	struct arena *arena;
	const struct vet_place *place;
	size_t names;
};

static void note(const struct look *l, uint64_t ino)
{
	struct vet_seconds *f = l->found;
	if (f->len == f->room) {
		struct second *more = arena_alloc(l->arena, (f->room * 2 + 16) * sizeof(*more));
		if (f->len > 0)
			memcpy(more, f->all, f->len * sizeof(*more));
		f->all = more;
		f->room = f->room * 2 + 16;
	}
	f->all[f->len++] = (struct second){ino, l->place};
}

/* As deep as SECOND_DEPTH_MAX. A file system that is mounted below has files of its own. */
static void look_into(struct look *l, int dir, const char *name, int depth)
{
	struct stat st;
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != l->found->dev)
		return;
	autodir *list = dir_open(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	for (const struct dirent *d; list && l->names < SECOND_NAMES_MAX && (d = dir_next(list));) {
		l->names++;
		if ((d->d_type != DT_REG && d->d_type != DT_DIR && d->d_type != DT_UNKNOWN) ||
		    fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
			continue;
		if (S_ISREG(st.st_mode) && st.st_nlink > 1 && st.st_dev == l->found->dev)
			note(l, st.st_ino);
		else if (S_ISDIR(st.st_mode) && depth < SECOND_DEPTH_MAX)
			look_into(l, fd, d->d_name, depth + 1);
	}
}

static int by_inode(const void *a, const void *b)
{
	const struct second *x = a, *y = b;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static struct vet_seconds *read_places(const struct vet *v, uint64_t dev)
{
	struct vet_seconds *found = arena_alloc(v->arena, sizeof(*found));
	*found = (struct vet_seconds){.dev = dev, .next = *v->seconds};
	for (size_t i = 0; i < v->len; i++) {
		struct look l = {.found = found, .arena = v->arena, .place = &v->places[i]};
		if (v->places[i].tree && v->places[i].dev == dev)
			look_into(&l, AT_FDCWD, v->places[i].path, 1);
	}
	if (found->len > 0)
		qsort(found->all, found->len, sizeof(*found->all), by_inode);
	*v->seconds = found;
	return found;
}

const struct vet_place *second_find(const struct vet *v, const struct stat *st)
{
	const struct vet_seconds *s = *v->seconds;
	while (s && s->dev != st->st_dev)
		s = s->next;
	if (!s)
		s = read_places(v, st->st_dev);
	const struct second key = {.ino = st->st_ino};
	const struct second *hit = s->len ? bsearch(&key, s->all, s->len, sizeof(key), by_inode)
					  : NULL;
	return hit ? hit->place : NULL;
}
