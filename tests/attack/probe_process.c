/* Processes: pid 1 and the host's are out of reach, privileges and namespaces are final. */
#include "probe.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* Who is attacked: pid 1 inside, in a weak run a process that the host's half started. */
static pid_t target(void)
{
	return *base ? atoi(given("TARGET")) : 1;
}

static const char *target_path(const char *name)
{
	static char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", target(), name);
	return path;
}

/* ---- PR01: the host's processes. CANARY_PID is one of the same user. ---- */

static int signal_canary(const char *arg)
{
	(void)arg;
	return tried(kill(atoi(given("CANARY_PID")), 0));
}

static int pidfd_canary(const char *arg)
{
	(void)arg;
	return tried(syscall(SYS_pidfd_open, atoi(given("CANARY_PID")), 0));
}

/* ---- PR12: pid 1 ---- */

static int read_of_target(const char *arg)
{
	return try_read(target_path(arg));
}

/* The page at 0 is not there; permission is asked for before. */
static int peek(const char *arg)
{
	return try_open(target_path(arg), O_RDONLY);
}

static int open_target(const char *arg)
{
	return try_open(target_path(arg), O_PATH);
}

static int write_target(const char *arg)
{
	return try_open(target_path(arg), O_WRONLY);
}

static int link_of_target(const char *arg)
{
	char to[4096];
	return tried(readlink(target_path(arg), to, sizeof(to)));
}

static int list_target(const char *arg)
{
	return try_open(target_path(arg), O_RDONLY | O_DIRECTORY);
}

/* The address is bad in both: permission is checked first, EFAULT is an answer of the other side. */
static int past_permission(long rc)
{
	return rc >= 0 || errno == EFAULT || errno == EIO ? 0 : errno;
}

static int read_memory(const char *arg)
{
	char buf[8];
	struct iovec to = {buf, sizeof(buf)}, from = {BAD, sizeof(buf)};
	(void)arg;
	return past_permission(process_vm_readv(target(), &to, 1, &from, 1, 0));
}

static int write_memory(const char *arg)
{
	char buf[8] = "";
	struct iovec from = {buf, sizeof(buf)}, to = {BAD, sizeof(buf)};
	(void)arg;
	return past_permission(process_vm_writev(target(), &from, 1, &to, 1, 0));
}

static int trace(const char *arg)
{
	(void)arg;
	return tried(ptrace(PTRACE_SEIZE, target(), NULL, NULL));
}

static int take_fd(const char *arg)
{
	(void)arg;
	int pidfd = (int)syscall(SYS_pidfd_open, target(), 0);
	return pidfd < 0 ? errno : tried(syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}

static int compare(const char *arg)
{
	(void)arg;
	return tried(syscall(SYS_kcmp, target(), getpid(), 0, 0, 0));
}

static int advise(const char *arg)
{
	struct iovec range = {(void *)0x10000, 4096};
	(void)arg;
	int pidfd = (int)syscall(SYS_pidfd_open, target(), 0);
	if (pidfd < 0)
		return errno;
	long rc = syscall(SYS_process_madvise, pidfd, &range, 1UL, MADV_COLD, 0U);
	return rc < 0 && (errno == EINVAL || errno == ENOMEM) ? 0 : past_permission(rc);
}

static int locate_pages(const char *arg)
{
	void *page = BAD;
	int where;
	(void)arg;
	return past_permission(syscall(SYS_move_pages, target(), 1UL, &page, NULL, &where, 0));
}

static int limits_of_target(const char *arg)
{
	struct rlimit was;
	(void)arg;
	return tried(prlimit(target(), RLIMIT_NOFILE, NULL, &was));
}

/* ---- PR14, PR16: no way up, no way out ---- */

static int raise_capability(const char *arg)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	(void)arg;
	data[0].effective = data[0].permitted = data[0].inheritable = 1u << CAP_CHOWN;
	return tried(syscall(SYS_capset, &head, data));
}

static int become(const char *arg)
{
	return tried(setresuid((uid_t)atoi(arg), (uid_t)-1, (uid_t)-1));
}

static int become_group(const char *arg)
{
	return tried(setresgid((gid_t)atoi(arg), (gid_t)-1, (gid_t)-1));
}

