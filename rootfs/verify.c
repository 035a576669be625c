/* The mount table, read back from the kernel and compared line by line. */
#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <sys/mount.h>
#include <unistd.h>

/* The bits are mount(2)'s, so that what the parent saw on the image's mount can stand in a row. */
enum {
	RO = MS_RDONLY,
	NOSUID = MS_NOSUID,
	NODEV = MS_NODEV,
	NOEXEC = MS_NOEXEC,
	SEALED = RO | NOSUID | NODEV | NOEXEC
};

struct flag {
	const char *name;
	unsigned long bit;
};
static const struct flag flags[] = {
	{"ro", RO},
	{"nosuid", NOSUID},
	{"nodev", NODEV},
	{"noexec", NOEXEC},
	{"noatime", MS_NOATIME},
	{"nodiratime", MS_NODIRATIME},
	{"relatime", MS_RELATIME},
	{"nosymfollow", MS_NOSYMFOLLOW},
};

/* What must be there, and how. A mount may have more of the flags (locked by the host),
 * only the scratch must not be read-only. */
struct row {
	const char *point;
	const char *type; /* NULL: the image's own */
	unsigned long flags;
	bool writable;
};
static const struct row rows[] = {
	{"/", NULL, RO | NOSUID | NODEV, false},
	{"/proc", "proc", SEALED, false},
	{"/sys", "tmpfs", SEALED, false},
	{"/dev", "tmpfs", SEALED, false},
	/* the terminals are device nodes, which nodev would close, and change hands by chown(2) */
	{"/dev/pts", "devpts", NOSUID | NOEXEC, true},
	{"/dev/shm", "tmpfs", NOSUID | NODEV, true},
	{"/tmp", "tmpfs", NOSUID | NODEV, true},
	{"/run", "tmpfs", NOSUID | NODEV, true},
	{"/scratch", "tmpfs", NOSUID | NODEV, true},
	{"/run/input", "tmpfs", RO | NOSUID | NODEV, false},
	{"/sys/fs/cgroup", "cgroup2", SEALED, false},
};
enum {
	ROWS = sizeof(rows) / sizeof(rows[0]),
	ROOT_ROW = 0,
	INPUT_ROW = ROWS - 2,
	CGROUP_ROW = ROWS - 1
};

static unsigned long parse_flags(const char *options)
{
	unsigned long found = 0;
	for (const char *at = options; *at; at += *at == ',') {
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
			const char *end = after(at, flags[i].name);
			if (end && (*end == ',' || *end == '\0'))
				found |= flags[i].bit;
		}
		while (*at && *at != ',')
			at++;
	}
	return found;
}

static int compare(const struct mount_line *m, const struct row *want, struct err *e)
{
	unsigned long have = parse_flags(m->options);
	if (m->tag)
		return err_host(e, "%s is not private: %s", m->point, m->tag);
	if (want->type && !same_text(want->type, m->type))
		return err_host(e, "%s is a %s, not a %s", m->point, m->type, want->type);
	if (want->writable && (have & RO))
		return err_host(e, "%s is read-only", m->point);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (want->flags & ~have & flags[i].bit)
			return err_host(e, "%s (%s, %s) is mounted without %s", m->point, m->type,
					m->options, flags[i].name);
	return 0;
}

/* Everything that is not in rows[]: devices, covers in proc, files, and what the image or the outer
 * proc brings along. False: nothing of the kind should be here. */
static bool other_row(const struct enter *x, const char *point, struct row *want, unsigned *device)
{
	*want = (struct row){.point = point, .flags = SEALED};
	if (after(point, "/dev/")) {
		want->flags = RO | NOSUID | NOEXEC;
		for (*device = 0; *device < DEVICES; ++*device)
			if (same_text(point, devices[*device].point))
				return true;
		return false;
	}
	if (after(point, "/proc/"))
		return x->proc_outer || proc_is_mask(point);
	if (after(point, "/sys/"))
		return false;
	want->flags = RO | NOSUID | NODEV;
	if (same_text(point, "/etc")) /* as the root, an overlay of ours over the image's */
		want->flags |= x->r->mount_flags;
	return x->r->form != ROOTFS_OVERLAY;
}

struct seen {
	const struct enter *x;
	unsigned rows, devices;
};

static int check_line(void *arg, char *line, struct err *e)
{
	struct seen *seen = arg;
	struct mount_line m;
	if (!mount_line_read(&m, line))
		return err_bug(e, "a line of mountinfo that cannot be read");
	for (unsigned i = 0; i < ROWS; i++) {
		if (!same_text(m.point, rows[i].point))
			continue;
		if (seen->rows & 1u << i)
			return err_host(e, "%s is mounted over twice", m.point);
		seen->rows |= 1u << i;
		struct row want = rows[i];
		if (i == ROOT_ROW)
			want.flags |= seen->x->r->mount_flags;
		return compare(&m, &want, e);
	}
	struct row want;
	unsigned device = DEVICES;
	if (!other_row(seen->x, m.point, &want, &device))
		return err_host(e, "a mount that should not be there: %s (%s)", m.point, m.type);
	if (device < DEVICES) {
		seen->devices |= 1u << device;
		/* devtmpfs is the kernel's own; elsewhere, as in a container, anything may bear the name */
		if (!same_text(m.type, "devtmpfs") && dev_check(&devices[device], m.point, e) < 0)
			return -1;
	}
	return compare(&m, &want, e);
}

static int walk(int fd, char *buf, size_t size, struct seen *seen, struct err *e)
{
	return lines_walk(fd, &(struct line_walk){buf, size, check_line, seen}, e);
}

static int walk_short(int fd, struct seen *seen, struct err *e)
{
	char buf[2048];
	return walk(fd, buf, sizeof(buf), seen, e);
}

static int walk_long(int fd, struct seen *seen, struct err *e)
{
	char buf[LINE_BYTES];
	return walk(fd, buf, sizeof(buf), seen, e);
}

/* Our own lines are short; only an image with mounts in it needs the buffer with more pages. */
static int walk_table(const struct enter *x, struct seen *seen, struct err *e)
{
	autoclose int fd = mount_table_open(x->proc, e);
	if (fd < 0)
		return -1;
	struct err first = ERR_INIT;
	*seen = (struct seen){.x = x};
	if (walk_short(fd, seen, &first) == 0)
		return 0;
	if (first.sys != E2BIG || lseek(fd, 0, SEEK_SET) < 0) {
		*e = first;
		return -1;
	}
	*seen = (struct seen){.x = x};
	return walk_long(fd, seen, e);
}

int rootfs_verify(const struct enter *x, struct err *e)
{
	struct seen seen;
	if (walk_table(x, &seen, e) < 0)
		return err_wrap(e, "mount table");
	if (!x->r->cgroup_mount)
		seen.rows ^= 1u << CGROUP_ROW;
	if (!x->r->input_place)
		seen.rows ^= 1u << INPUT_ROW;
	const unsigned absent = (x->r->cgroup_mount ? 0 : 1u << CGROUP_ROW) |
				(x->r->input_place ? 0 : 1u << INPUT_ROW);
	for (unsigned i = 0; i < ROWS; i++)
		if (!(seen.rows & 1u << i))
			return err_host(e, "mount table: %s: expected %s", rows[i].point,
					absent & 1u << i ? "nothing" : "a mount");
	if (seen.devices != (1u << DEVICES) - 1)
		return err_host(e, "mount table: a device is missing in /dev");
	return 0;
}
