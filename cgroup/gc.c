/* `pinfold gc`: every place where this user's runs make leaves, one after the other. */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void sweep_path(int mount, const char *path, struct sweep *s)
{
	autoclose int dir = openat(mount, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0)
		leaves_sweep(dir, s);
}

/* Our own cgroup and those above it: the delegated subtree is among them. What is not ours to write
 * to is passed over, and a leaf is known by its name and by its lock. */
static void sweep_ancestors(const struct hierarchy *h, struct sweep *s)
{
	char path[sizeof(h->own)];
	memcpy(path, h->own, sizeof(path));
	do
		sweep_path(h->mount, path, s);
	while (path_parent(path));
}

static int sweep_given(const struct hierarchy *h, const char *given, struct sweep *s, struct err *e)
{
	struct cgroup_place p = CGROUP_PLACE_INIT;
	if (place_given(h, given, &p, e) < 0)
		return -1;
	leaves_sweep(p.parent, s);
	cgroup_place_close(&p);
	return 0;
}

int cgroup_gc(const char *given_parent, bool (*is_running)(const char *id, void *arg), void *arg,
	      unsigned *removed, struct err *e)
{
	char why[WHY_SIZE];
	struct hierarchy h = HIERARCHY_INIT;
	struct sweep s = {.is_running = is_running, .arg = arg};
	int failed = 0;
	*removed = 0;
	if (hierarchy_open(&h, why, sizeof(why)) < 0)
		return given_parent ? err_usage(e, "--cgroup-parent %s: %s", given_parent, why) : 0;
	if (given_parent)
		failed = sweep_given(&h, given_parent, &s, e);
	if (h.own_known)
		sweep_ancestors(&h, &s);
	else
		sweep_path(h.mount, "", &s);
	sweep_path(h.mount, SLICE_NAME, &s);
	unlinkat(h.mount, SLICE_NAME, AT_REMOVEDIR); /* refused while a run is in it */
	*removed = s.removed;
	hierarchy_close(&h);
	return failed;
}
