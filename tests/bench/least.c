/* The least that the design of a run asks of the kernel, and nothing else: a yardstick between the
 * floor and `pinfold run`.
 *
 *	least IMAGE PROGRAM [ARG...]                (as root)
 *
 * What docs/architecture.md and the manual promise of the sandbox is made, by the same calls and
 *with the same work done side by side (the network namespace by a helper beside pid 1): a cgroup
 *leaf, an idmapped read-only image, /dev, /proc with its covers, /etc, /sys and one scratch, the
 *limits of the user namespace, resource limits, no capabilities, the default filter with its
 *listener, relayed output, a small result. What is not here: nothing is planned or vetted, nothing
 *is read back, no signal or time limit is looked after, no error explained, no option known. A
 *program that keeps those promises can hardly start faster on the machine where this is measured.
 *It must not be used for anything else.
 */
#include "seccomp/filter_data.h"

#include <err.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAGE "/../"

enum { FIRST_ID = 1954086912, ID_COUNT = 65536, PROGRAM_ID = 1000, STACK_BYTES = 65536 };

static char **program;
static int control[2], out[2], errs[2], listener_at;

static void check(long result, const char *what)
{
	if (result < 0)
		err(125, "%s", what);
}

/* The descriptor, for which there is no doing without. */
static int need(int fd, const char *what)
{
	if (fd < 0)
		err(125, "%s", what);
	return fd;
}

static void put(int dir, const char *path, int flags, const char *text)
{
	int fd = need(openat(dir, path, flags | O_CLOEXEC, 0644), path);
	ssize_t len = (ssize_t)strlen(text);
	if (write(fd, text, (size_t)len) != len)
		err(125, "%s", path);
	close(fd);
}

static void send_fd(int sock, char type, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u = {.room = {0}};
	struct iovec iov = {.iov_base = &type, .iov_len = 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		m.msg_control = u.room;
		m.msg_controllen = sizeof(u.room);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	check(sendmsg(sock, &m, 0), "sendmsg");
}

static char receive_fd(int sock, int *fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u;
	char type = 0;
	struct iovec iov = {.iov_base = &type, .iov_len = 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = u.room,
			   .msg_controllen = sizeof(u.room)};
	check(recvmsg(sock, &m, MSG_CMSG_CLOEXEC), "recvmsg");
	if (fd && m.msg_controllen >= sizeof(struct cmsghdr))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(*fd));
	return type;
}

/* ---- beside pid 1: the network namespace, then the limits of the user namespace ---- */

static _Noreturn void helper(int ns, int user)
{
	static const char *const limits[][2] = {
		{"user", "0"}, {"pid", "0"}, {"mnt", "0"},  {"net", "0"},
		{"ipc", "0"},  {"uts", "0"}, {"time", "0"},
	};
	struct ifreq lo = {.ifr_name = "lo"};
	lo.ifr_flags = IFF_UP;
	check(unshare(CLONE_NEWNET), "unshare");
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	check(ioctl(sock, SIOCSIFFLAGS, &lo), "loopback");
	check(dup3(ioctl(sock, SIOCGSKNS), ns, O_CLOEXEC), "dup3");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		char name[40];
		snprintf(name, sizeof(name), "max_%s_namespaces", limits[i][0]);
		put(user, name, O_WRONLY, limits[i][1]);
	}
	put(user, "max_inotify_instances", O_WRONLY, "16");
	put(user, "max_inotify_watches", O_WRONLY, "8192");
	put(user, "max_fanotify_groups", O_WRONLY, "0");
	put(user, "max_fanotify_marks", O_WRONLY, "0");
	_exit(0);
}

/* ---- the mount tree ---- */

static const char *const folders[] = {"new",
				      "root",
				      "root/etc",
				      "proc",
				      "dev",
				      "dev/pts",
				      "dev/shm",
				      "sys",
				      "sys/fs",
				      "sys/fs/cgroup",
				      "sys/devices",
				      "sys/devices/system",
				      "sys/devices/system/cpu",
				      "writable"};
