/* A folder of the scratch with all that is in it, as one artifact. In the collector's jail. */
#include "base/dir.h"
#include "base/fd.h"
#include "transfer/collecting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folder {
	int fd;
	char **names; /* ascending */
	size_t len, at;
};

struct tree_walk {
	struct collector *c;
	struct folder stack[COLLECT_DEPTH_MAX];
	size_t depth;
	uint64_t bytes, entries;
	enum collect_reason why; /* it ends; REASON_COUNT: it does not */
};

bool collect_link_stays(const char *target, size_t depth)
{
	bool begins = true;
	size_t ups = 0;
	if (!*target || *target == '/')
		return false;
	for (const char *at = target; *at;) {
		const size_t len = strcspn(at, "/");
		const bool up = len == 2 && at[0] == '.' && at[1] == '.';
		/* Behind another component .. goes up from wherever that one leads to. */
		if (up && (!begins || ++ups > depth))
			return false;
		begins &= up || len == 0 || (len == 1 && *at == '.');
		at += len;
		at += strspn(at, "/");
	}
	return true;
}

/* ---- the names of a folder ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void folder_close(struct folder *f)
{
	while (f->len > 0)
		free(f->names[--f->len]);
	free(f->names);
	fd_close(&f->fd);
}

static bool folder_add(struct folder *f, size_t *room, const char *name)
{
	if (f->len == *room) {
		const size_t more = *room ? *room * 2 : 64;
		char **names = reallocarray(f->names, more, sizeof(*names));
		if (!names)
			return false;
		f->names = names;
		*room = more;
	}
	f->names[f->len] = strdup(name);
	if (!f->names[f->len])
		return false;
	f->len++;
	return true;
}

/* All names, for they are sorted; as many as may still come, and one. */
static enum collect_reason folder_read(struct folder *f, uint64_t most)
{
	autodir *list = dir_open(fd_openat2(f->fd, ".", O_RDONLY | O_DIRECTORY, 0, BENEATH));
	size_t room = 0;
	if (!list)
		return REASON_UNREADABLE;
	for (const struct dirent *d; (d = dir_next(list));) {
		if (f->len >= most)
			return REASON_FILES;
		if (!folder_add(f, &room, d->d_name))
			return REASON_UNREADABLE;
	}
	if (errno)
		return REASON_UNREADABLE;
	if (f->len > 0)
		qsort(f->names, f->len, sizeof(*f->names), by_name);
	return REASON_COUNT;
}

/* ---- entries ---- */

/* takes fd. */
static void enter(struct tree_walk *w, int fd)
{
	struct folder *f = &w->stack[w->depth];
	*f = (struct folder){.fd = fd};
	w->depth++;
	w->why = folder_read(f, w->c->rule->max_files - w->entries);
	w->entries += f->len;
}

static void omit(struct tree_walk *w, const char *name, enum collect_reason reason)
{
	collect_put(w->c, (struct collect_record){.type = COLLECT_TREE_OMIT, .reason = reason},
		    name, NULL);
}

static void link_entry(struct tree_walk *w, int dir, const char *name)
{
	char target[COLLECT_PATH_MAX + 1];
	const ssize_t n = readlinkat(dir, name, target, sizeof(target));
	if (n <= 0 || n == sizeof(target))
		return omit(w, name, REASON_UNREADABLE);
	target[n] = '\0';
	if (!collect_link_stays(target, w->depth - 1))
		return omit(w, name, REASON_LEADS_OUT);
	collect_put(w->c, (struct collect_record){.type = COLLECT_TREE_LINK}, name, target);
}

/* Counts the file; false: it is too much. */
static bool spend(struct tree_walk *w, uint64_t size)
{
	if (size > w->c->rule->max_bytes - w->bytes)
		w->why = REASON_LARGE;
	else if (size > COLLECT_BYTES_MAX - w->c->total)
		w->why = REASON_TOTAL;
	else
		w->bytes += size, w->c->total += size;
	return w->why == REASON_COUNT;
}

