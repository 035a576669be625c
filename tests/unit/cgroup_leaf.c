/* Real leaves, in a cgroup of this test's own below the real cgroup2 mount. */
#include "base/fd.h"
#include "cgroup/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct limits none = {
	.memory_bytes = LIMIT_NONE,
	.cpus_milli = LIMIT_NONE,
	.pids = LIMIT_NONE,
	.cpu_time_ns = LIMIT_NONE,
	.read_bps = LIMIT_NONE,
	.write_bps = LIMIT_NONE,
	.read_iops = LIMIT_NONE,
	.write_iops = LIMIT_NONE,
};

struct own {
	struct hierarchy h;
	char name[48];	/* below the mount */
	char given[64]; /* as --cgroup-parent has it */
	int dir;
};

static int own_setup(void **state)
{
	char why[WHY_SIZE] = "";
	struct own *o = calloc(1, sizeof(*o));
	if (!o)
		return -1;
	*state = o;
	o->dir = -1;
	o->h = (struct hierarchy)HIERARCHY_INIT;
	snprintf(o->name, sizeof(o->name), "pinfold.unit-%d", getpid());
	snprintf(o->given, sizeof(o->given), "/%s", o->name);
	if (hierarchy_open(&o->h, why, sizeof(why)) == 0 && mkdirat(o->h.mount, o->name, 0755) == 0)
		o->dir = openat(o->h.mount, o->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o->dir < 0)
		print_message("# SKIP no cgroup2 that we may write to: %s\n",
			      *why ? why : strerror(errno));
	return 0;
}

static int own_teardown(void **state)
{
	struct own *o = *state;
	int failed = 0;
	if (o->dir >= 0) {
		close(o->dir);
		failed = unlinkat(o->h.mount, o->name,
				  AT_REMOVEDIR); /* fails if a test left something in it */
	}
	hierarchy_close(&o->h);
	free(o);
	return failed;
}

static struct own *own_or_skip(void **state)
{
	struct own *o = *state;
	if (o->dir < 0)
		skip();
	return o;
}

static int create(struct cgroup *cg, const struct own *o, const char *name, struct err *e)
{
	struct cgroup_place p = CGROUP_PLACE_INIT;
	assert_int_equal(cgroup_find(&p, o->given, 0, false, e), 0);
	int result = cgroup_create(cg, &p, name, &none, e);
	cgroup_place_close(&p);
	return result;
}

static struct cgroup created(const struct own *o, const char *name)
{
	struct cgroup cg = CGROUP_INIT;
	struct err e = ERR_INIT;
	if (create(&cg, o, name, &e) < 0)
		fail_msg("%s", e.msg);
	return cg;
}

/* As a SIGKILL would leave it. */
static void abandon(struct cgroup *cg)
{
	close(cg->dir);
	close(cg->parent);
	*cg = (struct cgroup)CGROUP_INIT;
}

static void destroyed(struct cgroup *cg)
{
	struct err e = ERR_INIT;
	if (cgroup_destroy(cg, &e) < 0)
		fail_msg("%s", e.msg);
}

static long children(int dir)
{
	struct statx st = {0};
	assert_int_equal(statx(dir, "", AT_EMPTY_PATH, STATX_NLINK, &st), 0);
	return (long)st.stx_nlink - 2;
}

/* A process in the leaf that waits for a signal; as pid 1 of a sandbox it holds none of our fds,
 * and so no lock. */
static pid_t enter(const struct cgroup *cg)
{
	struct clone_args args = {.flags = CLONE_INTO_CGROUP,
				  .exit_signal = SIGCHLD,
				  .cgroup = (uint64_t)cg->dir};
	char byte;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(0, ~0U, 0);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* it has closed its end, with all the others */
	close(ends[0]);
	return pid;
}

