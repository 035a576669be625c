/* Verbs that eat memory, of every kind that the kernel charges. What they take they keep. */
#include "payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGE = 4096, CHUNK = 1 << 16 };

static void touch(volatile char *at, uint64_t size)
{
	for (uint64_t i = 0; i < size; i += PAGE)
		at[i] = 1;
}

static int eat_anon(int argc, char **argv)
{
	(void)argc;
	uint64_t size = parse_size(argv[0]);
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return fail("mmap");
	touch(at, size);
	say("alloc %lu", size);
	return 0;
}

/* Write size bytes to fd and say how far it came. */
static int fill(int fd, const char *what, uint64_t size)
{
	static char block[CHUNK];
	memset(block, 'x', sizeof(block));
	uint64_t done = 0;
	while (done < size) {
		ssize_t n = write(fd, block, size - done < CHUNK ? size - done : CHUNK);
		if (n <= 0)
			break;
		done += (uint64_t)n;
	}
	int error = done < size ? errno : 0;
	say("%s %lu %s", what, done, errno_name(error));
	return error ? 1 : 0;
}

static int eat_tmpfs(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "fill", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail("open");
	int code = fill(fd, "tmpfs", parse_size(argv[0]));
	close(fd);
	return code;
}

static int eat_memfd(int argc, char **argv)
{
	(void)argc;
	int fd = memfd_create("payload", MFD_CLOEXEC);
	if (fd < 0)
		return fail("memfd_create");
	return fill(fd, "memfd", parse_size(argv[0]));
}

static int eat_shm(int argc, char **argv)
{
	(void)argc;
	uint64_t size = parse_size(argv[0]);
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	if (id < 0)
		return fail("shmget");
	char *at = shmat(id, NULL, 0);
	if (at == (void *)-1)
		return fail("shmat");
	touch(at, size);
	/* Detached, it is in nobody's address space, and still charged. */
	shmdt(at);
	say("shm %lu", size);
	return 0;
}

static int eat_mmap_file(int argc, char **argv)
{
	uint64_t size = parse_size(argv[0]);
	int fd = open(argc > 1 ? argv[1] : "mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail("open");
	if (ftruncate(fd, (off_t)size) < 0)
		return fail("ftruncate");
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return fail("mmap");
	touch(at, size);
	say("mmap-file %lu", size);
	return 0;
}

/* Fill pairs of descriptors that nobody reads, until size bytes lie in the kernel or no more can be had. */
static int fill_pairs(const char *what, uint64_t size, int (*make)(int pair[2]))
{
	static char block[CHUNK];
	uint64_t done = 0, pairs = 0;
	while (done < size) {
		int pair[2];
		if (make(pair) < 0)
			break;
		pairs++;
		fcntl(pair[1], F_SETFL, O_NONBLOCK);
		ssize_t n;
		while (done < size && (n = write(pair[1], block, PAGE)) > 0)
			done += (uint64_t)n;
		errno = 0;
	}
	say("%s %lu %lu %s", what, done, pairs, errno_name(done < size ? errno : 0));
	return done < size ? 1 : 0;
}

static int make_pipe(int pair[2])
{
	return pipe2(pair, O_CLOEXEC);
}

static int make_sockets(int pair[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

static int eat_pipes(int argc, char **argv)
{
	(void)argc;
	return fill_pairs("pipes", parse_size(argv[0]), make_pipe);
}

static int eat_sockets(int argc, char **argv)
{
	(void)argc;
	return fill_pairs("sockets", parse_size(argv[0]), make_sockets);
}

static int eat_messages(int argc, char **argv)
{
	(void)argc;
	uint64_t size = parse_size(argv[0]), done = 0;
	struct {
		long type;
		char text[8192];
	} message = {.type = 1};
	while (done < size) {
		int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
		if (queue < 0)
			break;
		while (done < size && msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT) == 0)
			done += sizeof(message.text);
		errno = 0;
	}
	say("messages %lu %s", done, errno_name(done < size ? errno : 0));
	return done < size ? 1 : 0;
}

/* One touched page in every 2 MiB: a page table page each. */
static int eat_page_tables(int argc, char **argv)
{
	(void)argc;
	uint64_t tables = parse_size(argv[0]) / PAGE;
	char *at = mmap(NULL, tables << 21, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return fail("mmap");
	madvise(at, tables << 21, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < tables; i++)
		(void)*(volatile char *)(at +
					 (i << 21)); /* reading maps the zero page: only the table costs */
	say("page-tables %lu", tables);
	return 0;
}

static int eat_epoll(int argc, char **argv)
{
	(void)argc;
	long count = parse_number(argv[0]), done = 0;
	int event = eventfd(0, EFD_CLOEXEC);
	while (done < count) {
		int fd = epoll_create1(EPOLL_CLOEXEC);
		struct epoll_event ev = {.events = EPOLLIN};
		if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, event, &ev) < 0)
			break;
		done++;
	}
	say("epoll %ld %s", done, errno_name(done < count ? errno : 0));
	return done < count ? 1 : 0;
}

const struct verb verbs_memory[] = {
	{"alloc", 1, eat_anon, "BYTES of anonymous memory"},
	{"tmpfs", 1, eat_tmpfs, "BYTES [FILE]: append to a file, by default in the working directory"},
	{"memfd", 1, eat_memfd, "BYTES in a memfd"},
	{"shm", 1, eat_shm, "BYTES of SysV shared memory, detached again"},
	{"mmap-file", 1, eat_mmap_file, "BYTES [FILE]: a sparse file, mapped and touched"},
	{"pipes", 1, eat_pipes, "BYTES in pipes that nobody reads"},
	{"sockets", 1, eat_sockets, "BYTES in socket pairs that nobody reads"},
	{"messages", 1, eat_messages, "BYTES in SysV message queues"},
	{"page-tables", 1, eat_page_tables, "BYTES of page tables"},
	{"epoll", 1, eat_epoll, "COUNT epoll instances with an item each"},
	{NULL, 0, NULL, NULL},
};
