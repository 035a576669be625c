#include "transfer/unpack/unpack.h"

#include "base/fd.h"
#include "transfer/stream.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	IMPLIED_MODE = 0755, /* of a folder that the archive does not describe */
	READ_BYTES = 128 << 10,
	NS_IN_SECOND = 1000000000,
	/* Bytes out for one in: beyond the first, which harm nobody. */
	RATIO = 500,
	RATIO_FREE = 64 << 20,
};

struct unpacker {
	int to;
	struct archive *a;
	struct archive_entry *entry;
	uint64_t packed, out; /* the file's size; what came out of it */
	struct unpack_folders folders;
	char here[PATH_MAX]; /* the folder that is open, "" the archive's own */
	bool closing;	     /* folders get what they are to have as they are left */
	char path[PATH_MAX]; /* of the entry, clean */
	struct err err;	     /* of the last pass */
	size_t len;
	char buf[STREAM_BUFFER], small[STREAM_SMALL];
};

/* ---- out ---- */

static int flush(struct unpacker *u, struct err *e)
{
	const int rc = fd_write_all(u->to, u->buf, u->len);
	u->len = 0;
	return rc < 0 ? err_sys(e, "write to the sender") : 0;
}

static int put_bytes(struct unpacker *u, const void *bytes, size_t len, struct err *e)
{
	if (STREAM_BUFFER - u->len < len && flush(u, e) < 0)
		return -1;
	if (len > STREAM_BUFFER)
		return fd_write_all(u->to, bytes, len) < 0 ? err_sys(e, "write to the sender") : 0;
	memcpy(u->buf + u->len, bytes, len);
	u->len += len;
	return 0;
}

static int put(struct unpacker *u, struct stream_record r, const char *name, const char *text,
	       struct err *e)
{
	r.name_len = (uint16_t)strlen(name);
	r.text_len = (uint16_t)strlen(text);
	if (put_bytes(u, &r, sizeof(r), e) < 0 || put_bytes(u, name, r.name_len, e) < 0)
		return -1;
	return put_bytes(u, text, r.text_len, e);
}

/* ---- folders ---- */

static int leave(struct unpacker *u, struct err *e)
{
	struct stream_record r = {.type = STREAM_BACK};
	const struct unpack_folder *f = u->closing ? folders_find(&u->folders, u->here) : NULL;
	char *slash = strrchr(u->here, '/');
	if (f)
		r = (struct stream_record){.type = STREAM_LEAVE,
					   .mode = f->mode,
					   .sec = f->sec,
					   .nsec = f->nsec};
	*(slash ? slash : u->here) = '\0';
	return put(u, r, "", "", e);
}

static struct stream_record describe(const struct unpacker *u, enum stream_type type)
{
	const long nsec = archive_entry_mtime_nsec(u->entry);
	return (struct stream_record){.type = type,
				      .mode = archive_entry_perm(u->entry) & 07777,
				      .sec = archive_entry_mtime(u->entry),
				      .nsec = nsec >= 0 && nsec < NS_IN_SECOND ? (uint32_t)nsec : 0};
}

/* Into the folder name of the one that is open, which is made if it is not there. */
static int enter(struct unpacker *u, const char *name, struct err *e)
{
	const size_t len = strlen(u->here);
	if (len > 0)
		u->here[len] = '/';
	memcpy(u->here + len + (len > 0), name,
	       strlen(name) + 1); /* no longer than the entry's path */
	struct stream_record r = {.type = STREAM_ENTER};
	if (!folders_find(&u->folders, u->here)) {
		struct unpack_folder *f = folders_add(&u->folders, u->here);
		if (!f)
			return err_host(e, "out of memory");
		r = describe(u, STREAM_FOLDER);
		r.mode = f->mode = IMPLIED_MODE;
		f->sec = r.sec;
		f->nsec = r.nsec;
	}
	return put(u, r, name, "", e);
}

/* Whether path is the open folder, or in it. */
static bool is_below(const struct unpacker *u, const char *path, size_t len)
{
	const size_t own = strlen(u->here);
	return own == 0 ||
	       (own <= len && memcmp(u->here, path, own) == 0 && (own == len || path[own] == '/'));
}

/* The open folder becomes the first len bytes of path. */
static int go_to(struct unpacker *u, const char *path, size_t len, struct err *e)
{
	char name[NAME_MAX + 1];
	while (!is_below(u, path, len))
		if (leave(u, e) < 0)
			return -1;
	size_t at = strlen(u->here);
	while (at < len) {
		at += path[at] == '/';
		const size_t part = strcspn(path + at, "/");
		memcpy(name, path + at, part);
		name[part] = '\0';
		if (enter(u, name, e) < 0)
			return -1;
		at += part;
	}
	return 0;
}

static void close_one(const struct unpack_folder *f, void *arg)
{
	struct unpacker *u = arg;
	if (u->err.kind == ERR_NONE)
		go_to(u, f->path, strlen(f->path), &u->err);
}

