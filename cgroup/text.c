#include "base/fd.h"
#include "base/text.h"
#include "cgroup/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* kernfs files and /proc/self/cgroup are made by one show call into a buffer that grows until all
 * of it fits, so one read gives the whole; a second one only to see the end would double the cost. */
ssize_t read_whole(int dir, const char *name, char *buf, size_t size)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n;
	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n == size) {
		errno = E2BIG;
		return -1;
	}
	buf[n] = '\0';
	return n;
}

void list_close(DIR **list)
{
	if (*list)
		closedir(*list);
}

void say(char *buf, size_t size, const char *fmt, ...)
{
	char text[1024]; /* two paths of cgroup.h, and words */
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_fit(buf, size, text);
}

static int64_t number(const char *text)
{
	if (*text < '0' || *text > '9')
		return NUM_UNKNOWN;
	errno = 0;
	unsigned long long v = strtoull(text, NULL, 10);
	if (errno != 0 || v > INT64_MAX)
		return INT64_MAX;
	return (int64_t)v;
}

int64_t line_number(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, key, len) == 0 && line[len] == ' ')
			return number(line + len + 1);
	}
	return NUM_UNKNOWN;
}

int64_t pair_number(const char *line, const char *key)
{
	size_t len = strlen(key);
	for (const char *p = line; *p && *p != '\n'; p++)
		if ((p == line || p[-1] == ' ') && strncmp(p, key, len) == 0 && p[len] == '=')
			return number(p + len + 1);
	return NUM_UNKNOWN;
}

int64_t file_number(int dir, const char *name)
{
	char text[32];
	if (read_whole(dir, name, text, sizeof(text)) < 0)
		return NUM_UNKNOWN;
	return number(text);
}
