#include "rootfs/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

char *put(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	*at = '\0';
	return at;
}

char *put_number(char *at, uint64_t number)
{
	uint64_t unit = 1;
	while (number / unit >= 10)
		unit *= 10;
	for (; unit > 0; unit /= 10)
		*at++ = (char)('0' + number / unit % 10);
	*at = '\0';
	return at;
}

size_t length(const char *text)
{
	size_t len = 0;
	while (text[len])
		len++;
	return len;
}

bool same_text(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

const char *after(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return NULL;
	return text;
}

char *next_field(char **at)
{
	char *field = *at;
	if (!*field)
		return NULL;
	char *end = field;
	while (*end && *end != ' ')
		end++;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return field;
}

static char *line_end(char *line)
{
	while (*line && *line != '\n')
		line++;
	return *line ? line : NULL;
}

int lines_walk(int fd, const struct line_walk *w, struct err *e)
{
	size_t used = 0;
	for (;;) {
		ssize_t n = read(fd, w->buf + used, w->size - 1 - used);
		if (n < 0)
			return err_sys(e, "read");
		used += (size_t)n;
		w->buf[used] = '\0';
		char *line = w->buf, *end;
		while ((end = line_end(line))) {
			*end = '\0';
			if (w->each(w->arg, line, e) < 0)
				return -1;
			line = end + 1;
		}
		used -= (size_t)(line - w->buf);
		if (n == 0)
			return used == 0 ? 0 : w->each(w->arg, line, e);
		if (used == w->size - 1) {
			errno = E2BIG;
			return err_sys(e, "read a line");
		}
		memmove(w->buf, line, used);
	}
}
