/* Layers, tame and hostile ones. What is said here holds for root and for an ordinary user
 * (image_layer_user.c). */
#include "tests/unit/image_tar.h"

#include <sys/xattr.h>

/* The attack works where nobody takes care: the same name, resolved by the kernel as usual, leads
 * out of the tree. */
static void control_leads_out(const struct image *m, const char *path)
{
	const int fd = openat(m->root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(faccessat(m->top, "outside/x", F_OK, 0), 0);
	assert_int_equal(unlinkat(m->top, "outside/x", 0), 0);
}

/* ---- hard links ---- */

static void hard_link_to_symlink(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_symlink(&t, "a", "nowhere");
	tar_put(&t, &(struct tar_entry){.type = '1', .name = "b", .link = "a", .mode = 04777});
	tar_symlink(&t, "out", m.outside);
	tar_hard(&t, "c", "out");
	image_layer(&m, &t);
	image_finish(&m);
	has_link(&m, "b", "nowhere");
	assert_int_equal(look(&m, "a").st_ino, look(&m, "b").st_ino);
	assert_int_equal(look(&m, "out").st_ino, look(&m, "c").st_ino);
	image_remove(&m);
}

static void hard_link_without_folders(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "bin/app", "app");
	tar_hard(&t, "x/y/app", "bin/app");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "x/y/app", "app");
	assert_int_equal(look(&m, "x/y/app").st_ino, look(&m, "bin/app").st_ino);
	has_mode(&m, "x", S_IFDIR | 0755);
	has_mode(&m, "x/y", S_IFDIR | 0755);
	has_mode(&m, "bin", S_IFDIR | 0755);
	assert_int_equal(look(&m, "x/y").st_uid, geteuid());
	image_remove(&m);
}

static void hard_link_outlives_target(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "t", "kept");
	tar_hard(&t, "h", "t");
	image_layer(&m, &t);
	tar_file(&t, ".wh.t", "");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "h", "kept");
	assert_false(is_there(&m, "t"));
	assert_int_equal(look(&m, "h").st_nlink, 1);
	image_remove(&m);
}

/* Chains, a target that is written anew, a link over itself, one over a file, with data that is not ours. */
static void hard_link_groups(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "a", "one");
	tar_hard(&t, "b", "a");
	tar_hard(&t, "c", "./b");
	tar_file(&t, "d", "old");
	tar_hard(&t, "d", "/c");
	tar_hard(&t, "a", "a");
	/* Only in a pax archive does such an entry have data for sure. */
	tar_pax(&t, 'x', "comment", "pax", NULL);
	tar_put(&t, &(struct tar_entry){.type = '1',
					.name = "e",
					.link = "a",
					.mode = 0600,
					.data = "other"});
	image_layer(&m, &t);
	tar_file(&t, "a", "two");
	tar_hard(&t, "f", "a");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "a", "two");
	has_text(&m, "f", "two");
	static const char *const same[] = {"c", "d", "e"};
	for (size_t i = 0; i < 3; i++) {
		has_text(&m, same[i], "one");
		assert_int_equal(look(&m, same[i]).st_ino, look(&m, "b").st_ino);
	}
	has_mode(&m, "b", S_IFREG | 0644);
	assert_int_equal(look(&m, "a").st_nlink, 2);
	assert_int_equal(look(&m, "b").st_nlink, 4);
	image_remove(&m);
}

static void hard_link_outside(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	struct err e = ERR_INIT;
	char secret[128];
	image_make(&m);
	snprintf(secret, sizeof(secret), "%s/secret", m.outside);
	/* The control: nothing but the name stands between the tree and the file. */
	assert_int_equal(linkat(AT_FDCWD, secret, m.root, "control", 0), 0);
	assert_int_equal(unlinkat(m.root, "control", 0), 0);
	tar_hard(&t, "stolen", secret);
	assert_int_equal(image_try(&m, &t, &e), -1);
	assert_non_null(strstr(e.msg, "not there"));
	assert_int_equal(e.kind, ERR_USAGE);
	tar_free(&t);
	tar_symlink(&t, "out", m.outside);
	tar_hard(&t, "stolen", "out/secret");
	assert_int_equal(image_try(&m, &t, &e), -1);
	assert_non_null(strstr(e.msg, "not there"));
	tar_free(&t);
	tar_hard(&t, "stolen", "../outside/secret");
	assert_int_equal(image_try(&m, &t, &e), -1);
	tar_free(&t);
	assert_non_null(strstr(e.msg, ".."));
	assert_false(is_there(&m, "stolen"));
	image_remove(&m);
}

