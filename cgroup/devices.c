/* Which whole disks are behind a file system: io.max is set on those.
 *
 * A limit on a device-mapper, md or bcache device works on that device, where the request enters; its
 * parts need none. The kernel refuses partitions (ENODEV), so a partition means its disk. File systems that
 * have several disks or none have an anonymous device number, and mountinfo tells what they are made of.
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

/* A partition's folder in sysfs is in its disk's. 0, or -1 with errno. */
static int add_disk_of(struct devices *d, int sysfs)
{
	char text[32];
	unsigned major, minor;
	bool partition = faccessat(sysfs, "partition", F_OK, 0) == 0;
	if (fd_read_small(sysfs, partition ? "../dev" : "dev", text, sizeof(text)) < 0)
		return -1;
	if (sscanf(text, "%u:%u", &major, &minor) != 2) {
		errno = EPROTO;
		return -1;
	}
	return devices_add(d, major, minor);
}

static int add_number(struct devices *d, dev_t dev)
{
	char path[64];
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	autoclose int sysfs = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return sysfs < 0 ? -1 : add_disk_of(d, sysfs);
}

/* ---- anonymous device numbers ---- */

static int add_btrfs(struct devices *d, int fd)
{
	struct btrfs_ioctl_fs_info_args info = {0};
	char path[96];
	const uint8_t *u = info.fsid;
	if (ioctl(fd, BTRFS_IOC_FS_INFO, &info) < 0)
		return -1;
	snprintf(path, sizeof(path),
		 "/sys/fs/btrfs/%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x/devices", u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	DIR *list = opendir(path);
	int failed = list ? 0 : -1;
	for (const struct dirent *entry; failed == 0 && (entry = readdir(list));) {
		if (entry->d_name[0] == '.')
			continue;
		autoclose int sysfs = openat(dirfd(list), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		failed = sysfs < 0 ? -1 : add_disk_of(d, sysfs);
	}
	if (list)
		closedir(list);
	return failed;
}

static int add_path(struct devices *d, const char *path, int depth);

/* The value of key in "a,key=value,b"; commas and backslashes in it are escaped. Undone in place. */
static char *option_value(char *options, const char *key)
{
	size_t len = strlen(key);
	for (char *p = options; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, key, len) == 0 && p[len] == '=') {
			p += len + 1;
			p[strcspn(p, ",")] = '\0';
			return p;
		}
	}
	return NULL;
}

/* Every layer that holds the image's files; one that cannot be found makes the limit a lie. */
static int add_overlay(struct devices *d, const char *options, int depth)
{
	static const char *const keys[] = {"lowerdir", "upperdir"};
	int found = -1;
	for (size_t i = 0; i < 2; i++) {
		char copy[4096];
		if (strlen(options) >= sizeof(copy)) {
			errno = E2BIG;
			return -1;
		}
		strcpy(copy, options);
		char *rest = option_value(copy, keys[i]);
		for (char *layer; (layer = strsep(&rest, ":"));) {
			if (*layer == '\0')
				continue;
			if (add_path(d, layer, depth - 1) < 0)
				return -1;
			found = 0;
		}
	}
	return found;
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
	snprintf(w->fstype, sizeof(w->fstype), "%s", m->fstype);
	snprintf(w->source, sizeof(w->source), "%s", m->source);
	snprintf(w->options, sizeof(w->options), "%s", m->super_options);
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

static int add_fd(struct devices *d, int fd, int depth)
{
	struct statx st;
	struct mount_wanted w;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &st) < 0)
		return -1;
	if (st.stx_dev_major != 0)
		return add_number(d, makedev(st.stx_dev_major, st.stx_dev_minor));
	w = (struct mount_wanted){.id = (int)st.stx_mnt_id};
	errno = ENODEV;
	if (depth <= 0 || mount_lines(copy_mount, &w) != 1)
		return -1;
	if (strcmp(w.fstype, "btrfs") == 0 && add_btrfs(d, fd) == 0)
		return 0;
	if (strcmp(w.fstype, "overlay") == 0)
		return add_overlay(d, w.options, depth);
	return add_source(d, w.source);
}

static int add_path(struct devices *d, const char *path, int depth)
{
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -1 : add_fd(d, fd, depth);
}

int devices_find(struct devices *d, int fd, struct err *e)
{
	struct devices found = {.len = 0};
	if (fd < 0)
		return err_host(e, "io limits: there is no root file system to set them on");
	if (add_fd(&found, fd, 3) < 0 || found.len == 0)
		return err_sys(e, "io limits: no disk can be found behind the root file system");
	*d = found;
	return 0;
}
