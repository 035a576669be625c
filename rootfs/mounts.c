#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
	struct mount_attr attr = {.attr_set = set};
	if (mount_setattr(AT_FDCWD, path, at_flags, &attr, sizeof(attr)) < 0)
		return err_sys(e, "mount flags of %s", path);
	return 0;
}

void fd_run_add(struct fd_run *run, int fd)
{
	if (run->count > 0 && (unsigned)fd != run->first + run->count)
		fd_run_close(run);
	if (run->count == 0)
		run->first = (unsigned)fd;
	run->count++;
}

void fd_run_close(struct fd_run *run)
{
	int saved = errno;
	if (run->count > 0)
		close_range(run->first, run->first + run->count - 1, 0);
	run->count = 0;
	errno = saved;
}

int stage_file(struct fd_run *run, const char *path, const char *text, mode_t mode, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(e, "create %s", path);
	fd_run_add(run, fd);
	if (fd_write_all(fd, text, strlen(text)) < 0)
		return err_sys(e, "write %s", path);
	return 0;
}

bool mount_line_read(struct mount_line *m, char *text)
{
	char *field[6], *save = NULL;
	for (size_t i = 0; i < 6; i++) {
		field[i] = strtok_r(i == 0 ? text : NULL, " ", &save);
		if (!field[i])
			return false;
	}
	*m = (struct mount_line){.point = field[4], .options = field[5]};
	for (;;) { /* optional fields, closed by a lone hyphen */
		char *tag = strtok_r(NULL, " ", &save);
		if (!tag)
			return false;
		if (strcmp(tag, "-") == 0)
			break;
		m->tag = tag;
	}
	m->type = strtok_r(NULL, " ", &save);
	return m->type != NULL;
}

char *mount_table_read(int proc, size_t *len, struct err *e)
{
	autoclose int fd = openat(proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_sys(e, "open /proc/self/mountinfo");
		return NULL;
	}
	size_t size = 16384, used = 0;
	char *text = malloc(size);
	while (text) {
		ssize_t n = read(fd, text + used, size - used - 1);
		if (n < 0)
			break;
		if (n == 0) {
			text[used] = '\0';
			*len = used;
			return text;
		}
		used += (size_t)n;
		if (size - used > 1)
			continue;
		char *more = size < MOUNT_TABLE_MAX ? realloc(text, size *= 2) : NULL;
		if (!more) {
			errno = size < MOUNT_TABLE_MAX ? ENOMEM : E2BIG;
			break;
		}
		text = more;
	}
	err_sys(e, "read /proc/self/mountinfo");
	free(text);
	return NULL;
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

int rootfs_mounts_beneath(const char *dir, char *names, size_t size, struct err *e)
{
	autoclose int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return err_sys(e, "open /proc");
	size_t text_len;
	char *text = mount_table_read(proc, &text_len, e);
	if (!text)
		return -1;
	size_t len = strlen(dir), used = 0;
	int found = 0;
	names[0] = '\0';
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct mount_line m;
		if (!mount_line_read(&m, line))
			continue;
		unescape(m.point);
		if (strncmp(m.point, dir, len) != 0 || m.point[len] != '/')
			continue;
		int n = snprintf(names + used, size - used, "%s%s", found ? ", " : "", m.point);
		if (n > 0 && (size_t)n < size - used)
			used += (size_t)n;
		else
			names[used] = '\0'; /* the list is for a message: what fits */
		found = 1;
	}
	free(text);
	return found;
}