static int close_folders(struct unpacker *u, struct err *e)
{
	int rc = go_to(u, "", 0, e);
	u->closing = true;
	folders_walk(&u->folders, close_one, u);
	if (rc == 0 && u->err.kind != ERR_NONE) {
		*e = u->err;
		return -1;
	}
	return rc < 0 ? -1 : go_to(u, "", 0, e);
}

/* ---- entries ---- */

static int damaged(const struct unpacker *u, struct err *e)
{
	const char *why = archive_error_string(u->a);
	if (archive_errno(u->a) == ENOMEM)
		return err_host(e, "out of memory for it");
	if (archive_format(u->a) == 0)
		return err_usage(e, "it is no tar or zip archive (%s)", why ? why : "it is damaged");
	return err_usage(e, "%s", why ? why : "it is damaged");
}

static int charge(struct unpacker *u, uint64_t bytes, struct err *e)
{
	const la_int64_t made = archive_filter_bytes(u->a, 0);
	u->out += bytes;
	const uint64_t out = made > 0 && (uint64_t)made > u->out ? (uint64_t)made : u->out;
	if (out > RATIO_FREE && out / RATIO > u->packed)
		return err_usage(e, "it decompresses to more than %d times its size", RATIO);
	return 0;
}

static int put_small(struct unpacker *u, const char *name, size_t size, struct err *e)
{
	const void *block;
	size_t len;
	la_int64_t at;
	int got;
	memset(u->small, 0, size);
	while ((got = archive_read_data_block(u->a, &block, &len, &at)) == ARCHIVE_OK) {
		if (at < 0 || (uint64_t)at > size || len > size - (size_t)at)
			return err_usage(e, "%s has more than its size", u->path);
		if (len > 0) /* of nothing there may be no block */
			memcpy(u->small + at, block, len);
		if (charge(u, len, e) < 0)
			return -1;
	}
	struct stream_record r = describe(u, STREAM_INLINE);
	r.size = size;
	if (got != ARCHIVE_EOF)
		return damaged(u, e);
	return put(u, r, name, "", e) < 0 ? -1 : put_bytes(u, u->small, size, e);
}

static int put_large(struct unpacker *u, const char *name, uint64_t size, struct err *e)
{
	struct stream_record r = describe(u, STREAM_FILE);
	const void *block;
	size_t len;
	la_int64_t at;
	uint64_t end = 0;
	int got;
	r.size = size;
	if (put(u, r, name, "", e) < 0)
		return -1;
	while ((got = archive_read_data_block(u->a, &block, &len, &at)) == ARCHIVE_OK) {
		if (at < 0 || (uint64_t)at < end || (uint64_t)at > size || len > size - (uint64_t)at)
			return err_usage(e, "%s has more than its size", u->path);
		end = (uint64_t)at + len;
		r = (struct stream_record){.type = STREAM_DATA, .offset = (uint64_t)at, .size = len};
		if (len > 0 && (charge(u, len, e) < 0 || put(u, r, "", "", e) < 0 ||
				put_bytes(u, block, len, e) < 0))
			return -1;
	}
	if (got != ARCHIVE_EOF)
		return damaged(u, e);
	return put(u, (struct stream_record){.type = STREAM_FILE_END}, "", "", e);
}

static int put_file(struct unpacker *u, const char *name, struct err *e)
{
	const la_int64_t size = archive_entry_size(u->entry);
	if (!archive_entry_size_is_set(u->entry) || size < 0)
		return err_usage(e, "%s has no size", u->path);
	return size <= STREAM_SMALL ? put_small(u, name, (size_t)size, e)
				    : put_large(u, name, (uint64_t)size, e);
}

static int put_link(struct unpacker *u, const char *name, struct err *e)
{
	const char *target = archive_entry_symlink(u->entry);
	if (!target || !*target || strlen(target) >= PATH_MAX)
		return err_usage(e, "%s is a link to nothing, or to too long a name", u->path);
	return put(u, describe(u, STREAM_LINK), name, target, e);
}

static int put_hard_link(struct unpacker *u, const char *name, const char *target, struct err *e)
{
	char clean[PATH_MAX];
	if (!unpack_clean(clean, target) || !*clean)
		return err_usage(e, "%s is a hard link to %s, which is not in it", u->path, target);
	return put(u, describe(u, STREAM_HARD_LINK), name, clean, e);
}

static const char *special(mode_t type)
{
	return type == AE_IFSOCK ? "a socket" : type == AE_IFIFO ? "a FIFO" : "a device";
}

static int put_folder(struct unpacker *u, struct err *e)
{
	if (go_to(u, u->path, strlen(u->path), e) < 0)
		return -1;
	struct unpack_folder *f = folders_find(&u->folders, u->path);
	const struct stream_record r = describe(u, STREAM_FOLDER);
	if (f) { /* else it is the archive's own */
		f->mode = r.mode;
		f->sec = r.sec;
		f->nsec = r.nsec;
	}
	return 0;
}