static void hard_link_to_folder(void **state)
{
	(void)state;
	autotar t = {0};
	tar_dir(&t, "d", 0755);
	tar_hard(&t, "e", "d");
	is_refused(&t, "a hard link to a folder");
	tar_hard(&t, "e", "/");
	is_refused(&t, "not there");
}

/* ---- links and other things in the way ---- */

static void folder_over_file(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "p", "file");
	tar_file(&t, "r", "file");
	image_layer(&m, &t);
	tar_file(&t, "p/q", "q");
	tar_dir(&t, "r", 0700);
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "p/q", "q");
	has_mode(&m, "p", S_IFDIR | 0755);
	has_mode(&m, "r", S_IFDIR | 0700);
	image_remove(&m);
}

/* Each kind over each other. */
static void replacements(void **state)
{
	(void)state;
	for (int layers = 1; layers < 3; layers++) {
		for (int from = 0; from < 5; from++) {
			autotar t = {0};
			struct image m;
			static const char types[] = "02516";
			image_make(&m);
			tar_file(&t, "t", "t");
			for (int to = 0; to < 5; to++) {
				for (int i = 0; i < 2; i++) {
					char name[8];
					const char type = types[i ? to : from];
					if (i && layers == 2)
						continue;
					snprintf(name, sizeof(name), "n%d", to);
					tar_put(&t, &(struct tar_entry){.type = type,
									.name = name,
									.link = "t",
									.mode = 0755});
					snprintf(name, sizeof(name), "n%d/f", to);
					if (type == '5')
						tar_file(&t, name, "f");
				}
			}
			image_layer(&m, &t);
			for (int to = 0; to < 5 && layers == 2; to++) {
				char name[8];
				snprintf(name, sizeof(name), "n%d", to);
				tar_put(&t, &(struct tar_entry){.type = types[to],
								.name = name,
								.link = "t",
								.mode = 0711});
			}
			if (layers == 2)
				image_layer(&m, &t);
			image_finish(&m);
			assert_int_equal(look(&m, "n0").st_mode & S_IFMT, S_IFREG);
			assert_int_equal(look(&m, "n0").st_size, 0);
			has_link(&m, "n1", "t");
			assert_int_equal(look(&m, "n2").st_mode & S_IFMT, S_IFDIR);
			has_text(&m, "n3", "t");
			assert_int_equal(look(&m, "n4").st_mode & S_IFMT, S_IFIFO);
			image_remove(&m);
		}
	}
}

static void through_planted_links(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	char inside[192], file[128];
	image_make(&m);
	snprintf(file, sizeof(file), "%s/secret", m.outside);
	tar_symlink(&t, "pwn", m.outside);
	tar_symlink(&t, "climb", "../../../../../../outside");
	tar_symlink(&t, "f", file);
	tar_symlink(&t, "dir", m.outside);
	tar_symlink(&t, "twice", "pwn");
	image_layer(&m, &t);
	control_leads_out(&m, "pwn/x");
	tar_file(&t, "pwn/x", "inside");
	tar_file(&t, "climb/y", "inside");
	tar_file(&t, "twice/z", "inside");
	tar_dir(&t, "pwn/d", 0777);
	tar_hard(&t, "pwn/h", "pwn/x");
	tar_symlink(&t, "pwn/l", "x");
	tar_file(&t, "f", "mine");
	tar_dir(&t, "dir", 0777);
	image_layer(&m, &t);
	image_finish(&m);
	snprintf(inside, sizeof(inside), "%s/x", m.outside + 1);
	has_text(&m, inside, "inside");
	snprintf(inside, sizeof(inside), "%s/h", m.outside + 1);
	has_text(&m, inside, "inside");
	snprintf(inside, sizeof(inside), "%s/z", m.outside + 1);
	has_text(&m, inside, "inside");
	has_text(&m, "outside/y", "inside");
	has_text(&m, "f", "mine");
	has_mode(&m, "dir", S_IFDIR | 0777);
	image_remove(&m);
}

