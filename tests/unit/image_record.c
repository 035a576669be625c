/* The record: its lines, what is none, and each way in which a tree can differ from it. */
#include "tests/unit/image_tar.h"

#include <sys/xattr.h>

#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void lines(void **state)
{
	(void)state;
	static const char value[] = "\0 =\\\n\x7f\xff!";
	struct record_entry in = {
		.path = "a b/\\x\n\xff",
		.type = 'f',
		.mode = 01755,
		.uid = 7,
		.gid = UINT32_MAX - 1,
		.mtime = 1700000000,
		.mtime_nsec = 42,
		.size = 1ULL << 40,
		.holes = true,
		.xattrs_len = 2,
		.xattrs = {{"user.a=b", value, sizeof(value) - 1, true}, {"user.none", "", 0, false}},
	};
	struct record_entry out;
	struct err e = ERR_INIT;
	char line[1024];
	memcpy(in.digest.text, "sha256:" HEX, DIGEST_TEXT);
	size_t len = record_path(line, in.path);
	len += (size_t)sprintf(line + len, " 17 ");
	len += record_fields(line + len, &in);
	line[len] = '\0';
	assert_string_equal(line,
			    "a\\x20b/\\x5cx\\x0a\\xff 17 f 1755 7 4294967294 1700000000.000000042 "
			    "1099511627776 holes-sha256:" HEX
			    " - user.a\\x3db=\\x00\\x20=\\x5c\\x0a\\x7f\\xff! !user.none=");
	if (record_read_line(line, &out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(out.path, in.path);
	assert_int_equal(out.group, 17);
	assert_int_equal(out.mode, in.mode);
	assert_int_equal(out.uid, in.uid);
	assert_int_equal(out.gid, in.gid);
	assert_int_equal(out.mtime, in.mtime);
	assert_int_equal(out.mtime_nsec, in.mtime_nsec);
	assert_int_equal(out.size, in.size);
	assert_true(out.holes && digest_same(&out.digest, &in.digest));
	assert_int_equal(out.xattrs_len, 2);
	assert_string_equal(out.xattrs[0].name, "user.a=b");
	assert_int_equal(out.xattrs[0].value_len, sizeof(value) - 1);
	assert_memory_equal(out.xattrs[0].value, value, sizeof(value) - 1);
	assert_true(out.xattrs[0].kept && !out.xattrs[1].kept);
	assert_string_equal(out.xattrs[1].name, "user.none");
}

static void no_lines(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"a",
		"a -",
		"../a - d 0755 0 0 1.000000000 0 - -",
		"/a - d 0755 0 0 1.000000000 0 - -",
		"a//b - d 0755 0 0 1.000000000 0 - -",
		"a\\x00b - d 0755 0 0 1.000000000 0 - -",
		"a\\x2 - d 0755 0 0 1.000000000 0 - -",
		"a\\ - d 0755 0 0 1.000000000 0 - -",
		"a  - d 0755 0 0 1.000000000 0 - -",
		"a x d 0755 0 0 1.000000000 0 - -",
		"a - c 0755 0 0 1.000000000 0 - -",
		"a - d 0755 0 0 1.000000000 0 -",
		"a - d 0755 0 0 1 0 - -",
		"a - d 10000 0 0 1.000000000 0 - -",
		"a - d 0755 -1 0 1.000000000 0 - -",
		"a - d 0755 4294967296 0 1.000000000 0 - -",
		"a - d 0755 0 0 1.0000000000 0 - -",
		"a - d 0755 0 0 1.000000000 99999999999999999999 - -",
		("a - d 0755 0 0 1.000000000 0 sha256:" HEX " -"),
		"a - f 0755 0 0 1.000000000 0 - -",
		"a - f 0755 0 0 1.000000000 0 sha256:abc -",
		"a - l 0777 0 0 1.000000000 0 - ",
		"a - d 0755 0 0 1.000000000 0 - b",
		"a - d 0755 0 0 1.000000000 0 - - user.x",
		"a - d 0755 0 0 1.000000000 0 - -  user.x=",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[256];
		struct record_entry r;
		struct err e = ERR_INIT;
		snprintf(line, sizeof(line), "%s", bad[i]);
		if (record_read_line(line, &r, &e) == 0)
			fail_msg("\"%s\" is taken for a line", bad[i]);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

static void no_records(void **state)
{
	(void)state;
#define COLUMNS "# PATH GROUP\n"
	static const char *const bad[] = {
		"",
		"\n",
		"# pinfold.record/2\n# owners: in this record only\n" COLUMNS,
		"# pinfold.record/1\n" COLUMNS,
		"# pinfold.record/1\n# owners: kept below x\n" COLUMNS,
		"# pinfold.record/1\n# owners: in this record only\n",
		("# pinfold.record/1\n# owners: in this record only\n" COLUMNS ". - d"),
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		static struct record_reader r;
		struct record_entry entry;
		struct err e = ERR_INIT;
		const int fd = memfd_create("record", MFD_CLOEXEC);
		assert_int_equal(fd_write_all(fd, bad[i], strlen(bad[i])), 0);
		if (record_open(&r, fd, &e) == 0 && record_next(&r, &entry, &e) >= 0)
			fail_msg("\"%s\" is taken for a record", bad[i]);
		assert_int_equal(e.kind, ERR_USAGE);
		close(fd);
	}
}

/* ---- differences ---- */

static void image_of_all(struct image *m)
{
	autotar t = {0};
	image_make(m);
	tar_dir(&t, "d", 0755);
	tar_file(&t, "d/a", "four");
	tar_file(&t, "d/b", "four");
	tar_hard(&t, "h", "d/a");
	tar_symlink(&t, "l", "d/a");
	tar_pax(&t, 'x', "SCHILY.xattr.user.x", "1", NULL);
	tar_file(&t, "x", "x");
	tar_file(&t, "e/f/g", "");
	image_layer(m, &t);
	image_finish(m);
}

/* After a change to d/b, its time made the old one again. */
static void restore_time(struct image *m, const char *path)
{
	const struct timespec times[2] = {{TAR_TIME, 0}, {TAR_TIME, 0}};
	assert_int_equal(utimensat(m->root, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void put_text(struct image *m, const char *path, const char *text)
{
	const int fd = openat(m->root, path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	close(fd);
	restore_time(m, path);
}

static void change_contents(struct image *m)
{
	put_text(m, "d/b", "fou2");
}

static void change_size(struct image *m)
{
	put_text(m, "d/b", "fours");
}

static void change_mode(struct image *m)
{
	assert_int_equal(fchmodat(m->root, "d/b", 04644, 0), 0);
}

static void change_folder(struct image *m)
{
	assert_int_equal(fchmodat(m->root, "d", 0777, 0), 0);
}

static void change_time(struct image *m)
{
	assert_int_equal(utimensat(m->root, "d/b", NULL, 0), 0);
}

static void change_owner(struct image *m)
{
	assert_int_equal(fchownat(m->root, "d/b", 1, 0, 0), 0);
}

static void change_target(struct image *m)
{
	assert_int_equal(unlinkat(m->root, "l", 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", m->root, "l"), 0);
	restore_time(m, "l");
	restore_time(m, ".");
}

static void change_type(struct image *m)
{
	assert_int_equal(unlinkat(m->root, "d/b", 0), 0);
	assert_int_equal(symlinkat("a", m->root, "d/b"), 0);
	restore_time(m, "d/b");
	restore_time(m, "d");
}

static void take_away(struct image *m)
{
	assert_int_equal(unlinkat(m->root, "d/b", 0), 0);
	restore_time(m, "d");
}

static void add_stranger(struct image *m)
{
	put_text(m, "d/stranger", "");
	restore_time(m, "d");
}

static void separate_links(struct image *m)
{
	assert_int_equal(unlinkat(m->root, "h", 0), 0);
	put_text(m, "h", "four");
	restore_time(m, ".");
}

static void add_name(struct image *m)
{
	assert_int_equal(linkat(m->root, "d/b", m->top, "elsewhere", 0), 0);
}

static void change_attribute(struct image *m)
{
	const int fd = openat(m->root, "x", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fsetxattr(fd, "user.x", "2", 1, 0), 0);
	close(fd);
}

static void add_attribute(struct image *m)
{
	assert_int_equal(fsetxattr(m->root, "user.y", "2", 1, 0), 0);
}

static void links_as_folders(struct image *m)
{
	assert_int_equal(renameat(m->root, "e", m->top, "e"), 0);
	assert_int_equal(symlinkat("../e", m->root, "e"), 0);
	restore_time(m, "e");
}

static void differences(void **state)
{
	(void)state;
	static const struct {
		void (*change)(struct image *m);
		const char *says;
		bool root, attributes;
	} rows[] = {
		{change_contents, "d/b: other contents"},
		{change_size, "d/b: 5 bytes, in the record 4"},
		{change_mode, "d/b: mode 4644, in the record 0644"},
		{change_folder, "d: mode 0777, in the record 0755"},
		{change_time, "d/b: time "},
		{change_owner, "d/b: owner 1:0, in the record 0:0", .root = true},
		{change_target, "l: a link to /etc/passwd"},
		{change_type, "d/b: type l, in the record f"},
		{take_away, "d/b: missing"},
		{add_stranger, "d/stranger: not in the record"},
		{separate_links, "h: a file of its own, in the record a hard link"},
		{add_name, "d/b: 2 names, in the record one"},
		{change_attribute, "x: attribute user.x", .attributes = true},
		{add_attribute, ": attribute user.y, which the record lacks", .attributes = true},
		{links_as_folders, "e/f/g: missing"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct image m;
		char said[512] = "";
		image_of_all(&m);
		const bool has = unpack_report(m.u)->xattrs_unkept == 0;
		if ((has || !rows[i].attributes) && (geteuid() == 0 || !rows[i].root)) {
			rows[i].change(&m);
			if (image_compare(&m, said) < 1 || !strstr(said, rows[i].says))
				fail_msg("\"%s\" does not say \"%s\"", said, rows[i].says);
		}
		image_remove(&m);
	}
}

/* Many names, so that the journal is sorted in several runs and merged. */
static void many_names(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	char name[300], part[200];
	memset(part, 'n', 150);
	part[150] = '\0';
	image_make(&m);
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "%x-%d/%s", (unsigned)i * 2654435761U >> 28, i % 7,
			 part);
		name[90] = '\0';
		snprintf(name + strlen(name), 9, "%d", (int)((unsigned)i * 40503U % 10007U));
		tar_file(&t, name, "");
	}
	image_layer(&m, &t);
	tar_file(&t, "0-0/.wh..wh..opq", "");
	tar_file(&t, ".wh.1-1", "");
	image_layer(&m, &t);
	image_finish(&m);
	char *record = image_record(&m);
	assert_null(strstr(record, "\n0-0/"));
	assert_null(strstr(record, "\n1-1"));
	assert_non_null(strstr(record, "\n2-2/"));
	free(record);
	image_remove(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),      cmocka_unit_test(no_lines),
		cmocka_unit_test(no_records), cmocka_unit_test(differences),
		cmocka_unit_test(many_names),
	};
	become_tester();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
