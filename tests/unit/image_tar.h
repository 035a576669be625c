/* Archives made byte by byte, a tree to unpack them into with something beside it that must not
 * change, and looks at what became of it. */
#ifndef PINFOLD_TESTS_UNIT_IMAGE_TAR_H
#define PINFOLD_TESTS_UNIT_IMAGE_TAR_H

#include "rootfs/image/layer.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { TAR_BLOCK = 512, TAR_TIME = 1700000000 };

static inline int opened(int fd)
{
	if (fd < 0)
		abort();
	return fd;
}

/* ---- archives ---- */

struct tar {
	char *bytes;
	size_t len, room;
	bool packed; /* it has its end, or none */
};

struct tar_entry {
	char type;
	const char *name, *link;
	const char *data; /* NULL: size zeros, or none */
	size_t size;	  /* 0: strlen(data) */
	bool no_data;	  /* the header says size, and nothing follows */
	unsigned mode;
	int64_t uid, gid, mtime;
	unsigned major, minor;
};

static inline void tar_bytes(struct tar *t, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	if (t->len + len > t->room) {
		t->room = (t->len + len) * 2;
		t->bytes = realloc(t->bytes, t->room);
		assert_non_null(t->bytes);
	}
	if (bytes)
		memcpy(t->bytes + t->len, bytes, len);
	else
		memset(t->bytes + t->len, 0, len);
	t->len += len;
}

/* Octal where it fits, else GNU's base 256, which also has what is below zero. */
static inline void tar_number(char *to, size_t size, int64_t n)
{
	if (n >= 0 && n < (int64_t)1 << (3 * (size - 1))) {
		snprintf(to, size, "%0*llo", (int)size - 1, (unsigned long long)n);
		return;
	}
	uint64_t left = (uint64_t)n;
	for (size_t i = size; i-- > 0;) {
		to[i] = (char)(left & 0xff);
		left = left >> 8 | (n < 0 ? 0xffULL << 56 : 0);
	}
	to[0] = (char)(n < 0 ? 0xff : 0x80);
}

static inline void tar_checksum(char *header)
{
	unsigned sum = 0;
	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
}

static inline void tar_header(char *h, const struct tar_entry *e, size_t size)
{
	memset(h, 0, TAR_BLOCK);
	memcpy(h, e->name, strnlen(e->name, 100));
	tar_number(h + 100, 8, e->mode);
	tar_number(h + 108, 8, e->uid);
	tar_number(h + 116, 8, e->gid);
	tar_number(h + 124, 12, (int64_t)size);
	tar_number(h + 136, 12, e->mtime ? e->mtime : TAR_TIME);
	h[156] = e->type;
	if (e->link)
		memcpy(h + 157, e->link, strnlen(e->link, 100));
	memcpy(h + 257, "ustar\00000", 8);
	tar_number(h + 329, 8, e->major);
	tar_number(h + 337, 8, e->minor);
	tar_checksum(h);
}

