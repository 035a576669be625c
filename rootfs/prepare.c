/* The parent's half: open the image, vet it, choose the form, write the small files. */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *const rootfs_targets[TARGETS] = {
	[TARGET_PROC] = "proc", [TARGET_SYS] = "sys", [TARGET_DEV] = "dev",
	[TARGET_TMP] = "tmp",	[TARGET_RUN] = "run", [TARGET_SCRATCH] = "scratch",
	[TARGET_ETC] = "etc",
};

/* Which folder on the way may not be searched: "permission denied" alone sends people to the image. */
static int explain_denied(const char *image, struct arena *a, struct err *e)
{
	char *path = arena_strdup(a, image);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		struct stat st;
		if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 && errno == EACCES)
			return err_usage(e, "image %s: no permission to search %s", image, path);
		if (stat(path, &st) < 0)
			break;
		*slash = '/';
	}
	return err_usage(e, "image %s: permission denied", image);
}

static int explain_open(const struct spec *s, struct err *e)
{
	switch (errno) {
	case EACCES:
		return explain_denied(s->image, s->arena, e);
	case ENOENT:
		if (s->image_kind == IMAGE_NAME)
			return err_usage(e,
					 "there is no stored image %s, and no folder of that name here",
					 s->image);
		return err_usage(e, "image %s: no such folder", s->image);
	case ENOTDIR:
		return err_usage(e, "image %s is not a folder: an image is an unpacked tree",
				 s->image);
	default:
		err_sys(e, "image %s", s->image);
		e->kind = ERR_USAGE;
		return -1;
	}
}

static char *read_link(const char *link, struct arena *a)
{
	char path[1024]; /* as a rule; each page of the stack that is new costs a fault */
	ssize_t n = readlink(link, path, sizeof(path));
	if (n < 0)
		return NULL;
	if ((size_t)n < sizeof(path))
		return arena_strndup(a, path, (size_t)n);
	char *room = arena_alloc(a, PATH_MAX);
	n = readlink(link, room, PATH_MAX - 1);
	return n < 0 || n == PATH_MAX - 1 ? NULL : room;
}

/* The path as the kernel sees it: no links, no dots, from the caller's root. */
static int read_path(struct rootfs *r, struct arena *a, struct err *e)
{
	static const char deleted[] = " (deleted)";
	char link[40];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->image);
	const char *path = read_link(link, a);
	if (!path)
		return err_sys(e, "image %s: read its path through /proc", r->image_path);
	if (path[0] != '/')
		return err_usage(e, "image %s: not below this process's root", r->image_path);
	size_t len = strlen(path), tail = sizeof(deleted) - 1;
	struct stat st;
	if (len > tail && strcmp(path + len - tail, deleted) == 0 && stat(path, &st) < 0)
		return err_usage(e, "image %s: it was deleted", r->image_path);
	r->image_path = path;
	return 0;
}

/* Which mount targets the image has: a directory, or nothing. */
static int look_at_targets(struct rootfs *r, struct err *e)
{
	for (unsigned i = 0; i < TARGETS; i++) {
		const char *name = rootfs_targets[i];
		struct stat st;
		if (fstatat(r->image, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == EACCES)
				return err_usage(e,
						 "image %s: this user may not enter the folder (it lacks the "
						 "execute permission): Permission denied",
						 r->image_path);
			if (errno != ENOENT)
				return err_sys(e, "image %s: /%s", r->image_path, name);
			r->missing |= 1u << i;
		} else if (!S_ISDIR(st.st_mode)) {
			return err_usage(e, "image %s: /%s is %s; it must be a folder, or missing",
					 r->image_path, name,
					 S_ISLNK(st.st_mode) ? "a symbolic link" : "not a folder");
		}
	}
	return 0;
}

/* An overlay is a mount of its own: what the host forbids on the image's (noexec first of all)
 * would be allowed on it. A bind inherits. */
static int look_at_mount(struct rootfs *r, struct err *e)
{
	static const struct {
		unsigned long seen, flag; /* statvfs(3), mount(2) */
	} kept[] = {
		{ST_NOEXEC, MS_NOEXEC},		{ST_NOATIME, MS_NOATIME},
		{ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME},
		{0x2000, MS_NOSYMFOLLOW}, /* ST_NOSYMFOLLOW */
	};
	struct statfs st;
	if (fstatfs(r->image, &st) < 0)
		return err_sys(e, "image %s: read its mount's flags", r->image_path);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if ((unsigned long)st.f_flags & kept[i].seen)
			r->mount_flags |= kept[i].flag;
	return 0;
}

static int open_image(struct rootfs *r, const struct spec *s, struct arena *a, struct err *e)
{
	const char *place = s->stored.tree ? s->stored.tree : s->image;
	autoclose int fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return explain_open(s, e);
	struct statx st;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &st) < 0)
		return err_sys(e, "stat image %s", s->image);
	r->image = fd;
	r->image_path = s->image;
	r->image_dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	r->image_ino = st.stx_ino;
	if (read_path(r, a, e) < 0 || rootfs_vet_name(r, e) < 0 || look_at_targets(r, e) < 0 ||
	    look_at_mount(r, e) < 0 || rootfs_vet_place(r, st.stx_mnt_id, e) < 0) {
		r->image = -1;
		return -1;
	}
	fd_take(&fd);
	return 0;
}