static void usr_merge(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_dir(&t, "usr/bin", 0755);
	tar_symlink(&t, "bin", "usr/bin");
	tar_symlink(&t, "sbin", "/bin");
	tar_file(&t, "usr/bin/x", "1");
	image_layer(&m, &t);
	tar_file(&t, "bin/x", "2");
	tar_file(&t, "bin/y", "2");
	tar_file(&t, "sbin/z", "2");
	tar_hard(&t, "w", "sbin/z");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "usr/bin/x", "2");
	has_text(&m, "usr/bin/y", "2");
	has_text(&m, "usr/bin/z", "2");
	has_text(&m, "w", "2");
	has_link(&m, "bin", "usr/bin");
	has_link(&m, "sbin", "/bin");
	image_remove(&m);
}

static void link_loops(void **state)
{
	(void)state;
	autotar t = {0};
	tar_symlink(&t, "a", "b");
	tar_symlink(&t, "b", "a");
	tar_file(&t, "a/x", "");
	is_refused(&t, "too many symbolic links");
	tar_symlink(&t, "a", "a/a");
	tar_file(&t, "a/x", "");
	is_refused(&t, "too many symbolic links");
	tar_symlink(&t, "a", "");
	is_refused(&t, "a link to nothing");
}

/* The folder is what was opened, whatever becomes of its name. */
static void root_is_swapped(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	assert_int_equal(renameat(m.top, "root", m.top, "moved"), 0);
	assert_int_equal(symlinkat("outside", m.top, "root"), 0);
	/* The control: its name leads elsewhere now. */
	assert_int_equal(faccessat(m.top, "root/secret", F_OK, 0), 0);
	tar_dir(&t, "./", 0711);
	tar_file(&t, "x", "x");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "x", "x");
	assert_int_equal(faccessat(m.top, "moved/x", F_OK, 0), 0);
	image_remove(&m);
}

static void climbing_names(void **state)
{
	(void)state;
	static const char *const bad[] = {"../outside/x", "a/../../outside/x", "..",
					  "a/..",	  "./../outside/x",    "/../outside/x"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		autotar t = {0};
		tar_file(&t, bad[i], "x");
		is_refused(&t, "a name with ..");
	}
	autotar t = {0};
	struct image m;
	char name[128];
	image_make(&m);
	control_leads_out(&m, "../outside/x");
	snprintf(name, sizeof(name), "%s/x", m.outside);
	tar_file(&t, name, "inside");
	tar_file(&t, "...", "three");
	tar_file(&t, "..a/..b", "ab");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, name + 1, "inside");
	has_text(&m, "...", "three");
	has_text(&m, "..a/..b", "ab");
	image_remove(&m);
}

/* ---- special files and what has power ---- */

static void devices(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_file(&t, "lower", "lower");
	image_layer(&m, &t);
	tar_put(&t, &(struct tar_entry){.type = '3',
					.name = "dev/agpgart",
					.mode = 0666,
					.major = 10,
					.minor = 175});
	tar_put(&t, &(struct tar_entry){.type = '4', .name = "dev/sda", .mode = 0666, .major = 8});
	tar_put(&t, &(struct tar_entry){.type = '3', .name = "lower"});
	tar_put(&t, &(struct tar_entry){.type = '6', .name = "fifo", .mode = 0622});
	tar_hard(&t, "dev/again", "dev/sda");
	tar_file(&t, "after", "after");
	image_layer(&m, &t);
	image_finish(&m);
	has_text(&m, "after", "after");
	has_mode(&m, "fifo", S_IFIFO | 0622);
	assert_false(is_there(&m, "dev/agpgart"));
	assert_false(is_there(&m, "dev/sda"));
	assert_false(is_there(&m, "dev/again"));
	assert_false(is_there(&m, "lower"));
	has_mode(&m, "dev", S_IFDIR | 0755);
	assert_int_equal(unpack_report(m.u)->devices_skipped, 4);
	image_remove(&m);
}

