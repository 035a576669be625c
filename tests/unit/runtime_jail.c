/* What a jailed child can and cannot do; each attempt has a control that succeeds outside of the jail. */
#include "base/fd.h"
#include "runtime/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct attempt {
	int root; /* the caller's, which the child must not have */
	int value, value2;
};

static int folder(char path[32])
{
	snprintf(path, 32, "/tmp/pinfold-jail.XXXXXX");
	assert_non_null(mkdtemp(path));
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("open %s", path);
	return fd;
}

static int spins(int root, void *arg, struct err *e)
{
	(void)root;
	volatile int *value = &((struct attempt *)arg)->value;
	while (*value >= 0)
		*value ^= 1;
	return err_bug(e, "it came to an end");
}

static int in_jail(int (*run)(int, void *, struct err *), struct attempt *a, bool writable,
		   struct err *e)
{
	char path[32];
	int root = folder(path);
	if (root < 0)
		return -1;
	const struct jail j = {.root = root,
			       .writable = writable,
			       .run = run,
			       .arg = a,
			       .report = a,
			       .report_len = sizeof(*a)};
	a->root = root;
	const int rc = jail_run(&j, e);
	unlinkat(root, "file", 0);
	close(root);
	rmdir(path);
	return rc;
}

static int makes_a_file(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	int fd = openat(root, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(e, "file");
	a->value = fchmod(fd, 0640) == 0 ? 42 : 0;
	return 0;
}

static void its_time_is_limited(void **state)
{
	(void)state;
	char path[32];
	struct attempt a = {0};
	struct err e = ERR_INIT;
	const int root = folder(path);
	if (root < 0)
		return;
	struct jail j = {.root = root,
			 .run = makes_a_file,
			 .writable = true,
			 .arg = &a,
			 .cpu_seconds = 1};
	assert_int_equal(jail_run(&j, &e), 0);
	unlinkat(root, "file", 0);
	j.run = spins;
	assert_int_equal(jail_run(&j, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "more than 1 seconds of processor time"));
	close(root);
	rmdir(path);
}

static void it_works_in_its_folder(void **state)
{
	(void)state;
	struct attempt a = {0};
	struct err e = ERR_INIT;
	assert_int_equal(in_jail(makes_a_file, &a, true, &e), 0);
	assert_int_equal(a.value, 42);
	assert_int_equal(in_jail(makes_a_file, &a, false, &e), -1);
	assert_int_equal(e.sys, EROFS);
}

/* How many of these can be seen; each can from here. */
static const char *const outside[] = {"/etc/passwd", "/proc/self/status", "/usr",
				      "../../etc/passwd", "/dev/null"};
enum { OUTSIDE = sizeof(outside) / sizeof(*outside) };

static int sees(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	struct stat st;
	(void)e;
	a->value = 0;
	for (size_t i = 0; i < OUTSIDE; i++)
		a->value += fstatat(root, outside[i], &st, 0) == 0;
	a->value += fstat(a->root, &st) == 0 && a->root != root;
	return 0;
}

static void it_sees_nothing_else(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct attempt a = {.root = 0};
	int here = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (here < 0) {
		fail();
		return;
	}
	assert_int_equal(sees(here, &a, &e), 0);
	assert_true(a.value >= OUTSIDE - 1); /* control */
	close(here);
	assert_int_equal(in_jail(sees, &a, false, &e), 0);
	assert_int_equal(a.value, 0);
}

static int makes_a_socket(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? err_sys(e, "socket") : 0;
}

static int executes(int root, void *arg, struct err *e)
{
	char *argv[] = {NULL};
	(void)root;
	(void)arg;
	syscall(SYS_execveat, -1, "/nowhere", argv, argv, 0);
	return errno == ENOENT || errno == EBADF ? 0 : err_sys(e, "execveat");
}

static int mounts(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	(void)e;
	syscall(SYS_mount, "x", "/nowhere", "tmpfs", 0, NULL);
	return 0;
}

static int controls(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	(void)e;
	syscall(SYS_ioctl, 0, 0, 0);
	return 0;
}

static int unshares(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	(void)e;
	unshare(0);
	return 0;
}

static void a_forbidden_call_ends_it(void **state)
{
	(void)state;
	static int (*const calls[])(int, void *, struct err *) = {makes_a_socket, executes, mounts,
								  controls, unshares};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct err e = ERR_INIT;
		struct attempt a = {.value = 7};
		assert_int_equal(calls[i](-1, &a, &e), 0); /* control */
		assert_int_equal(in_jail(calls[i], &a, true, &e), -1);
		assert_non_null(strstr(e.msg, "filter"));
		assert_int_equal(a.value, 7); /* the report is untouched */
	}
}

