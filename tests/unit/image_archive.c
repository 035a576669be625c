/* Archives: how names, holes and sizes may be written, what is too much, and compression. */
#include "tests/unit/image_tar.h"

#include <archive.h>
#include <archive_entry.h>

/* ---- names ---- */

static void has_names(struct image *m, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		has_text(m, names[i], names[i]);
}

static void names_are_bytes(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	static const char *const names[] = {
		"new\nline", "esc\x1b[31m",	     "bytes\xff\xfe",	  " ", "-", "\\x41",
		"#comment",  "e\xcc\x81 decomposed", "\xc3\xa9 composed",
	};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	static const char *const in_pax[] = {
		"p/new\nline",	       "p/bytes\xff\xfe", "p/e\xcc\x81 decomposed",
		"p/\xc3\xa9 composed", "p/\xed\xa0\x80",  "p/\xe2\x84\xaa",
	};
	enum { IN_PAX = sizeof(in_pax) / sizeof(in_pax[0]) };
	image_make(&m);
	for (size_t i = 0; i < NAMES; i++)
		tar_file(&t, names[i], names[i]);
	for (size_t i = 0; i < IN_PAX; i++) {
		tar_pax(&t, 'x', "path", in_pax[i], NULL);
		tar_file(&t, "short", in_pax[i]);
	}
	tar_pax(&t, 'x', "path", "l\xff\xfe", "linkpath", "to\xff\xfe\n", NULL);
	tar_symlink(&t, "short", "short");
	tar_pax(&t, 'x', "linkpath", "bytes\xff\xfe", NULL);
	tar_hard(&t, "h", "short");
	image_layer(&m, &t);
	image_finish(&m);
	has_names(&m, names, NAMES);
	has_names(&m, in_pax, IN_PAX);
	has_link(&m, "l\xff\xfe", "to\xff\xfe\n");
	has_text(&m, "h", names[2]);
	assert_false(is_there(&m, "short"));
	char *record = image_record(&m);
	assert_non_null(strstr(record, "\nbytes\\xff\\xfe "));
	assert_non_null(strstr(record, "\nnew\\x0aline "));
	assert_non_null(strstr(record, " to\\xff\\xfe\\x0a\n"));
	free(record);
	image_remove(&m);
}

static void odd_spellings(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "a//b/./c", "1");
	tar_file(&t, "./a/b/c", "2");
	tar_file(&t, "/a/b/c", "3");
	tar_dir(&t, "a/", 0700);
	tar_dir(&t, "a", 0711);
	tar_dir(&t, "//", 0750);
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "a/b/c", "3");
	has_mode(&m, "a", S_IFDIR | 0711);
	has_mode(&m, ".", S_IFDIR | 0750);
	assert_int_equal(look(&m, "a/b/c").st_nlink, 1);
	image_remove(&m);
}

static char *repeated(char *to, char c, size_t len)
{
	memset(to, c, len);
	to[len] = '\0';
	return to;
}

/* GNU's way: an entry of type L (name) or K (link) before the one that is meant. */
static void gnu_long(struct tar *t, char type, const char *text)
{
	tar_put(t, &(struct tar_entry){.type = type,
				       .name = "././@LongLink",
				       .data = text,
				       .size = strlen(text) + 1});
}

static void long_names(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	char pax[512], gnu[512], part[256], target[512];
	snprintf(pax, sizeof(pax), "pax/%s", repeated(part, 'n', 200));
	snprintf(pax + strlen(pax), sizeof(pax) - strlen(pax), "/%s", repeated(part, 'm', 96));
	snprintf(gnu, sizeof(gnu), "gnu%s", pax + 3);
	snprintf(target, sizeof(target), "/%s", pax);
	image_make(&m);
	tar_pax(&t, 'g', "comment", "of all", "mtime", "1", NULL);
	tar_pax(&t, 'x', "path", pax, "mtime", "1600000000.123456789", NULL);
	tar_file(&t, "short", "pax");
	gnu_long(&t, 'L', gnu);
	tar_file(&t, "short", "gnu");
	gnu_long(&t, 'K', target);
	gnu_long(&t, 'L', repeated(part, 'l', 255));
	tar_symlink(&t, "short", "short");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, pax, "pax");
	has_text(&m, gnu, "gnu");
	has_link(&m, repeated(part, 'l', 255), target);
	assert_int_equal(look(&m, pax).st_mtim.tv_sec, 1600000000);
	assert_int_equal(look(&m, pax).st_mtim.tv_nsec, 123456789);
	assert_false(is_there(&m, "short"));
	image_remove(&m);
}

