#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

const char *path_below(const char *path, const char *root)
{
	size_t len = strlen(root);
	if (strcmp(root, "/") == 0)
		len = 0;
	if (strncmp(path, root, len) != 0)
		return NULL;
	if (path[len] != '/' && path[len] != '\0')
		return NULL;
	path += len;
	while (*path == '/')
		path++;
	return path;
}

bool path_parent(char *path)
{
	if (*path == '\0')
		return false;
	char *slash = strrchr(path, '/');
	*(slash ? slash : path) = '\0';
	return true;
}

static bool has_option(const char *options, const char *name)
{
	size_t len = strlen(name);
	for (const char *p = options; p; p = strchr(p, ',')) {
		if (*p == ',')
			p++;
		if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

struct mount_search {
	struct hierarchy *h;
	char root[256];
	bool read_only;
};

/* Whether fd is on this very mount and not on one over it; stronger than its file system's magic. */
static bool is_mount(int fd, int id)
{
	struct statx st;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
		return false;
	return (st.stx_mask & STATX_MNT_ID) && st.stx_mnt_id == (uint64_t)id;
}

bool out_of_resources(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE || error == EINTR ||
	       error == EAGAIN || error == EIO;
}

/* The first writable cgroup2 mount, else the first. */
static int consider_mount(const struct mount_line *m, void *arg)
{
	struct mount_search *s = arg;
	if (strcmp(m->fstype, "cgroup2") != 0)
		return 0;
	bool read_only = has_option(m->options, "ro") || has_option(m->super_options, "ro");
	if (s->h->mount >= 0 && read_only)
		return 0;
	if (strlen(m->root) >= sizeof(s->root) || strlen(m->point) >= sizeof(s->h->point))
		return 0;
	autoclose int fd = open(m->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return out_of_resources(errno) ? -1 : 0;
	if (!is_mount(fd, m->id))
		return 0;
	fd_close(&s->h->mount);
	s->h->mount = fd_take(&fd);
	s->read_only = read_only;
	snprintf(s->root, sizeof(s->root), "%s", m->root);
	snprintf(s->h->point, sizeof(s->h->point), "%s", m->point);
	return !read_only;
}

char *own_cgroup_parse(char *text)
{
	char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!line)
		return NULL;
	line += *line == '\n' ? 4 : 3;
	char *end = strchr(line, '\n');
	if (end)
		*end = '\0';
	return line;
}

/* A cgroup that was removed under us shows as "PATH (deleted)", one outside our cgroup namespace as
 * "/../x": neither can be found below the mount, and opening it says so. */
__attribute__((noinline)) static void find_own(struct hierarchy *h, const char *root)
{
	char text[4096];
	if (read_whole(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) < 0)
		return;
	const char *path = own_cgroup_parse(text);
	const char *own = path ? path_below(path, root) : NULL;
	if (!own || strncmp(own, "../", 3) == 0 || strlen(own) >= sizeof(h->own))
		return;
	snprintf(h->own, sizeof(h->own), "%s", own);
	h->own_known = true;
}

bool is_kernel_root(int dir)
{
	return faccessat(dir, "cgroup.events", F_OK, 0) < 0 &&
	       errno == ENOENT; /* it alone has none */
}

/* Where nearly everybody has it, alone or beside version 1. Tells the mount, not what of the tree it shows. */
static bool usual_mount(struct hierarchy *h)
{
	static const char *const usual[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs fs;
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		autoclose int fd = open(usual[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC ||
		    (fs.f_flags & ST_RDONLY))
			continue;
		snprintf(h->point, sizeof(h->point), "%s", usual[i]);
		h->mount = fd_take(&fd);
		return true;
	}
	return false;
}

/* Every systemd since 2016 keeps itself in init.scope below the top of its tree; looked for in the
 * tree and not in /run, because a container may share the tree and not the /run of its host. 1, 0 or -1. */
static int has_systemd(int mount)
{
	if (faccessat(mount, "init.scope", F_OK, 0) == 0)
		return 1;
	return out_of_resources(errno) ? -1 : 0;
}

static int mount_from_table(struct hierarchy *h, struct mount_search *s, char *why, size_t size)
{
	fd_close(&h->mount);
	if (mount_lines(consider_mount, s) < 0) {
		say(why, size, "/proc/self/mountinfo: %s", strerrordesc_np(errno));
		return -1;
	}
	if (h->mount < 0) {
		say(why, size, "no cgroup2 file system is mounted");
		errno = ENOENT;
		return -1;
	}
	return 0;
}

int hierarchy_open(struct hierarchy *h, char *why, size_t size)
{
	struct mount_search s = {.h = h};
	h->uid = geteuid();
	/* Root without systemd has no use for its own cgroup, see place.c, and so none for the table of mounts. */
	if (h->uid == 0 && usual_mount(h) && has_systemd(h->mount) == 0)
		return 0;
	if (mount_from_table(h, &s, why, size) < 0)
		return -1;
	const int systemd = has_systemd(h->mount);
	if (systemd < 0) {
		say(why, size, "%s: %s", h->point, strerrordesc_np(errno));
		return -1;
	}
	h->systemd = systemd;
	if (h->uid != 0 || h->systemd)
		find_own(h, s.root);
	return 0;
}

void hierarchy_close(struct hierarchy *h)
{
	fd_close(&h->mount);
}