static int forks(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	(void)root;
	(void)e;
	const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	a->value = pid > 0 ? 0 : errno;
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static int threads(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	pthread_t thread;
	(void)root;
	(void)e;
	a->value = pthread_create(&thread, NULL, nothing, NULL);
	if (a->value == 0)
		pthread_join(thread, NULL);
	return 0;
}

static void it_has_threads_and_no_processes(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct attempt a = {0};
	assert_int_equal(forks(-1, &a, &e), 0);
	assert_int_equal(a.value, 0); /* control */
	assert_int_equal(in_jail(forks, &a, true, &e), 0);
	assert_int_equal(a.value, EPERM);
	assert_int_equal(in_jail(threads, &a, true, &e), 0);
	assert_int_equal(a.value, 0);
}

static int makes_a_device(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	(void)e;
	a->value = mknodat(root, "null", S_IFCHR | 0666, 0x103) < 0 ? errno : 0;
	return 0;
}

static void it_makes_no_device(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct attempt a = {0};
	assert_int_equal(in_jail(makes_a_device, &a, true, &e), 0);
	assert_int_equal(a.value, EPERM);
}

static int crashes(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	(void)e;
	__builtin_trap();
}

static int gives_no_reason(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	(void)e;
	return -1;
}

static int fails(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	return err_usage(e, "no good");
}

/* ---- clients ---- */

static int fills(int root, void *arg, struct err *e)
{
	(void)arg;
	autoclose int fd = openat(root, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0400);
	return fd < 0 || access("/proc/self/status", R_OK) < 0 || fd_write_all(fd, "x", 1) < 0
		       ? err_sys(e, "fill")
		       : 0;
}

static int looks_around(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	char byte = 0;
	struct stat st;
	autoclose int fd = open("/file", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &byte, 1) != 1)
		return err_sys(e, "read what was filled in");
	autoclose int made = openat(root, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (made >= 0 || errno != EROFS)
		return err_bug(e, "it can write there");
	if (fstatat(root, "proc", &st, 0) == 0)
		return err_bug(e, "it sees the host");
	a->value = byte == 'x';
	return 0;
}

static void an_empty_root_has_what_was_filled_in(void **state)
{
	(void)state;
	struct attempt a = {0};
	struct err e = ERR_INIT;
	for (int kind = JAIL_READER; kind <= JAIL_CLIENT; kind++) {
		const struct jail j = {.kind = (enum jail_kind)kind,
				       .root = -1,
				       .fill = fills,
				       .run = looks_around,
				       .arg = &a,
				       .report = &a,
				       .report_len = sizeof(a)};
		a.value = 0;
		assert_int_equal(jail_run(&j, &e), 0);
		assert_int_equal(a.value, 1);
	}
	const struct jail j = {.root = -1, .fill = fails, .run = looks_around, .arg = &a};
	assert_int_equal(jail_run(&j, &e), -1);
	assert_string_equal(e.msg, "no good");
}

static int knows(int root, void *arg, struct err *e)
{
	(void)root;
	(void)e;
	((struct attempt *)arg)->value = (getenv("PINFOLD_KEPT") != NULL) +
					 2 * (getenv("PINFOLD_KEPT_NOT") != NULL) +
					 4 * (getenv("HOME") != NULL);
	return 0;
}

static void it_knows_the_environment_that_is_named(void **state)
{
	(void)state;
	static const char *const names[] = {"PINFOLD_KEPT", NULL};
	struct attempt a = {0};
	struct err e = ERR_INIT;
	assert_int_equal(setenv("PINFOLD_KEPT", "1", 1) | setenv("PINFOLD_KEPT_NOT", "1", 1) |
				 setenv("HOME", "/", 1),
			 0);
	assert_int_equal(knows(-1, &a, &e), 0);
	assert_int_equal(a.value, 7); /* control */
	struct jail j = {.root = -1, .run = knows, .arg = &a, .report = &a, .report_len = sizeof(a)};
	assert_int_equal(jail_run(&j, &e), 0);
	assert_int_equal(a.value, 0);
	j.environment = names;
	assert_int_equal(jail_run(&j, &e), 0);
	assert_int_equal(a.value, 1);
	assert_non_null(getenv("HOME")); /* the caller's is what it was */
}

/* How far into the file it can write, for places that double. */
static int writes_far(int root, void *arg, struct err *e)
{
	struct attempt *a = arg;
	char byte;
	(void)root;
	(void)e;
	if (read(a->root, &byte, 1) != 1) /* until it is limited further */
		return err_bug(e, "nobody says go");
	for (a->value = 1; a->value < 1 << 20; a->value *= 2)
		if (pwrite(a->value2, "x", 1, a->value - 1) != 1)
			break;
	return 0;
}

static void what_it_writes_is_limited(void **state)
{
	(void)state;
	int go[2];
	struct err e = ERR_INIT;
	const int file = memfd_create("file", MFD_CLOEXEC);
	assert_true(file >= 0);
	assert_int_equal(pipe(go), 0);
	signal(SIGXFSZ, SIG_IGN);
	struct attempt a = {.root = go[0], .value2 = file};
	const int fds[] = {go[0], file};
	struct jail j = {.kind = JAIL_CLIENT,
			 .root = -1,
			 .fds = fds,
			 .fds_len = 2,
			 .file_bytes = 4096,
			 .run = writes_far,
			 .arg = &a,
			 .report = &a,
			 .report_len = sizeof(a)};
	assert_int_equal(write(go[1], "gg", 2), 2);
	assert_int_equal(jail_run(&j, &e), 0);
	assert_int_equal(a.value, 8192); /* 4096 bytes there were, and not one more */
	assert_int_equal(ftruncate(file, 0), 0);
	autojail child = JAIL_CHILD_INIT;
	assert_int_equal(read(go[0], &(char){0}, 1), 1);
	assert_int_equal(jail_start(&child, &j, &e), 0);
	assert_int_equal(jail_limit(&child, &j, 64, 60, &e), 0);
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(jail_finish(&child, &j, &e), 0);
	assert_int_equal(a.value, 128);
	close(file);
	close(go[0]);
	close(go[1]);
}

static void one_that_waits_can_be_ended(void **state)
{
	(void)state;
	int go[2];
	struct err e = ERR_INIT;
	assert_int_equal(pipe(go), 0);
	struct attempt a = {.root = go[0]};
	const struct jail j = {.root = -1, .fds = go, .fds_len = 1, .run = writes_far, .arg = &a};
	struct jail_child child = JAIL_CHILD_INIT;
	assert_int_equal(jail_start(&child, &j, &e), 0);
	assert_true(child.pid > 0);
	jail_stop(&child);
	assert_int_equal(jail_finish(&child, &j, &e), -1);
	assert_non_null(strstr(e.msg, "signal 9 (KILL)"));
	assert_int_equal(jail_start(&child, &j, &e), 0);
	const pid_t pid = child.pid;
	jail_kill(&child);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(child.pid, 0);
	jail_kill(&child);
	close(go[0]);
	close(go[1]);
}

static void how_it_ends_is_told(void **state)
{
	(void)state;
	struct attempt a = {.value = 3};
	struct err e = ERR_INIT;
	assert_int_equal(in_jail(fails, &a, true, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.msg, "no good");
	e = (struct err)ERR_INIT;
	assert_int_equal(in_jail(gives_no_reason, &a, true, &e), -1);
	assert_int_equal(e.kind, ERR_BUG);
#ifndef __SANITIZE_ADDRESS__
	e = (struct err)ERR_INIT;
	assert_int_equal(in_jail(crashes, &a, true, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
#endif
	(void)crashes;
	assert_int_equal(a.value, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_works_in_its_folder),
		cmocka_unit_test(its_time_is_limited),
		cmocka_unit_test(it_sees_nothing_else),
		cmocka_unit_test(a_forbidden_call_ends_it),
		cmocka_unit_test(it_has_threads_and_no_processes),
		cmocka_unit_test(it_makes_no_device),
		cmocka_unit_test(an_empty_root_has_what_was_filled_in),
		cmocka_unit_test(it_knows_the_environment_that_is_named),
		cmocka_unit_test(what_it_writes_is_limited),
		cmocka_unit_test(one_that_waits_can_be_ended),
		cmocka_unit_test(how_it_ends_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
