/* Loading a filter into a child, and counting what it is denied, with this kernel. */
#include "seccomp_bpf.h"

#include "base/fd.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child under the default filter that hands out its listener and then runs body, whose return
 * value is its exit code. */
struct child {
	pid_t pid;
	struct notify n;
};

static int load(int sock)
{
	struct filter_options o = {.arch = 0};
	struct filter f;
	struct err e = ERR_INIT;
	char byte = 0;
	int listener = -1;
	if (filter_build(&f, &o, NULL, NULL, &e) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    filter_load(&f, &listener, &e) < 0 || listener < 0)
		return -1;
	if (!(fcntl(listener, F_GETFD) & FD_CLOEXEC) || fd_send(sock, &byte, 1, &listener, 1) < 0)
		return -1;
	close(listener);
	return 0;
}

static struct child start(int (*body)(void))
{
	struct child c = {.n = NOTIFY_INIT};
	struct err e = ERR_INIT;
	int pair[2], listener;
	size_t nfds = 1;
	char byte;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0)
		_exit(load(pair[1]) < 0 ? 99 : body());
	close(pair[1]);
	assert_int_equal(fd_recv(pair[0], &byte, 1, &listener, &nfds), 1);
	assert_int_equal(nfds, 1);
	close(pair[0]);
	assert_int_equal(notify_open(&c.n, listener, &e), 0);
	assert_int_equal(c.n.listener, listener);
	return c;
}

/* Handle notifications until the child is gone or one of them wants the end. Returns the most of
 * what notify_handle() returned. */
static int serve(struct child *c, uint32_t *arch, int32_t *nr)
{
	struct err e = ERR_INIT;
	int most = 0;
	while (c->n.listener >= 0) {
		struct pollfd p = {.fd = c->n.listener, .events = POLLIN};
		assert_int_equal(poll(&p, 1, 20000), 1);
		if (!(p.revents & POLLIN))
			break;
		int got = notify_handle(&c->n, arch, nr, &e);
		if (got < 0)
			fail_msg("%s", e.msg);
		if (got > most)
			most = got;
		if (got == 1)
			return 1;
	}
	return most;
}

static int end(struct child *c)
{
	int status;
	notify_close(&c->n);
	assert_int_equal(c->n.listener, -1);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	return status;
}

static bool fails_with(long got, int sys)
{
	return got == -1 && errno == sys;
}

/* ---- counting ---- */

static int body_mixed(void)
{
	if (!fails_with(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0), EPERM))
		return 1;
	for (int i = 0; i < 3; i++) {
		if (!fails_with(syscall(SYS_unshare, 0), EPERM))
			return 2;
	}
	if (!fails_with(syscall(SYS_clone3, NULL, 0), ENOSYS)) /* not counted */
		return 3;
	if (!fails_with(socket(AF_VSOCK, SOCK_STREAM, 0), EAFNOSUPPORT)) /* nor this */
		return 4;
	if (!fails_with(syscall(5000), ENOSYS) || !fails_with(syscall(-1), ENOSYS))
		return 5;
	return getppid() > 0 ? 0 : 6;
}

static void test_counting(void **state)
{
	(void)state;
	uint32_t arch = 0;
	int32_t nr = 0;
	struct result r;
	struct child c = start(body_mixed);
	assert_int_equal(serve(&c, &arch, &nr), 2);
	int status = end(&c);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	result_init(&r);
	notify_report(&c.n, &r);
	assert_int_equal(r.denied_len, 2);
	assert_string_equal(r.denied[0].name, "unshare");
	assert_int_equal(r.denied[0].count, 3);
	assert_string_equal(r.denied[1].name, "ptrace");
	assert_int_equal(r.denied[1].count, 1);
	assert_int_equal(r.denied_more, 0);
	assert_true(r.denied_complete);
}

