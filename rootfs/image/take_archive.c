/* An archive of an image: its members as files, found by name. */
#include "rootfs/image/take.h"

#include "base/fd.h"

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

static void archive_drop(struct archive **a)
{
	archive_read_free(*a);
}
#define autoarchive __attribute__((cleanup(archive_drop))) struct archive

static int refuse(struct archive *a, struct err *e)
{
	const char *why = archive_error_string(a);
	if (archive_errno(a) == ENOMEM)
		return err_host(e, "out of memory for the archive");
	return err_usage(e, "the archive cannot be read: %s", why ? why : "no reason given");
}

/* Filters that libarchive has within: those by another program would need one. */
static struct archive *open_archive(int fd, struct err *e)
{
	struct archive *a = archive_read_new();
	if (!a) {
		err_host(e, "out of memory");
		return NULL;
	}
	archive_read_support_format_tar(a);
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_compress(a);
	archive_read_support_filter_lzma(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_lz4(a);
	archive_read_support_filter_zstd(a);
	if (archive_read_open_fd(a, fd, BLOCK_BYTES) == ARCHIVE_OK)
		return a;
	refuse(a, e);
	archive_read_free(a);
	return NULL;
}

static bool is_hex(const char *text, size_t len)
{
	return len == DIGEST_HEX && strspn(text, "0123456789abcdef") >= len;
}

/* Whether an archive of an image has members of that name: layouts, `docker save` old and new, and
 * what else writes its form. A tree has others at its top. */
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

static int extract(struct taker *t, struct archive *a, struct member *m, struct err *e)
{
	static char block[BLOCK_BYTES];
	char name[32];
	snprintf(name, sizeof(name), "m/%zu", (size_t)(m - t->members));
	autoclose int fd = openat(t->root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "make a file for %.60s", m->name);
	la_ssize_t n;
	while ((n = archive_read_data(a, block, sizeof(block))) > 0) {
		if (write_block(t, fd, block, (size_t)n, e) < 0)
			return -1;
		m->size += (uint64_t)n;
	}
	return n < 0 ? refuse(a, e) : 0;
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

static int add_member(struct taker *t, struct archive *a, struct archive_entry *entry, struct err *e)
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
	else if (extract(t, a, m, e) < 0)
		return -1;
	t->members_len++;
	return 0;
}

/* What a layer may be packed with: libarchive's number for it, else -1. */
static int layer_compression(struct archive *a)
{
	const int code = archive_filter_code(a, 0);
	return code == ARCHIVE_FILTER_GZIP   ? COMPRESSION_GZIP
	       : code == ARCHIVE_FILTER_ZSTD ? COMPRESSION_ZSTD
	       : code == ARCHIVE_FILTER_NONE ? COMPRESSION_NONE
					     : -1;
}

int archive_take(struct taker *t, enum taken_form *form, int *compression, struct err *e)
{
	struct archive_entry *entry;
	autoarchive *a = open_archive(t->take->input, e);
	int got = ARCHIVE_EOF;
	bool image = false;
	if (!a)
		return -1;
	while ((got = archive_read_next_header(a, &entry)) == ARCHIVE_OK || got == ARCHIVE_WARN) {
		const char *name = bare(archive_entry_pathname(entry));
		*compression = layer_compression(a);
		if (!name || !*name || strcmp(name, ".") == 0)
			continue;
		if (!is_image_member(name)) {
			if (image)
				return err_usage(e, "an archive of an image does not have %.60s",
						 name);
			*form = TAKEN_TREE;
			return 0;
		}
		image = true;
		if (add_member(t, a, entry, e) < 0)
			return -1;
	}
	if (got != ARCHIVE_EOF)
		return refuse(a, e);
	if (archive_format(a) == 0)
		return err_usage(e, "it is no tar archive");
	*form = image ? TAKEN_ARCHIVE : TAKEN_TREE;
	return 0;
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
	if (strcmp(name, "index.json") == 0)
		return open_copy(t->take->input, size, e);
	if (strncmp(name, "blobs/sha256/", 13) == 0)
		for (size_t i = 0; i < t->take->blobs_len; i++)
			if (strcmp(t->take->blobs[i].hex, name + 13) == 0)
				return open_copy(t->take->blobs[i].fd, size, e);
	return err_usage(e, "%.100s is missing", name);
}

int member_open(struct taker *t, const char *name, uint64_t *size, struct err *e)
{
	char file[32];
	if (t->take->blobs)
		return folder_open(t, name, size, e);
	const struct member *m = find_member(t, name);
	if (!m)
		return err_usage(e, "%.100s is missing", name);
	snprintf(file, sizeof(file), "m/%zu", (size_t)(m - t->members));
	*size = m->size;
	const int fd = openat(t->root, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "open %.100s", name) : fd;
}

int member_read(struct taker *t, const char *name, struct json_bytes *bytes, struct err *e)
{
	uint64_t size = 0;
	autoclose int fd = member_open(t, name, &size, e);
	if (fd < 0)
		return -1;
	if (size > JSON_BYTES_MAX)
		return err_usage(e, "%.100s is larger than 4 MiB", name);
	char *text = arena_alloc(t->arena, (size_t)size + 1);
	size_t used = 0;
	while (used < size) {
		const ssize_t n = read(fd, text + used, (size_t)size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(e, "read %.100s", name)
				     : err_usage(e, "%.100s changes while it is read", name);
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
	char to[96], from[32];
	uint64_t size;
	struct descriptor copy;
	snprintf(to, sizeof(to), "blobs/%s", digest_hex(d));
	if (faccessat(t->root, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (!t->take->blobs) {
		const struct member *m = find_member(t, name);
		if (!m)
			return err_usage(e, "%.100s is missing", name);
		snprintf(from, sizeof(from), "m/%zu", (size_t)(m - t->members));
		return renameat(t->root, from, t->root, to) < 0 ? err_sys(e, "keep %.100s", name) : 0;
	}
	autoclose int fd = member_open(t, name, &size, e);
	return fd < 0 ? -1 : blob_copy(t, fd, to, &copy, e);
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
