/* Making the leaf: all or nothing.
 *
 * Who holds a leaf is told by an exclusive flock(2) on its directory, which the kernel frees with the
 * supervisor however that dies. Who looks for leaves left behind takes that lock: a leaf of which it can
 * be had and that holds no process is nobody's, and the next run or `pinfold gc` removes it. A new
 * leaf has no lock for a moment; one that is removed in that moment is missed here and made again.
 */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 16, AGAIN = 1 };

static void discard(struct cgroup *cg)
{
	struct err ignored = ERR_INIT;
	cgroup_destroy(cg, &ignored);
}

/* Whatever the caller's umask is: pid 1, which has another id, passes through it when it mounts the hierarchy. */
static int make_passable(int dir, const char *name)
{
	const mode_t before = umask(022);
	const int rc = mkdirat(dir, name, 0755);
	const int error = errno;
	umask(before);
	errno = error;
	return rc;
}

/* The directory itself: a new one, or a stale one of that name taken over. 0, AGAIN or -1 with errno. */
static int make_directory(int parent, const char *name)
{
	if (make_passable(parent, name) == 0)
		return 0;
	if (errno == ENOENT) /* the slice was removed by the last run that left it */
		return AGAIN;
	if (errno != EEXIST)
		return -1;
	autoclose int old = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (old < 0)
		return errno == ENOENT ? AGAIN : -1;
	if (leaf_abandoned(old) && (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT))
		return AGAIN;
	errno = EEXIST;
	return -1;
}

