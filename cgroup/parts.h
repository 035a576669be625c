/* What the files of this room share; nobody outside includes it. */
#ifndef PINFOLD_CGROUP_PARTS_H
#define PINFOLD_CGROUP_PARTS_H

#include "base/err.h"
#include "cgroup/cgroup.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTROLLER_COUNT = CG_CONTROLLERS, WHY_SIZE = 120 };

#define LEAF_PREFIX "pinfold-"
#define SLICE_NAME  "pinfold.slice"

/* ---- mountinfo.c: /proc/self/mountinfo, line by line ---- */

/* The fields of one line, escapes undone, as pointers into the caller's buffer. */
struct mount_line {
	int id;
	const char *root, *point, *options, *fstype, *source, *super_options;
};
/* line is cut up in place. 0, or -1 if it is not a mountinfo line. */
int mount_line_parse(struct mount_line *m, char *line);
/* Undo octal escapes in place. */
char *mount_unescape(char *field);
/* fn for each mount until it returns non-zero, which is returned; 0 at the end, -1 with errno. */
int mount_lines(int (*fn)(const struct mount_line *m, void *arg), void *arg);

/* ---- hierarchy.c: the cgroup2 mount and where we are in it ---- */

struct hierarchy {
	int mount;	 /* its top directory */
	char point[256]; /* where it is mounted */
	char own[512];	 /* our own cgroup below the top, "" is the top itself */
	bool own_known;	 /* false: our cgroup is outside what is mounted */
	bool systemd;	 /* a systemd manages this tree, and is its single writer */
	uid_t uid;	 /* effective */
};
#define HIERARCHY_INIT {.mount = -1}
/* Whether dir is the kernel's root cgroup, which may hold processes and give controllers too. */
bool is_kernel_root(int dir);
/* Whether errno says that the look could not be taken, and nothing about what there is. */
bool out_of_resources(int error);
/* 0, or -1 with the reason in why, and errno. */
int hierarchy_open(struct hierarchy *h, char *why, size_t size);
void hierarchy_close(struct hierarchy *h);
/* The "0::" line of /proc/PID/cgroup, cut out in place; NULL if there is none. */
char *own_cgroup_parse(char *text);
/* The part of path below root ("" if equal), both from the kernel; NULL if it is not below. */
const char *path_below(const char *path, const char *root);

/* Cut off the last component; false if there is none. */
bool path_parent(char *path);

/* ---- place.c ---- */

/* Open and check --cgroup-parent; fills source, parent and parent_path. */
int place_given(const struct hierarchy *h, const char *given, struct cgroup_place *p, struct err *e);

/* In a tree with systemd: length of the topmost path, from our own cgroup up, that is ours to
 * divide; -1 if there is none. */
int place_delegated(const struct hierarchy *h);

/* ---- controllers.c ---- */

/* Bits of those that we know in a list like cgroup.controllers. */
unsigned controllers_parse(const char *text);
/* The bits in dir's file, 0 if it cannot be read. *error is touched only if out_of_resources(). */
unsigned controllers_read(int dir, const char *file, int *error);
/* Which of want the children of dir have or, unless dry, can now be given. Where one is missing,
 * why says so with errno; path is for that text. */
struct offer {
	int dir;
	const char *path;
	unsigned want;
	bool dry;
	unsigned there; /* out: what dir itself has */
	int error;	/* out: errno if a look could not be taken */
};
unsigned controllers_enable(struct offer *o, char why[CONTROLLER_COUNT][WHY_SIZE]);

/* ---- text.c: small files of the kernel's ---- */

/* A kernfs or procfs file that the kernel shows in one piece: open, one read, close.
 * NUL-terminated; the length, or -1 with errno (E2BIG if it does not fit). */
ssize_t read_whole(int dir, const char *name, char *buf, size_t size);
void list_close(DIR **list);
/* Text for people: snprintf() that cuts visibly, see text_fit(). */
void say(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The number after "KEY " at the start of a line, or after "KEY=" within the line that begins with
 * lead ("" any); NUM_UNKNOWN if there is none. */
int64_t line_number(const char *text, const char *key);
int64_t pair_number(const char *line, const char *key);
/* A file with one number; NUM_UNKNOWN for none, "max" or no file. */
int64_t file_number(int dir, const char *name);

/* ---- limits.c ---- */

/* Write *lim to the leaf, each file read back; fills the values, swap_file and the like in *cg. */
int limits_write(struct cgroup *cg, const struct limits *lim, struct err *e);
/* io.max on every device of image. */
int limits_write_io(struct cgroup *cg, const struct limits *lim, int image, struct err *e);
bool limits_want_io(const struct limits *lim);
/* Write text to dir/file and read it back; the kernel must then show expect. value takes what it shows. */
struct setting {
	const char *file, *text, *expect;
};
int setting_write(int dir, const struct setting *s, char *value, size_t size, struct err *e);

/* ---- devices.c ---- */

enum { DEVICES_MAX = 16 };
struct devices {
	struct {
		unsigned major, minor;
	} at[DEVICES_MAX];
	size_t len;
	char missing[160]; /* for people: what there is instead of a disk */
};
/* Add the disk that a block device's folder in sysfs belongs to. 0, or -1 with errno. */
int devices_add_sysfs(struct devices *d, int sysfs);
/* The whole disks behind the file system that fd is on. ERR_HOST if none can be found. */
int devices_find(struct devices *d, int fd, struct err *e);

/* ---- scope.c ---- */

/* Have systemd make the scope cg->made with p->first and the keeper in it; path takes its cgroup
 * below the mount. */
enum { SCOPE_PATH_SIZE = 256 };
int scope_start(struct cgroup *cg, const struct cgroup_place *p, const char *libexec,
		char path[SCOPE_PATH_SIZE], struct err *e);
/* End the keeper; where nothing else is in the scope, wait (bounded) until systemd has removed it. */
void scope_stop(struct cgroup *cg, bool empty);

/* ---- remove.c ---- */

/* Take what a killed run left in dir: each "pinfold-*" that nobody holds and nothing is in. */
struct sweep {
	bool (*is_running)(const char *id, void *arg); /* may be NULL: the lock alone decides */
	void *arg;
	unsigned removed;
};
void leaves_sweep(int dir, struct sweep *s);
/* Whether the open leaf is nobody's: its lock is not held, and nothing is in it. */
bool leaf_abandoned(int fd);

#endif
