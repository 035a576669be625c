#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int stage_bind(const char *from, const char *to, unsigned long flags, struct err *e)
{
	if (mount(from, to, NULL, MS_BIND | flags, NULL) < 0)
		return err_sys(e, "bind %s on %s", from, to);
	return 0;
}

int stage_attr(const char *path, unsigned int at_flags, uint64_t set, struct err *e)
{
	struct mount_attr attr = {.attr_set = set, .propagation = MS_PRIVATE};
	if (mount_setattr(AT_FDCWD, path, at_flags, &attr, sizeof(attr)) < 0)
		return err_sys(e, "mount flags of %s", path);
	return 0;
}

void fd_run_add(struct fd_run *run, int fd)
{
	if (run->count == sizeof(run->fds) / sizeof(run->fds[0]))
		fd_run_close(run);
	run->fds[run->count++] = fd;
}

void fd_run_close(struct fd_run *run)
{
	int saved = errno;
	for (unsigned first = 0, next; first < run->count; first = next) {
		next = first + 1;
		while (next < run->count && run->fds[next] == run->fds[next - 1] + 1)
			next++;
		close_range((unsigned)run->fds[first], (unsigned)run->fds[next - 1], 0);
	}
	run->count = 0;
	errno = saved;
}

int stage_file(struct fd_run *run, const char *path, const char *text, mode_t mode, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(e, "create %s", path);
	fd_run_add(run, fd);
	if (fd_write_all(fd, text, length(text)) < 0)
		return err_sys(e, "write %s", path);
	return 0;
}

bool mount_line_read(struct mount_line *m, char *text)
{
	char *field[6];
	for (size_t i = 0; i < 6; i++) {
		field[i] = next_field(&text);
		if (!field[i])
			return false;
	}
	*m = (struct mount_line){.point = field[4], .options = field[5]};
	for (;;) { /* optional fields, closed by a lone hyphen */
		char *tag = next_field(&text);
		if (!tag)
			return false;
		if (same_text(tag, "-"))
			break;
		m->tag = tag;
	}
	m->type = next_field(&text);
	return m->type != NULL;
}

int mount_table_open(int proc, struct err *e)
{
	int fd = openat(proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open /proc/self/mountinfo") : fd;
}

/* mountinfo writes space, tab, newline and backslash as \ooo (proc_pid_mountinfo(5)). */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++, to++) {
		*to = *s;
		if (s[0] == '\\' && s[1] && s[2] && s[3]) {
			*to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		}
	}
	*to = '\0';
}

struct beneath {
	const char *dir;
	size_t len;
	char *names;
	size_t size, used;
	int found;
};

static int add_beneath(void *arg, char *line, struct err *e)
{
	struct beneath *b = arg;
	struct mount_line m;
	(void)e;
	if (!mount_line_read(&m, line))
		return 0;
	unescape(m.point);
	if (strncmp(m.point, b->dir, b->len) != 0 || m.point[b->len] != '/')
		return 0;
	int n = snprintf(b->names + b->used, b->size - b->used, "%s%s", b->found ? ", " : "",
			 m.point);
	if (n > 0 && (size_t)n < b->size - b->used)
		b->used += (size_t)n;
	else
		b->names[b->used] = '\0'; /* it is for a message: what fits */
	b->found = 1;
	return 0;
}

int rootfs_mounts_beneath(const char *dir, char *names, size_t size, struct err *e)
{
	autoclose int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "open /proc/self/mountinfo");
	char buf[LINE_BYTES];
	buf[0] = '\0';
	struct beneath b = {.dir = dir, .len = strlen(dir), .names = names, .size = size};
	names[0] = '\0';
	if (lines_walk(fd, &(struct line_walk){buf, sizeof(buf), add_beneath, &b}, e) < 0)
		return -1;
	return b.found;
}
