#include "rootfs/image/record.h"

#include "rootfs/image/path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE   "# pinfold.record/1"
#define HOLES_PREFIX "holes-"

static const char hex[] = "0123456789abcdef";

uint32_t record_disk_id(const struct record_owners *o, uint32_t id)
{
	return id < o->ids ? id : RECORD_NOBODY;
}

size_t record_header(char *to, size_t size, const struct record_owners *o)
{
	char owners[64] = "in this record only";
	if (o->kept)
		snprintf(owners, sizeof(owners), "kept below %" PRIu32, o->ids);
	const int n = snprintf(to, size,
			       FIRST_LINE
			       "\n# owners: %s\n"
			       "# PATH GROUP TYPE MODE UID GID MTIME SIZE DIGEST TARGET XATTR...\n",
			       owners);
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

/* ---- writing ---- */

static char *escape(char *to, const char *bytes, size_t len, char also)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)bytes[i];
		if (c > ' ' && c < 0x7f && c != '\\' && (char)c != also) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '\\';
		*to++ = 'x';
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	return to;
}

size_t record_path(char *to, const char *path)
{
	const char *text = *path ? path : ".";
	return (size_t)(escape(to, text, strlen(text), '\\') - to);
}

size_t record_fields(char *to, const struct record_entry *r)
{
	char *at = to;
	const bool file = r->type == 'f';
	at += snprintf(at, 256,
		       "%c %04o %" PRIu32 " %" PRIu32 " %" PRId64 ".%09" PRIu32 " %" PRIu64 " %s%s ",
		       r->type, r->mode, r->uid, r->gid, r->mtime, r->mtime_nsec, r->size,
		       file && r->holes ? HOLES_PREFIX : "", file ? r->digest.text : "-");
	if (r->type == 'l')
		at = escape(at, r->target, strlen(r->target), '\\');
	else
		*at++ = '-';
	for (size_t i = 0; i < r->xattrs_len; i++) {
		const struct record_xattr *x = &r->xattrs[i];
		*at++ = ' ';
		if (!x->kept)
			*at++ = '!';
		at = escape(at, x->name, strlen(x->name), '=');
		*at++ = '=';
		at = escape(at, x->value, x->value_len, '\\');
	}
	return (size_t)(at - to);
}

/* ---- reading ---- */

static int digit(char c)
{
	const char *at = c ? strchr(hex, c) : NULL;
	return at ? (int)(at - hex) : -1;
}

/* In place; the length, or -1 for what escape() does not write. A NUL is only in a value. */
static ssize_t unescape(char *text, bool value)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		const int high = from[1] == 'x' ? digit(from[2]) : -1;
		const int low = high >= 0 ? digit(from[3]) : -1;
		if (low < 0 || (high + low == 0 && !value))
			return -1;
		*to++ = (char)(high << 4 | low);
		from += 3;
	}
	*to = '\0';
	return to - text;
}

static char *word(char **line)
{
	char *at = *line;
	if (!at || !*at)
		return NULL;
	char *space = strchr(at, ' ');
	*line = space ? space + 1 : NULL;
	if (space)
		*space = '\0';
	return at;
}

/* A number of base that ends at the end of text, or at stop. */
static bool number(const char *text, int base, char stop, uint64_t max, uint64_t *n)
{
	char *end;
	if (!text || digit(*text) < 0)
		return false;
	errno = 0;
	*n = strtoull(text, &end, base);
	return errno == 0 && end != text && *end == stop && *n <= max;
}

static bool read_numbers(char **line, struct record_entry *r)
{
	uint64_t mode, uid, gid, seconds, nsec, size;
	if (!number(word(line), 8, '\0', 07777, &mode) ||
	    !number(word(line), 10, '\0', UINT32_MAX, &uid) ||
	    !number(word(line), 10, '\0', UINT32_MAX, &gid))
		return false;
	const char *time = word(line);
	const char *dot = time ? strchr(time, '.') : NULL;
	if (!dot || strlen(dot) != 10 || !number(time, 10, '.', INT64_MAX, &seconds) ||
	    !number(dot + 1, 10, '\0', 999999999, &nsec) ||
	    !number(word(line), 10, '\0', INT64_MAX, &size))
		return false;
	r->mode = (mode_t)mode;
	r->uid = (uint32_t)uid;
	r->gid = (uint32_t)gid;
	r->mtime = (int64_t)seconds;
	r->mtime_nsec = (uint32_t)nsec;
	r->size = size;
	return true;
}

static bool read_digest(const char *text, struct record_entry *r)
{
	struct err ignored = ERR_INIT;
	if (r->type != 'f')
		return text && strcmp(text, "-") == 0;
	r->holes = text && strncmp(text, HOLES_PREFIX, strlen(HOLES_PREFIX)) == 0;
	return text &&
	       digest_parse(&r->digest, text + (r->holes ? strlen(HOLES_PREFIX) : 0), &ignored) == 0;
}

