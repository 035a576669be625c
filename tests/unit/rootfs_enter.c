/* The mount tree for real: a process in namespaces of its own builds it and looks around. */
#include "tests/unit/rootfs_tree.h"

#include "network/network.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		_exit(90);
	close(fd);
}

/* Namespaces with the single id 1000, which is what an ordinary caller gets. */
static void enter_namespaces(void)
{
	char map[32];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
		    CLONE_NEWUTS) < 0)
		_exit(91);
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "1000 %u 1", uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "1000 %u 1", gid);
	write_file("/proc/self/gid_map", map);
}

/* look() runs as pid 1 after rootfs_enter(), with what it made of it; returns NULL or what is wrong. */
enum { SAID_BYTES = 960 }; /* a message of struct err and more */

typedef const char *look_fn(const struct rootfs *r, const struct rootfs_view *view, int result,
			    struct err *e);

static void pid_1(const struct rootfs *r, look_fn *look, int out)
{
	struct rootfs_view view = ROOTFS_VIEW_INIT;
	struct err e = ERR_INIT;
	char said[SAID_BYTES] = "";
	umask(0);
	int result = rootfs_enter(r, -1, &view, &e);
	if (result == 0)
		result = rootfs_seal(r, &view, false, &e);
	const char *wrong = look(r, &view, result, &e);
	if (wrong)
		snprintf(said, sizeof(said), "%s (result %d, \"%s\", errno %d)", wrong, result,
			 e.msg, errno);
	_exit(write(out, said, strlen(said) + 1) > 0 ? 0 : 1);
}

static void in_sandbox(const struct rootfs *r, look_fn *look)
{
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		enter_namespaces();
		pid_t init = fork();
		if (init == 0)
			pid_1(r, look, fds[1]);
		int status;
		_exit(init > 0 && waitpid(init, &status, 0) == init ? 0 : 92);
	}
	close(fds[1]);
	char said[SAID_BYTES] = "pid 1 said nothing";
	ssize_t n = read(fds[0], said, sizeof(said) - 1);
	close(fds[0]);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (n <= 0 || said[0])
		fail_msg("%s", said);
}

