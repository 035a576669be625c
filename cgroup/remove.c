/* Removing leaves: our own at the end, and those that killed runs left behind. */
#include "base/clock.h"
#include "base/fd.h"
#include "cgroup/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 2000,
	DEPTH_MAX = 8,	     /* of cgroups that a program could have made below the leaf, */
	CHILDREN_MAX = 4096, /* were the leaf ever writable to it */
};

/* A list of dir's own, so that dir keeps its offset. */
static DIR *list_open(int dir)
{
	autoclose int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (again < 0)
		return NULL;
	DIR *list = fdopendir(again);
	if (list)
		fd_take(&again);
	return list;
}

/* The next directory in it but . and .. */
static const char *list_next(DIR *list)
{
	for (const struct dirent *d; (d = readdir(list));)
		if (d->d_type == DT_DIR && strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			return d->d_name;
	return NULL;
}

static void remove_children(int dir, int depth, int *left)
{
	__attribute__((cleanup(list_close))) DIR *list = depth > 0 ? list_open(dir) : NULL;
	for (const char *name; list && *left > 0 && (name = list_next(list)); (*left)--) {
		if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
			continue;
		autoclose int child = openat(dir, name,
					     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (child >= 0)
			remove_children(child, depth - 1, left);
		unlinkat(dir, name, AT_REMOVEDIR);
	}
}

/* Until no process in it is alive, or the deadline. */
static void wait_empty(const struct cgroup *cg, int64_t deadline)
{
	autoclose int fd = cgroup_populated_fd(cg);
	struct pollfd p = {.fd = fd, .events = POLLPRI};
	int64_t left = deadline - monotonic_ms();
	if (fd >= 0 && left > 0 && cgroup_populated(cg) == 1)
		poll(&p, 1, (int)left);
}

/* 0 or errno. */
static int try_remove(const struct cgroup *cg)
{
	if (unlinkat(cg->parent, cg->name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errno;
}

static int remove_leaf(const struct cgroup *cg, struct err *e)
{
	int error = try_remove(cg);
	int64_t deadline = error == 0 ? 0 : monotonic_ms() + PATIENCE_MS;
	for (int pause = 0; error == EBUSY && monotonic_ms() < deadline; pause = 10) {
		int left = CHILDREN_MAX;
		wait_empty(cg, deadline);
		poll(NULL, 0, pause); /* nothing tells when a child can be removed */
		remove_children(cg->dir, DEPTH_MAX, &left);
		error = try_remove(cg);
	}
	errno = error;
	return error == 0 ? 0 : err_sys(e, "remove cgroup %s", cg->path);
}

/* A slice of ours goes with its last leaf. */
static void remove_parent(const struct cgroup *cg)
{
	char up[sizeof(cg->made) + 3];
	struct sweep s = {.is_running = NULL};
	struct stat st;
	snprintf(up, sizeof(up), "../%s", cg->made);
	if (cg->made[0] && unlinkat(cg->parent, up, AT_REMOVEDIR) == 0)
		return;
	/* Others are there, alive or left by a killed run. A cgroup's link count tells its children. */
	if (fstat(cg->parent, &st) < 0 || st.st_nlink <= 2)
		return;
	leaves_sweep(cg->parent, &s);
	if (cg->made[0] && s.removed > 0)
		unlinkat(cg->parent, up, AT_REMOVEDIR);
}

int cgroup_destroy(struct cgroup *cg, struct err *e)
{
	int failed = 0;
	if (cg->dir >= 0)
		failed = remove_leaf(cg, e);
	if (cg->source == CGROUP_SCOPE)
		scope_stop(cg, cg->dir >= 0 && failed == 0);
	else if (cg->parent >= 0 && failed == 0)
		remove_parent(cg);
	fd_close(&cg->dir);
	fd_close(&cg->parent);
	*cg = (struct cgroup)CGROUP_INIT;
	return failed;
}

bool leaf_abandoned(int fd)
{
	char events[256];
	/* Alone: of two who look at once the slower would remove, by its name, what was made anew since. */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	return read_whole(fd, "cgroup.events", events, sizeof(events)) >= 0 &&
	       line_number(events, "populated") == 0;
}

static bool remove_abandoned(int dir, const char *name)
{
	autoclose int leaf = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (leaf < 0 || !leaf_abandoned(leaf))
		return false;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return true;
	int left = CHILDREN_MAX;
	remove_children(leaf, DEPTH_MAX, &left);
	return unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

/* A scope is systemd's to remove: it does when it is empty. */
static bool is_leaf_name(const char *name)
{
	size_t len = strlen(name);
	return strncmp(name, LEAF_PREFIX, strlen(LEAF_PREFIX)) == 0 &&
	       !(len > 6 && strcmp(name + len - 6, ".scope") == 0);
}

void leaves_sweep(int dir, struct sweep *s)
{
	__attribute__((cleanup(list_close))) DIR *list = list_open(dir);
	for (const char *name; list && (name = list_next(list));) {
		if (!is_leaf_name(name))
			continue;
		if (s->is_running && s->is_running(name + strlen(LEAF_PREFIX), s->arg))
			continue;
		if (remove_abandoned(dir, name))
			s->removed++;
	}
}
