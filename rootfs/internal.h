/* What the files of rootfs/ share; nobody else includes this.
 *
 * The stage. In pid 1 the private skeleton is a tmpfs mounted on top of the old "/". The root
 * directory of the process is still the old one, so a plain "/x" is the host's x, and "/.." is
 * the stage: ".." at the root stays there, but then steps onto what is mounted on it
 * (path_resolution(7)). Every path below STAGE is therefore of our own making, out of
 * reach for the image and for every other process; only what is moved onto the new root meets the
 * image, by directory fd and a single component that is never followed.
 */
#ifndef PINFOLD_ROOTFS_INTERNAL_H
#define PINFOLD_ROOTFS_INTERNAL_H

#include "rootfs/rootfs.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STAGE	  "/../"
#define STAGE_NEW STAGE "new" /* where the sandbox's root is mounted until the pivot */

/* Directories in "/" that must be there to mount on. */
enum rootfs_target {
	TARGET_PROC,
	TARGET_SYS,
	TARGET_DEV,
	TARGET_TMP,
	TARGET_RUN,
	TARGET_SCRATCH,
	TARGET_ETC,
	TARGETS,
};
extern const char *const rootfs_targets[TARGETS];

/* One rootfs_enter(). */
struct enter {
	const struct rootfs *r;
	int tree; /* detached image tree, or -1; owned */
	int proc; /* directory fd of the sandbox's proc */
	int scratch;
	bool proc_outer;
};

/* Descriptors that are all closed together: consecutive numbers cost one close_range(2), which is
 * most of what the dozen small files written here need. */
struct fd_run {
	int fds[16];
	unsigned count;
};
#define FD_RUN_INIT {.count = 0}
void fd_run_add(struct fd_run *run, int fd); /* takes fd */
void fd_run_close(struct fd_run *run);
#define autorun __attribute__((cleanup(fd_run_close))) struct fd_run

/* ---- text.c: what the child needs of text, in one place and without stdio. A fresh child faults
 * every page of code and stack in anew; snprintf(3) and strtok(3) alone are nine of them. ---- */
/* Append at `at`, which stays NUL-terminated; returns its new end. The caller sizes the buffer. */
char *put(char *at, const char *text);
char *put_number(char *at, uint64_t number);
size_t length(const char *text);
bool same_text(const char *a, const char *b);
/* If text begins with prefix, what follows it; else NULL. */
const char *after(const char *text, const char *prefix);
/* Cut the next field off *at, which ends at a space or the end; NULL if there is none. */
char *next_field(char **at);

/* Walk the lines of a file, each without its newline; -1 from each() ends the walk. */
struct line_walk {
	char *buf; /* a line that does not fit in here is an error (E2BIG) */
	size_t size;
	int (*each)(void *arg, char *line, struct err *e);
	void *arg;
};
int lines_walk(int fd, const struct line_walk *w, struct err *e);
enum { LINE_BYTES = 12 * 1024 }; /* two paths, escaped */

/* ---- mounts.c: a system call each, with the message. Paths are the stage's. ---- */
int stage_bind(const char *from, const char *to, unsigned long flags, struct err *e);
/* Set flags, and make it private: the mounts of a namespace that belongs to another user namespace
 * than its parent are slaves of the parent's, so nothing gets out, but what the host mounts would get in. */
int stage_attr(const char *path, unsigned int at_flags, uint64_t set, struct err *e);
/* Write a new file, whose fd goes to run. */
int stage_file(struct fd_run *run, const char *path, const char *text, mode_t mode, struct err *e);

/* One line of mountinfo (proc_pid_mountinfo(5)); the strings point into the text it was read from. */
struct mount_line {
	char *point;
	char *options; /* of the mount, not of the file system */
	char *tag;     /* a propagation tag ("shared:7"); NULL: private */
	char *type;
};
bool mount_line_read(struct mount_line *m, char *text);

/* self/mountinfo; proc is a directory fd. */
int mount_table_open(int proc, struct err *e);

/* What is mounted beneath the absolute path dir, as text for a message ("" if nothing), in
 * this process's namespace. 1 if there is something, 0, or -1. */
int rootfs_mounts_beneath(const char *dir, char *names, size_t size, struct err *e);

/* ---- vet.c: ERR_USAGE where the opened directory must never be an image, by r->image_path; by
 * _dev, _ino and the mount it is on (as statx(2) gives it), and what the image has in it. ---- */
int rootfs_vet_name(const struct rootfs *r, struct err *e);
int rootfs_vet_place(const struct rootfs *r, uint64_t mount_id, struct err *e);

/* ---- skeleton.c ---- */
int skeleton_make(struct enter *x, struct err *e);

/* ---- dev.c ---- */
int dev_skeleton(struct err *e);
int dev_build(struct enter *x, struct err *e);

/* ---- proc.c ---- */
int proc_build(struct enter *x, struct err *e);
int proc_seal(struct enter *x, bool limited, struct err *e);
/* Whether point is one that proc_build() covers. */
bool proc_is_mask(const char *point);

/* ---- host.c: @host. The skeleton's links, then the host's pieces on STAGE_NEW. ---- */
int host_skeleton(struct enter *x, struct err *e);
int host_bind(struct enter *x, struct err *e);

/* ---- verify.c: read the mount table back through x->proc and compare every line. ---- */
int rootfs_verify(const struct enter *x, struct err *e);

/* The device files, in dev.c. */
struct device {
	const char *host, *staged, *point; /* on the host, on the stage, in the sandbox */
	unsigned major, minor;
};
enum { DEVICES = 6 };
extern const struct device devices[DEVICES];
/* Whether what is at path is that device. */
int dev_check(const struct device *d, const char *path, struct err *e);

#endif
