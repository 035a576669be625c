/* The root file system of one run: vet the image, build the mount tree, pivot.
 *
 * Knows images as unpacked trees, mounts and pivot_root. Knows nothing of
 * processes, ids beyond the two numbers it must chown to, cgroups or filters.
 * The parent prepares (rootfs_prepare, rootfs_tree), pid 1 of the sandbox applies
 * (rootfs_enter). See mount_setattr(2), open_tree(2), fsopen(2), pivot_root(2),
 * openat2(2), overlayfs.rst, user_namespaces(7).
 */
#ifndef PINFOLD_ROOTFS_ROOTFS_H
#define PINFOLD_ROOTFS_ROOTFS_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum rootfs_form {
	ROOTFS_BIND, /* every mount target exists in the image; our skeleton over its /etc alone */
	ROOTFS_OVERLAY, /* read-only overlay: our skeleton over the image */
	ROOTFS_HOST,	/* @host: our skeleton, the host's /usr bound into it */
};

struct rootfs_file { /* a synthesised file: path inside, bytes, mode */
	const char *path;
	const char *text;
	uint32_t mode;
};

struct rootfs {
	enum rootfs_form form;
	int image; /* O_PATH fd of the image's root (IMAGE_PATH); -1 for @host */
	const char *image_path; /* as the kernel spells it (no links, no dots); pid 1 finds the image again by it */
	uint64_t image_dev, image_ino; /* of image: what pid 1 finds must be the same */
	unsigned long mount_flags; /* MS_*: those of the image's mount that an overlay over it must have too */
	uint32_t missing; /* bit set of enum rootfs_target: what the skeleton must supply */
	uint64_t scratch_bytes, scratch_inodes;
	bool gid_tty_mapped; /* gid 5 exists inside: devpts gets gid=5. Not so: a single id, pid 1's too */
	uint32_t uid, gid; /* the program's, inside */
	enum proc_mode proc;
	bool cgroup_mount; /* there is a leaf of our own to show at /sys/fs/cgroup */
	bool tty;	   /* the program gets a pty from the sandbox's own devpts */
	bool input_place; /* /run/input, read-only: a folder of the scratch's tmpfs beside the program's own */
	uint32_t devpts_max; /* pty limit of the devpts */
	const char *cpus_online; /* text of /sys/devices/system/cpu/online; pid 1's, which chooses them */
	struct rootfs_file files[8]; /* /etc/passwd, group, hosts, resolv.conf, hostname */
	uint32_t files_len;
	const char *workdir;
	const char *user; /* name of the program's id in /etc/passwd */
};

#define ROOTFS_INIT {.image = -1}

/* Inodes of the scratch's tmpfs that are ours: its root, the folders in it, where one of them is bound. */
static inline uint64_t rootfs_own_inodes(const struct rootfs *r)
{
	return r->input_place ? 7 : 5;
}

/* Parent. Open and vet the image: refuses /, home folders, /etc, /proc, /sys, /dev, /run, /var ...
 * (by what was opened, not by the string), what is not a directory, mount targets that are symlinks
 * where a directory must be; decides the form; writes the synthesised files' texts. *r is filled;
 * its strings are the arena's; its fd is closed by rootfs_close(). The caller sets afterwards what
 * depends on ids and cgroups (uid, gid, gid_tty_mapped, cgroup_mount, devpts_max). */
int rootfs_prepare(struct rootfs *r, const struct spec *s, struct arena *a, struct err *e);
void rootfs_close(struct rootfs *r);

/* Parent, only as root: a detached, recursive, read-only nosuid nodev copy of the image's tree,
 * idmapped into the user namespace userns. Returns the mount fd for rootfs_enter(); *idmapped is
 * false where the file system cannot be (EINVAL; then it is a plain copy). Where the caller is not
 * root, -1 is passed to rootfs_enter(), which makes the copy itself. */
int rootfs_tree(const struct rootfs *r, int userns, bool *idmapped, struct err *e);

/* What pid 1 hands out after the pivot; both O_PATH-free directory fds, CLOEXEC. */
struct rootfs_view {
	int scratch;	 /* root of the scratch tmpfs: for statfs and for collecting */
	int proc;	 /* the sandbox's /proc */
	bool proc_outer; /* the outer proc was bound (PROC_OUTER and a fresh one forbidden) */
};

#define ROOTFS_VIEW_INIT {.scratch = -1, .proc = -1}

/* Child: pid 1 in fresh user and mount namespaces, all capabilities in the user namespace,
 * fsuid/fsgid mapped (those that will own the skeleton), umask 0. Makes mounts private, builds the
 * tree, pivots, drops the old root; the working directory is "/" then, and /proc is still writable,
 * for rootfs_seal(). takes tree (may be -1). Nobody else in the namespace looks a path up or
 * mounts. Allocates nothing. On failure the namespace is torn, only _exit is left. */
int rootfs_enter(const struct rootfs *r, int tree, struct rootfs_view *view, struct err *e);

/* Child, in pid 1 or beside it, with all capabilities in the user namespace: writes its user.max_* limits
 * through proc, the directory of any proc that is not read-only, and reads them back; all but that on
 * cgroup namespaces, so that pid 1 may make its own meanwhile. Every other namespace must be there. Borrows. */
int rootfs_limit(const struct rootfs *r, int proc, struct err *e);

/* Child, after rootfs_enter() and when no namespace is wanted any more: writes what user.max_*
 * limits are to be set yet (limited: rootfs_limit() did its part; in the end they are 0 for every
 * kind of namespace), makes /proc read-only, reads mountinfo back and compares every mount with the
 * table of expected flags. Borrows. Before anything runs that is not ours. */
int rootfs_seal(const struct rootfs *r, const struct rootfs_view *view, bool limited, struct err *e);

/* Child, as the program will see things but in pid 1: change to the workdir, in-root, and verify
 * that getcwd(2) is under "/" ("(unreachable)" is refused). Missing: ERR_USAGE. */
int rootfs_workdir(const struct rootfs *r, struct err *e);

/* Child, with all capabilities in a user namespace of its own, in a mount namespace that was made
 * after the working directory was entered: that folder, with what is mounted beneath it, becomes
 * the root, nosuid nodev noexec, and everything else is gone. For runtime/jail.c. */
int rootfs_confine(bool writable, struct err *e);

/* The same with a new tmpfs (16 MiB at most), read-only, for the root. fill, if it is one, puts
 * files there before: it sees the host's files still, and the new root as a descriptor. */
int rootfs_confine_empty(int (*fill)(int root, void *arg, struct err *e), void *arg, struct err *e);

/* Child, after exec failed with sys: why, in words ("bin/x: its interpreter
 * /lib64/ld-linux-x86-64.so.2 is not in the image", "... begins with #! and ends the line in a
 * carriage return", "wrong architecture: aarch64"). Reads at most 4 KiB of the file, by openat2,
 * only regular files. Always fills e; e->sys is ENOENT where a shell would say 127, else what a
 * shell would say 126 to. */
void rootfs_explain_exec(const char *path, int sys, struct err *e);

#endif
