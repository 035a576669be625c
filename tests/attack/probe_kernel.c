/* Parts of the kernel that no program needs inside. */
#include "probe.h"

#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_alg.h>
#include <linux/reboot.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Newer than the C library's headers, the same number everywhere. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#endif

#define TEXT_(x)	 #x
#define TEXT(x)		 TEXT_(x)
#define CALL(name, args) TEXT(SYS_##name) " " args

/* A system call by its number and up to six numbers. Reached is whatever is past the permission: the
 * arguments are bad enough that nothing happens, and the kernel says so by another errno than these. */
static int call(const char *arg)
{
	long n[7] = {0};
	char *end;
	if (*arg < '0' || *arg > '9')
		return ENOSYS; /* this machine has no such call */
	for (int i = 0; i < 7 && *arg; i++, arg = end)
		n[i] = strtol(arg, &end, 0);
	setsid(); /* for vhangup */
	if (syscall(n[0], n[1], n[2], n[3], n[4], n[5], n[6]) >= 0)
		return 0;
	return errno == EPERM || errno == EACCES || errno == ENOSYS || errno == EOPNOTSUPP ||
			       errno == ENOSPC
		       ? errno
		       : 0;
}

/* ---- sockets ---- */

static int make_socket(const char *arg)
{
	int n[3] = {0};
	if (sscanf(arg, "%d %d %d", &n[0], &n[1], &n[2]) != 3)
		return EINVAL;
	return tried(socket(n[0], n[1], n[2]));
}

/* The kernel's socket(2) takes ints: high halves would pass a comparison of 64 bits. */
static int make_socket_high(const char *arg)
{
	int n[3] = {0};
	if (sscanf(arg, "%d %d %d", &n[0], &n[1], &n[2]) != 3)
		return EINVAL;
	return tried(syscall(SYS_socket, (unsigned)n[0] | 1UL << 32,
			     (unsigned)n[1] | 0xdeadUL << 32, (unsigned)n[2] | 1UL << 32));
}

static int make_pair(const char *arg)
{
	int fds[2];
	return tried(socketpair(atoi(arg), SOCK_STREAM, 0, fds));
}

static int out_of_band(const char *arg)
{
	int fds[2];
	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return errno;
	return tried(send(fds[0], "x", 1, MSG_OOB));
}

/* ---- attributes of its own that other walls are built on ---- */

static int keep_capabilities(const char *arg)
{
	(void)arg;
	return tried(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
}

static int persona(const char *arg)
{
	return tried(personality(strtoul(arg, NULL, 0)));
}

static int persona_high(const char *arg)
{
	return tried(syscall(SYS_personality, strtoul(arg, NULL, 0) | 1UL << 32));
}

static int another_filter(const char *arg)
{
	struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog prog = {1, &allow};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return errno;
	if (strcmp(arg, "prctl") == 0)
		return tried(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0));
	return tried(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, atoi(arg), &prog));
}

static int huge_memfd(const char *arg)
{
	(void)arg;
	return tried(memfd_create("probe", MFD_HUGETLB));
}

/* Pages of the host's pool, which no memory limit counts. Without a pool: ENOMEM, which has asked for them. */
static int huge_pages(const char *arg)
{
	(void)arg;
	void *p = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	return p != MAP_FAILED || errno == ENOMEM ? 0 : errno;
}

static int user_page_to_pipe(const char *arg)
{
	int fds[2];
	struct iovec v = {fds, sizeof(fds)};
	(void)arg;
	return pipe(fds) < 0 ? errno : tried(syscall(SYS_vmsplice, fds[1], &v, 1UL, 0U));
}

/* ---- programs must live with it: these have to be reached inside as well ---- */

static void *thread(void *arg)
{
	return arg;
}

static int make_thread(const char *arg)
{
	pthread_t t;
	void *back = NULL;
	int sys = pthread_create(&t, NULL, thread, (void *)(size_t)arg);
	if (sys == 0)
		sys = pthread_join(t, &back);
	return sys ? sys : back == arg ? 0 : EPROTO;
}