static void set_id_bits(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "su", .mode = 04755});
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "both", .mode = 06777});
	tar_put(&t, &(struct tar_entry){.type = '5', .name = "mail", .mode = 02775});
	tar_put(&t, &(struct tar_entry){.type = '5', .name = "tmp", .mode = 01777});
	tar_put(&t, &(struct tar_entry){.type = '6', .name = "fifo", .mode = 06600});
	tar_put(&t, &(struct tar_entry){.type = '5', .name = ".", .mode = 06755});
	tar_file(&t, "mail/x", "");
	image_layer(&m, &t);
	image_finish(&m);
	has_mode(&m, "su", S_IFREG | 0755);
	has_mode(&m, "both", S_IFREG | 0777);
	has_mode(&m, "mail", S_IFDIR | 0775);
	has_mode(&m, "tmp", S_IFDIR | 01777);
	has_mode(&m, "fifo", S_IFIFO | 0600);
	has_mode(&m, ".", S_IFDIR | 0755);
	assert_int_equal(unpack_report(m.u)->setid_dropped, 5);
	image_remove(&m);
}

static void attributes(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	char value[64];
	image_make(&m);
	/* The control: this file system has attributes of a file's user. */
	const bool has = fsetxattr(m.root, "user.control", "1", 1, 0) == 0;
	fremovexattr(m.root, "user.control");
	tar_pax(&t, 'x', "SCHILY.xattr.security.capability", "\1\1\1\2\3",
		"SCHILY.xattr.security.selinux", "label", "SCHILY.xattr.trusted.overlay.opaque",
		"y", "SCHILY.xattr.user.overlay.opaque", "y", "SCHILY.xattr.system.x", "y",
		"SCHILY.xattr.user.kept", "a b=\\\xff", NULL);
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "ping", .mode = 04755});
	tar_pax(&t, 'x', "SCHILY.xattr.user.one", "1", NULL);
	tar_dir(&t, "d", 0500);
	tar_pax(&t, 'x', "SCHILY.xattr.user.overlay.origin", "", "SCHILY.xattr.user.none", "", NULL);
	tar_file(&t, "empty", "");
	tar_pax(&t, 'x', "SCHILY.acl.access",
		"user::rwx,user:7:rwx,group::r-x,mask::rwx,other::r-x", NULL);
	tar_file(&t, "acl", "");
	image_layer(&m, &t);
	tar_pax(&t, 'x', "SCHILY.xattr.user.two", "2", NULL);
	tar_dir(&t, "d", 0500);
	image_layer(&m, &t);
	image_finish(&m);
	const struct layer_report *r = unpack_report(m.u);
	assert_int_equal(r->xattrs_dropped, 6);
	assert_int_equal(r->xattrs_unkept, has ? 0 : 3);
	const int ping = openat(m.root, "ping", O_RDONLY | O_CLOEXEC);
	const int d = openat(m.root, "d", O_RDONLY | O_CLOEXEC);
	assert_true(fgetxattr(ping, "security.capability", value, sizeof(value)) < 0);
	assert_true(fgetxattr(ping, "user.overlay.opaque", value, sizeof(value)) < 0);
	assert_true(fgetxattr(d, "user.one", value, sizeof(value)) < 0);
	if (has) {
		assert_int_equal(fgetxattr(ping, "user.kept", value, sizeof(value)), 6);
		assert_memory_equal(value, "a b=\\\xff", 6);
		assert_int_equal(fgetxattr(d, "user.two", value, sizeof(value)), 1);
	}
	close(ping);
	close(d);
	char *record = image_record(&m);
	assert_non_null(strstr(record, has ? " user.kept=a\\x20b=\\x5c\\xff\n" : " !user.kept="));
	assert_null(strstr(record, "overlay"));
	assert_null(strstr(record, "user.one"));
	free(record);
	image_remove(&m);
}

