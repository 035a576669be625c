/* What is counted by user, or bounded by the scratch. Reached is more than the bound that the host's half gives
 * in COUNT (what it is about stands beside each row); the errno that stopped it otherwise. */
#include "probe.h"

#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static long count(void)
{
	return atol(given("COUNT"));
}

static int inotify_instances(const char *arg)
{
	(void)arg;
	for (long i = 0; i < count(); i++)
		if (inotify_init1(IN_CLOEXEC) < 0)
			return errno;
	return 0;
}

static int inotify_watches(const char *arg)
{
	char path[4200];
	(void)arg;
	int fd = inotify_init1(IN_CLOEXEC);
	if (fd < 0)
		return errno;
	for (long i = 0; i < count(); i++) {
		snprintf(path, sizeof(path), "%s%ld", work("watched-"), i);
		if (mknod(path, S_IFREG | 0600, 0) < 0 || inotify_add_watch(fd, path, IN_OPEN) < 0)
			return errno;
	}
	return 0;
}

static int pipe_size(const char *arg)
{
	int fds[2];
	if (pipe(fds) < 0)
		return errno;
	return tried(fcntl(fds[0], F_SETPIPE_SZ, atoi(arg)));
}

static int pending_signals(const char *arg)
{
	timer_t t;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	(void)arg;
	for (long i = 0; i < count(); i++)
		if (timer_create(CLOCK_MONOTONIC, &ev, &t) < 0)
			return errno;
	return 0;
}

/* A message queue's room is counted when it is made. */
static int message_queues(const char *arg)
{
	struct mq_attr attr = {.mq_maxmsg = 10, .mq_msgsize = 8192};
	char name[48];
	(void)arg;
	for (long i = 0; i < count(); i++) {
		snprintf(name, sizeof(name), "/pinfold-probe-%ld", i);
		mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &attr);
		if (q == (mqd_t)-1)
			return errno;
	}
	return 0;
}

/* Descriptors that were sent and not received belong to nobody's table. */
static int fds_in_flight(const char *arg)
{
	int pair[2];
	(void)arg;
	for (long sent = 0; sent < count(); sent++) {
		char room[CMSG_SPACE(sizeof(int))] = {0};
		char byte = 0;
		struct iovec v = {&byte, 1};
		struct msghdr m = {.msg_iov = &v,
				   .msg_iovlen = 1,
				   .msg_control = room,
				   .msg_controllen = sizeof(room)};
		if (sent % 64 == 0 && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) < 0)
			return errno;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(c), &pair[0], sizeof(int));
		if (sendmsg(pair[1], &m, 0) < 0) {
			if (errno != EAGAIN)
				return errno;
			/* this socket's queue is full: another pair */
			if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair) < 0)
				return errno;
		}
	}
	return 0;
}

static int terminals(const char *arg)
{
	(void)arg;
	for (long i = 0; i < count(); i++)
		if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) < 0)
			return errno;
	return 0;
}

static int raise_limit(const char *arg)
{
	struct rlimit r;
	if (getrlimit(atoi(arg), &r) < 0)
		return errno;
	if (r.rlim_max == RLIM_INFINITY)
		return 0;
	r.rlim_max++;
	return tried(setrlimit(atoi(arg), &r));
}

static int processes(const char *arg)
{
	(void)arg;
	for (long i = 0; i < count(); i++) {
		pid_t pid = fork();
		if (pid < 0)
			return errno;
		if (pid == 0) {
			pause();
			_exit(0);
		}
	}
	return 0;
}

