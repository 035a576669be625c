/* One folder, or a new empty one, as the whole file system of a jailed child. */
#include "rootfs/rootfs.h"

#include "base/fd.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is put there is copied: see rootfs.h. */
#define EMPTY_SIZE   "16m"
#define EMPTY_INODES "2048"

/* tree, detached, becomes "/" by way of the working directory, which is below the root that goes. */
static int become_root(int tree, bool writable, struct err *e)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
			    (writable ? 0 : MOUNT_ATTR_RDONLY),
		.propagation = MS_PRIVATE,
	};
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return err_sys(e, "jail: mount flags of its folder");
	if (move_mount(tree, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return err_sys(e, "jail: mount its folder");
	if (fchdir(tree) < 0)
		return err_sys(e, "jail: enter its folder");
	/* The old root comes to lie on top of the new one, and goes from there. */
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return err_sys(e, "jail: pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return err_sys(e, "jail: let go of the old root");
	return chdir("/") < 0 ? err_sys(e, "jail: enter the new root") : 0;
}

static int make_private(struct err *e)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
		       ? err_sys(e, "jail: make the mounts private")
		       : 0;
}

int rootfs_confine(bool writable, struct err *e)
{
	if (make_private(e) < 0)
		return -1;
	autoclose int tree = open_tree(AT_FDCWD, ".",
				       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return err_sys(e, "jail: clone the mount of its folder");
	return become_root(tree, writable, e);
}

static int new_tmpfs(struct err *e)
{
	autoclose int made = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (made < 0 || fsconfig(made, FSCONFIG_SET_STRING, "size", EMPTY_SIZE, 0) < 0 ||
	    fsconfig(made, FSCONFIG_SET_STRING, "nr_inodes", EMPTY_INODES, 0) < 0 ||
	    fsconfig(made, FSCONFIG_SET_STRING, "mode", "0700", 0) < 0 ||
	    fsconfig(made, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_sys(e, "jail: make an empty file system");
	const int tree = fsmount(made, FSMOUNT_CLOEXEC, 0);
	return tree < 0 ? err_sys(e, "jail: mount an empty file system") : tree;
}

int rootfs_confine_empty(int (*fill)(int root, void *arg, struct err *e), void *arg, struct err *e)
{
	if (make_private(e) < 0)
		return -1;
	autoclose int tree = new_tmpfs(e);
	if (tree < 0 || (fill && fill(tree, arg, e) < 0))
		return -1;
	if (chdir("/") < 0)
		return err_sys(e, "jail: enter the old root");
	return become_root(tree, false, e);
}