static void names_that_are_too_long(void **state)
{
	(void)state;
	autotar t = {0};
	char part[512], *path = calloc(1, 5000);
	gnu_long(&t, 'L', repeated(part, 'x', 256));
	tar_file(&t, "short", "");
	is_refused(&t, "the name is too long");
	for (size_t i = 0; i < 4400; i += 220)
		memset(path + i, 'y', 219), path[i + 219] = '/';
	gnu_long(&t, 'L', path);
	tar_file(&t, "short", "");
	is_refused(&t, "the name is too long");
	/* Each short, both together too long. */
	path[2200] = '\0';
	gnu_long(&t, 'K', path);
	tar_symlink(&t, "short", "short");
	gnu_long(&t, 'L', path);
	tar_dir(&t, "short", 0755);
	path[1980] = '\0';
	char *through = calloc(1, 5000);
	snprintf(through, 5000, "short/%s", path);
	gnu_long(&t, 'L', through);
	tar_file(&t, "short", "");
	is_refused(&t, "the name is too long");
	free(through);
	free(path);
}

/* ---- holes ---- */

#define HOLES_SIZE "11811160064"
enum { HOLES_PART = 512 };
#define HOLES_AT    5000000192ULL /* no multiple of a block */
#define HOLES_BYTES 11811160064ULL

static char *holes_data(char *to)
{
	repeated(to, 'a', HOLES_PART);
	return to;
}

static void has_holes(struct image *m, const char *name)
{
	char got[HOLES_PART + 2], want[HOLES_PART + 2] = {0};
	const struct stat st = look(m, name);
	assert_int_equal(st.st_size, HOLES_BYTES);
	assert_in_range(st.st_blocks, 0, 64);
	const int fd = openat(m->root, name, O_RDONLY | O_CLOEXEC);
	holes_data(want + 1);
	assert_int_equal(pread(fd, got, sizeof(got), HOLES_AT - 1), sizeof(got));
	assert_memory_equal(got, want, sizeof(got));
	close(fd);
}

static void gnu_holes(struct tar *t, const char *name, const char *real)
{
	char h[TAR_BLOCK], data[HOLES_PART + 1];
	tar_header(h, &(struct tar_entry){.type = 'S', .name = name, .mode = 0644}, HOLES_PART);
	memcpy(h + 257, "ustar  ", 8);
	tar_number(h + 386, 12, (int64_t)HOLES_AT);
	tar_number(h + 398, 12, HOLES_PART);
	tar_number(h + 410, 12, (int64_t)HOLES_BYTES);
	tar_number(h + 422, 12, 0);
	tar_number(h + 483, 12, strtoll(real, NULL, 10));
	tar_checksum(h);
	tar_bytes(t, h, sizeof(h));
	tar_data(t, holes_data(data), HOLES_PART);
}

static void pax_holes_1_0(struct tar *t, const char *name, const char *real)
{
	char data[TAR_BLOCK + HOLES_PART + 1] = {0};
	snprintf(data, TAR_BLOCK, "2\n%llu\n%d\n" HOLES_SIZE "\n0\n", HOLES_AT, HOLES_PART);
	holes_data(data + TAR_BLOCK);
	tar_pax(t, 'x', "GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", name,
		"GNU.sparse.realsize", real, NULL);
	tar_put(t, &(struct tar_entry){.type = '0',
				       .name = "GNUSparseFile.1/x",
				       .mode = 0644,
				       .data = data,
				       .size = TAR_BLOCK + HOLES_PART});
}

