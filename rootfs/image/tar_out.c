#include "rootfs/image/tar_out.h"

#include "base/fd.h"
#include "rootfs/image/path.h"
#include "spec/base64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK = 512,
	NAME_FIELD = 100,
	ID_MAX = 07777777, /* seven octal digits */
	SIZE_DIGITS = 11,
};
#define SIZE_MAX_OCTAL 077777777777ULL

/* ustar, POSIX.1-1988. */
struct header {
	char name[NAME_FIELD], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char link[NAME_FIELD], magic[6], version[2], owner[32], group[32], major[8], minor[8];
	char prefix[155], unused[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

/* The records of a pax header. */
struct pax {
	char *text;
	size_t len;
	FILE *to;
};

void tar_open(struct tar_out *t, int fd)
{
	t->fd = fd;
	t->used = 0;
	t->left = 0;
	t->pad = 0;
}

static int flush(struct tar_out *t, struct err *e)
{
	if (fd_write_all(t->fd, t->buf, t->used) < 0)
		return err_sys(e, "write the archive");
	t->used = 0;
	return 0;
}

static int put(struct tar_out *t, const void *bytes, size_t len, struct err *e)
{
	const char *from = bytes;
	while (len > 0) {
		if (t->used == sizeof(t->buf) && flush(t, e) < 0)
			return -1;
		const size_t room = sizeof(t->buf) - t->used;
		const size_t n = len < room ? len : room;
		memcpy(t->buf + t->used, from, n);
		t->used += n;
		from += n;
		len -= n;
	}
	return 0;
}

static int put_zeros(struct tar_out *t, size_t len, struct err *e)
{
	static const char zeros[2 * BLOCK];
	return put(t, zeros, len, e);
}

static unsigned padding(uint64_t len)
{
	return (unsigned)((BLOCK - len % BLOCK) % BLOCK);
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts itself. */
static void pax_put(struct pax *p, const char *key, const void *value, size_t len)
{
	const size_t rest = strlen(key) + len + 3; /* space, sign, newline */
	size_t whole = rest + 1;
	char digits[24];
	while (rest + (size_t)snprintf(digits, sizeof(digits), "%zu", whole) != whole)
		whole = rest + strlen(digits);
	fprintf(p->to, "%s %s=", digits, key);
	fwrite(value, 1, len, p->to);
	fputc('\n', p->to);
}

static void pax_number(struct pax *p, const char *key, uint64_t number)
{
	char text[24];
	const int len = snprintf(text, sizeof(text), "%" PRIu64, number);
	pax_put(p, key, text, (size_t)len);
}

/* Seconds below 0 count down, and the fraction up from them: -0.5 is -1 and 500,000,000. */
static void pax_time(struct pax *p, int64_t seconds, uint32_t nsec)
{
	char text[48];
	int len;
	if (seconds < 0 && nsec > 0)
		len = snprintf(text, sizeof(text), "-%" PRId64 ".%09u", -(seconds + 1),
			       1000000000U - nsec);
	else
		len = snprintf(text, sizeof(text), "%" PRId64 ".%09u", seconds, nsec);
	pax_put(p, "mtime", text, (size_t)len);
}

/* A key ends at the first '=', so a name that has one goes in libarchive's form, which escapes it: with
 * '%' and two digits the name, in base64 the value. */
static void pax_escaped_xattr(struct pax *p, const struct record_xattr *x)
{
	char key[sizeof("LIBARCHIVE.xattr.") + 3 * NAME_BYTES] = "LIBARCHIVE.xattr.";
	char value[BASE64_BYTES(RECORD_XATTR_BYTES)];
	size_t at = strlen(key);
	for (const char *c = x->name; *c; c++) {
		const bool escaped = *c == '=' || *c == '%';
		at += (size_t)snprintf(key + at, sizeof(key) - at, escaped ? "%%%02X" : "%c",
				       (unsigned char)*c);
	}
	pax_put(p, key, value, base64_encode(x->value, x->value_len, value));
}

static void pax_xattr(struct pax *p, const struct record_xattr *x)
{
	char key[sizeof("SCHILY.xattr.") + NAME_BYTES];
	if (strchr(x->name, '=')) {
		pax_escaped_xattr(p, x);
		return;
	}
	snprintf(key, sizeof(key), "SCHILY.xattr.%s", x->name);
	pax_put(p, key, x->value, x->value_len);
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

static void pax_name(struct pax *p, const char *key, const char *name)
{
	if (strlen(name) > NAME_FIELD)
		pax_put(p, key, name, strlen(name));
}

static void pax_entry(struct pax *p, const struct record_entry *r, const char *path, const char *link)
{
	const bool longer = strlen(path) > NAME_FIELD || strlen(link) > NAME_FIELD;
	/* Before the names: they are bytes, not UTF-8. */
	if (longer && !(is_ascii(path) && is_ascii(link)))
		pax_put(p, "hdrcharset", "BINARY", 6);
	pax_name(p, "path", path);
	pax_name(p, "linkpath", link);
	if (r->uid > ID_MAX)
		pax_number(p, "uid", r->uid);
	if (r->gid > ID_MAX)
		pax_number(p, "gid", r->gid);
	if (r->size > SIZE_MAX_OCTAL)
		pax_number(p, "size", r->size);
	if (r->mtime_nsec || r->mtime < 0 || (uint64_t)r->mtime > SIZE_MAX_OCTAL)
		pax_time(p, r->mtime, r->mtime_nsec);
	/* libarchive gave them to the record the other way round. */
	for (size_t i = r->xattrs_len; i > 0; i--)
		pax_xattr(p, &r->xattrs[i - 1]);
}

static void octal(char *field, size_t size, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof(text), "%0*" PRIo64, (int)size - 1, value);
	memcpy(field, text, size);
}

/* A field without its NUL where the text fills it. */
static void fill(char *field, size_t size, const char *text)
{
	const size_t len = strlen(text);
	memcpy(field, text, len < size ? len : size);
}

static int put_header(struct tar_out *t, struct header *h, struct err *e)
{
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	memset(h->checksum, ' ', sizeof(h->checksum));
	unsigned sum = 0;
	const unsigned char *bytes = (const unsigned char *)h;
	for (size_t i = 0; i < sizeof(*h); i++)
		sum += bytes[i];
	octal(h->checksum, 7, sum);
	return put(t, h, sizeof(*h), e);
}

static int put_pax(struct tar_out *t, const struct pax *p, struct err *e)
{
	struct header h = {.type = 'x'};
	if (p->len == 0)
		return 0;
	fill(h.name, sizeof(h.name), "PaxHeaders/entry");
	octal(h.mode, sizeof(h.mode), 0644);
	octal(h.uid, sizeof(h.uid), 0);
	octal(h.gid, sizeof(h.gid), 0);
	octal(h.size, sizeof(h.size), p->len);
	octal(h.mtime, sizeof(h.mtime), 0);
	if (put_header(t, &h, e) < 0 || put(t, p->text, p->len, e) < 0)
		return -1;
	return put_zeros(t, padding(p->len), e);
}

static char tar_type(const struct record_entry *r, const char *hard)
{
	if (hard)
		return '1';
	return r->type == 'd' ? '5' : r->type == 'l' ? '2' : r->type == 'p' ? '6' : '0';
}

static int put_entry(struct tar_out *t, const struct record_entry *r, char type, const char *link,
		     struct err *e)
{
	struct header h = {.type = type};
	const uint64_t size = type == '0' ? r->size : 0;
	fill(h.name, sizeof(h.name), r->path);
	fill(h.link, sizeof(h.link), link);
	octal(h.mode, sizeof(h.mode), r->mode & 07777);
	octal(h.uid, sizeof(h.uid), r->uid > ID_MAX ? 0 : r->uid);
	octal(h.gid, sizeof(h.gid), r->gid > ID_MAX ? 0 : r->gid);
	octal(h.size, sizeof(h.size), size > SIZE_MAX_OCTAL ? 0 : size);
	octal(h.mtime, sizeof(h.mtime),
	      r->mtime < 0 || (uint64_t)r->mtime > SIZE_MAX_OCTAL ? 0 : (uint64_t)r->mtime);
	t->left = size;
	t->pad = padding(size);
	return put_header(t, &h, e);
}

int tar_member(struct tar_out *t, const struct record_entry *r, const char *hard, struct err *e)
{
	struct pax p = {0};
	const char type = tar_type(r, hard);
	const char *link = hard ? hard : type == '2' ? r->target : "";
	p.to = open_memstream(&p.text, &p.len);
	if (!p.to)
		return err_host(e, "out of memory");
	struct record_entry shown = *r;
	if (type != '0')
		shown.size = 0;
	if (hard)
		shown.xattrs_len = 0; /* they are the inode's, and there already */
	pax_entry(&p, &shown, r->path, link);
	int rc = fclose(p.to) == 0 ? 0 : err_host(e, "out of memory");
	if (rc == 0)
		rc = put_pax(t, &p, e) < 0 ? -1 : put_entry(t, r, type, link, e);
	free(p.text);
	return rc;
}

int tar_data(struct tar_out *t, const void *bytes, size_t len, struct err *e)
{
	if (len > t->left)
		return err_host(e, "a file grew while it was read");
	t->left -= len;
	if (put(t, bytes, len, e) < 0)
		return -1;
	return t->left == 0 ? put_zeros(t, t->pad, e) : 0;
}

int tar_file(struct tar_out *t, int from, const char *name, struct err *e)
{
	static char block[256 * 1024];
	while (t->left > 0) {
		const size_t want = t->left < sizeof(block) ? (size_t)t->left : sizeof(block);
		const ssize_t n = read(from, block, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read %.100s", name);
		if (n == 0)
			return err_host(e, "%.100s is shorter than it was", name);
		if (tar_data(t, block, (size_t)n, e) < 0)
			return -1;
	}
	return 0;
}

int tar_close(struct tar_out *t, struct err *e)
{
	return put_zeros(t, 2 * BLOCK, e) < 0 ? -1 : flush(t, e);
}
