/* SV08: the control record, both ways: what has not its exact size and range is an error, and
 * nothing that came along with it stays open. */
#include "runtime/control.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGEST = 8192, FDS_LARGEST = 16 };

struct pair {
	int ours, theirs;
};

static struct pair pair_open(void)
{
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends),
			 0);
	return (struct pair){ends[0], ends[1]};
}

static void pair_close(struct pair p)
{
	close(p.ours);
	close(p.theirs);
}

static unsigned open_fds(void)
{
	unsigned count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* What a hostile end can send: any bytes with any number of descriptors. */
static void send_raw(int sock, const void *bytes, size_t len, unsigned fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(FDS_LARGEST * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	memset(&control, 0, sizeof(control));
	if (fds > 0) {
		int list[FDS_LARGEST] = {0};
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(fds * sizeof(int)),
						.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), list, fds * sizeof(int));
	}
	assert_int_equal(sendmsg(sock, &msg, 0), (ssize_t)len);
}

static struct record sound(uint32_t type)
{
	struct record r = {.type = type, .step = 3, .value = -5};
	r.err = (struct err){.kind = ERR_HOST, .sys = ENOSPC};
	strcpy(r.err.msg, "no room");
	return r;
}

/* Guards on both sides: nothing is written beyond the record. */
struct guarded {
	unsigned char before[64];
	struct record r;
	unsigned char after[64];
};

static int receive(int sock, struct guarded *g, int *fds, size_t *nfds)
{
	memset(g, 0xa5, sizeof(*g));
	const int got = control_recv(sock, &g->r, fds, nfds);
	const int sys = errno;
	for (size_t i = 0; i < sizeof(g->before); i++)
		assert_true(g->before[i] == 0xa5 && g->after[i] == 0xa5);
	errno = sys;
	return got;
}

static void refused(struct pair p, const char *what)
{
	struct guarded g;
	int fds[FD_PASS_MAX];
	size_t nfds = FD_PASS_MAX;
	const int got = receive(p.theirs, &g, fds, &nfds);
	if (got != -1 || errno != EPROTO)
		fail_msg("%s: %d, errno %d", what, got, errno);
}

static void test_sound(void **state)
{
	(void)state;
	struct pair p = pair_open();
	for (uint32_t type = RECORD_GO; type < RECORD_TYPE_END; type++) {
		struct record r = sound(type);
		struct guarded g;
		int sent[FD_PASS_MAX] = {0}, fds[FD_PASS_MAX];
		for (size_t n = 0; n <= FD_PASS_MAX; n++) {
			size_t nfds = FD_PASS_MAX;
			assert_int_equal(control_send(p.ours, &r, sent, n), 0);
			assert_int_equal(receive(p.theirs, &g, fds, &nfds), 1);
			assert_memory_equal(&g.r, &r, sizeof(r));
			assert_int_equal(nfds, n);
			while (nfds > 0) {
				assert_int_equal(fcntl(fds[--nfds], F_GETFD), FD_CLOEXEC);
				close(fds[nfds]);
			}
		}
	}
	pair_close(p);
}

/* Every length but the right one, with and without descriptors; the one after it is whole. */
static void test_length(void **state)
{
	(void)state;
	static char bytes[LARGEST];
	struct pair p = pair_open();
	const struct record r = sound(RECORD_READY);
	const unsigned before = open_fds();
	memcpy(bytes, &r, sizeof(r));
	for (size_t len = 1; len <= LARGEST; len += len < 2 * sizeof(r) ? 1 : 97) {
		if (len == sizeof(r))
			continue;
		struct guarded g;
		send_raw(p.ours, bytes, len, (unsigned)(len % (FD_PASS_MAX + 2)));
		assert_int_equal(control_send(p.ours, &r, NULL, 0), 0);
		refused(p, "a record of another length");
		assert_int_equal(receive(p.theirs, &g, NULL, NULL), 1);
		assert_memory_equal(&g.r, &r, sizeof(r));
	}
	assert_int_equal(open_fds(), before);
	pair_close(p);
}

static void test_range(void **state)
{
	(void)state;
	static const uint32_t types[] = {0,	  RECORD_TYPE_END, RECORD_TYPE_END + 1,
					 INT_MAX, 1U << 31,	   UINT_MAX};
	struct pair p = pair_open();
	const unsigned before = open_fds();
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct record r = sound(types[i]);
		send_raw(p.ours, &r, sizeof(r), 2);
		refused(p, "a type that is none");
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct record r = sound(RECORD_FAILED);
		const uint32_t kind = i == 0		   ? ERR_BUG + 1
				      : types[i] > ERR_BUG ? types[i]
							   : UINT_MAX;
		memcpy(&r.err.kind, &kind, sizeof(kind));
		send_raw(p.ours, &r, sizeof(r), 1);
		refused(p, "a kind of error that is none");
	}
	assert_int_equal(open_fds(), before);
	pair_close(p);
}