static int body_flood(void)
{
	int eperm = 0;
	for (int i = 0; i < NOTIFY_BUDGET; i++)
		eperm += fails_with(syscall(SYS_unshare, 0), EPERM);
	if (eperm != NOTIFY_BUDGET)
		return 1;
	/* Still denied, and by the kernel alone. */
	for (int i = 0; i < 1000; i++) {
		if (!fails_with(syscall(SYS_unshare, 0), ENOSYS))
			return 2;
	}
	return 0;
}

static void test_budget(void **state)
{
	(void)state;
	uint32_t arch;
	int32_t nr;
	struct result r;
	struct child c = start(body_flood);
	serve(&c, &arch, &nr);
	assert_int_equal(c.n.listener, -1);
	assert_int_equal(c.n.seen, NOTIFY_BUDGET);
	int status = end(&c);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	result_init(&r);
	notify_report(&c.n, &r);
	assert_int_equal(r.denied[0].count, NOTIFY_BUDGET);
	assert_false(r.denied_complete);
}

/* The caller dies with its call unanswered; nobody waits for the next one. */
static int body_one(void)
{
	return (int)syscall(SYS_unshare, 0);
}

static void test_vanished(void **state)
{
	(void)state;
	uint32_t arch;
	int32_t nr;
	int status;
	struct err e = ERR_INIT;
	struct child c = start(body_one);
	struct pollfd p = {.fd = c.n.listener, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_true(p.revents & POLLIN);
	kill(c.pid, SIGKILL);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_int_equal(notify_handle(&c.n, &arch, &nr, &e), 0);
	assert_int_equal(c.n.seen, 0);
	notify_close(&c.n);
}

static void test_not_a_listener(void **state)
{
	(void)state;
	uint32_t arch;
	int32_t nr;
	int pair[2];
	struct notify n = NOTIFY_INIT;
	struct err e = ERR_INIT;
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(write(pair[1], "x", 1), 1);
	assert_int_equal(notify_open(&n, pair[0], &e), 0);
	assert_int_equal(notify_handle(&n, &arch, &nr, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	notify_close(&n);
	assert_int_equal(fcntl(pair[0], F_GETFD), -1);
	close(pair[1]);
}

/* ---- other ABIs ---- */

#if defined(__x86_64__)
static int body_i386(void)
{
	long got;
	signal(SIGSEGV, SIG_DFL); /* cmocka's would run the other tests in the child */
	/* getpid of i386 */
	__asm__ volatile("int $0x80" : "=a"(got) : "a"(20L) : "r8", "r9", "r10", "r11", "memory");
	return got == -EPERM ? 7 : 0;
}

/* Some kernels are built or started without it: the instruction faults then. */
static bool has_i386(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(body_i386());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status);
}

static int body_x32(void)
{
	return fails_with(syscall(X32_BIT | 39), EPERM) ? 7 : 0;
}

static void foreign(int (*body)(void), uint32_t want_arch, int32_t want_nr, const char *name)
{
	uint32_t arch = 0;
	int32_t nr = 0;
	struct result r;
	struct child c = start(body);
	assert_int_equal(serve(&c, &arch, &nr), 1);
	assert_int_equal(arch, want_arch);
	assert_int_equal(nr, want_nr);
	/* Unanswered: it waits there, until it is killed. */
	int status;
	assert_int_equal(waitpid(c.pid, &status, WNOHANG), 0);
	kill(c.pid, SIGKILL);
	status = end(&c);
	assert_true(WIFSIGNALED(status));
	result_init(&r);
	notify_report(&c.n, &r);
	assert_int_equal(r.denied_len, 1);
	assert_string_equal(r.denied[0].name, name);
}

static void test_i386(void **state)
{
	(void)state;
	if (has_i386()) {
		foreign(body_i386, AUDIT_ARCH_I386, 20, "i386:getpid");
		return;
	}
	struct child c = start(body_i386);
	int status = end(&c);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void test_x32(void **state)
{
	(void)state;
	foreign(body_x32, AUDIT_ARCH_X86_64, X32_BIT | 39, "x32:getpid");
}
#endif

/* ---- no second listener ---- */

static int nested(void)
{
	struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct filter outer = {.insns = allow, .len = 1, .notify = true};
	struct filter_options o = {.arch = 0};
	struct filter f;
	struct err e = ERR_INIT;
	int first = -1, second = 7;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || filter_load(&outer, &first, &e) < 0 ||
	    first < 0)
		return 1;
	if (filter_build(&f, &o, NULL, NULL, &e) < 0 || filter_load(&f, &second, &e) < 0)
		return 2;
	if (second != -1)
		return 3;
	if (!fails_with(syscall(SYS_unshare, 0), EPERM))
		return 4;
	return 0;
}

static void test_nested(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(nested());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- pid 1 ---- */

static int init_does(int (*what)(void))
{
	struct err e = ERR_INIT;
	int listener = 7, status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    filter_load(&filter_init, &listener, &e) < 0)
			_exit(99);
		/* not through libc: a sanitizer's _exit() does more */
		syscall(SYS_exit_group, listener == -1 ? what() : 98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int do_allowed(void)
{
	return syscall(SYS_getpid) > 0 && fails_with(syscall(SYS_write, -1, "", 1), EBADF) ? 5 : 6;
}

static int do_open(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
}

static void test_init(void **state)
{
	(void)state;
	int status = init_does(do_allowed);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
	status = init_does(do_open);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* ---- what does not load ---- */

static int load_broken(void)
{
	struct sock_filter broken[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 1)};
	struct filter f = {.insns = broken, .len = 1, .notify = true};
	struct err e = ERR_INIT;
	int listener = 7;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return filter_load(&f, &listener, &e) == -1 && e.sys == EINVAL && listener == 7 ? 5 : 6;
}

static void test_broken(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(load_broken());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
}

/* ---- names ---- */

static void test_names(void **state)
{
	(void)state;
	static const struct {
		uint32_t arch;
		int32_t nr;
		const char *name;
	} rows[] = {
		{AUDIT_ARCH_X86_64, 257, "openat"},    {AUDIT_ARCH_AARCH64, 56, "openat"},
		{AUDIT_ARCH_I386, 102, "socketcall"},  {AUDIT_ARCH_X86_64, X32_BIT | 257, "openat"},
		{AUDIT_ARCH_X86_64, 462, "mseal"},     {AUDIT_ARCH_X86_64, 1000, "syscall_1000"},
		{AUDIT_ARCH_X86_64, -1, "syscall_-1"}, {AUDIT_ARCH_AARCH64, 336, "syscall_336"},
		{0x12345678, 1, "syscall_1"},
	};
	char name[32], small[5];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		syscall_name(rows[i].arch, rows[i].nr, name, sizeof(name));
		assert_string_equal(name, rows[i].name);
	}
	syscall_name(AUDIT_ARCH_X86_64, 257, small, sizeof(small));
	assert_string_equal(small, "open");
	assert_string_equal(arch_name(AUDIT_ARCH_I386), "i386");
	assert_string_equal(arch_name(0), "unknown");
	assert_string_equal(abi_name(AUDIT_ARCH_X86_64, X32_BIT | 1), "x32");
	assert_string_equal(abi_name(AUDIT_ARCH_X86_64, 1), "x86_64");
	assert_string_equal(abi_name(AUDIT_ARCH_X86_64, -1), "x86_64");
	assert_string_equal(abi_name(AUDIT_ARCH_I386, 1), "i386");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counting), cmocka_unit_test(test_budget),
		cmocka_unit_test(test_vanished), cmocka_unit_test(test_not_a_listener),
#if defined(__x86_64__)
		cmocka_unit_test(test_i386),	 cmocka_unit_test(test_x32),
#endif
		cmocka_unit_test(test_nested),	 cmocka_unit_test(test_init),
		cmocka_unit_test(test_broken),	 cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
