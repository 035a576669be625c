/* The skeleton: the directories and small files of the stage, and the scratch. */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Small, because it is charged to the run: room for the synthesised files and no more. */
#define STAGE_OPTIONS "mode=0755,size=512k,nr_inodes=128"

/* Parents before children. */
static const struct {
	const char *path;
	enum { ALWAYS, IF_TREE, IF_CGROUP } only_if;
} directories[] = {
	{STAGE_NEW, ALWAYS},
	{STAGE "root", ALWAYS},	    /* the upper layer of an overlay; @host's root */
	{STAGE "root/etc", ALWAYS}, /* the synthesised files, in every form */
	{STAGE "image", IF_TREE},   /* where a detached image tree is mounted to become a layer */
	{STAGE "proc", ALWAYS},
	{STAGE "dev", ALWAYS},
	{STAGE "dev/pts", ALWAYS},
	{STAGE "dev/shm", ALWAYS},
	{STAGE "sys", ALWAYS},
	{STAGE "sys/fs", IF_CGROUP},
	{STAGE "sys/fs/cgroup", IF_CGROUP},
	{STAGE "sys/devices", ALWAYS},
	{STAGE "sys/devices/system", ALWAYS},
	{STAGE "sys/devices/system/cpu", ALWAYS},
	{STAGE "writable", ALWAYS},
};

static const struct {
	const char *path;
	mode_t mode;
	bool programs; /* owned by the program */
	bool input;    /* only with an input place */
} scratch_directories[] = {
	{STAGE "writable/scratch", 0755, true, false},
	{STAGE "writable/run", 0755, true, false},
	{STAGE "writable/tmp", 01777, false, false},
	{STAGE "writable/shm", 01777, false, false},
	{STAGE "writable/input", 0755, true, true},
	{STAGE "writable/run/input", 0755, false, true}, /* covered by the one above */
};

static int make_directories(const struct enter *x, struct err *e)
{
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (directories[i].only_if == IF_CGROUP && !x->r->cgroup_mount)
			continue;
		if (directories[i].only_if == IF_TREE && x->tree < 0)
			continue;
		if (mkdir(directories[i].path, 0755) < 0)
			return err_sys(e, "mkdir %s", directories[i].path);
	}
	return 0;
}

static int make_missing_targets(const struct rootfs *r, struct err *e)
{
	char path[64];
	for (unsigned i = 0; i < TARGETS; i++) {
		if (i == TARGET_ETC || !(r->missing & 1u << i)) /* root/etc is there in any case */
			continue;
		put(put(path, STAGE "root/"), rootfs_targets[i]);
		if (mkdir(path, 0755) < 0)
			return err_sys(e, "mkdir %s", path);
	}
	return 0;
}

static int write_files(const struct rootfs *r, struct err *e)
{
	autorun files = FD_RUN_INIT;
	char path[64];
	for (uint32_t i = 0; i < r->files_len; i++) {
		put(put(path, STAGE "root"), r->files[i].path);
		if (stage_file(&files, path, r->files[i].text, r->files[i].mode, e) < 0)
			return -1;
	}
	if (mknod(STAGE "empty", S_IFREG | 0444, 0) < 0) /* covers files of proc */
		return err_sys(e, "create %s", STAGE "empty");
	return stage_file(&files, STAGE "sys/devices/system/cpu/online", r->cpus_online, 0444, e);
}

static int make_scratch(struct enter *x, struct err *e)
{
	const struct rootfs *r = x->r;
	/* tmpfs takes 0 for "no limit" */
	uint64_t bytes = r->scratch_bytes == LIMIT_NONE ? 0 : r->scratch_bytes;
	uint64_t inodes = r->scratch_inodes == LIMIT_NONE ? 0
							  : r->scratch_inodes + rootfs_own_inodes(r);
	char options[96];
	put_number(put(put_number(put(options, "mode=0755,size="), bytes), ",nr_inodes="), inodes);
	if (mount("scratch", STAGE "writable", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return err_sys(e, "mount the scratch (%s)", options);
	/* With a single id, in whose map there is no tty group either, we are the program's id ourselves. */
	bool single = !r->gid_tty_mapped;
	for (size_t i = 0; i < sizeof(scratch_directories) / sizeof(scratch_directories[0]); i++) {
		const char *path = scratch_directories[i].path;
		if (scratch_directories[i].input && !r->input_place)
			continue;
		if (mkdir(path, scratch_directories[i].mode) < 0)
			return err_sys(e, "mkdir %s", path);
		if (scratch_directories[i].programs && !single && chown(path, r->uid, r->gid) < 0)
			return err_sys(e, "chown %s to %u:%u", path, r->uid, r->gid);
	}
	x->scratch = open(STAGE "writable", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->scratch < 0)
		return err_sys(e, "open the scratch");
	return 0;
}

int skeleton_make(struct enter *x, struct err *e)
{
	if (mount("pinfold", "/", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, STAGE_OPTIONS) < 0)
		return err_sys(e, "mount the skeleton (a tmpfs in a user namespace)");
	if (make_directories(x, e) < 0)
		return -1;
	if (make_missing_targets(x->r, e) < 0 || write_files(x->r, e) < 0 || dev_skeleton(e) < 0)
		return -1;
	if (x->r->form == ROOTFS_HOST && host_skeleton(x, e) < 0)
		return -1;
	/* Sealed: every bind that is made from the stage below inherits these flags. */
	if (stage_attr(STAGE, 0,
		       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		       e) < 0)
		return -1;
	return make_scratch(x, e);
}