static inline void tar_data(struct tar *t, const char *data, size_t size)
{
	tar_bytes(t, data, size);
	tar_bytes(t, NULL, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

static inline void tar_put(struct tar *t, const struct tar_entry *e)
{
	char h[TAR_BLOCK];
	const size_t size = e->size ? e->size : e->data ? strlen(e->data) : 0;
	tar_header(h, e, size);
	tar_bytes(t, h, sizeof(h));
	if (!e->no_data)
		tar_data(t, e->data, size);
}

static inline void tar_file(struct tar *t, const char *name, const char *data)
{
	tar_put(t, &(struct tar_entry){.type = '0', .name = name, .mode = 0644, .data = data});
}

static inline void tar_dir(struct tar *t, const char *name, unsigned mode)
{
	tar_put(t, &(struct tar_entry){.type = '5', .name = name, .mode = mode});
}

static inline void tar_symlink(struct tar *t, const char *name, const char *target)
{
	tar_put(t, &(struct tar_entry){.type = '2', .name = name, .link = target, .mode = 0777});
}

static inline void tar_hard(struct tar *t, const char *name, const char *target)
{
	tar_put(t, &(struct tar_entry){.type = '1', .name = name, .link = target, .mode = 0644});
}

/* A pax header for the next entry ('x') or all that follow ('g'): key and value, then more of them,
 * NULL. Values are strings. */
static inline void tar_pax(struct tar *t, int type, ...)
{
	char body[8192];
	size_t used = 0;
	const char *key;
	va_list ap;
	va_start(ap, type);
	while ((key = va_arg(ap, const char *))) {
		const char *value = va_arg(ap, const char *);
		const size_t rest = strlen(key) + strlen(value) + 3;
		size_t len = rest + 1;
		while (snprintf(NULL, 0, "%zu", len) + rest != len)
			len++;
		used += (size_t)snprintf(body + used, sizeof(body) - used, "%zu %s=%s\n", len, key,
					 value);
		assert_true(used < sizeof(body));
	}
	va_end(ap);
	tar_put(t, &(struct tar_entry){.type = type,
				       .name = "pax",
				       .mode = 0644,
				       .data = body,
				       .size = used});
}

/* A file that holds the archive, to be read from its beginning. */
static inline int tar_open(const struct tar *t)
{
	const int fd = opened(memfd_create("layer", MFD_CLOEXEC));
	assert_int_equal(fd_write_all(fd, t->bytes, t->len), 0);
	static const char end[2 * TAR_BLOCK];
	assert_int_equal(fd_write_all(fd, end, t->packed ? 0 : sizeof(end)), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static inline void tar_free(struct tar *t)
{
	free(t->bytes);
	*t = (struct tar){0};
}

#define autotar __attribute__((cleanup(tar_free))) struct tar

/* ---- trees ---- */

/* image_NAME_user.c is the same program for an ordinary user. */
#ifndef AS_USER
#define AS_USER 0
#endif
#define THREADLESS 2

static inline void *tester_thread(void *arg)
{
	return arg;
}

static inline void set_threads(rlim_t max)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NPROC, &limit) < 0)
		abort();
	limit.rlim_cur = max < limit.rlim_max ? max : limit.rlim_max;
	if (setrlimit(RLIMIT_NPROC, &limit) < 0)
		abort();
}

/* The leak check of a sanitizer, at the end, is a thread. */
static inline void allow_threads(void)
{
	set_threads(RLIM_INFINITY);
}

/* Root's limit is none. */
static inline void forbid_threads(void)
{
	pthread_t thread;
	set_threads(0);
	if (atexit(allow_threads) != 0 || pthread_create(&thread, NULL, tester_thread, NULL) == 0)
		abort();
}

static inline void become_tester(void)
{
	enum { NOBODY = 65534 };
	umask(022);
	if (AS_USER && geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		abort();
	if (AS_USER == THREADLESS)
		forbid_threads();
}

struct image {
	char path[64]; /* holds root/, the tree, and outside/secret, which is none of its business */
	char outside[96]; /* the path of outside */
	int top, root, record;
	struct unpack_options o;
	struct unpack *u;
};

static inline void image_begin(struct image *m)
{
	struct err e = ERR_INIT;
	if (unpack_begin(&m->u, m->root, &m->o, &e) < 0)
		fail_msg("%s", e.msg);
}

/* With options that the caller changes before image_begin(). */
static inline void image_prepare(struct image *m)
{
	*m = (struct image){.o.limits = UNPACK_LIMITS_DEFAULT};
	snprintf(m->path, sizeof(m->path), "/tmp/pinfold-image.XXXXXX");
	assert_non_null(mkdtemp(m->path));
	m->top = opened(open(m->path, O_PATH | O_DIRECTORY | O_CLOEXEC));
	assert_int_equal(mkdirat(m->top, "root", 0755), 0);
	assert_int_equal(mkdirat(m->top, "outside", 0755), 0);
	snprintf(m->outside, sizeof(m->outside), "%s/outside", m->path);
	const int secret = openat(m->top, "outside/secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fd_write_all(secret, "secret", 6), 0);
	close(secret);
	m->root = opened(openat(m->top, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	m->record = opened(memfd_create("record", MFD_CLOEXEC));
	m->o.journal = opened(memfd_create("journal", MFD_CLOEXEC));
	m->o.sorted = opened(memfd_create("sorted", MFD_CLOEXEC));
	m->o.owners = (struct record_owners){.kept = geteuid() == 0, .ids = 65536};
}

static inline void image_make(struct image *m)
{
	image_prepare(m);
	image_begin(m);
}

static inline int image_try(struct image *m, const struct tar *t, struct err *e)
{
	const int fd = tar_open(t);
	const int result = layer_apply(m->root, fd, m->u, e);
	close(fd);
	return result;
}

static inline void image_layer(struct image *m, struct tar *t)
{
	struct err e = ERR_INIT;
	if (image_try(m, t, &e) < 0)
		fail_msg("%s", e.msg);
	tar_free(t);
}

static inline int image_differs(void *arg, const struct record_difference *d, struct err *e)
{
	(void)e;
	char *said = arg;
	snprintf(said, 512, "%.200s: %.200s", d->path, d->what);
	return 0;
}

/* How many differences the tree has from its record; the last of them in said, of 512 bytes. */
static inline uint64_t image_compare(struct image *m, char *said)
{
	struct err e = ERR_INIT;
	struct record_compare c = {.differs = image_differs, .arg = said};
	/* Only root looks into every folder. */
	if (record_compare(&c, m->root, m->record, &e) < 0 && (e.sys != EACCES || geteuid() == 0))
		fail_msg("%s", e.msg);
	return c.differences;
}

/* The record as a string, which is to be freed. */
static inline char *image_record(struct image *m)
{
	struct stat st;
	assert_int_equal(fstat(m->record, &st), 0);
	char *text = calloc(1, (size_t)st.st_size + 1);
	assert_int_equal(pread(m->record, text, (size_t)st.st_size, 0), st.st_size);
	return text;
}

/* The outside is as it was, and nothing else came to be there. */
static inline void image_outside_is_whole(struct image *m)
{
	char text[16] = "";
	struct stat st;
	assert_int_equal(fd_read_small(m->top, "outside/secret", text, sizeof(text)), 6);
	assert_string_equal(text, "secret");
	assert_int_equal(fstatat(m->top, "outside/secret", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(fstatat(m->top, "outside", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0755);
	assert_int_equal(st.st_nlink, 2);
	assert_int_equal(unlinkat(m->top, "outside/secret", 0), 0);
	assert_int_equal(unlinkat(m->top, "outside", AT_REMOVEDIR), 0);
}

/* The end of all layers: the record is written and the tree is what it says. */
static inline void image_finish(struct image *m)
{
	struct err e = ERR_INIT;
	char said[512];
	if (unpack_finish(m->u, m->record, &e) < 0)
		fail_msg("%s", e.msg);
	if (image_compare(m, said) != 0)
		fail_msg("%s", said);
}

static inline int image_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : unlink(path);
}

static inline int image_open_up(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	/* Before nftw() looks into it: it is called for folders first. */
	return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

/* Checks the outside, too. */
static inline void image_remove(struct image *m)
{
	image_outside_is_whole(m);
	unpack_free(&m->u);
	for (int i = 0; i < 20 && nftw(m->path, image_open_up, 20, FTW_PHYS) != 0; i++)
		;
	nftw(m->path, image_open_up, 20, FTW_PHYS);
	assert_int_equal(nftw(m->path, image_remove_one, 20, FTW_PHYS | FTW_DEPTH), 0);
	const int fds[] = {m->top, m->root, m->record, m->o.journal, m->o.sorted};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
}

/* ---- looks ---- */

static inline struct stat look(const struct image *m, const char *path)
{
	struct stat st;
	if (fstatat(m->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return st;
}

static inline bool is_there(const struct image *m, const char *path)
{
	struct stat st;
	return fstatat(m->root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline void has_text(const struct image *m, const char *path, const char *text)
{
	char got[256];
	if (!S_ISREG(look(m, path).st_mode) || fd_read_small(m->root, path, got, sizeof(got)) < 0)
		fail_msg("%s: no small file", path);
	if (strcmp(got, text) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", path, got, text);
}

static inline void has_link(const struct image *m, const char *path, const char *target)
{
	char got[512];
	const ssize_t n = readlinkat(m->root, path, got, sizeof(got) - 1);
	if (n < 0)
		fail_msg("%s: no link", path);
	got[n] = '\0';
	assert_string_equal(got, target);
}

static inline void has_mode(const struct image *m, const char *path, mode_t mode)
{
	const struct stat st = look(m, path);
	if (st.st_mode != mode)
		fail_msg("%s: mode %o, not %o", path, st.st_mode, mode);
}

/* One layer that is refused with these words, and does no harm. */
static inline void is_refused(struct tar *t, const char *says)
{
	struct image m;
	struct err e = ERR_INIT;
	image_make(&m);
	if (image_try(&m, t, &e) == 0)
		fail_msg("not refused (%s)", says);
	if (!strstr(e.msg, says))
		fail_msg("\"%s\" does not say \"%s\"", e.msg, says);
	assert_int_equal(e.kind, ERR_USAGE);
	for (const char *c = e.msg; *c; c++)
		assert_in_range(*c, ' ', '~');
	tar_free(t);
	image_remove(&m);
}

#endif
