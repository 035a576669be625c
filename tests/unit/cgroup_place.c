/* Which part of a tree that systemd manages is ours to divide. A tree of folders stands for the cgroups; the
 * marks are what systemd 252 sets (system units that delegate) and does not set (a user's units). */
#include "cgroup_fake.h"

#include <errno.h>
#include <ftw.h>
#include <sys/xattr.h>

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int tree_teardown(void **state)
{
	struct fake *f = *state;
	int failed = nftw(f->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	close(f->cg.dir);
	free(f);
	return failed;
}

static int tree_setup(void **state)
{
	static const char *const folders[] = {
		"init.scope",
		"system.slice",
		"system.slice/plain.service",
		"system.slice/runner.service",
		"system.slice/runner.service/job",
		"user.slice",
		"user.slice/user-1.slice",
		"user.slice/user-1.slice/session-3.scope",
		"user.slice/user-1.slice/user@1.service",
		"user.slice/user-1.slice/user@1.service/init.scope",
		"user.slice/user-1.slice/user@1.service/app.slice",
		"user.slice/user-1.slice/user@1.service/app.slice/term.scope",
		"user.slice/user-1.slice/user@1.service/app.slice/run.scope",
		"user.slice/user-1.slice/user@1.service/app.slice/run.scope/me",
	};
	if (fake_setup(state) < 0)
		return -1;
	struct fake *f = *state;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdirat(f->cg.dir, folders[i], 0755) < 0)
			return -1;
	return 0;
}

/* false: this file system takes no such attribute. */
static bool mark(const struct fake *f, const char *below, const char *value)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", f->path, below);
	if (setxattr(path, "user.delegate", value, strlen(value), 0) == 0)
		return true;
	print_message("# SKIP user.delegate on %s: %s\n", f->path, strerror(errno));
	return false;
}

#define RUNNER "system.slice/runner.service"
#define USER   "user.slice/user-1.slice/user@1.service"

static const char *ours(const struct fake *f, const char *own)
{
	static char path[512];
	struct hierarchy h = HIERARCHY_INIT;
	h.mount = f->cg.dir;
	h.systemd = true;
	h.own_known = true;
	snprintf(h.own, sizeof(h.own), "%s", own);
	int len = place_delegated(&h);
	if (len < 0)
		return "none";
	snprintf(path, sizeof(path), "%.*s", len, own);
	return path;
}

static void nothing_is_marked(void **state)
{
	struct fake *f = *state;
	assert_string_equal(ours(f, "system.slice/plain.service"), "none");
	assert_string_equal(ours(f, RUNNER "/job"), "none");
	assert_string_equal(ours(f, "user.slice/user-1.slice/session-3.scope"), "none");
	assert_string_equal(ours(f, ""), "none");
}

static void a_delegated_service(void **state)
{
	struct fake *f = *state;
	if (!mark(f, RUNNER, "1"))
		skip();
	assert_string_equal(ours(f, RUNNER "/job"), RUNNER);
	assert_string_equal(ours(f, RUNNER), RUNNER);
	assert_string_equal(ours(f, "system.slice/plain.service"), "none");
	assert_true(mark(f, RUNNER, "0"));
	assert_string_equal(ours(f, RUNNER "/job"), "none");
}

/* user@1.service is delegated to the user's systemd, which has not handed it on to us. */
static void a_users_manager(void **state)
{
	struct fake *f = *state;
	if (!mark(f, USER, "1"))
		skip();
	assert_string_equal(ours(f, USER "/app.slice/term.scope"), "none");
	assert_string_equal(ours(f, USER "/app.slice/run.scope"), "none");
	assert_string_equal(ours(f, USER "/app.slice/run.scope/me"), USER "/app.slice/run.scope");
	assert_string_equal(ours(f, "user.slice/user-1.slice/session-3.scope"), "none");
}

int main(void)
{
#define TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		TREE(nothing_is_marked),
		TREE(a_delegated_service),
		TREE(a_users_manager),
	};
	return cmocka_run_group_tests_name("cgroup place", tests, NULL, NULL);
}