static int join_group(const char *arg)
{
	gid_t g = (gid_t)atoi(arg);
	return tried(syscall(SYS_setgroups, 1, &g));
}

static int set_securebits(const char *arg)
{
	(void)arg;
	return tried(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
}

static unsigned long flag(const char *arg)
{
	return strtoul(arg, NULL, 16);
}

static int leave(const char *arg)
{
	return tried(unshare((int)flag(arg)));
}

static int cloned(long rc)
{
	if (rc == 0)
		_exit(0);
	return tried(rc);
}

static int clone_into(const char *arg)
{
	return cloned(syscall(SYS_clone, flag(arg) | SIGCHLD, NULL, NULL, NULL, 0));
}

static int clone3_into(const char *arg)
{
	struct clone_args args = {.flags = flag(arg), .exit_signal = SIGCHLD};
	return cloned(syscall(SYS_clone3, &args, sizeof(args)));
}

static int enter(const char *arg)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/ns/%s", arg);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : tried(setns(fd, 0));
}

static int enter_by_pidfd(const char *arg)
{
	(void)arg;
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return fd < 0 ? errno : tried(setns(fd, CLONE_NEWNET));
}

/* ---- PR18 ---- */

enum {
	KEYCTL_JOIN_SESSION_KEYRING_ = 1,
	KEYCTL_UNLINK_ = 9,
	KEYCTL_SEARCH_ = 10,
	KEYCTL_READ_ = 11,
	SESSION_ = -3,
	USER_ = -4,
};

static int add_key(const char *arg)
{
	(void)arg;
	/* the process's own keyring: gone with it */
	return tried(syscall(SYS_add_key, "user", "pinfold-probe", "x", 1, -2));
}

static int key_control(const char *arg)
{
	return tried(syscall(SYS_keyctl, atoi(arg),
			     atoi(arg) == KEYCTL_JOIN_SESSION_KEYRING_ ? NULL
								       : (void *)(intptr_t)SESSION_,
			     1));
}

/* In the user's own keyring, which outlives every session and run. */
static int mark_user(const char *arg)
{
	return tried(syscall(SYS_add_key, "user", arg, "x", 1L, (long)USER_));
}

static int marked_user(const char *arg)
{
	return tried(syscall(SYS_keyctl, KEYCTL_SEARCH_, (long)USER_, "user", arg, 0L));
}

static int unmark_user(const char *arg)
{
	const long key = syscall(SYS_keyctl, KEYCTL_SEARCH_, (long)USER_, "user", arg, 0L);
	return key < 0 ? errno : tried(syscall(SYS_keyctl, KEYCTL_UNLINK_, key, (long)USER_));
}

static int request_key(const char *arg)
{
	(void)arg;
	long rc = syscall(SYS_request_key, "user", "pinfold-no-such-key", NULL, 0);
	return rc >= 0 || errno == ENOKEY ? 0 : errno;
}

/* A key of the caller's session, which the host's half put there. Possession hangs on the session, not on the user. */
static int callers_key(const char *arg)
{
	char value[64];
	long key = syscall(SYS_keyctl, KEYCTL_SEARCH_, (long)SESSION_, "user", arg, 0L);
	return key < 0 ? errno
		       : tried(syscall(SYS_keyctl, KEYCTL_READ_, key, value, sizeof(value), 0L));
}

