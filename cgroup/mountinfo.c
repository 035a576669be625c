/* /proc/self/mountinfo, see proc_pid_mountinfo(5):
 *   36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/sda1 rw,errors=continue
 * The number of tagged fields before the dash varies; spaces in names are written as octal.
 */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool octal(const char *p)
{
	return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' && p[2] <= '7';
}

char *mount_unescape(char *field)
{
	char *out = field;
	for (const char *in = field; *in; out++) {
		if (in[0] == '\\' && octal(in + 1)) {
			*out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
	return field;
}

int mount_line_parse(struct mount_line *m, char *line)
{
	char *rest = line;
	char *head[6]; /* id parent major:minor root point options */
	for (size_t i = 0; i < 6; i++) {
		head[i] = strsep(&rest, " ");
		if (!rest)
			return -1;
	}
	for (const char *tag = ""; strcmp(tag, "-") != 0;) {
		tag = strsep(&rest, " ");
		if (!rest)
			return -1;
	}
	char *fstype = strsep(&rest, " ");
	char *source = strsep(&rest, " ");
	if (!source || !rest)
		return -1;
	*m = (struct mount_line){
		.id = (int)strtol(head[0], NULL, 10),
		.root = mount_unescape(head[3]),
		.point = mount_unescape(head[4]),
		.options = head[5],
		.fstype = fstype,
		.source = mount_unescape(source),
		.super_options = rest,
	};
	return 0;
}

enum { LINES_BYTES = 16384 };

/* Give fn every whole line in buf; *len is then what is left of an unfinished one, moved to the front. */
static int whole_lines(char *buf, size_t *len, int (*fn)(const struct mount_line *, void *), void *arg)
{
	char *line = buf;
	for (char *end; (end = memchr(line, '\n', *len - (size_t)(line - buf))); line = end + 1) {
		struct mount_line m;
		*end = '\0';
		if (mount_line_parse(&m, line) < 0)
			continue;
		int stop = fn(&m, arg);
		if (stop != 0)
			return stop;
	}
	*len -= (size_t)(line - buf);
	memmove(buf, line, *len);
	return 0;
}

static int read_lines(int fd, char *buf, int (*fn)(const struct mount_line *m, void *arg), void *arg)
{
	size_t len = 0;
	for (;;) {
		if (len == LINES_BYTES)
			len = 0; /* a line longer than any path: drop what there is of it */
		ssize_t n = read(fd, buf + len, LINES_BYTES - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		len += (size_t)n;
		int stop = whole_lines(buf, &len, fn, arg);
		if (stop != 0)
			return stop;
	}
}

int mount_lines(int (*fn)(const struct mount_line *m, void *arg), void *arg)
{
	autoclose int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Not on the stack: stack clash protection would touch every page of it, and each costs a fault. */
	char *buf = malloc(LINES_BYTES);
	if (!buf)
		return -1;
	int rc = read_lines(fd, buf, fn, arg);
	free(buf);
	return rc;
}
