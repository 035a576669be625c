/* /proc: the sandbox's own, masked; its limits set through it, then read-only.
 *
 * It is mounted on the stage, where nothing of the image can stand in for it, and every write goes
 * through the directory fd of that very mount.
 */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <unistd.h>

/* Files of proc that any id may read and that tell of the host or of other users of it. What
 * proc shows to its owner only (kcore, kmsg, timer_list, slabinfo, vmallocinfo, pagetypeinfo,
 * kpage*) needs no cover, as the host's uid 0, its owner, is never mapped; nor do controls
 * (sysrq-trigger, irq, bus, fs, acpi, scsi), because all of it is read-only. */
#define MASK(name) STAGE "proc/" name, "/proc/" name
static const struct {
	const char *staged, *point;
} masked[] = {
	{MASK("kallsyms")}, /* the kernel's and its modules' symbols; addresses where kptr_restrict is 0 */
	{MASK("keys")}, /* every key the kuid may view, by name: the caller's, with a single id */
	{MASK("key-users")},	 /* who on the host has keys, and how many */
	{MASK("interrupts")},	 /* a clock of the host's key strokes and packets */
	{MASK("latency_stats")}, /* call stacks of every process */
};
enum { MASKED = sizeof(masked) / sizeof(masked[0]) };

/* Per user namespace, and so for the sandbox as a whole; the caller's own limits hold above them. */
static const struct {
	const char *name, *value, *value_host; /* value_host: for @host */
	bool late;			       /* pid 1 makes one of these beside rootfs_limit() */
} limits[] = {
	/* The second wall behind the filter: without a user namespace of its own the program can make no
	 * other kind, all of which need CAP_SYS_ADMIN; the rest are the wall behind that one. */
	{"sys/user/max_user_namespaces", "0", "0"},
	{"sys/user/max_pid_namespaces", "0", "0"},
	{"sys/user/max_mnt_namespaces", "0", "0"},
	{"sys/user/max_net_namespaces", "0", "0"},
	{"sys/user/max_ipc_namespaces", "0", "0"},
	{"sys/user/max_uts_namespaces", "0", "0"},
	{"sys/user/max_cgroup_namespaces", "0", "0", .late = true},
	{"sys/user/max_time_namespaces", "0", "0"},
	/* With a single id they are taken from the caller's: leave it the most of them. On @host
	 * none: a watch on /usr tells what the host's other users run. */
	{"sys/user/max_inotify_instances", "16", "0"},
	{"sys/user/max_inotify_watches", "8192", "0"},
	{"sys/user/max_fanotify_groups", "0", "0"},
	{"sys/user/max_fanotify_marks", "0", "0"},
};

enum limits_part { LIMITS_ALL, LIMITS_EARLY, LIMITS_LATE };

static int set_limit(struct enter *x, struct fd_run *files, const char *name, const char *value,
		     struct err *e)
{
	/* The outer proc may have /proc/sys mounted over itself, to make it read-only. */
	uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   (x->proc_outer ? 0 : RESOLVE_NO_XDEV);
	int fd = fd_openat2(x->proc, name, O_RDWR, 0, resolve);
	if (fd < 0) {
		/* Not built into this kernel: then there is nothing to limit. Under a read-only outer
		 * proc they cannot be set, which belongs to what `--proc outer` gives away. */
		if (errno == ENOENT || (errno == EROFS && x->proc_outer))
			return 0;
		return err_sys(e, "open /proc/%s", name);
	}
	fd_run_add(files, fd);
	ssize_t len = (ssize_t)length(value);
	if (write(fd, value, (size_t)len) != len)
		return err_sys(e, "write %s to /proc/%s", value, name);
	char text[24];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return err_sys(e, "read /proc/%s", name);
	text[n] = '\0';
	const char *end = after(text, value);
	if (!end || !same_text(end, "\n"))
		return err_host(e, "/proc/%s: wrote %s, reads %s", name, value, text);
	return 0;
}

static int set_limits(struct enter *x, enum limits_part part, struct err *e)
{
	autorun files = FD_RUN_INIT;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		bool host = x->r->form == ROOTFS_HOST;
		const char *value = host ? limits[i].value_host : limits[i].value;
		if (limits[i].late ? part == LIMITS_EARLY : part == LIMITS_LATE)
			continue;
		if (set_limit(x, &files, limits[i].name, value, e) < 0)
			return -1;
	}
	return 0;
}

int rootfs_limit(const struct rootfs *r, int proc, struct err *e)
{
	struct enter x = {.r = r, .tree = -1, .proc = proc, .scratch = -1};
	return set_limits(&x, LIMITS_EARLY, e);
}

static int mask_all(struct err *e)
{
	/* Which of them exist is up to the kernel's configuration. */
	for (size_t i = 0; i < MASKED; i++)
		if (mount(STAGE "empty", masked[i].staged, NULL, MS_BIND, NULL) < 0 && errno != ENOENT)
			return err_sys(e, "cover %s", masked[i].point);
	return 0;
}

bool proc_is_mask(const char *point)
{
	for (size_t i = 0; i < MASKED; i++)
		if (same_text(point, masked[i].point))
			return true;
	return false;
}

/* The kernel lets a user namespace mount a proc only where one is fully visible already
 * (mount_too_revealing() in fs/namespace.c): container managers cover parts of theirs. */
static int explain_refusal(struct err *e)
{
	char names[120];
	struct err ignored = ERR_INIT;
	/* The caller's to decide, and so a refusal. */
	if (rootfs_mounts_beneath("/proc", names, sizeof(names), &ignored) > 0)
		return err_usage(e,
				 "this host forbids a fresh /proc, because parts of its own are covered "
				 "(%s); `--proc outer` accepts the host's view",
				 names);
	errno = EPERM;
	return err_sys(e, "mount proc (`--proc outer` accepts the host's view)");
}

static int mount_proc(struct enter *x, struct err *e)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	if (mount("proc", STAGE "proc", "proc", flags, NULL) == 0)
		return 0;
	if (errno != EPERM)
		return err_sys(e, "mount proc");
	if (x->r->proc != PROC_OUTER)
		return explain_refusal(e);
	x->proc_outer = true;
	if (stage_bind("/proc", STAGE "proc", MS_REC, e) < 0)
		return -1;
	return stage_attr(STAGE "proc", AT_RECURSIVE,
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, e);
}

int proc_build(struct enter *x, struct err *e)
{
	if (mount_proc(x, e) < 0)
		return -1;
	x->proc = open(STAGE "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x->proc < 0)
		return err_sys(e, "open the sandbox's proc");
	return mask_all(e);
}

int proc_seal(struct enter *x, bool limited, struct err *e)
{
	if (set_limits(x, limited ? LIMITS_LATE : LIMITS_ALL, e) < 0)
		return -1;
	/* All of it, not only /proc/sys: sysrq-trigger, irq, bus, fs and acpi have controls too. */
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY, .propagation = MS_PRIVATE};
	const unsigned int recursive = x->proc_outer ? AT_RECURSIVE : 0;
	if (mount_setattr(x->proc, "", AT_EMPTY_PATH | recursive, &attr, sizeof(attr)) < 0)
		return err_sys(e, "make /proc read-only");
	return 0;
}