/* Without privilege the kernel refuses an overlay over a tree with mounts in it (they are locked);
 * to root it would just not show them. */
static int check_beneath(const struct rootfs *r, struct err *e)
{
	char names[100];
	if (r->form != ROOTFS_OVERLAY || geteuid() != 0)
		return 0;
	int found = rootfs_mounts_beneath(r->image_path, names, sizeof(names), e);
	if (found <= 0)
		return found;
	return err_usage(e,
			 "image %s: file systems are mounted beneath it (%s), which an overlay would not show; "
			 "unmount them",
			 r->image_path, names);
}

static void add_file(struct rootfs *r, const char *path, const char *text)
{
	r->files[r->files_len++] = (struct rootfs_file){.path = path, .text = text, .mode = 0644};
}

/* A name for the program's id, whatever it is (getpwuid fails without); the folder is
 * where it may write. */
static void write_users(struct rootfs *r, const struct spec *s, struct arena *a)
{
	const unsigned uid = s->uid, gid = spec_gid(s);
	const char *root = uid == 0 ? "" : "root:x:0:0:root:/root:/usr/sbin/nologin\n";
	const char *nobody =
		uid == 65534 ? "" : "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
	const char *name = uid == 0	    ? "root"
			   : uid == 65534   ? "nobody"
			   : s->stored.user ? s->stored.user
					    : "user";
	r->user = name;
	add_file(r, "/etc/passwd",
		 arena_printf(a, "%s%s:x:%u:%u:%s:/scratch:/bin/sh\n%s", root, name, uid, gid, name,
			      nobody));
	name = gid == 0 ? "root" : gid == 65534 ? "nogroup" : name;
	add_file(r, "/etc/group",
		 arena_printf(a, "%s%s%s:x:%u:\n%s", gid == 0 ? "" : "root:x:0:\n",
			      gid == 5 ? "" : "tty:x:5:\n", name, gid,
			      gid == 65534 ? "" : "nogroup:x:65534:\n"));
}

static void write_texts(struct rootfs *r, const struct spec *s, struct arena *a)
{
	write_users(r, s, a);
	add_file(r, "/etc/hosts",
		 arena_printf(a,
			      "127.0.0.1\tlocalhost %s\n::1\tlocalhost ip6-localhost "
			      "ip6-loopback\n",
			      s->hostname));
	/* Without a server a resolver asks 127.0.0.1, is refused, and fails at once. */
	add_file(r, "/etc/resolv.conf",
		 s->egress.allow.len > 0 ? "nameserver " EGRESS_RESOLVER_TEXT "\n"
					 : "# no network\noptions attempts:1\n");
	add_file(r, "/etc/hostname", arena_printf(a, "%s\n", s->hostname));
}

int rootfs_prepare(struct rootfs *r, const struct spec *s, struct arena *a, struct err *e)
{
	struct rootfs made = ROOTFS_INIT;
	made.scratch_bytes = s->limits.scratch_bytes;
	made.scratch_inodes = s->limits.scratch_inodes;
	made.uid = s->uid;
	made.gid = spec_gid(s);
	made.proc = s->proc;
	made.tty = s->tty;
	made.devpts_max = 64;
	made.cpus_online = "0\n";
	made.workdir = s->workdir;
	write_texts(&made, s, a);
	if (s->image_kind == IMAGE_HOST) {
		made.form = ROOTFS_HOST;
		made.image_path = "@host";
		made.missing = (1u << TARGETS) - 1;
		*r = made;
		return 0;
	}
	if (open_image(&made, s, a, e) < 0)
		return -1;
	made.form = made.missing ? ROOTFS_OVERLAY : ROOTFS_BIND;
	if (check_beneath(&made, e) < 0) {
		rootfs_close(&made);
		return -1;
	}
	*r = made;
	return 0;
}

void rootfs_close(struct rootfs *r)
{
	fd_close(&r->image);
}

/* Overlayfs takes idmapped layers since 5.19; every form has one, if only for /etc. */
static bool overlay_takes_idmapped(void)
{
	struct utsname u;
	char *dot;
	if (uname(&u) < 0)
		return false;
	unsigned long major = strtoul(u.release, &dot, 10);
	unsigned long minor = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;
	return major > 5 || (major == 5 && minor >= 19);
}

int rootfs_tree(const struct rootfs *r, int userns, bool *idmapped, struct err *e)
{
	if (r->form == ROOTFS_HOST)
		return err_bug(e, "@host has no tree");
	autoclose int tree = open_tree(r->image, "",
				       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
					       AT_RECURSIVE);
	if (tree < 0)
		return err_sys(e, "clone the mounts of image %s", r->image_path);
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			    MOUNT_ATTR_IDMAP,
		.propagation = MS_PRIVATE,
		.userns_fd = (uint64_t)userns,
	};
	bool map = overlay_takes_idmapped();
	if (!map)
		attr.attr_set &= ~(uint64_t)MOUNT_ATTR_IDMAP;
	int done = mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
	/* A file system that cannot be idmapped, or (EPERM) one of a parent user namespace. */
	if (done < 0 && map && (errno == EINVAL || errno == EPERM)) {
		map = false;
		attr.attr_set &= ~(uint64_t)MOUNT_ATTR_IDMAP;
		done = mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
	}
	if (done < 0)
		return err_sys(e, "mount flags of image %s", r->image_path);
	*idmapped = map;
	return fd_take(&tree);
}