static void test_unterminated(void **state)
{
	(void)state;
	struct pair p = pair_open();
	struct record r = sound(RECORD_FAILED);
	struct guarded g;
	memset(r.err.msg, 'x', sizeof(r.err.msg));
	assert_int_equal(control_send(p.ours, &r, NULL, 0), 0);
	assert_int_equal(receive(p.theirs, &g, NULL, NULL), 1);
	assert_int_equal(strnlen(g.r.err.msg, sizeof(g.r.err.msg)), sizeof(g.r.err.msg) - 1);
	pair_close(p);
}

/* More than there is room for, and any at all where none is expected: none stays. */
static void test_descriptors(void **state)
{
	(void)state;
	struct pair p = pair_open();
	const struct record r = sound(RECORD_READY);
	const unsigned before = open_fds();
	for (unsigned sent = 1; sent <= FDS_LARGEST; sent++) {
		for (size_t room = 0; room <= FD_PASS_MAX && room < sent; room++) {
			struct guarded g;
			int fds[FD_PASS_MAX + 1] = {-7, -7, -7, -7, -7};
			size_t nfds = room;
			send_raw(p.ours, &r, sizeof(r), sent);
			const int got = receive(p.theirs, &g, room ? fds : NULL, room ? &nfds : NULL);
			assert_true(got == 1 || (got == -1 && errno == EPROTO));
			assert_int_equal(fds[room], -7);
			for (size_t i = 0; got == 1 && room && i < nfds; i++)
				close(fds[i]);
			assert_int_equal(open_fds(), before);
		}
	}
	pair_close(p);
}

/* An end that went away: what it had sent comes first, then the end. */
static void test_end(void **state)
{
	(void)state;
	struct pair p = pair_open();
	const struct record r = sound(RECORD_FAILED);
	struct guarded g;
	assert_int_equal(control_send(p.theirs, &r, NULL, 0), 0); /* never read */
	assert_int_equal(control_send(p.ours, &r, NULL, 0), 0);
	close(p.ours);
	assert_int_equal(receive(p.theirs, &g, NULL, NULL), 1);
	assert_int_equal(receive(p.theirs, &g, NULL, NULL), 0);
	close(p.theirs);
}

/* Whatever comes is a record in range, an end or an error. The seed is fixed: a failure comes again. */
static void test_fuzz(void **state)
{
	(void)state;
	static unsigned char bytes[LARGEST];
	struct pair p = pair_open();
	const unsigned before = open_fds();
	srandom(8);
	for (int turn = 0; turn < 20000; turn++) {
		struct record r = sound((uint32_t)(random() % 12));
		struct guarded g;
		int fds[FD_PASS_MAX];
		size_t nfds = (size_t)random() % (FD_PASS_MAX + 1);
		const size_t len = random() % 3 ? sizeof(r) : (size_t)random() % LARGEST;
		for (size_t i = 0; i < len; i++)
			bytes[i] = (unsigned char)random();
		memcpy(bytes, &r, sizeof(r));
		for (long flips = random() % 4; flips > 0; flips--)
			bytes[(size_t)random() % sizeof(r)] = (unsigned char)random();
		send_raw(p.ours, bytes, len, (unsigned)random() % (FDS_LARGEST + 1));
		const int got = receive(p.theirs, &g, fds, &nfds);
		if (got == 1) {
			assert_true(g.r.type >= RECORD_GO && g.r.type < RECORD_TYPE_END);
			assert_true(g.r.err.kind <= ERR_BUG);
			assert_true(nfds <= FD_PASS_MAX);
			assert_non_null(memchr(g.r.err.msg, '\0', sizeof(g.r.err.msg)));
			while (nfds > 0)
				close(fds[--nfds]);
		} else {
			assert_true(got == 0 || (got == -1 && errno == EPROTO));
		}
		assert_int_equal(open_fds(), before);
	}
	pair_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),	    cmocka_unit_test(test_length),
		cmocka_unit_test(test_range),	    cmocka_unit_test(test_unterminated),
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_end),
		cmocka_unit_test(test_fuzz),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
