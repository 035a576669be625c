#include "pipeline/work.h"

#include "base/dir.h"
#include "base/fd.h"
#include "transfer/tree_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- folders ---- */

/* A folder of this user's that nobody else may enter; made where it is not there. */
static int own_folder(int dir, const char *name, struct err *e)
{
	struct stat st;
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make the folder %s of the job store", name);
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open the folder %s of the job store", name);
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return err_host(e,
				"the folder %s of the job store is not this user's alone (uid %u, mode %04o)",
				name, st.st_uid, st.st_mode & 07777);
	return fd_take(&fd);
}

/* The store may not be there yet; what it lies in must be, as for any store. */
static int open_store(const char *store, struct arena *a, struct err *e)
{
	char *path = arena_strdup(a, store);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open the store %s", store) : fd;
}

int work_open(struct work *w, const char *store, struct arena *a, struct err *e)
{
	if (!store || store[0] != '/')
		return err_usage(e, "nothing says where the store is: PINFOLD_STORE, XDG_DATA_HOME or HOME "
				    "may, by an absolute path");
	autoclose int top = open_store(store, a, e);
	if (top < 0 || (w->jobs = own_folder(top, "jobs", e)) < 0 ||
	    (w->cache = own_folder(w->jobs, "cache", e)) < 0 ||
	    (w->works = own_folder(w->jobs, "work", e)) < 0)
		return -1;
	w->path = arena_printf(a, "%s/jobs", store);
	return 0;
}

/* ---- what others left ---- */

/* Locked by nobody else, and still the folder of that name: then -1 is not what comes. */
static int lock_abandoned(int dir, const char *name)
{
	struct stat held, named;
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &held) < 0 ||
	    fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) < 0 || held.st_ino != named.st_ino)
		return -1;
	return fd_take(&fd);
}

/* Takes the names in dir one after the other to each(). */
static int for_names(int dir, void (*each)(int dir, const char *name, void *arg), void *arg)
{
	autodir *list = dir_open(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!list)
		return -1;
	for (const struct dirent *d; (d = dir_next(list));)
		each(dir, d->d_name, arg);
	return errno ? -1 : 0;
}

/* What is no folder is nothing of a job's, and only in the way. True: it is none, and was taken. */
static bool sweep_stray(int dir, const char *name, struct work_swept *swept)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode))
		return false;
	if (unlinkat(dir, name, 0) == 0)
		swept->strays++;
	else if (errno != ENOENT && errno != EISDIR)
		swept->failed = true;
	return true;
}

static void sweep_work(int dir, const char *name, void *arg)
{
	struct work_swept *swept = arg;
	if (sweep_stray(dir, name, swept))
		return;
	autoclose int fd = lock_abandoned(dir, name);
	if (fd < 0)
		return;
	if (tree_remove(dir, name) == 0)
		swept->works++;
	else
		swept->failed = true;
}