static void make_and_destroy(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup cg = created(o, "pinfold-a");
	char path[128];
	snprintf(path, sizeof(path), "/%s/pinfold-a", o->name);
	assert_int_equal(cg.source, CGROUP_GIVEN);
	assert_string_equal(cg.path, path);
	assert_true(cg.has_kill);
	assert_int_equal(children(o->dir), 1);
	assert_int_equal(cgroup_populated(&cg), 0);
	destroyed(&cg);
	assert_int_equal(cg.dir, -1);
	assert_int_equal(children(o->dir), 0);
	destroyed(&cg); /* nothing is there any more: nothing to do */
}

static void dry_changes_nothing(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup_place p = CGROUP_PLACE_INIT;
	struct err e = ERR_INIT;
	int error = 0;
	unsigned before = controllers_read(o->dir, "cgroup.subtree_control", &error);
	assert_int_equal(cgroup_find(&p, o->given, CG_MEMORY | CG_PIDS | CG_CPU | CG_IO, true, &e),
			 0);
	assert_int_equal(controllers_read(o->dir, "cgroup.subtree_control", &error), before);
	assert_int_equal(error, 0);
	assert_int_equal(children(o->dir), 0);
	for (unsigned i = 0; i < CONTROLLER_COUNT; i++) /* there, or the reason why not */
		assert_true(!(p.controllers & 1u << i) == (p.why_not[i][0] != '\0'));
	cgroup_place_close(&p);
}

