/* System calls by numbers, from stdin: "NR A0 A1 A2 A3 A4 A5" a line (hexadecimal arguments), one
 * line back: "ok", the errno's number, "signal N", "exit" (the call did not come back), or
 * "blocks".
 *
 * Each call is made in a process of its own by an instruction of our own: a vfork() that comes back
 * twice finds nothing on the stack to destroy. What a call does besides (a child, a timer, a
 * session) ends with that process.
 */
#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS = 6, BLOCK_SECONDS = 1 };

struct report {
	volatile long done, rc;
};

#if defined(__x86_64__)
static inline __attribute__((always_inline)) long raw(long nr, const unsigned long *a)
{
	long rc;
	__asm__ volatile("movq 24(%[a]), %%r10\n\t"
			 "movq 32(%[a]), %%r8\n\t"
			 "movq 40(%[a]), %%r9\n\t"
			 "syscall"
			 : "=a"(rc)
			 : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), [a] "r"(a)
			 : "rcx", "r8", "r9", "r10", "r11", "memory");
	return rc;
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) long raw(long nr, const unsigned long *a)
{
	long rc;
	__asm__ volatile("ldp x0, x1, [%1]\n\t"
			 "ldp x2, x3, [%1, #16]\n\t"
			 "ldp x4, x5, [%1, #32]\n\t"
			 "mov x8, %2\n\t"
			 "svc 0\n\t"
			 "mov %0, x0"
			 : "=r"(rc)
			 : "r"(a), "r"(nr)
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x8", "memory");
	return rc;
}
#endif

static _Noreturn void call_once(struct report *r, long nr, const unsigned long *a)
{
	static const unsigned long none[ARGS];
	const pid_t self = getpid();
	long rc = raw(nr, a);
	/* fork, vfork, clone: the child just goes. */
	if (rc == 0 && raw(SYS_getpid, none) != self)
		raw(SYS_exit_group, none);
	r->rc = rc;
	r->done = 1;
	raw(SYS_exit_group, none);
	__builtin_unreachable();
}

static void report_end(const struct report *r, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		puts("blocks");
	else if (WIFSIGNALED(status))
		printf("signal %d\n", WTERMSIG(status));
	else if (!r->done)
		puts("exit");
	else if (r->rc < 0 && r->rc > -4096)
		printf("%ld\n", -r->rc);
	else
		puts("ok");
}

struct job {
	struct report *report;
	long nr;
	const unsigned long *args;
};

/* Signals that a call may send (clone's exit signal) must not end it; the alarm and faults do. */
static int child(void *arg)
{
	const struct job *job = arg;
	const struct itimerval limit = {.it_value = {.tv_sec = BLOCK_SECONDS}};
	sigset_t mask;
	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	setpgid(0, 0);
	setitimer(ITIMER_REAL, &limit, NULL);
	call_once(job->report, job->nr, job->args);
}

/* Sharing the memory is what makes ten thousand of them affordable. */
static void one(struct report *r, long nr, const unsigned long *a)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct job job = {r, nr, a};
	int status = 0;
	r->done = 0;
	pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &job);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0)
		kill(-pid, SIGKILL);
	report_end(r, status);
}

int verb_sweep(int argc, char **argv)
{
	char line[512];
	(void)argc;
	(void)argv;
	struct report r;
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long a[ARGS] = {0};
		char *end;
		long nr = strtol(line, &end, 10);
		for (int i = 0; i < ARGS; i++)
			a[i] = strtoul(end, &end, 16);
		one(&r, nr, a);
	}
	return fflush(stdout) != 0;
}

static void print_run(unsigned long first, unsigned long last, int sys)
{
	printf("%lx %lx %d\n", first, last, sys);
}

static int open_kind(const char *kind)
{
	int fds[2];
	if (strcmp(kind, "null") == 0)
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	if (strcmp(kind, "pipe") == 0)
		return pipe(fds) < 0 ? -1 : fds[0];
	if (strcmp(kind, "socket") == 0)
		return socket(AF_INET, SOCK_DGRAM, 0);
	if (strcmp(kind, "file") == 0)
		return open("/scratch/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (strcmp(kind, "folder") == 0)
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (strcmp(kind, "pty") == 0)
		return open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (strcmp(kind, "epoll") == 0)
		return epoll_create1(EPOLL_CLOEXEC);
	return open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
}

/* sweep-range KIND (FIRST LAST)...: ioctl numbers (hexadecimal) on a descriptor of that kind with a
 * bad pointer, in this process; runs of equal errnos, 0 for success. */
int verb_sweep_range(int argc, char **argv)
{
	int fd = open_kind(argc > 1 ? argv[1] : "");
	if (fd < 0)
		return errno;
	for (int i = 2; i + 1 < argc; i += 2) {
		unsigned long first = strtoul(argv[i], NULL, 16), n = first;
		const unsigned long last = strtoul(argv[i + 1], NULL, 16);
		int before = ioctl(fd, n, BAD) < 0 ? errno : 0;
		while (++n <= last) {
			int sys = ioctl(fd, n, BAD) < 0 ? errno : 0;
			if (sys == before)
				continue;
			print_run(first, n - 1, before);
			first = n;
			before = sys;
		}
		print_run(first, last, before);
	}
	return 0;
}
