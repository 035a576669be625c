/* What may be an image, in which form, and what is said of what may not. */
#include "tests/unit/rootfs_tree.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

static int prepare(struct rootfs *r, struct arena *a, enum image_kind kind, const char *image,
		   struct err *e)
{
	struct spec s = tree_spec(a, kind, image);
	return rootfs_prepare(r, &s, a, e);
}

static void refused(const char *image, const char *says)
{
	autoarena a = ARENA_INIT;
	struct rootfs r = ROOTFS_INIT;
	struct err e = ERR_INIT;
	if (prepare(&r, &a, IMAGE_PATH, image, &e) == 0)
		fail_msg("%s was accepted as an image", image);
	if (!strstr(e.msg, says))
		fail_msg("%s: \"%s\" does not say \"%s\"", image, e.msg, says);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(r.image, -1);
}

static void sensitive_places(void **state)
{
	(void)state;
	refused("/", "use @host");
	refused("//", "use @host");
	refused("/usr/..", "use @host");
	refused("/proc/self/root", "use @host");
	refused("/usr", "use @host");
	refused("/bin", "use @host"); /* a link to usr/bin, or the folder */
	refused("/etc", "secrets");
	refused("/etc/ssl", "secrets");
	refused("/proc", "proc");
	refused("/proc/self", "proc");
	refused("/sys", "sysfs");
	refused("/dev", "devices");
	refused("/dev/shm", "memory");
	refused("/run", "sockets");
	refused("/tmp", "temporary");
	refused("/var", "data");
	refused("/var/lib", "data");
	refused("/home", "home");
	refused("/dev/pts", "devices");
	refused("/usr/share", "use @host");
	refused("/usr/local/lib", "use @host");
	refused("/opt", "name a folder there");
	refused("/srv", "name a folder there");
	refused("/media", "name a folder there");
	refused("/mnt", "name a folder there");
	refused("/var/lib/dpkg", "packages");
	refused("/var/lib/dpkg/info", "packages");
}

static void where_images_lie(void **state)
{
	(void)state;
	static const char *const names[] = {
		"/srv/a",
		"/opt/a/b",
		"/media/me/disk",
		"/run/media/me/disk/root",
		"/mnt/a",
		"/var/lib/machines/a",
		"/var/cache/pinfold/a",
		"/usr/share/a/root",
		"/usr/local/share/a",
		"/home/me/a",
		"/var/tmp/a",
		"/devices",
		"/runs",
	};
	static const char *const refused_names[] = {"/run/user/1000/a", "/run/mediator",
						    "/dev/shm/a", "/var/lib/dpkg", "/home/me"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct err e = ERR_INIT;
		const struct rootfs r = {.image_path = names[i]};
		if (rootfs_vet_name(&r, &e) < 0)
			fail_msg("%s", e.msg);
	}
	for (size_t i = 0; i < sizeof(refused_names) / sizeof(*refused_names); i++) {
		struct err e = ERR_INIT;
		const struct rootfs r = {.image_path = refused_names[i]};
		assert_int_equal(rootfs_vet_name(&r, &e), -1);
	}
}

static void through_a_link(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	tree_link(&t, "away", "/etc");
	tree_dir(&t, ".ssh");
	refused(tree_path(&t, "away"), "secrets");
	refused(tree_path(&t, "away/"), "secrets");
	refused(tree_path(&t, ".ssh"), "secrets");
	tree_remove(&t);
}

static void home_of_passwd(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# only root can see that /root is a folder\n");
		skip();
	}
	refused("/root", "home folder");
}

/* A second name by a bind mount: only the inode tells. In a child, whose namespace takes it along. */
static void by_another_name(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# only root may make the bind mount\n");
		skip();
	}
	struct tree t;
	tree_make(&t);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		autoarena a = ARENA_INIT;
		struct rootfs r = ROOTFS_INIT;
		struct err e = ERR_INIT;
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("/home", t.path, NULL, MS_BIND, NULL) < 0)
			_exit(2);
		int result = prepare(&r, &a, IMAGE_PATH, t.path, &e);
		_exit(result < 0 && strstr(e.msg, "home") ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	tree_remove(&t);
}

/* A file system beneath the image: an overlay would not show it, a bind does. In a child, as above. */
static int with_mount_beneath(const char *image, const char *sub)
{
	autoarena a = ARENA_INIT;
	struct rootfs r = ROOTFS_INIT;
	struct err e = ERR_INIT;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("x", sub, "tmpfs", 0, NULL) < 0)
		return 2;
	int result = prepare(&r, &a, IMAGE_PATH, image, &e);
	if (result < 0)
		return strstr(e.msg, sub) ? 0 : 3;
	return r.form == ROOTFS_BIND ? 1 : 4;
}

static void mounts_beneath(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("# only root may mount\n");
		skip();
	}
	struct tree t;
	tree_make(&t);
	tree_dir(&t, "a b"); /* mountinfo writes the space as \\040 */
	for (int want = 0; want < 2; want++) {
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			_exit(with_mount_beneath(t.path, tree_path(&t, "a b")));
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), want);
		for (unsigned i = 0; want == 0 && i < TARGETS; i++)
			tree_dir(&t, rootfs_targets[i]);
	}
	tree_remove(&t);
}

