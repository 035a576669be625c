/* /dev: an exact list. Built on the stage, moved to its place as a whole. */
#include "rootfs/internal.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEV STAGE "dev/"

/* A user namespace may not make device nodes, so the host's are bound; each must be what its
 * name says, whatever somebody did to the host's /dev. */
#define DEVICE(name) "/dev/" name, DEV name, "/dev/" name
const struct device devices[DEVICES] = {
	{DEVICE("null"), 1, 3},
	{DEVICE("zero"), 1, 5},
	{DEVICE("full"), 1, 7},
	{DEVICE("random"), 1, 8},
	{DEVICE("urandom"), 1, 9},
	{DEVICE("tty"), 5, 0}, /* the process's own terminal; ENXIO in a session without */
};

static const struct {
	const char *path, *to;
} links[] = {
	{DEV "fd", "/proc/self/fd"},	   {DEV "stdin", "/proc/self/fd/0"},
	{DEV "stdout", "/proc/self/fd/1"}, {DEV "stderr", "/proc/self/fd/2"},
	{DEV "ptmx", "pts/ptmx"},
};

int dev_skeleton(struct err *e)
{
	for (size_t i = 0; i < DEVICES; i++)
		if (mknod(devices[i].staged, S_IFREG | 0444, 0) < 0)
			return err_sys(e, "create %s", devices[i].staged);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i].to, links[i].path) < 0)
			return err_sys(e, "link %s", links[i].path);
	return 0;
}

int dev_check(const struct device *d, const char *path, struct err *e)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return err_sys(e, "stat %s", path);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(d->major, d->minor))
		return err_host(e, "the host's %s is not the character device %u:%u", d->host,
				d->major, d->minor);
	return 0;
}

static int mount_devpts(const struct rootfs *r, struct err *e)
{
	char options[96];
	char *at = put_number(put(options, "newinstance,ptmxmode=0666,mode=0620,max="),
			      r->devpts_max);
	if (r->gid_tty_mapped)
		put(at, ",gid=5");
	if (mount("devpts", DEV "pts", "devpts", MS_NOSUID | MS_NOEXEC, options) < 0)
		return err_sys(e, "mount devpts (%s)", options);
	return 0;
}

int dev_build(struct enter *x, struct err *e)
{
	/* A mount of its own, so that it can be moved. */
	if (stage_bind(STAGE "dev", STAGE "dev", 0, e) < 0)
		return -1;
	for (size_t i = 0; i < DEVICES; i++)
		if (stage_bind(devices[i].host, devices[i].staged, 0, e) < 0)
			return -1;
	/* Read-only keeps nobody from writing to a device, only to a plain file that bears its name. */
	if (stage_attr(STAGE "dev", AT_RECURSIVE,
		       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, e) < 0 ||
	    mount_devpts(x->r, e) < 0)
		return -1;
	return stage_bind(STAGE "writable/shm", DEV "shm", 0, e);
}
