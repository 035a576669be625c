/* One folder as the whole file system of a jailed child. */
#include "rootfs/rootfs.h"

#include "base/fd.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int rootfs_confine(bool writable, struct err *e)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
			    (writable ? 0 : MOUNT_ATTR_RDONLY),
		.propagation = MS_PRIVATE,
	};
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(e, "jail: make the mounts private");
	autoclose int tree = open_tree(AT_FDCWD, ".",
				       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return err_sys(e, "jail: clone the mount of its folder");
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