static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
static const char *const links[][2] = {{"/proc/self/fd", "dev/fd"},
				       {"/proc/self/fd/0", "dev/stdin"},
				       {"/proc/self/fd/1", "dev/stdout"},
				       {"/proc/self/fd/2", "dev/stderr"},
				       {"pts/ptmx", "dev/ptmx"}};
static const char *const files[][2] = {{"root/etc/passwd", "user:x:1000:1000::/scratch:/bin/sh\n"},
				       {"root/etc/group", "user:x:1000:\n"},
				       {"root/etc/hosts", "127.0.0.1\tlocalhost\n"},
				       {"root/etc/resolv.conf", "options attempts:1\n"},
				       {"root/etc/hostname", "pinfold\n"},
				       {"sys/devices/system/cpu/online", "0\n"},
				       {"empty", ""}};
static const char *const masked[] = {"kallsyms", "keys", "key-users", "interrupts"};

static void skeleton(void)
{
	check(mount("least", "/", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=512k"),
	      "stage");
	int stage = need(open(STAGE, O_PATH | O_DIRECTORY | O_CLOEXEC), "stage");
	char path[80];
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		check(mkdirat(stage, folders[i], 0755), folders[i]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(stage, files[i][0], O_WRONLY | O_CREAT | O_EXCL, files[i][1]);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		snprintf(path, sizeof(path), "dev/%s", devices[i]);
		check(mknodat(stage, path, S_IFREG | 0444, 0), path);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		check(symlinkat(links[i][0], stage, links[i][1]), links[i][1]);
}

static void attributes(int dir, const char *path, unsigned flags, uint64_t set)
{
	struct mount_attr attr = {.attr_set = set, .propagation = MS_PRIVATE};
	check(mount_setattr(dir, path, flags, &attr, sizeof(attr)), "mount_setattr");
}

static void bind_on(const char *from, const char *to)
{
	check(mount(from, to, NULL, MS_BIND, NULL), to);
}

static void stage_mounts(void)
{
	char from[40], to[40];
	attributes(AT_FDCWD, STAGE, 0,
		   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	check(mount("scratch", STAGE "writable", "tmpfs", MS_NOSUID | MS_NODEV,
		    "mode=0755,size=256m,nr_inodes=65541"),
	      "scratch");
	static const char *const places[] = {"scratch", "run", "tmp", "shm"};
	for (size_t i = 0; i < 4; i++) {
		snprintf(to, sizeof(to), STAGE "writable/%s", places[i]);
		check(mkdir(to, i < 2 ? 0755 : 01777), to);
		if (i < 2)
			check(chown(to, PROGRAM_ID, PROGRAM_ID), to);
	}
	bind_on(STAGE "dev", STAGE "dev");
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		snprintf(from, sizeof(from), "/dev/%s", devices[i]);
		snprintf(to, sizeof(to), STAGE "dev/%s", devices[i]);
		bind_on(from, to);
	}
	attributes(AT_FDCWD, STAGE "dev", AT_RECURSIVE,
		   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	check(mount("devpts", STAGE "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		    "newinstance,ptmxmode=0666,mode=0620,max=1024,gid=5"),
	      "devpts");
	bind_on(STAGE "writable/shm", STAGE "dev/shm");
	check(mount("proc", STAGE "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "proc");
	for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
		snprintf(to, sizeof(to), STAGE "proc/%s", masked[i]);
		bind_on(STAGE "empty", to);
	}
	bind_on(STAGE "sys", STAGE "sys");
	check(mount("cgroup2", STAGE "sys/fs/cgroup", "cgroup2",
		    MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL),
	      "cgroup2");
}

static void new_root(int tree)
{
	check(move_mount(tree, "", AT_FDCWD, STAGE "new", MOVE_MOUNT_F_EMPTY_PATH), "image");
	check(chdir(STAGE "new"), "new root");
	check(mount("least", STAGE "root/etc", "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV,
		    "lowerdir=" STAGE "root/etc:etc"),
	      "etc");
	static const char *const moved[][2] = {{STAGE "root/etc", "etc"},
					       {STAGE "proc", "proc"},
					       {STAGE "sys", "sys"},
					       {STAGE "dev", "dev"}};
	for (size_t i = 0; i < 4; i++)
		check(move_mount(AT_FDCWD, moved[i][0], AT_FDCWD, moved[i][1], 0), moved[i][1]);
	bind_on(STAGE "writable/tmp", "tmp");
	bind_on(STAGE "writable/run", "run");
	bind_on(STAGE "writable/scratch", "scratch");
	check(move_mount(AT_FDCWD, STAGE, AT_FDCWD, "/proc", 0), "stage aside");
	check(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	check(umount2(".", MNT_DETACH), "old root");
	attributes(AT_FDCWD, "/proc", 0, MOUNT_ATTR_RDONLY);
	check(chdir("/scratch"), "scratch");
}

/* ---- the program ---- */

static int load(const struct filter_code *code, unsigned flags)
{
	const struct sock_fprog prog = {.len = code->len,
					.filter = (struct sock_filter *)code->insns};
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static void no_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	check(syscall(SYS_capset, &head, none), "capset");
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
}

static int start(void *null)
{
	static const struct {
		int what;
		rlim_t limit;
	} limits[] = {{RLIMIT_NOFILE, 1024},
		      {RLIMIT_CORE, 1},
		      {RLIMIT_MEMLOCK, 65536},
		      {RLIMIT_MSGQUEUE, 0}};
	setsid();
	dup2(*(int *)null, 0);
	dup2(out[1], 1);
	dup2(errs[1], 2);
	close_range(3, (unsigned)control[1] - 1, 0);
	close_range((unsigned)control[1] + 1, ~0U, 0);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct rlimit l = {limits[i].limit, limits[i].limit};
		check(prlimit(0, limits[i].what, &l, NULL), "prlimit");
	}
	check(syscall(SYS_setresgid, PROGRAM_ID, PROGRAM_ID, PROGRAM_ID), "setresgid");
	check(syscall(SYS_setresuid, PROGRAM_ID, PROGRAM_ID, PROGRAM_ID), "setresuid");
	no_capabilities();
	const struct filter_variant *v = filter_variants;
	while (v->arch != filter_native_arch)
		v++;
	int listener = load(&v->counting, SECCOMP_FILTER_FLAG_NEW_LISTENER |
						  SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	check(listener, "filter");
	send_fd(control[1], 'S', listener);
	char *const none[] = {"PATH=/bin", NULL};
	execve(program[0], program, none);
	_exit(127);
}

static void retire(void)
{
	no_capabilities();
	close_range(0, (unsigned)control[1] - 1, 0);
	close_range((unsigned)control[1] + 1, ~0U, 0);
	for (size_t i = 0; i < filter_tinies_len; i++)
		if (filter_tinies[i].arch == filter_native_arch)
			check(load(&filter_tinies[i].code, 0), "filter of pid 1");
}

/* On another cpu than this one, where there is one. */
static void elsewhere(pid_t pid)
{
	cpu_set_t rest;
	check(sched_getaffinity(0, sizeof(rest), &rest), "affinity");
	CPU_CLR(sched_getcpu(), &rest);
	if (CPU_COUNT(&rest) > 0)
		check(sched_setaffinity(pid, sizeof(rest), &rest), "affinity of the helper");
}

static _Noreturn void init(void)
{
	struct clone_args beside = {.flags = CLONE_FILES};
	int ns = fcntl(control[1], F_DUPFD_CLOEXEC, 3), tree = -1, status;
	/* Now, because pid 1 is about to mount over /proc. */
	int user = need(open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC), "/proc/sys/user");
	pid_t other = (pid_t)syscall(SYS_clone3, &beside, sizeof(beside));
	if (other == 0)
		helper(ns, user);
	elsewhere(other);
	check(sethostname("pinfold", 7), "sethostname");
	close(control[0]);
	receive_fd(control[1], &tree);
	check(syscall(SYS_setgroups, 0, NULL), "setgroups");
	check(syscall(SYS_setresgid, 0, 0, 0), "setresgid");
	check(syscall(SYS_setresuid, 0, 0, 0), "setresuid");
	check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "death signal");
	check(unshare(CLONE_NEWCGROUP), "cgroup namespace");
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	check(sched_setaffinity(0, sizeof(one), &one), "affinity");
	skeleton();
	stage_mounts();
	new_root(tree);
	check(waitpid(other, &status, __WALL), "helper");
	check(setns(ns, CLONE_NEWNET), "setns");
	check(prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0), "securebits");
	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "dumpable");
	int null = need(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid = clone(start, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, &null);
	check(pid, "clone");
	retire();
	while (waitpid(-1, &status, 0) > 0)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- the supervisor ---- */

static void map_and_go(pid_t pid, const char *image)
{
	char path[40], map[40];
	snprintf(path, sizeof(path), "/proc/%d", pid);
	snprintf(map, sizeof(map), "0 %d %d", FIRST_ID, ID_COUNT);
	int proc = need(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), path);
	put(proc, "uid_map", O_WRONLY, map);
	put(proc, "gid_map", O_WRONLY, map);
	int user = need(openat(proc, "ns/user", O_RDONLY | O_CLOEXEC), "ns/user");
	int tree = need(open_tree(AT_FDCWD, image, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE),
			image);
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					      MOUNT_ATTR_NODEV | MOUNT_ATTR_IDMAP,
				  .propagation = MS_PRIVATE,
				  .userns_fd = (uint64_t)user};
	check(mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)), "idmap");
	send_fd(control[0], 'G', tree);
	close(tree);
	close(user);
	close(proc);
}