static void owners(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	static const struct {
		const char *name;
		int64_t id;
		uint32_t recorded, disk;
	} rows[] = {
		{"a", 0, 0, 0},
		{"b", 1234, 1234, 1234},
		{"c", 65535, 65535, 65535},
		{"d", 65536, 65536, 65534},
		{"e", 3000000, 3000000, 65534}, /* base 256 */
		{"f", UINT32_MAX, 65534, 65534},
		{"g", (int64_t)1 << 32, 65534, 65534},
		{"h", -1, 65534, 65534},
		{"i", INT64_MIN / 2, 65534, 65534},
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	for (size_t i = 0; i < ROWS; i++) {
		tar_put(&t, &(struct tar_entry){.type = "0526"[i % 4],
						.name = rows[i].name,
						.link = "x",
						.mode = 0755,
						.uid = rows[i].id,
						.gid = rows[i].id});
	}
	tar_pax(&t, 'x', "uid", "99999999999999999999", "gid", "77", NULL);
	tar_file(&t, "pax", "");
	image_layer(&m, &t);
	image_finish(&m);
	char *record = image_record(&m);
	for (size_t i = 0; i < ROWS; i++) {
		char line[64];
		snprintf(line, sizeof(line), "\n%s - %c %s %u %u ", rows[i].name, "fdlp"[i % 4],
			 i % 4 == 2 ? "0777" : "0755", rows[i].recorded, rows[i].recorded);
		if (!strstr(record, line))
			fail_msg("no %s in %s", line + 1, record);
		const struct stat st = look(&m, rows[i].name);
		assert_int_equal(st.st_uid, geteuid() == 0 ? rows[i].disk : geteuid());
		assert_int_equal(st.st_gid, geteuid() == 0 ? rows[i].disk : getegid());
	}
	free(record);
	if (geteuid() == 0)
		assert_in_range(unpack_report(m.u)->owners_squashed, 6, 7);
	image_remove(&m);
}

static void closed_folders(void **state)
{
	(void)state;
	autotar t = {0};
	struct image m;
	image_make(&m);
	tar_dir(&t, "d", 0555);
	tar_file(&t, "d/f", "f");
	tar_dir(&t, "e", 0);
	tar_dir(&t, "e/e", 0);
	tar_put(&t, &(struct tar_entry){.type = '0', .name = "e/e/f", .mode = 0, .data = "f"});
	image_layer(&m, &t);
	tar_file(&t, "d/g", "g");
	tar_file(&t, "e/e/g", "g");
	tar_file(&t, "e/e/.wh.f", "");
	image_layer(&m, &t);
	image_finish(&m);
	has_mode(&m, "d", S_IFDIR | 0555);
	has_mode(&m, "e", S_IFDIR);
	has_text(&m, "d/g", "g");
	assert_int_equal(look(&m, "d").st_mtime, TAR_TIME);
	assert_int_equal(look(&m, "e").st_mtime, TAR_TIME);
	assert_int_equal(fchmodat(m.root, "e", 0700, 0), 0);
	assert_int_equal(look(&m, "e/e").st_mtime, TAR_TIME);
	has_mode(&m, "e/e", S_IFDIR);
	assert_int_equal(fchmodat(m.root, "e/e", 0700, 0), 0);
	assert_false(is_there(&m, "e/e/f"));
	has_text(&m, "e/e/g", "g");
	image_remove(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hard_link_to_symlink),
		cmocka_unit_test(hard_link_without_folders),
		cmocka_unit_test(hard_link_outlives_target),
		cmocka_unit_test(hard_link_groups),
		cmocka_unit_test(hard_link_outside),
		cmocka_unit_test(hard_link_to_folder),
		cmocka_unit_test(folder_over_file),
		cmocka_unit_test(replacements),
		cmocka_unit_test(through_planted_links),
		cmocka_unit_test(usr_merge),
		cmocka_unit_test(link_loops),
		cmocka_unit_test(root_is_swapped),
		cmocka_unit_test(climbing_names),
		cmocka_unit_test(devices),
		cmocka_unit_test(set_id_bits),
		cmocka_unit_test(attributes),
		cmocka_unit_test(owners),
		cmocka_unit_test(closed_folders),
	};
	become_tester();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
