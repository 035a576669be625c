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
	int value;
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

static int fails(int root, void *arg, struct err *e)
{
	(void)root;
	(void)arg;
	return err_usage(e, "no good");
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
		cmocka_unit_test(how_it_ends_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
