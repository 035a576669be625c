/* The mount tree of one run, from the inside: see rootfs/internal.h for the stage. */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The image's tree becomes the working directory. r->image cannot be used: it stands for the parent's
 * namespace, whose mounts may not be cloned here. The name is looked up a second time
 * instead, and the directory found must be the one that was vetted. */
static int step_image(struct enter *x, struct err *e)
{
	const struct rootfs *r = x->r;
	if (r->form == ROOTFS_HOST || x->tree >= 0)
		return 0;
	if (chdir(r->image_path) < 0)
		return err_sys(e, "image %s", r->image_path);
	struct stat st;
	if (stat(".", &st) < 0)
		return err_sys(e, "image %s", r->image_path);
	if (st.st_dev != r->image_dev || st.st_ino != r->image_ino)
		return err_host(e, "image %s: another directory took its place", r->image_path);
	return 0;
}

/* rootfs_tree()'s copy arrives detached; an overlay's layers and a bind's source have to be mounted. */
static int attach_tree(struct enter *x, const char *where, struct err *e)
{
	if (move_mount(x->tree, "", AT_FDCWD, where, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "mount the image");
	return 0;
}

static int explain_overlay(const struct rootfs *r, struct err *e)
{
	int sys = errno;
	char names[100], *at = names;
	struct err ignored = ERR_INIT;
	if (sys != EINVAL)
		return err_sys(e, "overlay over image %s", r->image_path);
	if (rootfs_mounts_beneath(r->image_path, names, sizeof(names), &ignored) > 0)
		return err_usage(e,
				 "image %s: file systems are mounted beneath it (%s), which an overlay "
				 "would not show; unmount them",
				 r->image_path, names);
	for (unsigned i = 0; i < TARGETS; i++)
		if (r->missing & 1u << i)
			at = put(put(at, " /"), rootfs_targets[i]);
	return err_host(e,
			"image %s: its file system takes no overlay, so it needs folders of its own to "
			"mount on:%s",
			r->image_path, names);
}

static int root_overlay(struct enter *x, struct err *e)
{
	if (x->tree >= 0) {
		if (attach_tree(x, STAGE "image", e) < 0)
			return -1;
		if (fchdir(x->tree) < 0)
			return err_sys(e, "image %s", x->r->image_path);
	}
	/* Layers by constant names: no path that would need quoting, and none of the
	 * host's in the sandbox's mountinfo. No upper layer, so that nothing can be written. */
	unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | x->r->mount_flags;
	if (mount("pinfold", STAGE_NEW, "overlay", flags, "lowerdir=" STAGE "root:.") < 0)
		return explain_overlay(x->r, e);
	return 0;
}

/* By mount(2), not open_tree(2): a detached tree would cost a mount namespace of its own. */
static int root_bind(struct enter *x, struct err *e)
{
	if (x->tree >= 0)
		return attach_tree(x, STAGE_NEW, e);
	if (mount(".", STAGE_NEW, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_sys(e, "bind image %s", x->r->image_path);
	return stage_attr(STAGE_NEW, AT_RECURSIVE,
			  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, e);
}

static int step_root(struct enter *x, struct err *e)
{
	static int (*const forms[])(struct enter *, struct err *) = {
		[ROOTFS_BIND] = root_bind,
		[ROOTFS_OVERLAY] = root_overlay,
		[ROOTFS_HOST] = host_bind,
	};
	if (forms[x->r->form](x, e) < 0)
		return -1;
	/* From here on a name without a slash is one in the new root, through no lookup but its own. */
	if (chdir(STAGE_NEW) < 0)
		return err_sys(e, "enter the new root");
	return 0;
}

static int step_sys(struct enter *x, struct err *e)
{
	unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
	if (stage_bind(STAGE "sys", STAGE "sys", 0, e) < 0)
		return -1;
	if (x->r->cgroup_mount && mount("cgroup2", STAGE "sys/fs/cgroup", "cgroup2", flags, NULL) < 0)
		return err_sys(e, "mount cgroup2");
	return 0;
}

/* From the stage onto the new root: one component from a directory that is held, and move_mount(2)
 * without MOVE_MOUNT_T_SYMLINKS does not follow that one either. So whatever the image is, or
 * becomes while we look, a mount lands in it or the run fails. */
static int move(int dir, const char *from, const char *name, struct err *e)
{
	if (move_mount(AT_FDCWD, from, dir, name, 0) < 0)
		return err_sys(e, "mount on /%s", name);
	return 0;
}

/* Bound in place first, because only a mount can be moved. */
static int bind_and_move(int dir, const char *from, const char *name, struct err *e)
{
	if (stage_bind(from, from, 0, e) < 0)
		return -1;
	return move(dir, from, name, e);
}

/* Where overlayfs refuses the image's file system, the files have to exist in it. */
static int attach_files(const struct rootfs *r, int etc, struct err *e)
{
	char from[64];
	for (uint32_t i = 0; i < r->files_len; i++) {
		const char *path = r->files[i].path;
		put(put(from, STAGE "root"), path);
		if (bind_and_move(etc, from, path + sizeof("/etc/") - 1, e) < 0)
			return err_wrap(e,
					"image %s is on a file system without overlays, and without %s",
					r->image_path, path);
	}
	return 0;
}

/* A bound image's /etc: an overlay of ours over the image's, which is taken by fd, so that its name
 * counts once and is not followed. Cheaper than a mount a file, and they need not exist. */
static int attach_etc(struct enter *x, struct err *e)
{
	autoclose int etc = fd_openat2(AT_FDCWD, "etc", O_PATH | O_DIRECTORY, 0,
				       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (etc < 0)
		return err_sys(e, "open /etc of image %s", x->r->image_path);
	char layers[64];
	put_number(put(layers, "lowerdir=" STAGE "root/etc:/proc/self/fd/"), (uint64_t)etc);
	unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | x->r->mount_flags;
	if (mount("pinfold", STAGE "root/etc", "overlay", flags, layers) == 0)
		return move(AT_FDCWD, STAGE "root/etc", "etc", e);
	if (errno != EINVAL)
		return err_sys(e, "overlay over /etc of image %s", x->r->image_path);
	return attach_files(x->r, etc, e);
}

/* The writable places are bound in place, at half the calls. Should one of the names have become a
 * link by now, the bind goes astray, but within this namespace, and the table tells. */
static int step_attach(struct enter *x, struct err *e)
{
	if (x->r->form == ROOTFS_BIND && attach_etc(x, e) < 0)
		return -1;
	if (move(AT_FDCWD, STAGE "proc", "proc", e) < 0 ||
	    move(AT_FDCWD, STAGE "sys", "sys", e) < 0 || move(AT_FDCWD, STAGE "dev", "dev", e) < 0)
		return -1;
	if (stage_bind(STAGE "writable/tmp", "tmp", 0, e) < 0 ||
	    stage_bind(STAGE "writable/run", "run", 0, e) < 0)
		return -1;
	if (stage_bind(STAGE "writable/scratch", "scratch", 0, e) < 0)
		return -1;
	if (!x->r->input_place)
		return 0;
	/* Pid 1 fills it through the scratch's own descriptor. */
	if (stage_bind(STAGE "writable/input", "run/input", 0, e) < 0)
		return -1;
	return stage_attr("run/input", 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
			  e);
}

/* pivot_root(".", ".") puts the old root on top of the new one, and "." is looked up anew as the
 * topmost (pivot_root(2), NOTES). That would be the stage, which lies on top of the old root; moved
 * aside before, it goes along in one umount(2). Each of those waits for an RCU grace period, 75 us. */
static int step_pivot(struct enter *x, struct err *e)
{
	(void)x;
	if (move_mount(AT_FDCWD, STAGE, AT_FDCWD, "/proc", 0) < 0)
		return err_sys(e, "move the stage aside");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return err_sys(e, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return err_sys(e, "detach the old root");
	return 0; /* and the working directory, the new root's directory before, is "/" now */
}

static int (*const steps[])(struct enter *, struct err *) = {
	step_image,    /* before anything covers a parent of it */
	skeleton_make, /* sealed read-only at its end, so that what is bound from it is */
	dev_build,
	proc_build, /* needs the covers; and a proc of the host still in sight, or the kernel refuses */
	step_sys,
	step_root,
	step_attach, /* after all of them are complete: the image meets finished mounts only */
	step_pivot,
};

static void enter_close(struct enter *x)
{
	fd_close(&x->tree);
	fd_close(&x->proc);
	fd_close(&x->scratch);
}

int rootfs_enter(const struct rootfs *r, int tree, struct rootfs_view *view, struct err *e)
{
	__attribute__((cleanup(
		enter_close))) struct enter x = {.r = r, .tree = tree, .proc = -1, .scratch = -1};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i](&x, e) < 0)
			return -1;
	*view = (struct rootfs_view){.scratch = fd_take(&x.scratch),
				     .proc = fd_take(&x.proc),
				     .proc_outer = x.proc_outer};
	return 0;
}

int rootfs_seal(const struct rootfs *r, const struct rootfs_view *view, bool limited, struct err *e)
{
	struct enter x = {.r = r,
			  .tree = -1,
			  .proc = view->proc,
			  .scratch = view->scratch,
			  .proc_outer = view->proc_outer};
	if (proc_seal(&x, limited, e) < 0)
		return -1;
	return rootfs_verify(&x, e);
}
