/* The ladder: where a leaf may be made.
 *
 * Whoever may write to a directory is not thereby its owner. A systemd is the single writer of its
 * tree (CGROUP_DELEGATION.md): it may switch controllers off in any directory of its own, and a
 * limit with them, in the middle of a run. So in a tree that has a systemd, only what it handed out
 * with Delegate=yes counts as a delegated subtree: at or below the nearest ancestor that carries
 * its mark, the xattr user.delegate (trusted.delegate before version 251). A marked cgroup that has
 * an init.scope is a user's manager or a container's systemd, the single writer of what is below it
 * in turn. In a tree without systemd, for an ordinary user, being able to write is the delegation.
 * For root it is not, and is not needed: root makes a slice of its own at the top. In a container
 * that top is the container's own cgroup, by its cgroup namespace, and so is ours to divide.
 */
#include "base/fd.h"
#include "cgroup/manager.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

struct ladder {
	struct hierarchy h;
	unsigned want;
	bool dry;
	const char *no_scope;
	int error;	/* errno of a look that could not be taken; 0 none */
	unsigned exist; /* controllers at the top of the mount */
	bool exist_known;
	struct cgroup_place best;
	/* Why each rung gave nothing; indexed by enum cgroup_source - 1, the top shares the slice's. */
	char reason[4][WHY_SIZE];
};

void cgroup_place_close(struct cgroup_place *p)
{
	fd_close(&p->parent);
}

static bool satisfied(const struct ladder *l)
{
	return l->best.source != CGROUP_NONE && !(l->want & ~l->best.controllers);
}

/* Takes new if it offers more of what is wanted than the best so far. */
static void compare(struct ladder *l, struct cgroup_place *new)
{
	unsigned have = l->best.controllers & l->want;
	bool better = l->best.source == CGROUP_NONE ||
		      __builtin_popcount(new->controllers & l->want) > __builtin_popcount(have);
	if (!better) {
		cgroup_place_close(new);
		return;
	}
	cgroup_place_close(&l->best);
	l->best = *new;
	l->best.parent = fd_take(&new->parent);
}

/* What entering by CLONE_INTO_CGROUP and making a leaf need: 0 or errno. Not inherited from the fd:
 * the kernel checks cgroup.procs of the common ancestor, which is this directory. */
static int writable(int dir)
{
	if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return errno;
	if (faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) < 0)
		return errno;
	return 0;
}

/* Whether a child can hold processes: below a threaded cgroup it could not, and entering it would
 * fail. The kernel's root cgroup has no type. */
static bool is_domain(int dir, char *type, size_t size)
{
	if (read_whole(dir, "cgroup.type", type, size) < 0)
		return true;
	type[strcspn(type, "\n")] = '\0';
	return strcmp(type, "domain") == 0;
}

/* Controllers of the candidate's children, enabled unless dry. */
static void offer(struct ladder *l, struct cgroup_place *p)
{
	struct offer o = {.dir = p->parent, .path = p->parent_path, .want = l->want, .dry = l->dry};
	p->controllers = controllers_enable(&o, p->why_not);
	l->error = o.error ? o.error : l->error;
}

/* ---- rung 1: --cgroup-parent ---- */

