/* The comparison of the mount table: a right one passes, each way of being wrong is refused. The
 * tables are written into a folder that stands in for proc. */
#include "tests/unit/rootfs_tree.h"

#include <sys/mount.h>

#define DEVICE(name) \
	"9 2 0:6 /" name " /dev/" name " ro,nosuid,noexec,relatime - devtmpfs devtmpfs rw\n"

static const char right[] =
	"1 0 0:46 / / ro,nosuid,nodev,relatime - overlay pinfold ro,lowerdir=/../root:.\n"
	"2 1 0:42 /dev /dev ro,nosuid,nodev,noexec,relatime - tmpfs pinfold rw\n" DEVICE(
		"null") DEVICE("zero") DEVICE("full") DEVICE("random") DEVICE("urandom")
		DEVICE("tty") "3 2 0:44 / /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw\n"
			      "4 2 0:43 /shm /dev/shm rw,nosuid,nodev,relatime - tmpfs scratch rw\n"
			      "5 1 0:45 / /proc ro,nosuid,nodev,noexec,relatime - proc proc rw\n"
			      "6 5 0:42 /empty /proc/keys ro,nosuid,nodev,noexec,relatime - tmpfs pinfold rw\n"
			      "7 1 0:42 /sys /sys ro,nosuid,nodev,noexec,relatime - tmpfs pinfold rw\n"
			      "8 1 0:43 /tmp /tmp rw,nosuid,nodev,relatime - tmpfs scratch rw\n"
			      "8 1 0:43 /run /run rw,nosuid,nodev,relatime - tmpfs scratch rw\n"
			      "8 1 0:43 /scratch /scratch rw,nosuid,nodev,relatime - tmpfs scratch rw\n";

static const char cgroup_line[] =
	"9 7 0:37 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup2 rw\n";

static int check(const char *table, const struct rootfs *r, bool outer, struct err *e)
{
	struct tree t;
	tree_make(&t);
	tree_dir(&t, "self");
	tree_text(&t, "self/mountinfo", 0644, table);
	int proc = open(t.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(proc >= 0);
	struct enter x = {.r = r, .tree = -1, .proc = proc, .scratch = -1, .proc_outer = outer};
	int result = rootfs_verify(&x, e);
	close(proc);
	tree_remove(&t);
	return result;
}

/* The right table with the first `from` in it replaced. */
static const char *changed(const char *from, const char *to)
{
	static char table[4096];
	const char *at = strstr(right, from);
	assert_non_null(at);
	snprintf(table, sizeof(table), "%.*s%s%s", (int)(at - right), right, to, at + strlen(from));
	return table;
}

static void accepts(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct rootfs r = {.form = ROOTFS_OVERLAY};
	if (check(right, &r, false, &e) < 0)
		fail_msg("%s", e.msg);
	char table[4096];
	snprintf(table, sizeof(table), "%s%s", right, cgroup_line);
	r.cgroup_mount = true;
	if (check(table, &r, false, &e) < 0)
		fail_msg("%s", e.msg);
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to, *says;
	} rows[] = {
		{"/ ro,nosuid,nodev,relatime - overlay", "/ rw,nosuid,nodev,relatime - overlay",
		 "without ro"},
		{"/ ro,nosuid,nodev,relatime - overlay", "/ ro,nodev,relatime - overlay",
		 "without nosuid"},
		{"/ ro,nosuid,nodev,relatime - overlay", "/ ro,nosuid,relatime - overlay",
		 "without nodev"},
		/* "nosuid" must not be found in "xnosuid", nor "ro" in "errors=remount-ro" */
		{"/ ro,nosuid,nodev,relatime - overlay", "/ ro,xnosuid,nodev - overlay",
		 "without nosuid"},
		{"/ ro,nosuid,nodev,relatime - overlay", "/ x=ro,nosuid,nodev - overlay",
		 "without ro"},
		{"/ ro,nosuid,nodev,relatime - overlay", "/ rox,nosuid,nodev - overlay", "without ro"},
		{"relatime - overlay", "relatime shared:3 - overlay", "not private"},
		{"relatime - devtmpfs", "relatime master:3 - devtmpfs", "not private"},
		{"/dev/null ro,nosuid,noexec", "/dev/null ro,nosuid", "without noexec"},
		{"/dev/pts rw,nosuid,noexec", "/dev/pts rw,noexec", "without nosuid"},
		{"/dev/pts rw", "/dev/pts ro", "read-only"},
		{"/proc ro,nosuid,nodev,noexec,relatime - proc",
		 "/proc ro,nosuid,nodev,noexec - tmpfs", "not a proc"},
		{"/proc ro", "/proc rw", "without ro"},
		{"/proc/keys ro", "/proc/keys rw", "without ro"},
		{"/proc/keys", "/proc/stat", "should not be there"},
		{"/scratch rw,nosuid,nodev", "/scratch rw,nosuid", "without nodev"},
		{"/scratch rw", "/scratch ro", "read-only"},
		{"/run /run ", "/run /scratch ", "twice"},
		{"/run /run ", "/run /etc ", "should not be there"},
		{"/dev/tty ro", "/dev/zero ro", "a device is missing"},
		{"/dev/tty ro", "/dev/mem ro", "should not be there"},
		{"8 1 0:43 /tmp /tmp rw,nosuid,nodev,relatime - tmpfs scratch rw\n", "",
		 "/tmp: expected a mount"},
		{"2 1 0:42 /dev /dev", "garbage", "cannot be read"},
	};
	const struct rootfs r = {.form = ROOTFS_OVERLAY};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = ERR_INIT;
		const char *to = rows[i].to;
		if (strcmp(to, "garbage") == 0)
			to = "garbage\n2 1 0:42 /dev /dev";
		if (check(changed(rows[i].from, to), &r, false, &e) == 0)
			fail_msg("accepted: %s -> %s", rows[i].from, rows[i].to);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("%s -> %s: \"%s\" does not say \"%s\"", rows[i].from, rows[i].to,
				 e.msg, rows[i].says);
	}
}