/* Until both pipes are at their end and pid 1 is dead. */
static int supervise(pid_t pid)
{
	char buf[4096];
	int status;
	receive_fd(control[0], &listener_at);
	struct pollfd fds[] = {{.fd = out[0], .events = POLLIN}, {.fd = errs[0], .events = POLLIN}};
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		check(poll(fds, 2, -1), "poll");
		for (int i = 0; i < 2; i++) {
			if (!fds[i].revents)
				continue;
			ssize_t n = read(fds[i].fd, buf, sizeof(buf));
			if (n > 0)
				check(write(i + 1, buf, (size_t)n), "write");
			else
				fds[i].fd = -1;
		}
	}
	check(waitpid(pid, &status, __WALL), "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	char name[32], stat[512] = "", text[1024];
	if (argc < 3)
		errx(125, "usage: least IMAGE PROGRAM [ARG...]");
	program = argv + 2;
	int parent = open("/sys/fs/cgroup/unified", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		parent = need(open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			      "/sys/fs/cgroup");
	snprintf(name, sizeof(name), "least-%d", getpid());
	check(mkdirat(parent, name, 0755), name);
	int cgroup = need(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), name);
	check(pipe2(out, O_CLOEXEC), "pipe");
	check(pipe2(errs, O_CLOEXEC), "pipe");
	check(fchown(out[1], FIRST_ID + PROGRAM_ID, FIRST_ID + PROGRAM_ID), "fchown");
	check(fchown(errs[1], FIRST_ID + PROGRAM_ID, FIRST_ID + PROGRAM_ID), "fchown");
	check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), "socketpair");
	struct clone_args args = {.flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS |
					   CLONE_NEWIPC | CLONE_NEWUTS | CLONE_INTO_CGROUP,
				  .cgroup = (uint64_t)cgroup};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	check(pid, "clone3");
	if (pid == 0)
		init();
	close(control[1]);
	close(out[1]);
	close(errs[1]);
	map_and_go(pid, argv[1]);
	int code = supervise(pid);
	int file = need(openat(cgroup, "cpu.stat", O_RDONLY | O_CLOEXEC), "cpu.stat");
	check(read(file, stat, sizeof(stat) - 1), "cpu.stat");
	check(unlinkat(parent, name, AT_REMOVEDIR), name);
	int len = snprintf(text, sizeof(text), "{\"code\": %d, \"cpu\": \"%s\"}\n", code, stat);
	int result = need(open("/dev/shm", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), "result");
	check(write(result, text, (size_t)len), "result");
	close(result);
	return code;
}