static void kill_all(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup cg = created(o, "pinfold-a");
	pid_t pids[3];
	for (size_t i = 0; i < 3; i++)
		pids[i] = enter(&cg);
	struct pollfd p = {.fd = cgroup_populated_fd(&cg), .events = POLLPRI};
	assert_true(p.fd >= 0);
	assert_int_equal(cgroup_populated(&cg), 1);
	assert_int_equal(poll(&p, 1, 0), 0); /* nothing has changed yet */
	assert_int_equal(cgroup_kill(&cg), 0);
	assert_int_equal(poll(&p, 1, 5000), 1);
	for (size_t i = 0; i < 3; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	assert_int_equal(cgroup_populated(&cg), 0);
	close(p.fd);
	destroyed(&cg);
}

/* The kernel refuses while a process is dying; nobody waits for it but cgroup_destroy(). */
static void destroy_while_dying(void **state)
{
	struct own *o = own_or_skip(state);
	for (int i = 0; i < 20; i++) {
		struct cgroup cg = created(o, "pinfold-a");
		pid_t pid = enter(&cg);
		assert_int_equal(cgroup_kill(&cg), 0);
		destroyed(&cg);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	assert_int_equal(children(o->dir), 0);
}

static void destroy_while_alive(void **state)
{
	struct own *o = own_or_skip(state);
	struct err e = ERR_INIT;
	struct cgroup cg = created(o, "pinfold-a");
	pid_t pid = enter(&cg);
	assert_int_equal(cgroup_destroy(&cg, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_int_equal(e.sys, EBUSY);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	cg = created(o, "pinfold-a"); /* what is left is empty now, and replaced */
	destroyed(&cg);
}

static void destroy_with_children(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup cg = created(o, "pinfold-a");
	assert_int_equal(mkdirat(cg.dir, "x", 0755), 0);
	assert_int_equal(mkdirat(cg.dir, "x/y", 0755), 0);
	assert_int_equal(mkdirat(cg.dir, "z", 0755), 0);
	destroyed(&cg);
	assert_int_equal(children(o->dir), 0);
}

static void same_id_alive(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup other = CGROUP_INIT;
	struct err e = ERR_INIT;
	struct cgroup cg = created(o, "pinfold-a");
	assert_int_equal(create(&other, o, "pinfold-a", &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_int_equal(e.sys, EEXIST);
	assert_int_equal(other.dir, -1);
	assert_int_equal(cgroup_populated(&cg), 0); /* and the other's is as it was */
	destroyed(&cg);
}

static void same_id_killed(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup cg = created(o, "pinfold-a");
	abandon(&cg);
	cg = created(o, "pinfold-a");
	assert_int_equal(cgroup_populated(&cg), 0);
	destroyed(&cg);
}

/* Its supervisor is dead, its processes are not yet. */
static void same_id_dying(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup other = CGROUP_INIT;
	struct err e = ERR_INIT;
	struct cgroup cg = created(o, "pinfold-a");
	pid_t pid = enter(&cg);
	abandon(&cg);
	assert_int_equal(create(&other, o, "pinfold-a", &e), -1);
	assert_int_equal(e.sys, EEXIST);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	cg = created(o, "pinfold-a");
	destroyed(&cg);
}

static void next_run_takes_the_killed(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup killed = created(o, "pinfold-killed");
	struct cgroup alive = created(o, "pinfold-alive");
	struct cgroup cg = created(o, "pinfold-a");
	assert_int_equal(mkdirat(o->dir, "other", 0755), 0);
	abandon(&killed);
	assert_int_equal(children(o->dir), 4);
	destroyed(&cg);
	assert_int_equal(children(o->dir), 2);
	assert_int_equal(faccessat(o->dir, "pinfold-alive", F_OK, 0), 0);
	assert_int_equal(unlinkat(o->dir, "other", AT_REMOVEDIR), 0);
	destroyed(&alive);
}

static bool runs_b(const char *id, void *arg)
{
	(*(unsigned *)arg)++;
	return strcmp(id, "b") == 0;
}

static void gc(void **state)
{
	struct own *o = own_or_skip(state);
	struct err e = ERR_INIT;
	unsigned asked = 0, removed = 0;
	struct cgroup a = created(o, "pinfold-a"), b = created(o, "pinfold-b"),
		      c = created(o, "pinfold-c");
	struct cgroup d = created(o, "pinfold-d");
	pid_t pid = enter(&c);
	abandon(&a);
	abandon(&b);
	abandon(&c);
	assert_int_equal(cgroup_gc(o->given, runs_b, &asked, &removed, &e), 0);
	assert_true(removed >= 1); /* others may have left leaves elsewhere */
	assert_true(asked >= 4);
	assert_int_equal(faccessat(o->dir, "pinfold-a", F_OK, 0), -1); /* empty and nobody's: gone */
	assert_int_equal(faccessat(o->dir, "pinfold-b", F_OK, 0), 0);  /* is_running() says so */
	assert_int_equal(faccessat(o->dir, "pinfold-c", F_OK, 0), 0);  /* something lives in it */
	assert_int_equal(faccessat(o->dir, "pinfold-d", F_OK, 0), 0);  /* held */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	destroyed(&d);
	assert_int_equal(cgroup_gc(o->given, NULL, NULL, &removed, &e), 0);
	assert_int_equal(children(o->dir), 0);
}

/* Supervisors that start and end at once, each sweeping what it takes for left over. */
static void many_at_once(void **state)
{
	struct own *o = own_or_skip(state);
	pid_t pids[4];
	for (size_t i = 0; i < 4; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] > 0)
			continue;
		for (int n = 0; n < 50; n++) {
			struct cgroup cg = CGROUP_INIT;
			struct err e = ERR_INIT;
			char name[32];
			snprintf(name, sizeof(name), "pinfold-%d-%d", getpid(), n);
			if (create(&cg, o, name, &e) < 0)
				_exit(1);
			pid_t pid = enter(&cg); /* asserts: the leaf is still there */
			if (cgroup_kill(&cg) < 0 || waitpid(pid, NULL, 0) != pid ||
			    cgroup_destroy(&cg, &e) < 0)
				_exit(2);
		}
		_exit(0);
	}
	for (size_t i = 0; i < 4; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(children(o->dir), 0);
}

static void cpu_of_the_dead(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup cg = created(o, "pinfold-a");
	uint64_t before = 0, after = 0;
	pid_t pid = enter(&cg);
	assert_int_equal(cgroup_cpu_usec(&cg, &before), 0);
	assert_int_equal(cgroup_kill(&cg), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(cgroup_cpu_usec(&cg, &after), 0);
	assert_true(after >= before && after > 0);
	destroyed(&cg);
}

static void given_that_is_not_there(void **state)
{
	(void)own_or_skip(state);
	static const char *const bad[] = {"/pinfold.nowhere", "../../..", "/sys/fs", "/proc"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cgroup_place p = CGROUP_PLACE_INIT;
		struct err e = ERR_INIT;
		assert_int_equal(cgroup_find(&p, bad[i], 0, false, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_non_null(strstr(e.msg, bad[i]));
		assert_int_equal(p.parent, -1);
	}
}

static void io_without_its_controller(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup cg = CGROUP_INIT;
	struct cgroup_place p = CGROUP_PLACE_INIT;
	struct err e = ERR_INIT;
	struct limits lim = none;
	lim.read_bps = 1000000;
	assert_int_equal(cgroup_find(&p, o->given, 0, true, &e), 0);
	p.controllers &= ~(unsigned)CG_IO;
	assert_int_equal(cgroup_create(&cg, &p, "pinfold-a", &lim, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_non_null(strstr(e.msg, "io controller"));
	assert_int_equal(children(o->dir), 0); /* the half-made leaf is gone */
	cgroup_place_close(&p);
}

static void slice_goes_with_its_last_leaf(void **state)
{
	struct own *o = own_or_skip(state);
	struct cgroup_place p = CGROUP_PLACE_INIT;
	struct cgroup cg = CGROUP_INIT;
	struct err e = ERR_INIT;
	char name[32];
	if (geteuid() != 0 || o->h.systemd) {
		print_message("# SKIP only root without systemd has a slice\n");
		skip();
	}
	snprintf(name, sizeof(name), "pinfold-unit-%d", getpid());
	assert_int_equal(cgroup_find(&p, NULL, CG_MEMORY, false, &e), 0);
	if (!p.controllers) { /* then there is nothing for a slice to hand down */
		assert_int_equal(p.source, CGROUP_TOP);
		assert_int_equal(cgroup_create(&cg, &p, name, &none, &e), 0);
		cgroup_place_close(&p);
		assert_int_equal(faccessat(o->h.mount, name, F_OK, 0), 0);
		destroyed(&cg);
		assert_int_equal(faccessat(o->h.mount, name, F_OK, 0), -1);
		return;
	}
	assert_int_equal(p.source, CGROUP_SLICE);
	assert_int_equal(cgroup_create(&cg, &p, name, &none, &e), 0);
	cgroup_place_close(&p);
	char path[64];
	snprintf(path, sizeof(path), SLICE_NAME "/%s", name);
	assert_int_equal(faccessat(o->h.mount, path, F_OK, 0), 0);
	int slice = openat(o->h.mount, SLICE_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (slice < 0) {
		fail();
		return;
	}
	long others = children(slice) - 1;
	destroyed(&cg);
	assert_int_equal(faccessat(o->h.mount, path, F_OK, 0), -1);
	if (others == 0) /* else somebody else runs here right now */
		assert_int_equal(openat(slice, "cgroup.procs", O_RDONLY | O_CLOEXEC), -1);
	close(slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(make_and_destroy),
		cmocka_unit_test(dry_changes_nothing),
		cmocka_unit_test(kill_all),
		cmocka_unit_test(destroy_while_dying),
		cmocka_unit_test(destroy_while_alive),
		cmocka_unit_test(destroy_with_children),
		cmocka_unit_test(same_id_alive),
		cmocka_unit_test(same_id_killed),
		cmocka_unit_test(same_id_dying),
		cmocka_unit_test(next_run_takes_the_killed),
		cmocka_unit_test(gc),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(cpu_of_the_dead),
		cmocka_unit_test(given_that_is_not_there),
		cmocka_unit_test(io_without_its_controller),
		cmocka_unit_test(slice_goes_with_its_last_leaf),
	};
	return cmocka_run_group_tests_name("cgroup leaf", tests, own_setup, own_teardown);
}
