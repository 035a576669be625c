#include "runtime/subid.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 * 1024, NAME_MAX_LEN = 256 };

struct line {
	const char *name;
	size_t name_len;
	uint32_t first, count;
};

/* Next well-formed "name:first:count" of *p; false at the end. Malformed lines are skipped as shadow does. */
static bool next_line(const char **p, struct line *l)
{
	while (**p) {
		const char *start = *p;
		const char *end = strchrnul(start, '\n');
		*p = *end ? end + 1 : end;
		const char *colon = memchr(start, ':', (size_t)(end - start));
		if (!colon || *start == '#')
			continue;
		char *after;
		unsigned long first = strtoul(colon + 1, &after, 10);
		if (after == colon + 1 || *after != ':' || first > UINT32_MAX)
			continue;
		unsigned long count = strtoul(after + 1, NULL, 10);
		if (count == 0 || count > UINT32_MAX - first)
			continue;
		*l = (struct line){start, (size_t)(colon - start), (uint32_t)first, (uint32_t)count};
		return true;
	}
	return false;
}

/* The user's name out of /etc/passwd: a static program has no NSS, and a user from elsewhere can be
 * named by number in /etc/subuid. */
static bool user_name(uint32_t uid, char *name)
{
	char *text = malloc(FILE_MAX);
	if (!text)
		return false;
	bool found = false;
	if (fd_read_small(AT_FDCWD, "/etc/passwd", text, FILE_MAX) >= 0) {
		for (char *line = text, *next; *line && !found; line = next) {
			char *end = strchrnul(line, '\n');
			next = *end ? end + 1 : end;
			char *first = memchr(line, ':', (size_t)(end - line));
			char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1))
					     : NULL;
			if (!second || first - line >= NAME_MAX_LEN)
				continue;
			if (strtoul(second + 1, NULL, 10) != uid || second[1] == ':')
				continue;
			memcpy(name, line, (size_t)(first - line));
			name[first - line] = '\0';
			found = true;
		}
	}
	free(text);
	return found;
}

int subid_own_range(const char *file, uint32_t uid, struct id_range *range, struct err *e)
{
	char name[NAME_MAX_LEN], number[16];
	snprintf(number, sizeof(number), "%u", uid);
	if (!user_name(uid, name))
		memcpy(name, number, sizeof(number));
	char *text = malloc(FILE_MAX);
	if (!text)
		return err_host(e, "ids: out of memory");
	struct id_range best = {0};
	if (fd_read_small(AT_FDCWD, file, text, FILE_MAX) >= 0) {
		const char *p = text;
		for (struct line l; next_line(&p, &l);) {
			bool ours =
				(l.name_len == strlen(name) && !memcmp(l.name, name, l.name_len)) ||
				(l.name_len == strlen(number) && !memcmp(l.name, number, l.name_len));
			if (ours && l.count > best.count)
				best = (struct id_range){l.first, l.count};
		}
	}
	free(text);
	if (best.count == 0)
		return err_host(e,
				"ids: %s gives %s no ids; as root add the line \"%s:100000:65536\" (a free range), "
				"or use --ids single",
				file, name, name);
	if (best.count > 65535)
		best.count = 65535;
	*range = best;
	return 0;
}

static bool file_delegates(const char *file, uint32_t first, uint32_t count)
{
	char small[2048], *text = small;
	bool found = true;
	ssize_t n = fd_read_small(AT_FDCWD, file, small, sizeof(small));
	if (n < 0 && errno == E2BIG) {
		text = malloc(FILE_MAX);
		if (!text)
			return true;
		n = fd_read_small(AT_FDCWD, file, text, FILE_MAX);
	}
	if (n < 0) {
		found = errno != ENOENT;
	} else {
		const char *p = text;
		struct line l;
		found = false;
		while (!found && next_line(&p, &l))
			found = l.first < first + count && first < l.first + l.count;
	}
	if (text != small)
		free(text);
	return found;
}

bool subid_delegated(uint32_t first, uint32_t count)
{
	return file_delegates("/etc/subuid", first, count) ||
	       file_delegates("/etc/subgid", first, count);
}

int subid_slot_range(struct id_range *range, const char *text, struct err *e)
{
	*range = (struct id_range){0x70000000, 0x10000000};
	if (!text)
		return 0;
	char *end;
	unsigned long first = strtoul(text, &end, 10);
	unsigned long count = *end == ':' ? strtoul(end + 1, &end, 10) : 0;
	if (*end || first < 65536 || count < 65536 || first + count > 0xfffe0000UL)
		return err_usage(e,
				 "PINFOLD_ID_RANGE=%s: want FIRST:COUNT, FIRST at least 65536, COUNT at least 65536",
				 text);
	*range = (struct id_range){(uint32_t)first, (uint32_t)count};
	return 0;
}