/* Whoever sweeps meanwhile may have taken it before it was held: then it is made anew. */
static int hold_own(struct work *w)
{
	struct stat held, named;
	if (mkdirat(w->works, w->id, 0700) < 0)
		return -1;
	autoclose int fd = openat(w->works, w->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_SH) < 0 || fstat(fd, &held) < 0 ||
	    fstatat(w->works, w->id, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (held.st_ino != named.st_ino) {
		errno = ENOENT;
		return -1;
	}
	w->own = fd_take(&fd);
	return 0;
}

int work_begin(struct work *w, const char *id, struct err *e)
{
	enum { TRIES = 100 };
	struct work_swept swept = {0};
	for_names(w->works, sweep_work, &swept);
	snprintf(w->id, sizeof(w->id), "%s", id);
	for (int i = 0; i < TRIES; i++) {
		if (hold_own(w) == 0)
			return 0;
		if (errno == EEXIST)
			return err_usage(e, "a job named %s runs already", id);
		if (errno != ENOENT)
			break;
	}
	return err_sys(e, "make the job's folder %s", id);
}

int work_folder(struct work *w, const char *name, const char **path, struct arena *a, struct err *e)
{
	if (mkdirat(w->own, name, 0700) < 0)
		return err_sys(e, "make the folder %s of the job", name);
	const int fd = openat(w->own, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open the folder %s of the job", name);
	*path = arena_printf(a, "%s/work/%s/%s", w->path, w->id, name);
	return fd;
}

int work_close(struct work *w, struct err *e)
{
	int done = 0;
	if (w->own >= 0 && tree_remove(w->works, w->id) < 0)
		done = err_sys(e, "remove the job's folder %s; `pinfold job gc` tries again", w->id);
	int *fds[] = {&w->own, &w->works, &w->cache, &w->jobs};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		fd_close(fds[i]);
	return done;
}

/* ---- gc of the cache ---- */

struct entry {
	char name[80];
	int64_t used_ns;
	uint64_t bytes;
};

struct entries {
	struct entry *list;
	size_t len, room;
	bool broken;
	struct work_swept *swept;
};

/* A folder's files, with all that is in it, as deep as trees are. */
static uint64_t bytes_of(int dir, const char *name, unsigned depth)
{
	struct stat st;
	uint64_t sum = 0;
	autodir *list = dir_open(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	const int fd = list ? dirfd(list) : -1;
	for (const struct dirent *d; fd >= 0 && (d = dir_next(list));) {
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		sum += (uint64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode) && depth > 0)
			sum += bytes_of(fd, d->d_name, depth - 1);
	}
	return sum;
}

static void note_entry(int dir, const char *name, void *arg)
{
	struct entries *all = arg;
	struct stat st;
	if (sweep_stray(dir, name, all->swept) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    strlen(name) >= sizeof(all->list->name))
		return;
	if (all->len == all->room) {
		const size_t room = all->room ? all->room * 2 : 256;
		struct entry *list = reallocarray(all->list, room, sizeof(*list));
		all->broken |= !list;
		if (!list)
			return;
		all->list = list;
		all->room = room;
	}
	struct entry *one = &all->list[all->len++];
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	one->bytes = bytes_of(dir, name, COLLECT_DEPTH_MAX + 4);
}

static int by_use(const void *a, const void *b)
{
	const int64_t x = ((const struct entry *)a)->used_ns, y = ((const struct entry *)b)->used_ns;
	return (x > y) - (x < y);
}

/* False: it is used, or cannot be removed. */
static bool sweep_entry(struct work *w, const struct entry *one, struct work_swept *swept)
{
	autoclose int fd = lock_abandoned(w->cache, one->name);
	if (fd < 0)
		return false;
	if (tree_remove(w->cache, one->name) < 0) {
		swept->failed = true;
		return false;
	}
	swept->entries++;
	swept->bytes += one->bytes;
	return true;
}

int work_gc(struct work *w, uint64_t older_ns, uint64_t most_bytes, struct work_swept *swept,
	    struct err *e)
{
	struct entries all = {.swept = swept};
	struct timespec now;
	uint64_t sum = 0;
	*swept = (struct work_swept){0};
	clock_gettime(CLOCK_REALTIME, &now);
	const int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (for_names(w->works, sweep_work, swept) < 0 ||
	    for_names(w->cache, note_entry, &all) < 0 || all.broken) {
		free(all.list);
		return err_sys(e, "read the job store");
	}
	if (all.len > 0)
		qsort(all.list, all.len, sizeof(*all.list), by_use);
	for (size_t i = 0; i < all.len; i++)
		sum += all.list[i].bytes;
	for (size_t i = 0; i < all.len; i++) {
		const struct entry *one = &all.list[i];
		const uint64_t age = now_ns > one->used_ns ? (uint64_t)(now_ns - one->used_ns) : 0;
		if (age < older_ns && sum <= most_bytes)
			continue;
		if (sweep_entry(w, one, swept))
			sum -= one->bytes;
	}
	free(all.list);
	return swept->failed ? err_host(e, "not all of it could be removed") : 0;
}