static int stopped_thread(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

static int threads(const char *arg)
{
	(void)arg;
	for (long i = 0; i < count(); i++) {
		char *stack = malloc(4096);
		if (clone(stopped_thread, stack + 4096,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL) < 0)
			return errno;
	}
	return 0;
}

/* ---- FS18: the scratch. COUNT is in KiB, files or attributes. ---- */

static int fill_bytes(const char *arg)
{
	static char block[1024];
	memset(block, 'x', sizeof(block));
	int fd = open(work(arg), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	for (long i = 0; i < count(); i++)
		if (write(fd, block, sizeof(block)) < 0)
			return errno;
	return 0;
}

static int fill_elsewhere(const char *arg)
{
	static char block[1024];
	int fd = open(*base ? work("elsewhere") : arg, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	for (long i = 0; i < count(); i++)
		if (write(fd, block, sizeof(block)) < 0)
			return errno;
	return 0;
}

static int allocate(const char *arg)
{
	int fd = open(work(arg), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? errno : tried(fallocate(fd, 0, 0, count() * 1024));
}

static int fill_inodes(const char *arg)
{
	char path[4200];
	for (long i = 0; i < count(); i++) {
		snprintf(path, sizeof(path), "%s%ld", work(arg), i);
		if (mknod(path, S_IFREG | 0600, 0) < 0)
			return errno;
	}
	return 0;
}

static int fill_attributes(const char *arg)
{
	static char value[1024];
	char path[4200], name[64];
	for (long i = 0; i < count(); i++) {
		snprintf(path, sizeof(path), "%s%ld", work(arg), i / 2);
		snprintf(name, sizeof(name), "user.pinfold-%ld", i);
		memset(value, 'x', sizeof(value));
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return errno;
		if (fsetxattr(fd, name, value, sizeof(value), 0) < 0)
			return errno;
		close(fd);
	}
	return 0;
}

int verb_hold(int argc, char **argv)
{
	static int (*const kinds[])(const char *) = {inotify_instances, pending_signals,
						     message_queues, fds_in_flight};
	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		pid_t pid = fork();
		if (pid == 0) {
			kinds[i](NULL);
			puts("holding");
			fflush(stdout);
			for (;;)
				pause();
		}
	}
	/* As many pipes as there can be open, each as large as it gets. */
	for (int fds[2]; pipe(fds) == 0;)
		fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
	for (;;)
		pause();
}

static const struct probe rows[] = {
	{"RS13.inotify-instances", inotify_instances, NULL, "inotify instances"},
	{"RS13.inotify-watches", inotify_watches, NULL, "inotify watches"},
	{"RS13.pipe-size", pipe_size, "1048576", "pipe pages"},
	{"RS13.pending", pending_signals, NULL, "pending signals"},
	{"RS13.mqueue", message_queues, NULL, "message queue bytes"},
	{"RS13.in-flight", fds_in_flight, NULL, "descriptors in flight"},
	{"RS13.ptys", terminals, NULL, "terminals"},
	{"RS13.nofile", raise_limit, "7", "RLIMIT_NOFILE"},
	{"RS13.memlock", raise_limit, "8", "RLIMIT_MEMLOCK"},
	{"RS13.sigpending", raise_limit, "11", "RLIMIT_SIGPENDING"},
	{"RS13.msgqueue", raise_limit, "12", "RLIMIT_MSGQUEUE"},
	{"RS13.core", raise_limit, "4", "RLIMIT_CORE"},

	{"PR09.processes", processes, NULL, "processes"},
	{"PR09.threads", threads, NULL, "threads"},

	{"FS18.bytes", fill_bytes, "filler", "bytes"},
	{"FS18.tmp", fill_elsewhere, "/tmp/filler", "bytes in /tmp"},
	{"FS18.shm", fill_elsewhere, "/dev/shm/filler", "bytes in /dev/shm"},
	{"FS18.run", fill_elsewhere, "/run/filler", "bytes in /run"},
	{"FS18.allocate", allocate, "allocated", "bytes by fallocate"},
	{"FS18.inodes", fill_inodes, "inode-", "files"},
	{"FS18.attributes", fill_attributes, "attributed-", "extended attributes"},
};
const struct probe_group probes_quota = {rows, sizeof(rows) / sizeof(*rows)};