static void cgroup_as_asked(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct rootfs r = {.form = ROOTFS_OVERLAY, .cgroup_mount = true};
	assert_int_equal(check(right, &r, false, &e), -1);
	char table[4096];
	snprintf(table, sizeof(table), "%s%s", right, cgroup_line);
	r.cgroup_mount = false;
	assert_int_equal(check(table, &r, false, &e), -1);
}

/* What an image brings along is allowed in a bind, sealed, and nowhere else. */
static void mounts_of_the_image(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	char table[4096];
	struct rootfs r = {.form = ROOTFS_BIND};
	snprintf(table, sizeof(table), "%s8 1 0:9 / /data ro,nosuid,nodev - ext4 x rw\n", right);
	assert_int_equal(check(table, &r, false, &e), 0);
	r.form = ROOTFS_OVERLAY;
	assert_int_equal(check(table, &r, false, &e), -1);
	r.form = ROOTFS_BIND;
	snprintf(table, sizeof(table), "%s8 1 0:9 / /data rw,nosuid,nodev - ext4 x rw\n", right);
	assert_int_equal(check(table, &r, false, &e), -1);
}

static void outer_proc(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	char table[4096];
	const struct rootfs r = {.form = ROOTFS_OVERLAY, .proc = PROC_OUTER};
	snprintf(table, sizeof(table),
		 "%s9 5 0:6 /null /proc/cmdline ro,nosuid,nodev,noexec - devtmpfs x rw\n", right);
	assert_int_equal(check(table, &r, true, &e), 0);
	assert_int_equal(check(table, &r, false, &e), -1);
}

static void devices_checked(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const struct rootfs r = {.form = ROOTFS_OVERLAY};
	/* not on devtmpfs: the node itself is looked at, here this machine's */
	if (check(changed("- devtmpfs", "- tmpfs"), &r, false, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(dev_check(&devices[0], "/dev/null", &e), 0);
	assert_int_equal(dev_check(&devices[0], "/dev/zero", &e), -1);
	assert_non_null(strstr(e.msg, "/dev/null is not the character device 1:3"));
	assert_int_equal(dev_check(&devices[0], "/etc/passwd", &e), -1);
	assert_int_equal(dev_check(&devices[0], "/none", &e), -1);
}

/* What the image's own mount is kept from stays forbidden, on the root and on our overlay of its /etc alone. */
static void keeps_the_images_flags(void **state)
{
	(void)state;
	static const struct {
		unsigned long flags;
		const char *with, *lacks;
	} rows[] = {
		{MS_NOEXEC, "noexec,relatime", "without noexec"},
		{MS_NOATIME, "noatime", "without noatime"},
		{MS_NOATIME | MS_NODIRATIME, "noatime,nodiratime", "without noatime"},
		{MS_NOSYMFOLLOW, "relatime,nosymfollow", "without nosymfollow"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char line[128], table[4096];
		struct err e = ERR_INIT;
		struct rootfs r = {.form = ROOTFS_BIND, .mount_flags = rows[i].flags};
		assert_int_equal(check(right, &r, false, &e), -1);
		assert_non_null(strstr(e.msg, rows[i].lacks));
		snprintf(line, sizeof(line), "/ ro,nosuid,nodev,%s - overlay", rows[i].with);
		const char *root = changed("/ ro,nosuid,nodev,relatime - overlay", line);
		if (check(root, &r, false, &e) < 0)
			fail_msg("%s", e.msg);
		snprintf(table, sizeof(table), "%s9 1 0:9 / /etc ro,nosuid,nodev - overlay x ro\n",
			 root);
		assert_int_equal(check(table, &r, false, &e), -1);
		snprintf(table, sizeof(table),
			 "%s9 1 0:9 / /etc ro,nosuid,nodev,%s - overlay x ro\n", root, rows[i].with);
		if (check(table, &r, false, &e) < 0)
			fail_msg("%s", e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts),
		cmocka_unit_test(refuses),
		cmocka_unit_test(cgroup_as_asked),
		cmocka_unit_test(mounts_of_the_image),
		cmocka_unit_test(keeps_the_images_flags),
		cmocka_unit_test(outer_proc),
		cmocka_unit_test(devices_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
