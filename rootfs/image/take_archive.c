/* An archive of an image: its members as files, found by name. */
#include "rootfs/image/take.h"

#include "base/fd.h"
#include "rootfs/image/path.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 256 * 1024, LINKS_MAX = 8 };

/* The archive, and what decompresses it: source.c, which holds the ratio against its limit. */
struct reading {
	struct archive *archive;
	struct source *source;
	bool image;	/* there was a member that no tree has */
	struct err err; /* why the source ended early */
};

static void reading_close(struct reading *r)
{
	archive_read_free(r->archive);
	source_close(&r->source);
}
#define autoreading __attribute__((cleanup(reading_close))) struct reading

static int refuse(const struct reading *r, struct err *e)
{
	char said[SHOWN_BYTES];
	const char *why = archive_error_string(r->archive);
	if (r->err.kind != ERR_NONE) {
		*e = r->err;
		return err_wrap(e, "the archive cannot be read");
	}
	if (archive_errno(r->archive) == ENOMEM)
		return err_host(e, "out of memory for the archive");
	return err_usage(e, "the archive cannot be read: %s",
			 path_shown(said, why ? why : "no reason given"));
}

static la_ssize_t read_source(struct archive *a, void *arg, const void **bytes)
{
	struct reading *r = arg;
	const ssize_t n = r->err.kind == ERR_NONE ? source_next(r->source, bytes, &r->err) : -1;
	if (n < 0)
		archive_set_error(a, EINVAL, "it is damaged");
	return n;
}

static int reading_open(struct reading *r, const struct take *take, struct err *e)
{
	const struct source_options o = {SOURCE_ANY, take->limits.ratio};
	if (source_open(&r->source, take->input, &o, e) < 0)
		return -1;
	r->archive = archive_read_new();
	if (!r->archive || archive_read_support_format_tar(r->archive) != ARCHIVE_OK)
		return err_host(e, "out of memory");
	return archive_read_open(r->archive, r, NULL, read_source, NULL) == ARCHIVE_OK
		       ? 0
		       : refuse(r, e);
}

static bool is_hex(const char *text, size_t len)
{
	return len == DIGEST_HEX && strspn(text, "0123456789abcdef") >= len;
}

/* Whether an archive of an image has members of that name: layouts, `docker save` old and new, and
 * what else writes its form. */
static bool is_image_member(const char *name)
{
	static const char *const exact[] = {"index.json",   "oci-layout",   "manifest.json",
					    "repositories", "blobs",	    "blobs/",
					    "blobs/sha256", "blobs/sha256/"};
	static const char *const tails[] = {"",	       "/",	     ".json", ".tar",
					    ".tar.gz", "/layer.tar", "/json", "/VERSION"};
	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++)
		if (strcmp(name, exact[i]) == 0)
			return true;
	if (strncmp(name, "blobs/sha256/", 13) == 0)
		return is_hex(name + 13, strlen(name + 13));
	name += strncmp(name, DIGEST_PREFIX, sizeof(DIGEST_PREFIX) - 1) == 0
			? sizeof(DIGEST_PREFIX) - 1
			: 0;
	if (strlen(name) < DIGEST_HEX || !is_hex(name, DIGEST_HEX))
		return false;
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++)
		if (strcmp(name + DIGEST_HEX, tails[i]) == 0)
			return true;
	return false;
}

/* Of those the ones that a tree does not have at its top: it may have a manifest.json. */
static bool is_certain(const char *name)
{
	return strcmp(name, "oci-layout") == 0 || strlen(name) >= DIGEST_HEX;
}

static const char *bare(const char *name)
{
	while (name && name[0] == '.' && name[1] == '/')
		name += 2 + strspn(name + 2, "/");
	return name;
}

static int charge(struct taker *t, uint64_t bytes, struct err *e)
{
	t->bytes += bytes;
	if (t->bytes <= t->take->limits.bytes)
		return 0;
	return err_usage(e, "the archive holds more than the limit of %llu bytes (--limit-bytes)",
			 (unsigned long long)t->take->limits.bytes);
}

static int write_block(struct taker *t, int fd, const void *block, size_t len, struct err *e)
{
	if (charge(t, len, e) < 0)
		return -1;
	return fd_write_all(fd, block, len) < 0 ? err_sys(e, "write to the store") : 0;
}