static void holes(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	char data[HOLES_PART + 1], at[32], map[64];
	image_make(&m);
	holes_data(data);
	snprintf(at, sizeof(at), "%llu", HOLES_AT);
	snprintf(map, sizeof(map), "%llu,%d," HOLES_SIZE ",0", HOLES_AT, HOLES_PART);
	gnu_holes(&t, "gnu", HOLES_SIZE);
	tar_pax(&t, 'x', "GNU.sparse.size", HOLES_SIZE, "GNU.sparse.numblocks", "2",
		"GNU.sparse.offset", at, "GNU.sparse.numbytes", "512", "GNU.sparse.offset",
		HOLES_SIZE, "GNU.sparse.numbytes", "0", NULL);
	tar_file(&t, "pax-0.0", data);
	tar_pax(&t, 'x', "GNU.sparse.size", HOLES_SIZE, "GNU.sparse.numblocks", "2",
		"GNU.sparse.name", "pax-0.1", "GNU.sparse.map", map, NULL);
	tar_file(&t, "short", data);
	pax_holes_1_0(&t, "pax-1.0", HOLES_SIZE);
	tar_file(&t, "after", "after");
	image_layer(&m, &t);
	image_finish(&m);
	has_holes(&m, "gnu");
	has_holes(&m, "pax-0.0");
	has_holes(&m, "pax-0.1");
	has_holes(&m, "pax-1.0");
	has_text(&m, "after", "after");
	char *record = image_record(&m);
	assert_non_null(strstr(record, " holes-sha256:"));
	free(record);
	image_remove(&m);
}

/* One that is larger than the limit is not even begun. */
static void sizes_that_are_lies(void **state)
{
	(void)state;
	static const char *const reals[] = {"1152921504606846976", "9223372036854775807"};
	for (size_t i = 0; i < 2; i++) {
		autotar t = {0};
		struct image m;
		struct err e = ERR_INIT;
		gnu_holes(&t, "lie", reals[i]);
		is_refused(&t, "limit bytes");
		image_make(&m);
		pax_holes_1_0(&t, "lie", reals[i]);
		assert_int_equal(image_try(&m, &t, &e), -1);
		tar_free(&t);
		assert_non_null(strstr(e.msg, "limit bytes"));
		assert_false(is_there(&m, "lie"));
		image_remove(&m);
	}
	autotar t = {0};
	tar_put(&t,
		&(struct tar_entry){.type = '0', .name = "x", .size = SIZE_MAX / 2, .no_data = true});
	is_refused(&t, "");
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "x", .size = 1 << 20, .no_data = true});
	is_refused(&t, "runcated");
	tar_pax(&t, 'x', "size", "100000", NULL);
	tar_file(&t, "x", "");
	is_refused(&t, "runcated");
	tar_pax(&t, 'x', "size", "-5", NULL);
	tar_file(&t, "x", "");
	struct image m;
	struct err e = ERR_INIT;
	image_make(&m);
	image_try(&m, &t, &e);
	image_remove(&m);
}

/* Data that goes backwards or beyond the size that was charged. */
static void holes_that_are_lies(void **state)
{
	(void)state;
	static const char *const maps[] = {"1000,512,0,512", "0,512,256,512", "4096,512,100,512",
					   "18446744073709551615,512", "0,99999999999"};
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		autotar t = {0};
		struct image m;
		struct err e = ERR_INIT;
		char data[1025];
		tar_pax(&t, 'x', "GNU.sparse.size", "2000", "GNU.sparse.numblocks", "2",
			"GNU.sparse.name", "x", "GNU.sparse.map", maps[i], NULL);
		tar_file(&t, "x", repeated(data, 'x', 1024));
		image_make(&m);
		if (image_try(&m, &t, &e) == 0) {
			/* Then libarchive put it right, and the tree is what its record says. */
			image_finish(&m);
			assert_int_equal(look(&m, "x").st_size, 2000);
		} else {
			assert_int_equal(e.kind, ERR_USAGE);
		}
		tar_free(&t);
		image_remove(&m);
	}
}

/* ---- too much ---- */

static void refused_by(struct image *m, struct tar *t, const char *says)
{
	struct err e = ERR_INIT;
	image_begin(m);
	if (image_try(m, t, &e) == 0)
		fail_msg("not refused (%s)", says);
	if (!strstr(e.msg, says))
		fail_msg("\"%s\" does not say \"%s\"", e.msg, says);
	assert_int_equal(e.kind, ERR_USAGE);
}