static const struct probe rows[] = {
	{"PR01.kill", signal_canary, NULL, "a signal to a process of the host"},
	{"PR01.pidfd", pidfd_canary, NULL, "a pidfd of it"},

	{"PR12.mem", peek, "mem", "memory"},
	{"PR12.mem-write", write_target, "mem", "memory, to write"},
	{"PR12.environ", read_of_target, "environ", "environment"},
	{"PR12.maps", read_of_target, "maps", "addresses"},
	{"PR12.auxv", read_of_target, "auxv", "addresses"},
	{"PR12.stack", read_of_target, "stack", "kernel stack"},
	{"PR12.syscall", read_of_target, "syscall", "where it waits"},
	{"PR12.pagemap", peek, "pagemap", "page flags"},
	{"PR12.io", read_of_target, "io", "its I/O"},
	{"PR12.fd", list_target, "fd", "its descriptors"},
	{"PR12.map-files", list_target, "map_files", "its mappings"},
	{"PR12.root", open_target, "root", "its root"},
	{"PR12.cwd", open_target, "cwd", "its working directory"},
	{"PR12.exe", open_target, "exe", "its program"},
	{"PR12.exe-link", link_of_target, "exe", "its program's path"},
	{"PR12.ns", link_of_target, "ns/mnt", "its namespaces"},
	{"PR12.attr", write_target, "attr/current", "its label"},
	{"PR12.oom", write_target, "oom_score_adj", "its OOM score"},
	{"PR12.clear-refs", write_target, "clear_refs", "its page flags"},
	{"PR12.timerslack", write_target, "timerslack_ns", "its timers"},
	{"PR12.uid-map", write_target, "uid_map", "its id map"},
	{"PR12.setgroups", write_target, "setgroups", "its groups"},
	{"PR12.vm-read", read_memory, NULL, "memory by process_vm_readv"},
	{"PR12.vm-write", write_memory, NULL, "memory by process_vm_writev"},
	{"PR12.ptrace", trace, NULL, "tracing"},
	{"PR12.getfd", take_fd, NULL, "its descriptors by pidfd_getfd"},
	{"PR12.kcmp", compare, NULL, "kernel pointers compared"},
	{"PR12.madvise", advise, NULL, "its memory's use"},
	{"PR12.move-pages", locate_pages, NULL, "its pages"},
	{"PR12.prlimit", limits_of_target, NULL, "its limits"},

	{"PR14.capset", raise_capability, NULL, "a capability"},
	{"PR14.securebits", set_securebits, NULL, "secure bits"},
	{"PR14.setuid-0", become, "0", "uid 0"},
	{"PR14.setuid-2", become, "2", "another uid"},
	{"PR14.setgid-0", become_group, "0", "gid 0"},
	{"PR15.setgroups", join_group, "0", "a supplementary group"},

	{"PR16.unshare-user", leave, "10000000", "a user namespace"},
	{"PR16.unshare-mount", leave, "00020000", "a mount namespace"},
	{"PR16.unshare-pid", leave, "20000000", "a pid namespace"},
	{"PR16.unshare-net", leave, "40000000", "a network namespace"},
	{"PR16.unshare-ipc", leave, "08000000", "an IPC namespace"},
	{"PR16.unshare-uts", leave, "04000000", "a UTS namespace"},
	{"PR16.unshare-cgroup", leave, "02000000", "a cgroup namespace"},
	{"PR16.unshare-time", leave, "00000080", "a time namespace"},
	{"PR16.unshare-files", leave, "00000400", "unshare at all"},
	{"PR16.clone-user", clone_into, "10000000", "a user namespace"},
	{"PR16.clone-mount", clone_into, "00020000", "a mount namespace"},
	{"PR16.clone-pid", clone_into, "20000000", "a pid namespace"},
	{"PR16.clone-net", clone_into, "40000000", "a network namespace"},
	{"PR16.clone-ipc", clone_into, "08000000", "an IPC namespace"},
	{"PR16.clone-uts", clone_into, "04000000", "a UTS namespace"},
	{"PR16.clone-cgroup", clone_into, "02000000", "a cgroup namespace"},
	{"PR16.clone-user-net", clone_into, "50000000", "two at once"},
	{"PR16.clone3-user", clone3_into, "10000000", "a user namespace by clone3"},
	{"PR16.clone3-time", clone3_into, "00000080", "a time namespace by clone3"},
	{"PR16.setns-net", enter, "net", "its own network namespace, again"},
	{"PR16.setns-mnt", enter, "mnt", "its own mount namespace, again"},
	{"PR16.setns-pidfd", enter_by_pidfd, NULL, "namespaces by pidfd"},

	{"PR18.add-key", add_key, NULL, "a key"},
	{"PR18.session", key_control, "0", "the session's keyring"},
	{"PR18.join", key_control, "1", "a new session keyring"},
	{"PR18.request", request_key, NULL, "a search"},
	{"PR18.mark", mark_user, "pinfold-mark", "a key that stays"},
	{"PR18.marked", marked_user, "pinfold-mark", "one that another run left"},
	{"PR18.unmark", unmark_user, "pinfold-mark", "its end"},
	{"PR18.callers", callers_key, "pinfold-canary", "a key of the caller's session"},
};
const struct probe_group probes_process = {rows, sizeof(rows) / sizeof(*rows)};