static void not_a_folder(void **state)
{
	(void)state;
	struct tree t;
	tree_make(&t);
	tree_text(&t, "file", 0644, "x");
	refused(tree_path(&t, "file"), "not a folder");
	refused(tree_path(&t, "none"), "no such folder");
	refused(tree_path(&t, "file/x"), "not a folder");
	tree_remove(&t);
}

static void by_name(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct rootfs r = ROOTFS_INIT;
	struct err e = ERR_INIT;
	struct tree t;
	tree_make(&t);
	tree_dir(&t, "debian");
	assert_int_equal(chdir(t.path), 0);
	assert_int_equal(prepare(&r, &a, IMAGE_NAME, "debian", &e), 0);
	assert_string_equal(r.image_path, tree_path(&t, "debian"));
	rootfs_close(&r);
	assert_int_equal(prepare(&r, &a, IMAGE_NAME, "ubuntu", &e), -1);
	assert_non_null(strstr(e.msg, "no stored image ubuntu"));
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(chdir("/"), 0);
	tree_remove(&t);
}

static void targets_that_are_links(void **state)
{
	(void)state;
	static const char *const names[] = {"proc", "sys", "dev", "tmp", "run", "scratch", "etc"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tree t;
		tree_make(&t);
		tree_link(&t, names[i], "/tmp/canary");
		refused(t.path, "symbolic link");
		assert_int_equal(unlink(tree_path(&t, names[i])), 0);
		tree_text(&t, names[i], 0644, "");
		refused(t.path, "not a folder");
		tree_remove(&t);
	}
}

static void forms(void **state)
{
	(void)state;
	static const char *const names[] = {"proc", "sys", "dev", "tmp", "run", "scratch", "etc"};
	autoarena a = ARENA_INIT;
	struct rootfs r = ROOTFS_INIT;
	struct err e = ERR_INIT;
	struct tree t;
	tree_make(&t);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(prepare(&r, &a, IMAGE_PATH, t.path, &e), 0);
		assert_int_equal(r.form, ROOTFS_OVERLAY);
		for (unsigned k = 0; k < TARGETS; k++)
			assert_int_equal(!(r.missing & 1u << k),
					 faccessat(r.image, rootfs_targets[k], F_OK, 0) == 0);
		rootfs_close(&r);
		tree_dir(&t, names[i]);
	}
	assert_int_equal(prepare(&r, &a, IMAGE_PATH, t.path, &e), 0);
	assert_int_equal(r.form, ROOTFS_BIND);
	assert_int_equal(r.missing, 0);
	rootfs_close(&r);
	tree_remove(&t);
}

static const char *text_of(const struct rootfs *r, const char *path)
{
	for (uint32_t i = 0; i < r->files_len; i++)
		if (strcmp(r->files[i].path, path) == 0)
			return r->files[i].text;
	fail_msg("%s is not written", path);
	return NULL;
}

static void users(void **state)
{
	(void)state;
	static const struct {
		uint32_t uid;
		const char *line;
	} rows[] = {
		{1000, "user:x:1000:1000:user:/scratch:/bin/sh\n"},
		{60002, "user:x:60002:60002:user:/scratch:/bin/sh\n"},
		{0, "root:x:0:0:root:/scratch:/bin/sh\n"},
		{65534, "nobody:x:65534:65534:nobody:/scratch:/bin/sh\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		autoarena a = ARENA_INIT;
		struct rootfs r = ROOTFS_INIT;
		struct err e = ERR_INIT;
		struct spec s = tree_spec(&a, IMAGE_HOST, "@host");
		s.uid = rows[i].uid;
		assert_int_equal(rootfs_prepare(&r, &s, &a, &e), 0);
		const char *text = text_of(&r, "/etc/passwd");
		assert_non_null(strstr(text, rows[i].line));
		/* one line an id */
		char id[16];
		snprintf(id, sizeof(id), ":x:%u:", rows[i].uid);
		assert_null(strstr(strstr(text, id) + 1, id));
		assert_non_null(strstr(text_of(&r, "/etc/group"), id));
	}
}

static void other_files(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct rootfs r = ROOTFS_INIT;
	struct err e = ERR_INIT;
	assert_int_equal(prepare(&r, &a, IMAGE_HOST, "@host", &e), 0);
	assert_int_equal(r.form, ROOTFS_HOST);
	assert_int_equal(r.image, -1);
	assert_string_equal(text_of(&r, "/etc/hostname"), "box\n");
	assert_non_null(strstr(text_of(&r, "/etc/hosts"), "127.0.0.1\tlocalhost box\n"));
	assert_non_null(strstr(text_of(&r, "/etc/hosts"), "::1\tlocalhost"));
	assert_null(strstr(text_of(&r, "/etc/resolv.conf"), "nameserver"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sensitive_places),
		cmocka_unit_test(where_images_lie),
		cmocka_unit_test(through_a_link),
		cmocka_unit_test(home_of_passwd),
		cmocka_unit_test(by_another_name),
		cmocka_unit_test(mounts_beneath),
		cmocka_unit_test(not_a_folder),
		cmocka_unit_test(by_name),
		cmocka_unit_test(targets_that_are_links),
		cmocka_unit_test(forms),
		cmocka_unit_test(users),
		cmocka_unit_test(other_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