static void limit_bytes(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	for (uint64_t bytes = 7; bytes < 9; bytes++) {
		image_prepare(&m);
		m.o.limits.bytes = bytes;
		tar_file(&t, "a", "four");
		tar_file(&t, "b", "four");
		if (bytes < 8) {
			refused_by(&m, &t, "limit bytes");
			assert_false(is_there(&m, "b"));
		} else {
			image_begin(&m);
			image_layer(&m, &t);
			image_finish(&m);
		}
		tar_free(&t);
		image_remove(&m);
	}
}

/* Over all layers, with the folders that no entry is there for, and what is thrown away again. */
static void limit_entries(void **state)
{
	(void)state;
	for (uint64_t entries = 6; entries < 8; entries++) {
		autotar t = {0};
		struct image m;
		image_prepare(&m);
		m.o.limits.entries = entries;
		image_begin(&m);	   /* 1: the root */
		tar_file(&t, "a/b/c", ""); /* 4 */
		image_layer(&m, &t);
		tar_file(&t, ".wh.a", ""); /* 5 */
		tar_file(&t, "d/e", "");   /* 7 */
		if (entries < 7) {
			struct err e = ERR_INIT;
			assert_int_equal(image_try(&m, &t, &e), -1);
			tar_free(&t);
			assert_non_null(strstr(e.msg, "limit entries"));
		} else {
			image_layer(&m, &t);
			image_finish(&m);
		}
		image_remove(&m);
	}
}

static void limit_depth(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	struct err e = ERR_INIT;
	image_prepare(&m);
	m.o.limits.depth = 4;
	image_begin(&m);
	tar_file(&t, "a/b/c/d", "deep");
	tar_symlink(&t, "l", "a/b/c");
	image_layer(&m, &t);
	tar_file(&t, "a/b/c/d/e", "");
	assert_int_equal(image_try(&m, &t, &e), -1);
	assert_non_null(strstr(e.msg, "limit depth"));
	tar_free(&t);
	tar_file(&t, "l/e/f/g", "");
	assert_int_equal(image_try(&m, &t, &e), -1);
	tar_free(&t);
	assert_non_null(strstr(e.msg, "limit depth"));
	image_remove(&m);
	image_prepare(&m);
	m.o.limits.depth = 257;
	assert_int_equal(unpack_begin(&m.u, m.root, &m.o, &e), -1);
	image_remove(&m);
}

/* As deep as may be, and gone again. */
static void deep_folders(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	char path[1024] = "d";
	image_make(&m);
	for (int i = 1; i < 255; i++)
		strcat(path, "/d");
	gnu_long(&t, 'L', strcat(path, "/f"));
	tar_file(&t, "short", "deep");
	tar_file(&t, "stays", "");
	image_layer(&m, &t);
	image_layer(&m, &t);
	has_text(&m, path, "deep");
	tar_file(&t, ".wh.d", "");
	image_layer(&m, &t);
	image_finish(&m);
	assert_false(is_there(&m, "d"));
	assert_true(is_there(&m, "stays"));
	image_remove(&m);
}

static void long_headers(void **state)
{
	(void)state;
	autotar t = {0};
	/* A map of holes that goes on and on: libarchive would keep all of it. */
	enum { MAP = 8 << 20 };
	char *map = malloc(MAP + 1);
	memset(map, 0, MAP + 1);
	size_t used = (size_t)sprintf(map, "700000\n");
	while (used < MAP - 16)
		used += (size_t)sprintf(map + used, "0\n0\n");
	tar_pax(&t, 'x', "GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", "x",
		"GNU.sparse.realsize", "1", NULL);
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "x", .data = map, .size = MAP});
	is_refused(&t, "2 MiB");
	free(map);
}

/* ---- compression ---- */

static la_ssize_t compressed_bytes(struct archive *a, void *arg, const void *bytes, size_t len)
{
	(void)a;
	tar_bytes(arg, bytes, len);
	return (la_ssize_t)len;
}

static void compress_with(struct tar *to, const struct tar *from, int (*filter)(struct archive *))
{
	static const char end[2 * TAR_BLOCK];
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
	assert_int_equal(filter(a), ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(a, 1);
	assert_int_equal(archive_write_open(a, to, NULL, compressed_bytes, NULL), ARCHIVE_OK);
	archive_entry_set_filetype(entry, AE_IFREG);
	assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, from->bytes, from->len), from->len);
	assert_int_equal(archive_write_data(a, end, sizeof(end)), sizeof(end));
	archive_entry_free(entry);
	to->packed = true;
	assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

