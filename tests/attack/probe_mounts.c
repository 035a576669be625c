/* Mounts and cgroups: nothing can be mounted, unmounted or changed, by the old calls or the new ones. */
#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A place to mount on: inside it is a folder of the scratch. */
static const char *place(void)
{
	mkdir(work("place"), 0700);
	return work("place");
}

/* ---- FS11 ---- */

static int mount_type(const char *arg)
{
	return tried(mount(arg, place(), arg, 0, NULL));
}

static int mount_overlay(const char *arg)
{
	(void)arg;
	char options[9000];
	snprintf(options, sizeof(options), "lowerdir=%s:%s", at("/data"), at("/etc"));
	return tried(mount("overlay", place(), "overlay", 0, options));
}

static int bind(const char *arg)
{
	return tried(mount(at(arg), place(), NULL, MS_BIND | MS_REC, NULL));
}

/* What is a mount inside must be made one for a weak run. */
static int make_mount(const char *arg)
{
	if (!*base || strcmp(arg, "/") == 0)
		return 0;
	mkdir(at(arg), 0755);
	return mount(at(arg), at(arg), NULL, MS_BIND, NULL);
}

static int move(const char *arg)
{
	if (make_mount(arg) < 0)
		return errno;
	return tried(mount(at(arg), place(), NULL, MS_MOVE, NULL));
}

static int remount(const char *arg)
{
	if (make_mount(arg) < 0)
		return errno;
	return tried(mount(NULL, at(arg), NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int make_shared(const char *arg)
{
	return tried(mount(NULL, at(arg), NULL, MS_SHARED | MS_REC, NULL));
}

static int unmount(const char *arg)
{
	if (make_mount(arg) < 0)
		return errno;
	return tried(umount2(at(arg), MNT_DETACH));
}

static int pivot(const char *arg)
{
	(void)arg;
	/* The new root must be a mount; inside, /scratch is one. */
	const char *root = *base ? base : "/scratch";
	if (chdir(root) < 0)
		return errno;
	return tried(syscall(SYS_pivot_root, ".", "."));
}

static int change_root(const char *arg)
{
	return tried(chroot(at(arg)));
}

static int new_tmpfs(const char *arg)
{
	(void)arg;
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno;
	int fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return fd < 0 ? errno : tried(move_mount(fd, "", AT_FDCWD, place(), MOVE_MOUNT_F_EMPTY_PATH));
}

static int clone_tree(const char *arg)
{
	return tried(open_tree(AT_FDCWD, at(arg), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
}

static int pick(const char *arg)
{
	return tried(fspick(AT_FDCWD, at(arg), FSPICK_CLOEXEC));
}

static int set_attr(const char *arg)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
	return tried(mount_setattr(AT_FDCWD, at(arg), 0, &attr, sizeof(attr)));
}

/* Root in a user namespace of its own may mount. */
static int mount_in_userns(const char *arg)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return errno;
	int map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (map < 0 || write(map, "0 0 1", 5) < 0)
		return errno;
	return mount_type(arg);
}

/* ---- FS10 ---- */

/* Calls f for every mount of a cgroup file system until it returns 0. */
static int each_cgroup_mount(int (*f)(const char *dir, const char *arg), const char *arg)
{
	char line[4096], dir[1024], type[64];
	int sys = ENOENT;
	FILE *table = fopen("/proc/self/mounts", "re");
	if (!table)
		return errno;
	while (sys != 0 && fgets(line, sizeof(line), table))
		if (sscanf(line, "%*s %1023s %63s", dir, type) == 2 && strncmp(type, "cgroup", 6) == 0)
			sys = f(dir, arg);
	fclose(table);
	return sys;
}

static int open_control(const char *dir, const char *name)
{
	char path[1200];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return try_open(path, O_WRONLY);
}

static int cgroup_file(const char *arg)
{
	return each_cgroup_mount(open_control, arg);
}

static int cgroup_folder_in(const char *dir, const char *name)
{
	char path[1200];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return tried(mkdir(path, 0700));
}

static int cgroup_folder(const char *arg)
{
	/* In a weak run it would be one of the host's. */
	if (*base)
		return ECANCELED;
	return each_cgroup_mount(cgroup_folder_in, arg);
}

/* The classic: a v1 hierarchy of one's own, whose release_agent runs on the host. */
static int mount_v1(const char *arg)
{
	return tried(mount("cgroup", place(), "cgroup", 0, arg));
}

static const struct probe rows[] = {
	{"FS10.procs", cgroup_file, "cgroup.procs", "moving processes"},
	{"FS10.subtree-control", cgroup_file, "cgroup.subtree_control", "controllers"},
	{"FS10.release-agent", cgroup_file, "release_agent", "a program that the host runs"},
	{"FS10.memory-max", cgroup_file, "memory.max", "its own memory limit"},
	{"FS10.pids-max", cgroup_file, "pids.max", "its own pids limit"},
	{"FS10.max-depth", cgroup_file, "cgroup.max.depth", "the shape of the tree"},
	{"FS10.kill", cgroup_file, "cgroup.kill", "killing by cgroup"},
	{"FS10.mkdir", cgroup_folder, "pinfold-probe", "a cgroup of its own"},
	{"FS10.mount-v2", mount_type, "cgroup2", "the v2 hierarchy"},
	{"FS10.mount-v1", mount_v1, "pids", "a v1 hierarchy"},

	{"FS11.tmpfs", mount_type, "tmpfs", "a new file system"},
	{"FS11.proc", mount_type, "proc", "a proc without masks"},
	{"FS11.sysfs", mount_type, "sysfs", "sysfs"},
	{"FS11.devpts", mount_type, "devpts", "terminals"},
	{"FS11.overlay", mount_overlay, NULL, "an overlay"},
	{"FS11.bind", bind, "/etc", "a bind mount"},
	{"FS11.move", move, "/etc", "moving a mount"},
	{"FS11.remount-root", remount, "/", "a writable root"},
	{"FS11.remount-dev", remount, "/dev", "a writable /dev"},
	{"FS11.remount-proc", remount, "/proc", "a writable /proc"},
	{"FS11.shared", make_shared, "/", "propagation"},
	{"FS11.umount-proc", unmount, "/proc", "what is under /proc"},
	{"FS11.umount-dev", unmount, "/dev", "what is under /dev"},
	{"FS11.pivot-root", pivot, NULL, "another root"},
	{"FS11.chroot", change_root, "/data", "another root for itself"},
	{"FS11.fsopen", new_tmpfs, NULL, "the new mount API"},
	{"FS11.open-tree", clone_tree, "/etc", "a detached tree"},
	{"FS11.fspick", pick, "/", "reconfiguration"},
	{"FS11.mount-setattr", set_attr, "/", "mount flags"},
	{"FS11.userns", mount_in_userns, "tmpfs", "mounting as root of a user namespace"},
};
const struct probe_group probes_mounts = {rows, sizeof(rows) / sizeof(*rows)};