static struct rootfs prepared(struct arena *a, enum image_kind kind, const char *image)
{
	struct rootfs r = ROOTFS_INIT;
	struct err e = ERR_INIT;
	struct spec s = tree_spec(a, kind, image);
	if (rootfs_prepare(&r, &s, a, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

static bool fails_with(int result, int sys)
{
	return result < 0 && errno == sys;
}

static bool reads(const char *path, const char *text)
{
	char buf[512];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n < 0)
		return false;
	buf[n] = '\0';
	return strcmp(buf, text) == 0;
}

static const char *look_common(const struct rootfs *r, const struct rootfs_view *view, int result,
			       struct err *e)
{
	struct stat st;
	struct statvfs fs;
	if (result < 0)
		return "rootfs_enter failed";
	char cwd[64];
	if (!getcwd(cwd, sizeof(cwd)) || strcmp(cwd, "/") != 0)
		return "the working directory is not /";
	if (!reads("/etc/hostname", "box\n") || !reads("/sys/devices/system/cpu/online", "0\n"))
		return "a synthesised file is wrong";
	if (!fails_with(open("/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0644), EROFS) ||
	    !fails_with(open("/etc/hostname", O_WRONLY | O_CLOEXEC), EROFS) ||
	    !fails_with(mkdir("/dev/x", 0755), EROFS) || !fails_with(mkdir("/sys/x", 0755), EROFS) ||
	    !fails_with(open("/proc/self/comm", O_WRONLY | O_CLOEXEC), EROFS))
		return "something is not read-only";
	int fd = open("/scratch/f", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0 || fstatat(view->scratch, "scratch/f", &st, 0) < 0)
		return "the scratch cannot be written to, or its fd shows another";
	if (statvfs("/scratch", &fs) < 0 || fs.f_blocks * fs.f_frsize != r->scratch_bytes)
		return "the scratch has the wrong size";
	if (fs.f_favail != r->scratch_inodes - 1)
		return "the scratch has the wrong number of inodes";
	if (stat("/tmp", &st) < 0 || (st.st_mode & 07777) != 01777 || stat("/dev/shm", &st) < 0 ||
	    (st.st_mode & 07777) != 01777)
		return "a shared folder has the wrong mode";
	if (stat("/run", &st) < 0 || st.st_uid != r->uid)
		return "/run is not the program's";
	if (!reads("/proc/sys/user/max_user_namespaces", "0\n") ||
	    !fails_with(unshare(CLONE_NEWUSER), ENOSPC))
		return "a user namespace could be made";
	if (!reads("/proc/keys", "") || !fails_with(open("/proc/keys", O_WRONLY | O_CLOEXEC), EROFS))
		return "/proc/keys is not covered";
	if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
		return "no terminal to be had";
	if (!fails_with(umount2("/", 0), EINVAL) && errno != EBUSY)
		return "something lies beneath the root";
	return rootfs_workdir(r, e) < 0 ? "the working directory" : NULL;
}

/* The tree's owner must be the mapped id, or rootless permission bits keep the test out. */
static void make_image(struct tree *t)
{
	tree_make(t);
	tree_dir(t, "etc");
	tree_text(t, "etc/motd", 0644, "of the image\n");
	tree_link(t, "etc/resolv.conf", "/run/nowhere");
}

static const char *look_overlay(const struct rootfs *r, const struct rootfs_view *view, int result,
				struct err *e)
{
	const char *wrong = look_common(r, view, result, e);
	if (wrong)
		return wrong;
	if (!reads("/etc/motd", "of the image\n"))
		return "the image's file is not there";
	return reads("/etc/resolv.conf", "# no network\noptions attempts:1\n")
		       ? NULL
		       : "resolv.conf is the image's";
}

static void overlay(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct tree t;
	make_image(&t);
	struct rootfs r = prepared(&a, IMAGE_PATH, t.path);
	assert_int_equal(r.form, ROOTFS_OVERLAY);
	in_sandbox(&r, look_overlay);
	rootfs_close(&r);
	/* nothing was made in the image */
	assert_int_equal(unlink(tree_path(&t, "etc/motd")), 0);
	assert_int_equal(unlink(tree_path(&t, "etc/resolv.conf")), 0);
	assert_int_equal(rmdir(tree_path(&t, "etc")), 0);
	assert_int_equal(rmdir(t.path), 0);
}

static void bind_form(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct tree t;
	make_image(&t);
	tree_text(&t, "etc/hostname", 0644, "of the image\n");
	static const char *const dirs[] = {"proc", "sys", "dev", "tmp", "run", "scratch"};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		tree_dir(&t, dirs[i]);
	struct rootfs r = prepared(&a, IMAGE_PATH, t.path);
	assert_int_equal(r.form, ROOTFS_BIND);
	in_sandbox(&r, look_overlay);
	rootfs_close(&r);
	assert_true(reads(tree_path(&t, "etc/hostname"), "of the image\n"));
	assert_int_equal(access(tree_path(&t, "etc/passwd"), F_OK), -1);
	tree_remove(&t);
}

static const char *look_host(const struct rootfs *r, const struct rootfs_view *view, int result,
			     struct err *e)
{
	const char *wrong = look_common(r, view, result, e);
	if (wrong)
		return wrong;
	if (access("/usr/bin/env", X_OK) < 0)
		return "the host's /usr is not there";
	if (!fails_with(open("/usr/bin/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0644), EROFS))
		return "/usr is not read-only";
	static const char *const absent[] = {"/home",	    "/root", "/var",
					     "/etc/shadow", "/boot", "/etc/ssl/private",
					     "/mnt",	    "/opt"};
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (access(absent[i], F_OK) == 0)
			return absent[i];
	return reads("/proc/sys/user/max_inotify_instances", "0\n") ? NULL
								    : "inotify tells of the host";
}

static void host(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct rootfs r = prepared(&a, IMAGE_HOST, "@host");
	in_sandbox(&r, look_host);
}

static const char *look_failed(const struct rootfs *r, const struct rootfs_view *view, int result,
			       struct err *e)
{
	(void)r;
	if (result == 0 || e->kind == ERR_NONE)
		return "it was accepted";
	return view->proc == -1 && view->scratch == -1 ? NULL : "outputs were touched";
}

/* Swapped between the vetting and the start. */
static void another_directory(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct tree t;
	tree_make(&t);
	tree_dir(&t, "a");
	tree_dir(&t, "b");
	struct rootfs r = prepared(&a, IMAGE_PATH, tree_path(&t, "a"));
	assert_int_equal(rename(tree_path(&t, "a"), tree_path(&t, "c")), 0);
	assert_int_equal(rename(tree_path(&t, "b"), tree_path(&t, "a")), 0);
	in_sandbox(&r, look_failed);
	rootfs_close(&r);
	tree_remove(&t);
}

/* A target that became a link after it was looked at: the mount must not follow it. */
static void late_link(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct tree t;
	tree_make(&t);
	tree_dir(&t, "proc");
	tree_dir(&t, "canary");
	struct rootfs r = prepared(&a, IMAGE_PATH, t.path);
	assert_false(r.missing & 1u << TARGET_PROC);
	assert_int_equal(rmdir(tree_path(&t, "proc")), 0);
	tree_link(&t, "proc", "canary");
	in_sandbox(&r, look_failed);
	rootfs_close(&r);
	tree_remove(&t);
}

static const char *look_workdir(const struct rootfs *r, const struct rootfs_view *view, int result,
				struct err *e)
{
	(void)view;
	if (result < 0)
		return "rootfs_enter failed";
	static const struct {
		const char *path, *says;
	} rows[] = {
		{"/none", "not in the image"},
		{"/etc/hostname", "not a folder"},
		{"/proc/self/root", "leads through"},
		{"/proc/1/cwd", "leads through"},
		{"/proc/self/fd/0", ""},
		{"/proc/self/fd/3", ""},
	};
	struct rootfs other = *r;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		other.workdir = rows[i].path;
		if (rootfs_workdir(&other, e) == 0)
			return rows[i].path;
		if (!strstr(e->msg, rows[i].says) || e->kind != ERR_USAGE)
			return "a working directory was refused with the wrong words";
	}
	other.workdir = "/../../tmp/..";
	char path[64];
	if (rootfs_workdir(&other, e) < 0 || !getcwd(path, sizeof(path)) || strcmp(path, "/") != 0)
		return "/../../tmp/..";
	return NULL;
}

static void workdir(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct tree t;
	make_image(&t);
	struct rootfs r = prepared(&a, IMAGE_PATH, t.path);
	in_sandbox(&r, look_workdir);
	rootfs_close(&r);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlay),   cmocka_unit_test(bind_form),
		cmocka_unit_test(host),	     cmocka_unit_test(another_directory),
		cmocka_unit_test(late_link), cmocka_unit_test(workdir),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