typedef int filter_fn(struct archive *a);

/* The diff_id is that of the bytes without compression, whatever it was. */
static void compressions(void **state)
{
	(void)state;
	static filter_fn *const filters[] = {archive_write_add_filter_none,
					     archive_write_add_filter_gzip,
					     archive_write_add_filter_zstd,
					     archive_write_add_filter_xz,
					     archive_write_add_filter_bzip2};
	struct digest first;
	for (size_t i = 0; i < 5; i++) {
		autotar t = {0}, packed = {0};
		struct image m;
		struct err e = ERR_INIT;
		struct digest d;
		char big[3001];
		image_prepare(&m);
		m.o.filters = SOURCE_LAYER;
		tar_file(&t, "a", "a");
		for (int n = 0; n < 500; n++)
			tar_file(&t, "b", repeated(big, 'b', 3000));
		compress_with(&packed, &t, filters[i]);
		/* Not one of those that layers have. */
		if (i > 2) {
			refused_by(&m, &packed, "cannot be read");
			unpack_free(&m.u);
			m.o.filters = SOURCE_ANY;
			assert_int_equal(ftruncate(m.o.journal, 0), 0);
			lseek(m.o.journal, 0, SEEK_SET);
		}
		image_begin(&m);
		if (image_try(&m, &packed, &e) < 0)
			fail_msg("%s", e.msg);
		layer_diff_id(m.u, &d);
		if (i == 0)
			first = d;
		assert_string_equal(d.text, first.text);
		image_finish(&m);
		has_text(&m, "a", "a");
		image_remove(&m);
	}
}

static void damaged_compression(void **state)
{
	(void)state;
	static filter_fn *const filters[] = {archive_write_add_filter_gzip,
					     archive_write_add_filter_zstd};
	for (size_t i = 0; i < 2; i++) {
		autotar t = {0}, packed = {0}, damaged = {0};
		char big[3001];
		for (int n = 0; n < 500; n++) {
			snprintf(repeated(big, 'b', 3000), 32, "%d", n * 7919);
			tar_file(&t, "b", big);
		}
		compress_with(&packed, &t, filters[i]);
		tar_bytes(&damaged, packed.bytes, packed.len / 2);
		damaged.packed = true;
		is_refused(&damaged, "the layer cannot be");
	}
}

static void bombs(void **state)
{
	(void)state;
	static filter_fn *const filters[] = {archive_write_add_filter_gzip,
					     archive_write_add_filter_zstd,
					     archive_write_add_filter_xz};
	autotar t = {0};
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "zeros", .size = 100 << 20});
	for (size_t i = 0; i < 3; i++) {
		autotar packed = {0};
		struct image m;
		image_prepare(&m);
		m.o.limits.ratio = 500;
		m.o.filters = SOURCE_ANY;
		compress_with(&packed, &t, filters[i]);
		refused_by(&m, &packed, "limit ratio");
		image_remove(&m);
	}
}

static void no_archives(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	tar_bytes(&t, "#!/bin/sh\necho this is no archive\n", 34);
	is_refused(&t, "cannot be read");
	tar_file(&t, "x", "x");
	t.bytes[0] = 'y'; /* the checksum */
	is_refused(&t, "cannot be read");
	image_make(&m);
	tar_bytes(&t, "", 0);
	image_layer(&m, &t);
	image_finish(&m);
	image_remove(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_bytes),
		cmocka_unit_test(odd_spellings),
		cmocka_unit_test(long_names),
		cmocka_unit_test(names_that_are_too_long),
		cmocka_unit_test(holes),
		cmocka_unit_test(sizes_that_are_lies),
		cmocka_unit_test(holes_that_are_lies),
		cmocka_unit_test(limit_bytes),
		cmocka_unit_test(limit_entries),
		cmocka_unit_test(limit_depth),
		cmocka_unit_test(deep_folders),
		cmocka_unit_test(long_headers),
		cmocka_unit_test(compressions),
		cmocka_unit_test(damaged_compression),
		cmocka_unit_test(bombs),
		cmocka_unit_test(no_archives),
	};
	become_tester();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
