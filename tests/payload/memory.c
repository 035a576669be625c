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
	uint64_t size = parse_size(argv[0]);
	long count = argc > 1 ? parse_number(argv[1]) : 1;
	for (long i = 0; i < count; i++) {
		int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
		if (id < 0)
			return fail("shmget");
		char *at = shmat(id, NULL, 0);
		if (at == (void *)-1)
			return fail("shmat");
		touch(at, size);
		/* Detached, it is in nobody's address space, and still charged. */
		shmdt(at);
	}
	say("shm %lu %ld", size, count);
	return 0;
}

/* ---- shared memory that is mapped: all of it touched, and its descriptor closed if there was one ---- */

static char *map_shared(int fd, uint64_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
}

static char *map_anon(uint64_t size)
{
	return map_shared(-1, size);
}

static char *map_zero(uint64_t size)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char *at = fd < 0 ? MAP_FAILED : map_shared(fd, size);
	close(fd);
	return at;
}

static int sized_memfd(uint64_t size)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	return fd < 0 || ftruncate(fd, (off_t)size) < 0 ? -1 : fd;
}

static char *map_open_memfd(uint64_t size)
{
	int fd = sized_memfd(size);
	return fd < 0 ? MAP_FAILED : map_shared(fd, size);
}

static char *map_memfd(uint64_t size)
{
	int fd = sized_memfd(size);
	char *at = fd < 0 ? MAP_FAILED : map_shared(fd, size);
	close(fd);
	return at;
}

/* Twice over, half of it a page further: pages that two mappings of a process have. */
static char *map_memfd_twice(uint64_t size)
{
	int fd = sized_memfd(size);
	char *at = fd < 0 ? MAP_FAILED : map_shared(fd, size);
	char *again = mmap(NULL, size / 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
	if (again == MAP_FAILED)
		return MAP_FAILED;
	touch(again, size / 2);
	close(fd);
	return at;
}

/* A private mapping: reading it gives it the file's pages, the touch that follows copies them. */
static char *map_copied(uint64_t size)
{
	int fd = sized_memfd(size);
	char *at = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	for (uint64_t i = 0; at != MAP_FAILED && i < size; i += PAGE)
		(void)*(volatile char *)(at + i);
	return at;
}

static char *map_sysv(uint64_t size)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	return id < 0 ? MAP_FAILED : shmat(id, NULL, 0);
}

static const struct {
	const char *name;
	char *(*map)(uint64_t);
} shared_kinds[] = {
	{"anon", map_anon},
	{"zero", map_zero},
	{"memfd", map_memfd},
	{"sysv", map_sysv},
	{"memfd-open", map_open_memfd},
	{"memfd-twice", map_memfd_twice},
	{"copied", map_copied},
};

static char *map_kind(const char *kind, uint64_t size)
{
	for (size_t i = 0; i < sizeof(shared_kinds) / sizeof(*shared_kinds); i++)
		if (strcmp(kind, shared_kinds[i].name) == 0)
			return shared_kinds[i].map(size);
	errno = EINVAL;
	return MAP_FAILED;
}

static int eat_shared(int argc, char **argv)
{
	uint64_t size = parse_size(argv[1]);
	long children = argc > 2 ? parse_number(argv[2]) : 0;
	char *at = map_kind(argv[0], size);
	if (at == MAP_FAILED)
		return fail("map");
	touch(at, size);
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return fail("fork");
		if (pid == 0) {
			touch(at, size);
			for (;;)
				pause();
		}
	}
	say("shared %s %lu", argv[0], size);
	return 0;
}

/* The pages stay with the memory that they belong to, and in no page table. */
static int eat_unmapped(int argc, char **argv)
{
	(void)argc;
	uint64_t size = parse_size(argv[0]), step = CHUNK * 4;
	char *at = map_anon(size);
	if (at == MAP_FAILED)
		return fail("mmap");
	for (uint64_t i = 0; i < size; i += step) {
		touch(at + i, size - i < step ? size - i : step);
		if (madvise(at + i, size - i < step ? size - i : step, MADV_DONTNEED) < 0)
			return fail("madvise");
	}
	say("unmapped %lu", size);
	return 0;
}

static int send_descriptor(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	char byte = 0;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	return sendmsg(socket, &message, 0) < 0 ? -1 : 0;
}

/* In memfds of a MiB, each of which goes into a socket's queue when it is full. */
static int eat_in_flight(int argc, char **argv)
{
	static char block[1 << 20];
	(void)argc;
	const uint64_t size = parse_size(argv[0]);
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fail("socketpair");
	memset(block, 'x', sizeof(block));
	for (uint64_t done = 0; done < size; done += sizeof(block)) {
		int fd = memfd_create("flight", MFD_CLOEXEC);
		if (fd < 0 || write(fd, block, sizeof(block)) != sizeof(block))
			return fail("memfd");
		if (send_descriptor(pair[0], fd) < 0)
			return fail("sendmsg");
		close(fd);
	}
	say("in-flight %lu", size);
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

/* Mapped pages that are all the zero page: nothing but page tables, and a long walk for whoever counts them. */
static int map_zero_pages(int argc, char **argv)
{
	(void)argc;
	uint64_t size = parse_size(argv[0]);
	char *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return fail("mmap");
	madvise(at, size, MADV_NOHUGEPAGE);
	if (madvise(at, size, MADV_POPULATE_READ) < 0)
		return fail("madvise");
	say("zero-pages %lu", size);
	return 0;
}

/* Every second page of a mapping with rights of its own: as many mappings as there are pages. */
static int make_mappings(int argc, char **argv)
{
	(void)argc;
	uint64_t count = (uint64_t)parse_number(argv[0]);
	char *at = mmap(NULL, count * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return fail("mmap");
	for (uint64_t i = 0; i < count; i += 2)
		if (mprotect(at + i * PAGE, PAGE, PROT_NONE) < 0)
			return fail("mprotect");
	say("mappings %lu", count);
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
	{"shm", 1, eat_shm, "BYTES [COUNT]: SysV segments of that size, detached again"},
	{"shared", 2, eat_shared,
	 "anon|zero|memfd|memfd-open|memfd-twice|copied|sysv BYTES [CHILDREN]: mapped, and by children too"},
	{"unmapped", 1, eat_unmapped, "BYTES of shared anonymous memory, in no page table"},
	{"in-flight", 1, eat_in_flight, "BYTES in memfds that a socket's queue holds"},
	{"mmap-file", 1, eat_mmap_file, "BYTES [FILE]: a sparse file, mapped and touched"},
	{"pipes", 1, eat_pipes, "BYTES in pipes that nobody reads"},
	{"sockets", 1, eat_sockets, "BYTES in socket pairs that nobody reads"},
	{"messages", 1, eat_messages, "BYTES in SysV message queues"},
	{"page-tables", 1, eat_page_tables, "BYTES of page tables"},
	{"zero-pages", 1, map_zero_pages, "BYTES of address space, read: page tables alone"},
	{"mappings", 1, make_mappings, "COUNT mappings, all empty"},
	{"epoll", 1, eat_epoll, "COUNT epoll instances with an item each"},
	{NULL, 0, NULL, NULL},
};