/* With holes a member is larger than anything that was read, and no writer of images makes any. */
static int extract(struct taker *t, struct reading *r, struct archive_entry *entry,
		   struct member *m, struct err *e)
{
	const void *block;
	size_t len;
	la_int64_t at;
	int got;
	char name[32], said[SHOWN_BYTES];
	snprintf(name, sizeof(name), "m/%zu", (size_t)(m - t->members));
	autoclose int fd = openat(t->root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "make a file for %.60s", path_shown(said, m->name));
	while ((got = archive_read_data_block(r->archive, &block, &len, &at)) == ARCHIVE_OK) {
		if (len > 0 && (uint64_t)at != m->size)
			break;
		if (write_block(t, fd, block, len, e) < 0)
			return -1;
		m->size += len;
	}
	if (got != ARCHIVE_EOF && got != ARCHIVE_OK)
		return refuse(r, e);
	return m->size == (uint64_t)archive_entry_size(entry)
		       ? 0
		       : err_usage(e, "%.60s: a file with holes in an archive of an image",
				   path_shown(said, m->name));
}

/* The target of a symbolic link from where it is: "../HEX/layer.tar" in HEX/layer.tar. */
static const char *link_target(struct taker *t, const char *name, const char *target)
{
	const char *slash = strrchr(name, '/');
	size_t front = slash ? (size_t)(slash - name) + 1 : 0;
	while (strncmp(target, "../", 3) == 0 && front > 0) {
		target += 3;
		front--;
		while (front > 0 && name[front - 1] != '/')
			front--;
	}
	return arena_printf(t->arena, "%.*s%s", (int)front, name, target);
}

static int add_member(struct taker *t, struct reading *r, struct archive_entry *entry, struct err *e)
{
	const char *name = bare(archive_entry_pathname(entry));
	const char *hard = archive_entry_hardlink(entry), *soft = archive_entry_symlink(entry);
	if (t->members_len == MEMBERS_MAX)
		return err_usage(e, "the archive has more than %d members", MEMBERS_MAX);
	struct member *m = &t->members[t->members_len];
	*m = (struct member){.name = arena_strdup(t->arena, name)};
	if (hard)
		m->link = arena_strdup(t->arena, bare(hard));
	else if (soft)
		m->link = link_target(t, name, soft);
	else if (archive_entry_filetype(entry) != AE_IFREG)
		return 0;
	else if (extract(t, r, entry, m, e) < 0)
		return -1;
	t->members_len++;
	return 0;
}

/* A member of another name than those of images: a tree's, unless the caller or a member that no
 * tree has said before that it is an image. */
static int other_member(struct taker *t, struct reading *r, struct archive_entry *entry,
			enum taken_form *form, struct err *e)
{
	char said[SHOWN_BYTES];
	if (t->take->as == TAKE_DOCKER) /* its documents may name what they like */
		return add_member(t, r, entry, e);
	if (t->take->as == TAKE_LAYOUT)
		return 0;
	if (r->image)
		return err_usage(e,
				 "an archive of an image does not have %.60s; --as says what it is",
				 path_shown(said, bare(archive_entry_pathname(entry))));
	*form = TAKEN_TREE;
	return 0;
}

static int take_members(struct taker *t, struct reading *r, enum taken_form *form, struct err *e)
{
	struct archive_entry *entry;
	int got = ARCHIVE_EOF;
	bool any = false;
	while ((got = archive_read_next_header(r->archive, &entry)) == ARCHIVE_OK ||
	       got == ARCHIVE_WARN) {
		const char *name = bare(archive_entry_pathname(entry));
		if (t->take->as == TAKE_TREE) {
			*form = TAKEN_TREE;
			return 0;
		}
		if (!name || !*name || strcmp(name, ".") == 0)
			continue;
		const bool known = is_image_member(name);
		if ((known ? add_member(t, r, entry, e) : other_member(t, r, entry, form, e)) < 0)
			return -1;
		if (*form == TAKEN_TREE)
			return 0;
		any = true;
		r->image |= known && is_certain(name);
	}
	if (got != ARCHIVE_EOF)
		return refuse(r, e);
	if (archive_format(r->archive) == 0)
		return err_usage(e, "it is no tar archive");
	*form = any ? TAKEN_ARCHIVE : TAKEN_TREE;
	return 0;
}

int archive_take(struct taker *t, enum taken_form *form, int *compression, struct err *e)
{
	autoreading r = {.err = ERR_INIT};
	if (reading_open(&r, t->take, e) < 0)
		return -1;
	*compression = source_compression(r.source);
	*form = TAKEN_ARCHIVE;
	return take_members(t, &r, form, e);
}

/* ---- members by name ---- */