static int given_open(const struct hierarchy *h, const char *given, struct cgroup_place *p,
		      struct err *e)
{
	const char *below = path_below(given, h->point);
	if (!below)
		below = given;
	below += strspn(below, "/");
	p->parent = fd_openat2(h->mount, *below ? below : ".", O_RDONLY | O_DIRECTORY, 0,
			       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (p->parent < 0) {
		err_sys(e, "--cgroup-parent %s: no such cgroup below %s", given, h->point);
		e->kind = ERR_USAGE;
		return -1;
	}
	say(p->parent_path, sizeof(p->parent_path), "/%s", below);
	return 0;
}

static int given_check(const char *given, int dir, struct err *e)
{
	struct statfs fs;
	char type[32];
	if (fstatfs(dir, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
		return err_usage(e, "--cgroup-parent %s: not a cgroup2 directory", given);
	errno = writable(dir);
	if (errno != 0) {
		err_sys(e, "--cgroup-parent %s: its directory and its cgroup.procs must be writable",
			given);
		e->kind = ERR_USAGE;
		return -1;
	}
	if (!is_domain(dir, type, sizeof(type)))
		return err_usage(e, "--cgroup-parent %s: its cgroup.type is %s and not domain",
				 given, type);
	return 0;
}

int place_given(const struct hierarchy *h, const char *given, struct cgroup_place *p, struct err *e)
{
	struct cgroup_place new = CGROUP_PLACE_INIT;
	new.source = CGROUP_GIVEN;
	if (given_open(h, given, &new, e) < 0)
		return -1;
	if (given_check(given, new.parent, e) < 0) {
		cgroup_place_close(&new);
		return -1;
	}
	*p = new;
	return 0;
}

static int rung_given(struct ladder *l, const char *given, struct err *e)
{
	if (place_given(&l->h, given, &l->best, e) < 0)
		return -1;
	offer(l, &l->best);
	return 0;
}

/* ---- rung 2: a delegated subtree that we are in ---- */

static bool marked(int dir)
{
	char value[8];
	return (fgetxattr(dir, "user.delegate", value, sizeof(value)) == 1 && value[0] == '1') ||
	       (fgetxattr(dir, "trusted.delegate", value, sizeof(value)) == 1 && value[0] == '1');
}

static int open_below(const struct hierarchy *h, const char *path)
{
	return openat(h->mount, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len > strlen(end) && strncmp(text + len - strlen(end), end, strlen(end)) == 0;
}

/* A user's systemd (252) marks nothing. But it makes no cgroups within a unit of its own, nor may
 * anybody else but where it delegates: if we are in a child of a unit, the unit is delegated.
 * Length of its path, or -1. */
static int unit_length(const char *own, size_t manager)
{
	size_t at = manager;
	while (own[at] == '/') {
		size_t len = strcspn(own + at + 1, "/");
		at += 1 + len;
		if (!ends_with(own, at, ".slice"))
			return own[at] == '/' ? (int)at : -1;
	}
	return -1;
}

int place_delegated(const struct hierarchy *h)
{
	char path[sizeof(h->own)];
	memcpy(path, h->own, sizeof(path));
	do {
		autoclose int dir = open_below(h, path);
		if (dir < 0 || !marked(dir))
			continue;
		bool manager = faccessat(dir, "init.scope", F_OK, 0) == 0;
		return manager ? unit_length(h->own, strlen(path)) : (int)strlen(path);
	} while (path_parent(path));
	return -1;
}

static void try_subtree(struct ladder *l, const char *path)
{
	char *why = l->reason[CGROUP_SUBTREE - 1];
	struct cgroup_place p = CGROUP_PLACE_INIT;
	p.source = CGROUP_SUBTREE;
	p.parent = open_below(&l->h, path);
	int error = p.parent < 0 ? errno : writable(p.parent);
	if (out_of_resources(error))
		l->error = error;
	if (error != 0) {
		say(why, WHY_SIZE, "/%s: not writable: %s", path, strerrorname_np(error));
		cgroup_place_close(&p);
		return;
	}
	char type[32];
	if (!is_domain(p.parent, type, sizeof(type))) {
		say(why, WHY_SIZE, "/%s: its cgroup.type is %s", path, type);
		cgroup_place_close(&p);
		return;
	}
	say(p.parent_path, sizeof(p.parent_path), "/%s", path);
	offer(l, &p);
	compare(l, &p);
}

/* Nearest first: a cgroup that holds processes can give its children no controllers (EBUSY), its
 * parent may. */
static void rung_subtree(struct ladder *l)
{
	char *why = l->reason[CGROUP_SUBTREE - 1];
	char path[sizeof(l->h.own)];
	if (l->h.uid == 0 && !l->h.systemd)
		return; /* the slice is for root */
	if (!l->h.own_known) {
		say(why, WHY_SIZE, "our own cgroup is not below %s", l->h.point);
		return;
	}
	int top = l->h.systemd ? place_delegated(&l->h) : 0;
	if (top < 0) {
		say(why, WHY_SIZE, "our own cgroup /%s is not delegated to us", l->h.own);
		return;
	}
	memcpy(path, l->h.own, sizeof(path));
	do {
		try_subtree(l, path);
	} while (!satisfied(l) && path_parent(path) && (int)strlen(path) >= top);
}

/* ---- rung 3: a scope from systemd ---- */

/* Whether a manager listens that knows processes by our numbers. A socket file may be older than its
 * listener; and one that a container was given from outside leads to a systemd that would take our process
 * number for that of another: the kernel shows a listener outside our pid namespace as process 0. */
static bool listens(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer = {.pid = 0};
	socklen_t len = sizeof(peer);
	say(address.sun_path, sizeof(address.sun_path), "%s", path);
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid != 0;
}

static bool manager_listens(uid_t uid)
{
	char bus[80] = SYSTEM_BUS, private[80] = SYSTEM_PRIVATE;
	if (uid != 0) {
		snprintf(bus, sizeof(bus), USER_BUS, uid);
		snprintf(private, sizeof(private), USER_PRIVATE, uid);
	}
	return listens(bus) || listens(private);
}

/* What the scope will have: with Delegate=yes a manager enables all that it has itself. */
static void rung_scope(struct ladder *l)
{
	char *why = l->reason[CGROUP_SCOPE - 1];
	uid_t uid = l->h.uid;
	struct cgroup_place p = CGROUP_PLACE_INIT;
	p.source = CGROUP_SCOPE;
	p.user_bus = uid != 0;
	if (l->no_scope) {
		say(why, WHY_SIZE, "%s", l->no_scope);
		return;
	}
	if (!l->h.systemd || !manager_listens(uid)) {
		say(why, WHY_SIZE,
		    uid != 0 ? "no systemd of user %u listens in /run/user/%u" : "no systemd", uid,
		    uid);
		return;
	}
	char manager[80] = ".";
	if (p.user_bus)
		snprintf(manager, sizeof(manager), "user.slice/user-%u.slice/user@%u.service", uid,
			 uid);
	autoclose int dir = openat(l->h.mount, manager, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		l->error = out_of_resources(errno) ? errno : 0;
		say(why, WHY_SIZE, "/%s: %s", manager, strerrorname_np(errno));
		return;
	}
	p.controllers = controllers_read(dir, "cgroup.controllers", &l->error);
	say(p.parent_path, sizeof(p.parent_path), "/%s%s", p.user_bus ? manager : "",
	    p.user_bus ? "/app.slice" : "system.slice");
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++)
		if (l->want & ~p.controllers & 1u << i)
			say(p.why_not[i], WHY_SIZE, "not in cgroup.controllers of /%s", manager);
	compare(l, &p);
}

/* ---- rung 4: as root without systemd, a slice of our own ---- */

static void rung_slice(struct ladder *l)
{
	char *why = l->reason[CGROUP_SLICE - 1];
	struct cgroup_place p = CGROUP_PLACE_INIT;
	if (l->h.uid != 0 || l->h.systemd) {
		say(why, WHY_SIZE, l->h.systemd ? "the tree is systemd's" : "not root");
		return;
	}
	if (faccessat(l->h.mount, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		l->error = out_of_resources(errno) ? errno : 0;
		say(why, WHY_SIZE, "%s: not writable: %s", l->h.point, strerrorname_np(errno));
		return;
	}
	/* Foreseen only: cgroup_create() makes the slice, and enables them on the way down. */
	struct offer o = {.dir = l->h.mount, .path = l->h.point, .want = l->want, .dry = true};
	p.controllers = controllers_enable(&o, p.why_not);
	l->error = o.error ? o.error : l->error;
	p.source = p.controllers ? CGROUP_SLICE : CGROUP_TOP;
	say(p.parent_path, sizeof(p.parent_path), p.controllers ? "/" SLICE_NAME : "/");
	l->exist = o.there;
	l->exist_known = true;
	compare(l, &p);
}

/* ---- the whole ---- */

static void say_why_no_leaf(struct ladder *l)
{
	static const char *const rung[] = {
		[CGROUP_GIVEN - 1] = "",
		[CGROUP_SUBTREE - 1] = "subtree",
		[CGROUP_SCOPE - 1] = "scope",
		[CGROUP_SLICE - 1] = "slice",
	};
	char *text = l->best.why_no_leaf;
	for (size_t i = 0; i < 4; i++) {
		size_t at = strlen(text);
		if (l->reason[i][0])
			say(text + at, sizeof(l->best.why_no_leaf) - at, "%s%s: %s", at ? "; " : "",
			    rung[i], l->reason[i]);
	}
}

/* "+memory +cpu", as cgroup.subtree_control takes it. */
static void say_wanted(unsigned want, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++) {
		size_t at = strlen(text);
		if (want & 1u << i)
			say(text + at, size - at, "%s+%s", at ? " " : "", controller_name(i));
	}
}

/* An ordinary user without a systemd needs a cgroup to write to and to be in: what is made beside
 * the own one is entered by the right to their common parent. */
static void say_delegation(const struct ladder *l, char *mend, size_t size)
{
	char wanted[40];
	say_wanted(l->want, wanted, sizeof(wanted));
	say(mend, size,
	    "as root: cd %.40s;%s%s%s mkdir -p pf/sh; chown %u pf pf/cgroup.*; echo PID >pf/sh/cgroup.procs",
	    l->h.point, wanted[0] ? " echo " : "", wanted,
	    wanted[0] ? " >cgroup.subtree_control;" : "", l->h.uid);
}

/* Controllers that the kernel gives to cgroup v1, or to nobody, come back at boot alone. */
static void say_boot(const struct ladder *l, unsigned absent, char *mend, size_t size)
{
	const bool alone = l->h.uid != 0 && !l->h.systemd;
	say(mend, size, "kernel command line: %scgroup_no_v1=all%s%s",
	    l->h.systemd ? "systemd.unified_cgroup_hierarchy=1 " : "",
	    absent & CG_MEMORY ? " cgroup_enable=memory" : "",
	    alone ? "; then a cgroup of this user's: DELEGATION in pinfold(1)" : "");
}

/* The file or command that would give what is missing. */
static void say_mend(struct ladder *l, struct cgroup_place *p)
{
	char *mend = p->mend;
	size_t size = sizeof(p->mend);
	char wanted[40];
	if (!l->exist_known && l->h.mount >= 0)
		l->exist = controllers_read(l->h.mount, "cgroup.controllers", &l->error);
	unsigned absent = l->want & ~l->exist;
	bool top = l->h.mount >= 0 && is_kernel_root(l->h.mount);
	say_wanted(l->want & ~p->controllers, wanted, sizeof(wanted));
	if (l->h.mount < 0)
		say(mend, size, "mount -t cgroup2 none /sys/fs/cgroup, or boot without cgroup v1");
	else if (absent && top)
		say_boot(l, absent, mend, size);
	else if (!top)
		say(mend, size,
		    "give the container its cgroup with these controllers, writable, and "
		    "its processes a child of it");
	else if (p->source == CGROUP_SCOPE && p->user_bus)
		say(mend, size,
		    "/etc/systemd/system/user@.service.d/delegate.conf: [Service] "
		    "Delegate=cpu cpuset io memory pids");
	else if (l->h.systemd && p->source != CGROUP_GIVEN)
		say(mend, size, "loginctl enable-linger %u (starts this user's systemd)", l->h.uid);
	else if (p->source == CGROUP_NONE)
		say_delegation(l, mend, size);
	else
		say(mend, size,
		    "as root: echo %s into cgroup.subtree_control of each cgroup from %.30s down to %.50s",
		    wanted, l->h.point, p->parent_path);
}

static int climb(struct ladder *l, const char *given, struct err *e)
{
	if (hierarchy_open(&l->h, l->best.why_no_leaf, sizeof(l->best.why_no_leaf)) < 0) {
		/* A host that has less is one thing, one that cannot tell at the moment another. */
		if (out_of_resources(errno))
			return err_sys(e, "look for a cgroup");
		if (given)
			return err_usage(e, "--cgroup-parent %s: %s", given, l->best.why_no_leaf);
		return 0;
	}
	if (given)
		return rung_given(l, given, e);
	static void (*const rungs[])(struct ladder *) = {rung_subtree, rung_scope, rung_slice};
	for (size_t i = 0; i < 3 && !satisfied(l) && !l->error; i++)
		rungs[i](l);
	if (l->best.source == CGROUP_NONE)
		say_why_no_leaf(l);
	return 0;
}

int cgroup_find(struct cgroup_place *p, const char *given_parent, unsigned want, bool dry,
		struct err *e)
{
	struct ladder l = {.h = HIERARCHY_INIT,
			   .want = want,
			   .dry = dry,
			   .no_scope = p->no_scope,
			   .best = CGROUP_PLACE_INIT};
	int failed = climb(&l, given_parent, e);
	if (failed == 0 && l.error) {
		errno = l.error;
		failed = err_sys(e, "look for a cgroup");
		cgroup_place_close(&l.best);
	}
	if (failed == 0) {
		if (!satisfied(&l))
			say_mend(&l, &l.best);
		if (l.best.source >= CGROUP_SCOPE) /* those begin at the top of the mount */
			l.best.parent = fd_take(&l.h.mount);
		l.best.want = want;
		*p = l.best;
	}
	hierarchy_close(&l.h);
	return failed;
}