static int put_entry(struct unpacker *u, struct err *e)
{
	const char *given = archive_entry_pathname(u->entry),
		   *link = archive_entry_hardlink(u->entry);
	const mode_t type = archive_entry_filetype(u->entry);
	if (!given)
		return err_usage(e, "a name in it is no text");
	if (!unpack_clean(u->path, given))
		return err_usage(e, "the name %s is absolute, climbs, or is too long", given);
	if (archive_entry_is_encrypted(u->entry))
		return err_usage(e, "%s is encrypted", u->path);
	if (type == AE_IFDIR && !link)
		return put_folder(u, e);
	if (!*u->path)
		return err_usage(e, "an entry has no name");
	const char *slash = strrchr(u->path, '/'), *name = slash ? slash + 1 : u->path;
	if (go_to(u, u->path, slash ? (size_t)(slash - u->path) : 0, e) < 0)
		return -1;
	if (link)
		return put_hard_link(u, name, link, e);
	if (type == AE_IFLNK)
		return put_link(u, name, e);
	if (type == AE_IFREG || type == 0)
		return put_file(u, name, e);
	return err_usage(e, "%s is %s", u->path, special(type));
}

static int put_entries(struct unpacker *u, struct err *e)
{
	int got;
	while ((got = archive_read_next_header(u->a, &u->entry)) == ARCHIVE_OK || got == ARCHIVE_WARN)
		if (charge(u, 0, e) < 0 || put_entry(u, e) < 0)
			return -1;
	return got == ARCHIVE_EOF ? close_folders(u, e) : damaged(u, e);
}

/* ---- all of it ---- */

enum form { FORM_TAR, FORM_ZIP, FORM_EMPTY_ZIP };

/* A zip file's list is at its end. Its magic tells it from all that a tar may be packed in. One of
 * nothing is that list's end alone, which libarchive takes for no archive. */
static enum form form_of(int archive)
{
	char magic[4];
	if (pread(archive, magic, sizeof(magic), 0) != sizeof(magic))
		return FORM_TAR;
	return memcmp(magic, "PK\3\4", 4) == 0	 ? FORM_ZIP
	       : memcmp(magic, "PK\5\6", 4) == 0 ? FORM_EMPTY_ZIP
						 : FORM_TAR;
}

static int open_archive(struct unpacker *u, int archive, enum form form, struct err *e)
{
	struct stat st;
	u->a = archive_read_new();
	if (!u->a)
		return err_host(e, "out of memory");
	if (fstat(archive, &st) < 0)
		return err_sys(e, "stat it");
	u->packed = (uint64_t)st.st_size;
	if (form == FORM_ZIP) {
		archive_read_support_format_zip_seekable(u->a);
	} else {
		/* Not _all(): that has some which start a program. */
		archive_read_support_format_tar(u->a);
		archive_read_support_filter_gzip(u->a);
		archive_read_support_filter_zstd(u->a);
		archive_read_support_filter_xz(u->a);
		archive_read_support_filter_bzip2(u->a);
		archive_read_support_filter_lzma(u->a);
		archive_read_support_filter_lz4(u->a);
		archive_read_support_filter_lzip(u->a);
		archive_read_support_filter_compress(u->a);
	}
	if (form == FORM_EMPTY_ZIP)
		return 0;
	return archive_read_open_fd(u->a, archive, READ_BYTES) == ARCHIVE_OK ? 0 : damaged(u, e);
}

/* libarchive converts names with iconv, which looks for its modules when it is first used; and only
 * in the C locale does what cannot be converted stay the bytes it was. Not so in a zip file, whose
 * names of UTF-8 would be none. */
int unpack_prepare(int archive, struct err *e)
{
	if (form_of(archive) == FORM_ZIP)
		setlocale(LC_CTYPE, "C.UTF-8");
	const iconv_t pin = iconv_open(nl_langinfo(CODESET), "UTF-8");
	if ((intptr_t)pin == -1)
		return err_sys(e, "iconv from UTF-8");
	iconv_close(pin);
	tzset(); /* a zip file's times are local ones */
	return 0;
}

static void let_go(struct unpacker *u)
{
	archive_read_free(u->a);
	folders_free(&u->folders);
}

int unpack_run(int archive, int to)
{
	__attribute__((cleanup(let_go))) struct unpacker u = {.to = to};
	struct err e = ERR_INIT;
	const enum form form = form_of(archive);
	if (open_archive(&u, archive, form, &e) == 0 &&
	    (form == FORM_EMPTY_ZIP || put_entries(&u, &e) == 0) &&
	    put(&u, (struct stream_record){.type = STREAM_END}, "", "", &e) == 0)
		return flush(&u, &e);
	return flush(&u, &(struct err)ERR_INIT) < 0 ? -1 : unpack_refuse(to, &e);
}

int unpack_refuse(int to, const struct err *why)
{
	const struct stream_record refused = {.type = STREAM_REFUSED,
					      .mode = why->kind,
					      .text_len = (uint16_t)strlen(why->msg)};
	return fd_write_all(to, &refused, sizeof(refused)) < 0 ||
			       fd_write_all(to, why->msg, refused.text_len) < 0
		       ? -1
		       : 0;
}