static const struct member *find_member(const struct taker *t, const char *name)
{
	const struct member *found = NULL;
	for (int links = 0; links <= LINKS_MAX && name; links++) {
		found = NULL;
		/* The last one of a name counts, as in every tar. */
		for (size_t i = 0; i < t->members_len; i++)
			if (strcmp(t->members[i].name, name) == 0)
				found = &t->members[i];
		if (!found || !found->link)
			return found;
		name = found->link;
	}
	return NULL;
}

static int open_copy(int fd, uint64_t *size, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(e, "read a blob of the layout");
	*size = (uint64_t)st.st_size;
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return copy < 0 ? err_sys(e, "read a blob of the layout") : copy;
}

static int folder_open(struct taker *t, const char *name, uint64_t *size, struct err *e)
{
	char said[SHOWN_BYTES];
	if (strcmp(name, "index.json") == 0)
		return open_copy(t->take->input, size, e);
	if (strncmp(name, "blobs/sha256/", 13) == 0)
		for (size_t i = 0; i < t->take->blobs_len; i++)
			if (strcmp(t->take->blobs[i].hex, name + 13) == 0)
				return open_copy(t->take->blobs[i].fd, size, e);
	return err_usage(e, "%.100s is missing", path_shown(said, name));
}

int member_open(struct taker *t, const char *name, uint64_t *size, struct err *e)
{
	char file[32], said[SHOWN_BYTES];
	if (t->take->blobs)
		return folder_open(t, name, size, e);
	const struct member *m = find_member(t, name);
	if (!m)
		return err_usage(e, "%.100s is missing", path_shown(said, name));
	snprintf(file, sizeof(file), "m/%zu", (size_t)(m - t->members));
	*size = m->size;
	const int fd = openat(t->root, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open %.100s", path_shown(said, name)) : fd;
}

int member_read(struct taker *t, const char *name, struct json_bytes *bytes, struct err *e)
{
	char said[SHOWN_BYTES];
	uint64_t size = 0;
	autoclose int fd = member_open(t, name, &size, e);
	if (fd < 0)
		return -1;
	if (size > JSON_BYTES_MAX)
		return err_usage(e, "%.100s is larger than 4 MiB", path_shown(said, name));
	char *text = arena_alloc(t->arena, (size_t)size + 1);
	size_t used = 0;
	while (used < size) {
		const ssize_t n = read(fd, text + used, (size_t)size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(e, "read %.100s", path_shown(said, name))
				     : err_usage(e, "%.100s changes while it is read",
						 path_shown(said, name));
		used += (size_t)n;
	}
	*bytes = (struct json_bytes){text, used};
	return 0;
}

/* ---- blobs ---- */

int blob_copy(struct taker *t, int from, const char *name, struct descriptor *d, struct err *e)
{
	static char block[BLOCK_BYTES];
	autoclose int to = openat(t->root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0)
		return err_sys(e, "make a blob");
	ssize_t n;
	hash_restart(&t->hash);
	d->size = 0;
	while ((n = read(from, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read the image");
		if (write_block(t, to, block, (size_t)n, e) < 0)
			return -1;
		hash_update(&t->hash, block, (size_t)n);
		d->size += (uint64_t)n;
	}
	hash_final(&t->hash, &d->digest);
	return 0;
}

int member_keep(struct taker *t, const char *name, const struct digest *d, struct err *e)
{
	char to[96], from[32], said[SHOWN_BYTES];
	uint64_t size;
	if (t->take->blobs) {
		autoclose int fd = member_open(t, name, &size, e);
		return fd < 0 ? -1 : 0;
	}
	snprintf(to, sizeof(to), "blobs/%s", digest_hex(d));
	if (faccessat(t->root, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	const struct member *m = find_member(t, name);
	if (!m)
		return err_usage(e, "%.100s is missing", path_shown(said, name));
	snprintf(from, sizeof(from), "m/%zu", (size_t)(m - t->members));
	return renameat(t->root, from, t->root, to) < 0
		       ? err_sys(e, "keep %.100s", path_shown(said, name))
		       : 0;
}

int blob_write(struct taker *t, const char *text, size_t len, struct descriptor *d, struct err *e)
{
	char name[96];
	hash_restart(&t->hash);
	hash_update(&t->hash, text, len);
	hash_final(&t->hash, &d->digest);
	d->size = len;
	snprintf(name, sizeof(name), "blobs/%s", digest_hex(&d->digest));
	autoclose int fd = openat(t->root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text, len) < 0)
		return err_sys(e, "make a blob");
	return 0;
}