static int spawn(const char *arg)
{
	char verb[] = "do", name[] = "nothing";
	char *argv[] = {(char *)(size_t)arg, verb, name, NULL};
	pid_t pid;
	int status, sys = posix_spawn(&pid, at(arg), NULL, NULL, argv, NULL);
	if (sys)
		return sys;
	if (waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static const struct probe rows[] = {
	{"KI04.pthread", make_thread, "x", "a thread, where clone3 is ENOSYS"},
	{"KI04.spawn", spawn, "/bin/probe", "posix_spawn"},

	{"KI06.packet", make_socket, "17 3 768", "frames of the network"},
	{"KI06.raw", make_socket, "2 3 1", "raw IP"},
	{"KI06.vsock", make_socket, "40 1 0", "the hypervisor"},
	{"KI06.alg", make_socket, "38 5 0", "the kernel's cryptography"},
	{"KI06.xdp", make_socket, "44 3 0", "XDP"},
	{"KI06.netlink-netfilter", make_socket, "16 3 12", "netfilter"},
	{"KI06.netlink-xfrm", make_socket, "16 3 6", "IPsec"},
	{"KI06.netlink-audit", make_socket, "16 3 9", "audit"},
	{"KI06.netlink-generic", make_socket, "16 3 16", "generic netlink"},
	{"KI06.netlink-uevent", make_socket, "16 2 15", "device events"},
	{"KI06.ping", make_socket, "2 2 1", "ICMP"},
	{"KI06.packet-high", make_socket_high, "17 3 768", "frames, with high halves"},
	{"KI06.vsock-high", make_socket_high, "40 1 0", "the hypervisor, with high halves"},
	{"KI06.netlink-high", make_socket_high, "16 3 12", "netfilter, with high halves"},
	{"KI06.pair-inet", make_pair, "30", "a pair of another family (TIPC)"},
	{"KI06.oob", out_of_band, NULL, "out-of-band data on unix sockets"},

	{"KI07.setup", call, CALL(io_uring_setup, "1 -1"), "io_uring"},
	{"KI07.enter", call, CALL(io_uring_enter, "-1 1 1 0"), "io_uring"},
	{"KI07.register", call, CALL(io_uring_register, "-1 0 -1 1"), "io_uring"},

	{"KI08.bpf", call, CALL(bpf, "5 -1 0"), "kernel programs"},
	{"KI08.perf", call, CALL(perf_event_open, "-1 0 -1 -1 0"), "performance counters"},
	{"KI08.userfaultfd", call, CALL(userfaultfd, "1"), "page faults in user space"},
	{"KI08.seccomp", another_filter, "0", "another filter"},
	{"KI08.seccomp-listener", another_filter, "8", "a listener"},
	{"KI08.seccomp-prctl", another_filter, "prctl", "another filter by prctl"},
	{"KI08.landlock", call, CALL(landlock_create_ruleset, "0 0 1"), "landlock"},
	{"KI08.memfd-secret", call, CALL(memfd_secret, "0"), "secret memory"},
	{"KI08.fanotify", call, CALL(fanotify_init, "0x200 0"), "fanotify"},
	{"KI08.aio", call, CALL(io_setup, "1 -1"), "legacy AIO"},
	{"KI08.vmsplice", user_page_to_pipe, NULL, "user pages in a pipe"},
	{"KI08.huge-memfd", huge_memfd, NULL, "huge pages by memfd"},
	{"KI08.huge-mmap", huge_pages, NULL, "huge pages by mmap"},
	{"KI08.ldt", call, CALL(modify_ldt, "0 -1 8"), "segments"},
	{"KI08.lookup-handle", call, CALL(name_to_handle_at, "-100 -1 -1 -1 0"), "file handles"},
	{"KI08.statmount", call, CALL(statmount, "-1 -1 0 0"), "mounts"},
	{"KI08.cachestat", call, CALL(cachestat, "-1 -1 -1 0"), "what others have read"},
	{"KI08.mempolicy", call, CALL(set_mempolicy, "-1 0 0"), "placement of memory"},
	{"KI08.migrate", call, CALL(migrate_pages, "0 8 -1 -1"), "placement of memory"},

	{"KI09.reboot", call, CALL(reboot, "0 0 0 0"), "the machine"},
	{"KI09.kexec", call, CALL(kexec_load, "0 17 -1 0"), "another kernel"},
	{"KI09.kexec-file", call, CALL(kexec_file_load, "-1 -1 0 0 0"), "another kernel"},
	{"KI09.init-module", call, CALL(init_module, "-1 0 -1"), "a module"},
	{"KI09.finit-module", call, CALL(finit_module, "-1 -1 0"), "a module"},
	{"KI09.delete-module", call, CALL(delete_module, "-1 0"), "a module's removal"},
	{"KI09.swapon", call, CALL(swapon, "-1 0"), "swap"},
	{"KI09.swapoff", call, CALL(swapoff, "-1"), "swap"},
	{"KI09.acct", call, CALL(acct, "-1"), "accounting"},
	{"KI09.settimeofday", call, CALL(settimeofday, "-1 0"), "the clock"},
	{"KI09.clock-settime", call, CALL(clock_settime, "0 -1"), "the clock"},
	{"KI09.adjtimex", call, CALL(adjtimex, "-1"), "the clock's rate"},
	{"KI09.clock-adjtime", call, CALL(clock_adjtime, "0 -1"), "the clock's rate"},
	{"KI09.sethostname", call, CALL(sethostname, "-1 1"), "the host name"},
	{"KI09.setdomainname", call, CALL(setdomainname, "-1 1"), "the domain name"},
	{"KI09.iopl", call, CALL(iopl, "3"), "ports"},
	{"KI09.ioperm", call, CALL(ioperm, "128 1 1"), "one port"},
	{"KI09.syslog", call, CALL(syslog, "10 0 0"), "the kernel's log"},
	{"KI09.quotactl", call, CALL(quotactl, "0x800001 -1 0 0"), "quotas"},
	{"KI09.vhangup", call, CALL(vhangup, ""), "the terminal"},
	{"KI09.setpriority", call, CALL(setpriority, "0 0 1"), "its priority"},
	{"KI09.scheduler", call, CALL(sched_setscheduler, "0 3 -1"), "its scheduler"},
	{"KI09.ioprio", call, CALL(ioprio_set, "1 0 0x4000"), "its I/O priority"},

	{"KI10.keepcaps", keep_capabilities, NULL, "capabilities over setuid"},
	{"KI10.no-randomize", persona, "0x0040000", "fixed addresses"},
	{"KI10.exec-implied", persona, "0x0400000", "READ_IMPLIES_EXEC"},
	{"KI10.no-randomize-high", persona_high, "0x0040000", "fixed addresses, with a high half"},
};
const struct probe_group probes_kernel = {rows, sizeof(rows) / sizeof(*rows)};
