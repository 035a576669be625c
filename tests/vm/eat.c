/* Makes the kernel hold memory on a program's behalf, one class of it at a time.
 *
 *	eat CLASS MIB [DIR]
 *
 * Takes about MIB of memory of that class, in as many ways as a program without privilege has, says
 * "full" on stdout and exits 0 while still holding it. Under a limit below MIB it has to be killed;
 * a refusal by anything else (a quota, ENOSPC) is exit status 3 and a message, so that it cannot be
 * taken for the limit. What one process may not hold because of its number of descriptors is spread
 * over several. DIR is where files go; a writable tmpfs.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#define MIB (1L << 20)

enum { PAGE = 4096, HUGE = 2 << 20, DESCRIPTORS = 200, WORKERS_MAX = 128 };

static const char *dir = "/scratch";
static char block[1 << 16];

static _Noreturn void refused(const char *what)
{
	err(3, "%s", what);
}

static void *map(size_t bytes, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		refused("mmap");
	return p;
}

static void eat_anon(long bytes)
{
	memset(map((size_t)bytes, -1), 1, (size_t)bytes);
}

static void fill_file(int fd, long bytes)
{
	if (fd < 0)
		refused("create");
	for (long done = 0; done < bytes; done += (long)sizeof(block)) {
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			refused("write");
	}
}

static void eat_tmpfs(long bytes)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/eat", dir);
	fill_file(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), bytes);
}

static void eat_memfd(long bytes)
{
	fill_file(memfd_create("eat", MFD_CLOEXEC), bytes);
}

static void eat_shm(long bytes)
{
	int id = shmget(IPC_PRIVATE, (size_t)bytes, IPC_CREAT | 0600);
	char *p = id < 0 ? (void *)-1 : shmat(id, NULL, 0);

	if (p == (void *)-1 || shmctl(id, IPC_RMID, NULL) < 0)
		refused("shm");
	memset(p, 1, (size_t)bytes);
}

/* A queue holds 16 KiB (msgmnb), a machine has 32,000 of them (msgmni). */
static void eat_msg(long bytes)
{
	struct {
		long type;
		char text[8000];
	} m = {.type = 1};
	int id = -1;

	for (long done = 0; done < bytes; done += (long)sizeof(m.text)) {
		if (id >= 0 && msgsnd(id, &m, sizeof(m.text), IPC_NOWAIT) == 0)
			continue;
		id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
		if (id < 0 || msgsnd(id, &m, sizeof(m.text), IPC_NOWAIT) < 0)
			refused("msg");
	}
}

/* Reading one byte of each 2 MiB maps the zero page there, and a page table to hold it. */
static void eat_tables(long bytes)
{
	size_t span = (size_t)(bytes / PAGE) * HUGE;
	volatile char *p = mmap(NULL, span, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				-1, 0);

	if (p == MAP_FAILED || madvise((void *)p, span, MADV_NOHUGEPAGE) < 0)
		refused("mmap");
	for (size_t at = 0; at < span; at += HUGE)
		(void)p[at];
}

/* An inode and a directory entry of tmpfs are about a KiB. */
static void eat_inodes(long bytes)
{
	char path[256];

	for (long i = 0; i < bytes / 1024; i++) {
		snprintf(path, sizeof(path), "%s/eat-%d-%ld", dir, getpid(), i);
		int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			refused("create");
		close(fd);
	}
}

/* ---- with descriptors: each worker holds at most DESCRIPTORS of them ---- */

static long fill_nonblocking(int fd)
{
	long done = 0;

	for (;;) {
		ssize_t n = write(fd, block, sizeof(block));
		if (n < 0 && errno == EAGAIN)
			return done;
		if (n < 0)
			refused("write");
		done += n;
	}
}

static long worker_pipe(void)
{
	int fd[2];

	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC) < 0)
		refused("pipe");
	return fill_nonblocking(fd[1]);
}

static long worker_unix(void)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd) < 0)
		refused("socketpair");
	return fill_nonblocking(fd[1]) + fill_nonblocking(fd[0]);
}

/* One more epoll instance that watches every eventfd; an item and its wait queue entry are 200 bytes. */
static long worker_epoll(void)
{
	static int events[DESCRIPTORS / 2];
	int ep = epoll_create1(EPOLL_CLOEXEC);

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct epoll_event ev = {.events = EPOLLOUT};
		if (!events[i])
			events[i] = eventfd(0, EFD_CLOEXEC);
		if (epoll_ctl(ep, EPOLL_CTL_ADD, events[i], &ev) < 0)
			refused("epoll_ctl");
	}
	return 200L * DESCRIPTORS / 2;
}

static _Noreturn void work(long bytes, long (*more)(void), int used_each, int report, int hold)
{
	int descriptors = more == worker_epoll ? DESCRIPTORS / 2 : 0;
	long done = 0;
	char end;

	for (; done < bytes && descriptors + used_each <= DESCRIPTORS; descriptors += used_each)
		done += more();
	if (write(report, &done, sizeof(done)) != (ssize_t)sizeof(done))
		err(4, "report");
	close(report);
	if (read(hold, &end, 1) < 0)
		err(4, "hold");
	_exit(0);
}

/* Bytes, at most about so many, that one more worker holds until the write end of hold is closed
 * with this process. */
static long add_worker(long bytes, long (*more)(void), int used_each, const int *hold)
{
	int report[2];
	long done;

	if (pipe2(report, O_CLOEXEC) < 0)
		refused("pipe");
	pid_t pid = fork();
	if (pid < 0)
		refused("fork");
	if (pid == 0) {
		close(hold[1]);
		work(bytes, more, used_each, report[1], hold[0]);
	}
	close(report[1]);
	if (read(report[0], &done, sizeof(done)) != (ssize_t)sizeof(done))
		errx(3, "a worker was refused something");
	close(report[0]);
	return done;
}

static void spread(long bytes, long (*more)(void), int used_each)
{
	int hold[2], workers = 0;

	if (pipe2(hold, O_CLOEXEC) < 0)
		refused("pipe");
	for (long done = 0; done < bytes; done += add_worker(bytes - done, more, used_each, hold)) {
		if (workers++ == WORKERS_MAX)
			errx(3, "%d workers hold only %ld bytes", WORKERS_MAX, done);
	}
}

static void eat_pipe(long bytes)
{
	spread(bytes, worker_pipe, 2);
}

static void eat_unix(long bytes)
{
	spread(bytes, worker_unix, 2);
}

static void eat_epoll(long bytes)
{
	spread(bytes, worker_epoll, 1);
}

static const struct {
	const char *name;
	void (*eat)(long bytes);
} classes[] = {
	{"anon", eat_anon}, {"tmpfs", eat_tmpfs},   {"memfd", eat_memfd},   {"shm", eat_shm},
	{"msg", eat_msg},   {"tables", eat_tables}, {"inodes", eat_inodes}, {"pipe", eat_pipe},
	{"unix", eat_unix}, {"epoll", eat_epoll},
};

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: eat CLASS MIB [DIR]");
	if (argc > 3)
		dir = argv[3];
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strcmp(argv[1], classes[i].name) != 0)
			continue;
		classes[i].eat(strtol(argv[2], NULL, 10) * MIB);
		puts("full");
		return 0;
	}
	errx(2, "no class %s", argv[1]);
}