static int hold(struct cgroup *cg, const char *name)
{
	autoclose int dir = openat(cg->parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return errno == ENOENT ? AGAIN : -1;
	/* We made it, so that only somebody who looks for leaves left behind can be in the way. */
	if (flock(dir, LOCK_EX) < 0)
		return errno == EINTR ? AGAIN : -1;
	cg->has_kill = faccessat(dir, "cgroup.kill", W_OK, AT_EACCESS) == 0;
	if (!cg->has_kill && faccessat(dir, "cgroup.procs", F_OK, 0) < 0)
		return AGAIN;
	cg->dir = fd_take(&dir);
	return 0;
}

static int make_leaf(struct cgroup *cg, const struct cgroup_place *p, const char *name)
{
	int result = make_directory(cg->parent, name);
	if (result == 0)
		result = hold(cg, name);
	if (result != 0)
		return result;
	snprintf(cg->name, sizeof(cg->name), "%s", name);
	snprintf(cg->path, sizeof(cg->path), "%s/%s",
		 strcmp(p->parent_path, "/") == 0 ? "" : p->parent_path, name);
	return 0;
}

/* ---- the parent, by the place's source ---- */

static int enable(struct cgroup *cg, int dir, const char *path, const struct cgroup_place *p)
{
	struct offer o = {.dir = dir, .path = path, .want = p->controllers & p->want};
	if (o.want == 0)
		return 0;
	cg->controllers = controllers_enable(&o, cg->why_not);
	return cg->controllers & o.want ? 0 : -1;
}

/* The slice may go away between any two steps, with the last leaf in it: then begin again. */
static int slice_open(struct cgroup *cg, const struct cgroup_place *p)
{
	if (make_passable(p->parent, SLICE_NAME) < 0 && errno != EEXIST)
		return -1;
	cg->parent = openat(p->parent, SLICE_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (cg->parent < 0)
		return errno == ENOENT ? AGAIN : -1;
	snprintf(cg->made, sizeof(cg->made), SLICE_NAME);
	cg->controllers = 0;
	if (enable(cg, p->parent, "the cgroup2 root", p) == 0)
		enable(cg, cg->parent, "/" SLICE_NAME, p);
	return 0;
}

static int parent_open(struct cgroup *cg, const struct cgroup_place *p)
{
	fd_close(&cg->parent);
	if (p->source == CGROUP_SLICE)
		return slice_open(cg, p);
	cg->parent = fcntl(p->parent, F_DUPFD_CLOEXEC, 3);
	return cg->parent < 0 ? -1 : 0;
}

static int leaf_below(struct cgroup *cg, const struct cgroup_place *p, const char *name,
		      struct err *e)
{
	const char *parent = strcmp(p->parent_path, "/") == 0 ? "" : p->parent_path;
	for (int i = 0; i < ATTEMPTS; i++) {
		int result = parent_open(cg, p);
		if (result == 0)
			result = make_leaf(cg, p, name);
		if (result == 0)
			return 0;
		/* Its supervisor holds it, or for a moment somebody who looks for leaves left behind. */
		if (result < 0 && errno == EEXIST && i + 1 < ATTEMPTS) {
			poll(NULL, 0, 2);
			continue;
		}
		if (result < 0 && errno == EEXIST)
			return err_sys(e, "cgroup %s/%s: a run with this id is alive", parent, name);
		if (result < 0)
			return err_sys(e, "make cgroup %s/%s", parent, name);
	}
	errno = EAGAIN;
	return err_sys(e, "make cgroup %s/%s: it is removed as soon as it is made", parent, name);
}

static int move(int dir, const char *procs, pid_t pid)
{
	char text[16];
	snprintf(text, sizeof(text), "%d", pid);
	return fd_write_small(dir, procs, text);
}

/* systemd put the first process and the keeper into the scope's own cgroup. It must leave that
 * before controllers can be enabled for the leaf ("no internal processes"). */
static int leaf_in_scope(struct cgroup *cg, const struct cgroup_place *p, const char *name,
			 const char *libexec, struct err *e)
{
	struct cgroup_place scope = *p;
	if (p->first <= 0)
		return err_bug(e, "a scope needs its first process");
	snprintf(cg->made, sizeof(cg->made), "%s.scope", name);
	if (scope_start(cg, p, libexec, scope.parent_path, e) < 0)
		return -1;
	scope.source = CGROUP_GIVEN; /* from here on it is a directory like any other */
	autoclose int dir = openat(p->parent, scope.parent_path + 1,
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	scope.parent = dir;
	if (dir < 0)
		return err_sys(e, "open the scope's cgroup %s", scope.parent_path);
	if (make_passable(dir, "keeper") < 0 || move(dir, "keeper/cgroup.procs", cg->keeper) < 0)
		return err_sys(e, "move the keeper into %s/keeper", scope.parent_path);
	if (leaf_below(cg, &scope, name, e) < 0)
		return -1;
	if (move(cg->dir, "cgroup.procs", p->first) < 0)
		return err_sys(e, "move process %d into %s", p->first, cg->path);
	cg->controllers = 0;
	enable(cg, dir, scope.parent_path, p);
	return 0;
}

static int check_io(const struct cgroup *cg, const struct limits *lim, struct err *e)
{
	if (!limits_want_io(lim) || (cg->controllers & CG_IO))
		return 0;
	return err_host(e, "io limits need the io controller: %s",
			cg->why_not[3][0] ? cg->why_not[3] : "it is not enabled");
}

int cgroup_create(struct cgroup *cg, const struct cgroup_place *p, const char *name,
		  const struct limits *lim, struct err *e)
{
	__attribute__((cleanup(discard))) struct cgroup new = CGROUP_INIT;
	if (p->source == CGROUP_NONE)
		return err_bug(e, "no place for a cgroup");
	if (strchr(name, '/') || strlen(name) >= sizeof(new.name))
		return err_bug(e, "cgroup name %s", name);
	new.source = p->source;
	new.controllers = p->controllers;
	memcpy(new.why_not, p->why_not, sizeof(new.why_not));
	memcpy(new.mend, p->mend, sizeof(new.mend));
	int made = p->source == CGROUP_SCOPE ? leaf_in_scope(&new, p, name, p->libexec, e)
					     : leaf_below(&new, p, name, e);
	if (made < 0 || check_io(&new, lim, e) < 0 || limits_write(&new, lim, e) < 0)
		return -1;
	if (limits_want_io(lim) && limits_write_io(&new, lim, p->image, e) < 0)
		return -1;
	*cg = new;
	new = (struct cgroup)CGROUP_INIT;
	return 0;
}
