#include "transfer/mounted.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Space, tab, newline and backslash are written as \ooo. */
static void unescape(char *s)
{
	char *to = s;
	for (; *s; s++) {
		if (s[0] == '\\' && s[1] && s[2] && s[3]) {
			*to++ = (char)((unsigned)(s[1] - '0') << 6 | (unsigned)(s[2] - '0') << 3 |
				       (unsigned)(s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

struct mount_row {
	char *root, *point; /* in a line of mountinfo */
};

/* "36 35 98:0 /root /point ..." */
static bool read_row(struct mount_row *row, char *line, uint64_t id, struct mounted *m)
{
	char *at = line;
	char *fields[5] = {NULL};
	for (int i = 0; i < 5 && at; i++)
		fields[i] = strsep(&at, " ");
	if (!fields[4] || strtoull(fields[0], NULL, 10) != id ||
	    sscanf(fields[2], "%u:%u", &m->major, &m->minor) != 2)
		return false;
	row->root = fields[3];
	row->point = fields[4];
	unescape(row->root);
	unescape(row->point);
	return true;
}

/* path is below point; its rest goes behind root. */
static int put_together(struct mounted *m, const struct mount_row *row, const char *path)
{
	const bool top = strcmp(row->point, "/") == 0, whole = strcmp(row->root, "/") == 0;
	const size_t len = top ? 0 : strlen(row->point);
	if (strncmp(path, row->point, len) != 0 || (path[len] != '/' && path[len] != '\0'))
		return -1;
	m->whole = whole;
	const int n = snprintf(m->place, sizeof(m->place), "%s%s", whole ? "" : row->root,
			       strcmp(path + len, "/") == 0 ? "" : path + len);
	return n >= 0 && (size_t)n < sizeof(m->place) ? 0 : -1;
}

/* The place of what is mounted by id and has that path. A mount that was let go has no row. */
static bool find_place(struct mounted *m, uint64_t id, const char *path)
{
	struct mount_row row;
	char *line = NULL;
	size_t size = 0;
	bool there = false, told = false;
	FILE *file = fopen("/proc/self/mountinfo", "re");
	while (file && !there && getline(&line, &size, file) > 0) {
		there = read_row(&row, line, id, m);
		told = there && put_together(m, &row, path) == 0;
	}
	if (file)
		fclose(file);
	free(line);
	return told;
}

int mounted_find(struct mounted *m, int fd, struct err *e)
{
	char link[40], path[PATH_MAX];
	struct statx stx;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return err_sys(e, "read its path through /proc");
	path[n] = '\0';
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 || !(stx.stx_mask & STATX_MNT_ID))
		return err_sys(e, "ask for its mount");
	return find_place(m, stx.stx_mnt_id, path)
		       ? 0
		       : err_host(e, "its place in its file system cannot be told");
}

bool mounted_within(const struct mounted *m, const struct mounted *other)
{
	const size_t len = strlen(other->place);
	return m->major == other->major && m->minor == other->minor &&
	       strncmp(m->place, other->place, len) == 0 &&
	       (m->place[len] == '/' || m->place[len] == '\0');
}