static bool read_xattr(char *text, struct record_entry *r)
{
	char *equals = strchr(text, '=');
	if (!equals || r->xattrs_len == RECORD_XATTRS)
		return false;
	*equals = '\0';
	struct record_xattr *x = &r->xattrs[r->xattrs_len++];
	x->kept = *text != '!';
	x->name = text + !x->kept;
	x->value = equals + 1;
	if (unescape(text, false) < 1)
		return false;
	const ssize_t len = unescape(equals + 1, true);
	x->value_len = (size_t)len;
	return len >= 0;
}

static bool fields(char *line, struct record_entry *r)
{
	const char *type = word(&line);
	if (!type || strlen(type) != 1 || !strchr("dflp", *type))
		return false;
	r->type = *type;
	if (!read_numbers(&line, r) || !read_digest(word(&line), r))
		return false;
	char *target = word(&line);
	if (!target || (r->type != 'l' && strcmp(target, "-") != 0))
		return false;
	if (r->type == 'l' && unescape(target, false) < 1)
		return false;
	r->target = r->type == 'l' ? target : NULL;
	r->xattrs_len = 0;
	while (line) {
		char *xattr = word(&line);
		if (!xattr || !read_xattr(xattr, r))
			return false;
	}
	return true;
}

int record_read_fields(char *line, struct record_entry *r, struct err *e)
{
	return fields(line, r) ? 0 : err_usage(e, "this is no line of a record");
}

/* A path out of a record is no better than one out of an archive: it is used to open files. */
static bool read_path(char *text, struct record_entry *r)
{
	struct path clean;
	struct err ignored = ERR_INIT;
	if (!text || unescape(text, false) < 1)
		return false;
	r->path = text;
	if (strcmp(text, ".") == 0) {
		r->path = "";
		return true;
	}
	return path_clean(&clean, text, PATH_BYTES, &ignored) == 0 && strcmp(clean.text, text) == 0;
}

int record_read_line(char *line, struct record_entry *r, struct err *e)
{
	char *path = word(&line);
	const char *group = word(&line);
	r->group = 0;
	if (!read_path(path, r) || !line || !group ||
	    (strcmp(group, "-") != 0 && !number(group, 10, '\0', UINT64_MAX, &r->group)) ||
	    !fields(line, r))
		return err_usage(e, "this is no line of a record");
	return 0;
}

/* The next line, without its newline: 1, 0 at the end, -1. */
static int next_line(struct record_reader *r, char **line, struct err *e)
{
	for (;;) {
		char *from = r->bytes + r->at;
		char *newline = memchr(from, '\n', r->end - r->at);
		if (newline) {
			*newline = '\0';
			*line = from;
			r->at = (size_t)(newline - r->bytes) + 1;
			r->line++;
			return memchr(from, '\0', (size_t)(newline - from))
				       ? err_usage(e, "a NUL in a record")
				       : 1;
		}
		memmove(r->bytes, from, r->end - r->at);
		r->end -= r->at;
		r->at = 0;
		ssize_t n = 0;
		if (r->end < sizeof(r->bytes))
			n = read(r->fd, r->bytes + r->end, sizeof(r->bytes) - r->end);
		if (n < 0 && errno != EINTR)
			return err_sys(e, "read the record");
		if (n == 0)
			return r->end ? err_usage(e, "the record breaks off in a line") : 0;
		r->end += n > 0 ? (size_t)n : 0;
	}
}

/* A line of the header that begins with start; what follows it, NULL if it is none. */
static const char *header_line(struct record_reader *r, const char *start, struct err *e)
{
	char *line;
	if (next_line(r, &line, e) != 1 || strncmp(line, start, strlen(start)) != 0)
		return NULL;
	return line + strlen(start);
}

int record_open(struct record_reader *r, int fd, struct err *e)
{
	static const char kept[] = "kept below ";
	uint64_t ids = 0;
	*r = (struct record_reader){.fd = fd};
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "seek in the record");
	const char *rest = header_line(r, FIRST_LINE, e);
	const char *owners = rest && !*rest ? header_line(r, "# owners: ", e) : NULL;
	if (!owners)
		return err_usage(e, "this is no record of a tree (" FIRST_LINE ")");
	r->owners.kept = strncmp(owners, kept, strlen(kept)) == 0;
	if (r->owners.kept && !number(owners + strlen(kept), 10, '\0', UINT32_MAX, &ids))
		return err_usage(e, "the record's owners are no number");
	r->owners.ids = (uint32_t)ids;
	return header_line(r, "# PATH ", e) ? 0 : err_usage(e, "the record has no line of columns");
}

int record_next(struct record_reader *r, struct record_entry *entry, struct err *e)
{
	char *line = NULL;
	const int got = next_line(r, &line, e);
	if (got <= 0)
		return got;
	if (record_read_line(line, entry, e) < 0)
		return err_wrap(e, "line %" PRIu64, r->line);
	return 1;
}