static void file_entry(struct tree_walk *w, int dir, const char *name, const struct stat *st)
{
	autoclose int fd = fd_openat2(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
				      BENEATH);
	const uint64_t size = (uint64_t)st->st_size;
	if (fd < 0) {
		w->why = REASON_UNREADABLE;
		return;
	}
	if (!spend(w, size))
		return;
	collect_put(w->c,
		    (struct collect_record){.type = COLLECT_TREE_FILE,
					    .mode = st->st_mode & 0777,
					    .size = size},
		    name, NULL);
	collect_bytes(w->c, fd, size);
}

static void folder_entry(struct tree_walk *w, int dir, const char *name, const struct stat *st)
{
	autoclose int fd = fd_openat2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH);
	if (fd < 0 || w->depth == COLLECT_DEPTH_MAX) {
		w->why = fd < 0 ? REASON_UNREADABLE : REASON_DEPTH;
		return;
	}
	collect_put(w->c,
		    (struct collect_record){.type = COLLECT_TREE_FOLDER, .mode = st->st_mode & 0777},
		    name, NULL);
	enter(w, fd_take(&fd));
}

static void entry(struct tree_walk *w, int dir, const char *name)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		w->why = REASON_UNREADABLE;
	else if (S_ISREG(st.st_mode))
		file_entry(w, dir, name, &st);
	else if (S_ISDIR(st.st_mode))
		folder_entry(w, dir, name, &st);
	else if (S_ISLNK(st.st_mode))
		link_entry(w, dir, name);
	else
		omit(w, name,
		     S_ISFIFO(st.st_mode)   ? REASON_FIFO
		     : S_ISSOCK(st.st_mode) ? REASON_SOCKET
					    : REASON_DEVICE);
}

static void walk_entries(struct tree_walk *w)
{
	while (w->depth > 0 && w->why == REASON_COUNT && !w->c->broken) {
		struct folder *f = &w->stack[w->depth - 1];
		if (f->at < f->len) {
			entry(w, f->fd, f->names[f->at++]);
			continue;
		}
		folder_close(f);
		if (--w->depth > 0)
			collect_put(w->c, (struct collect_record){.type = COLLECT_TREE_LEAVE}, NULL,
				    NULL);
	}
	while (w->depth > 0)
		folder_close(&w->stack[--w->depth]);
}

static void send_tree(struct tree_walk *w, int fd, const struct stat *st)
{
	struct collector *c = w->c;
	const bool folder = S_ISDIR(st->st_mode);
	collect_put(c,
		    (struct collect_record){.type = COLLECT_TREE,
					    .mode = st->st_mode & (S_IFMT | 0777),
					    .size = folder ? 0 : (uint64_t)st->st_size},
		    c->path, NULL);
	if (folder) {
		enter(w, fd);
		walk_entries(w);
	} else {
		collect_bytes(c, fd, (uint64_t)st->st_size);
		close(fd);
	}
	collect_put(c, (struct collect_record){.type = COLLECT_TREE_END, .reason = w->why}, NULL,
		    NULL);
}

void collect_tree(struct collector *c, int dir, const char *name, const struct stat *st)
{
	const uint64_t size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
	const uint64_t type = S_ISDIR(st->st_mode) ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY;
	autoclose int fd = fd_openat2(dir, name, O_RDONLY | O_NOFOLLOW | type, 0, BENEATH);
	struct tree_walk *w = calloc(1, sizeof(*w));
	if (w)
		*w = (struct tree_walk){.c = c, .why = REASON_COUNT, .entries = 1};
	if (!w || fd < 0)
		collect_reject(c, REASON_UNREADABLE, size);
	else if (!spend(w, size))
		collect_reject(c, w->why, size);
	else
		send_tree(w, fd_take(&fd), st);
	c->hit = true;
	free(w);
}
