/* Which whole disks are behind a file system: io.max is set on those.
 *
 * A limit on a device-mapper, md or bcache device works on that device, where the request enters;
 * its parts need none. The kernel refuses partitions (ENODEV), so a partition means its disk. File
 * systems that have several disks or none have an anonymous device number, and mountinfo tells what
 * they are made of.
 */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int devices_add(struct devices *d, unsigned major, unsigned minor)
{
	for (size_t i = 0; i < d->len; i++)
		if (d->at[i].major == major && d->at[i].minor == minor)
			return 0;
	if (d->len == DEVICES_MAX) {
		errno = E2BIG;
		return -1;
	}
	d->at[d->len].major = major;
	d->at[d->len++].minor = minor;
	return 0;
}

/* A partition's folder is in its disk's. */
int devices_add_sysfs(struct devices *d, int sysfs)
{
	char text[32];
	bool partition = faccessat(sysfs, "partition", F_OK, 0) == 0;
	if (fd_read_small(sysfs, partition ? "../dev" : "dev", text, sizeof(text)) < 0)
		return -1;
	char *colon;
	unsigned long major = strtoul(text, &colon, 10);
	if (*colon != ':') {
		errno = EPROTO;
		return -1;
	}
	return devices_add(d, (unsigned)major, (unsigned)strtoul(colon + 1, NULL, 10));
}

static int add_number(struct devices *d, dev_t dev)
{
	char path[64];
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	autoclose int sysfs = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return sysfs < 0 ? -1 : devices_add_sysfs(d, sysfs);
}

/* ---- anonymous device numbers ---- */

static int add_folder(struct devices *d, const char *path)
{
	__attribute__((cleanup(list_close))) DIR *list = opendir(path);
	if (!list)
		return -1;
	for (const struct dirent *entry; (entry = readdir(list));) {
		char device[512];
		if (entry->d_name[0] == '.')
			continue;
		say(device, sizeof(device), "%s/%s", path, entry->d_name);
		autoclose int sysfs = open(device, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (sysfs < 0 || devices_add_sysfs(d, sysfs) < 0)
			return -1;
	}
	return 0;
}

static int add_btrfs(struct devices *d, int fd)
{
	struct btrfs_ioctl_fs_info_args info = {0};
	char path[96];
	const uint8_t *u = info.fsid;
	autoclose int real = openat(fd, ".",
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* fd may be O_PATH */
	if (real < 0 || ioctl(real, BTRFS_IOC_FS_INFO, &info) < 0)
		return -1;
	snprintf(path, sizeof(path),
		 "/sys/fs/btrfs/%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x/devices",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
	return add_folder(d, path);
}

static int add_path(struct devices *d, const char *path, int depth);

/* One layer's path from the front of *rest; overlay writes a colon in a path as "\:" . In place. */
static char *next_layer(char **rest)
{
	char *path = *rest, *out = path, *in = path;
	if (!path)
		return NULL;
	for (; *in && *in != ':'; in++) {
		if (in[0] == '\\' && in[1])
			in++;
		*out++ = *in;
	}
	*rest = *in ? in + 1 : NULL;
	*out = '\0';
	return path;
}

static int add_layers(struct devices *d, char *list, int depth)
{
	for (char *path; (path = next_layer(&list));)
		if (*path &&
		    add_path(d, path, depth - 1) < 0) /* "::" comes before layers with data only */
			return -1;
	return 0;
}

/* Every layer that holds the image's files; one that cannot be found would make the limit a lie.
 * Layers are shown as they were given: all in one lowerdir=, or since 6.7 one by one. */
static int add_overlay(struct devices *d, char *options, int depth)
{
	static const char *const keys[] = {"lowerdir=", "lowerdir+=", "datadir+=", "upperdir="};
	for (char *option; (option = strsep(&options, ","));) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			size_t len = strlen(keys[i]);
			if (strncmp(option, keys[i], len) != 0)
				continue;
			if (add_layers(d, mount_unescape(option + len), depth) < 0)
				return -1;
		}
	}
	return 0;
}

struct mount_wanted {
	int id;
	char fstype[32], source[256], options[4096];
};

static int copy_mount(const struct mount_line *m, void *arg)
{
	struct mount_wanted *w = arg;
	if (m->id != w->id)
		return 0;
	say(w->fstype, sizeof(w->fstype), "%s", m->fstype);
	say(w->source, sizeof(w->source), "%s", m->source);
	say(w->options, sizeof(w->options), "%s", m->super_options);
	return 1;
}

static int add_source(struct devices *d, const char *source)
{
	struct stat st;
	if (source[0] != '/' || stat(source, &st) < 0 || !S_ISBLK(st.st_mode)) {
		errno = ENODEV;
		return -1;
	}
	return add_number(d, st.st_rdev);
}

static int add_mount(struct devices *d, int fd, struct mount_wanted *w, int depth)
{
	if (strcmp(w->fstype, "btrfs") == 0 && add_btrfs(d, fd) == 0)
		return 0;
	if (strcmp(w->fstype, "overlay") == 0)
		return add_overlay(d, w->options, depth);
	return add_source(d, w->source);
}

static int add_fd(struct devices *d, int fd, int depth)
{
	struct statx st;
	struct mount_wanted w;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &st) < 0)
		return -1;
	if (st.stx_dev_major != 0)
		return add_number(d, makedev(st.stx_dev_major, st.stx_dev_minor));
	w = (struct mount_wanted){.id = (int)st.stx_mnt_id};
	errno = ELOOP;
	if (depth <= 0)
		return -1;
	errno = ENODEV;
	if (mount_lines(copy_mount, &w) != 1)
		return -1;
	if (add_mount(d, fd, &w, depth) == 0)
		return 0;
	if (!d->missing[0]) /* the innermost tells most */
		say(d->missing, sizeof(d->missing), "%s %s", w.fstype, w.source);
	return -1;
}

static int add_path(struct devices *d, const char *path, int depth)
{
	autoclose int fd = path[0] == '/' ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0)
		return add_fd(d, fd, depth);
	say(d->missing, sizeof(d->missing), "overlay of %s, which is out of sight", path);
	errno = ENODEV;
	return -1;
}

int devices_find(struct devices *d, int fd, struct err *e)
{
	struct devices found = {.len = 0};
	if (fd < 0)
		return err_host(e, "io limits: there is no root file system to set them on");
	if (add_fd(&found, fd, 3) < 0 || found.len == 0)
		return err_host(e, "io limits: no disk can be found behind the root file system (%s)",
				found.missing);
	*d = found;
	return 0;
}
