/* Bytes from one side to the other: a short exchange is copied through one buffer of the process, a
 * long one goes through a pipe by splice(2), which moves pages. What the destination does not take
 * waits in at most one buffer or pipe, and nothing more is read until that is gone: back-pressure. */
#include "network/broker/broker.h"

#include "spec/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	LONG_BYTES = 128 << 10, /* a flow of more than that is long */
	PIPE_BYTES = 256 << 10,
};

void flow_init(struct flow *f)
{
	*f = (struct flow){.pipe = {-1, -1}};
}

void flow_close(struct flow *f)
{
	free(f->held);
	for (int i = 0; i < 2; i++)
		if (f->pipe[i] >= 0)
			close(f->pipe[i]);
	f->held = NULL;
	f->held_len = f->in_pipe = 0;
	f->pipe[0] = f->pipe[1] = -1;
}

size_t relay_allowance(const struct broker *b, size_t want)
{
	return b->left_bytes < want ? (size_t)b->left_bytes : want;
}

void relay_count(struct broker *b, struct flow *f, size_t len)
{
	f->bytes += len;
	if (b->left_bytes != LIMIT_NONE)
		b->left_bytes -= len;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static int write_held(struct flow *f, struct side *to)
{
	const ssize_t n = send(to->watch.fd, f->held + f->held_at, f->held_len, MSG_NOSIGNAL);
	if (n < 0) {
		to->writable = false;
		return would_block() ? 0 : -1;
	}
	f->held_at += (size_t)n;
	f->held_len -= (size_t)n;
	if (f->held_len > 0)
		return 1;
	free(f->held);
	f->held = NULL;
	return 1;
}

static int empty_pipe(struct flow *f, struct side *to)
{
	const ssize_t n = splice(f->pipe[0], NULL, to->watch.fd, NULL, f->in_pipe,
				 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n <= 0) {
		to->writable = false;
		return n < 0 && would_block() ? 0 : -1;
	}
	f->in_pipe -= (size_t)n;
	return 1;
}

int relay_flush(struct flow *f, struct side *to)
{
	while (f->held_len > 0 || f->in_pipe > 0) {
		if (!to->writable)
			return 0;
		const int rc = f->held_len > 0 ? write_held(f, to) : empty_pipe(f, to);
		if (rc <= 0)
			return rc;
	}
	return 1;
}

/* Copied aside: what the destination did not take. */
static bool hold(struct flow *f, const unsigned char *bytes, size_t len)
{
	f->held = malloc(len);
	if (!f->held)
		return false;
	memcpy(f->held, bytes, len);
	f->held_at = 0;
	f->held_len = len;
	return true;
}

static ssize_t copy_some(struct broker *b, struct flow *f, struct side *from, struct side *to,
			 size_t len)
{
	const ssize_t n = recv(from->watch.fd, b->chunk, len, 0);
	if (n <= 0)
		return n;
	ssize_t sent = send(to->watch.fd, b->chunk, (size_t)n, MSG_NOSIGNAL);
	if (sent < 0 && !would_block())
		return -1;
	if (sent < n)
		to->writable = false;
	if (sent < 0)
		sent = 0;
	if (sent < n && !hold(f, b->chunk + sent, (size_t)(n - sent))) {
		errno = ENOMEM;
		return -1;
	}
	/* A stream that gave less than there was room for has no more for now; what comes later,
	 * its end included, is another event. */
	if ((size_t)n < len && !from->ending)
		from->readable = false;
	return n;
}

static bool has_pipe(struct flow *f)
{
	if (f->pipe[0] >= 0)
		return true;
	if (pipe2(f->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		f->pipe[0] = f->pipe[1] = -1;
		return false;
	}
	fcntl(f->pipe[1], F_SETPIPE_SZ, PIPE_BYTES); /* without it there is less in one go */
	return true;
}

static ssize_t splice_some(struct flow *f, const struct side *from, size_t len)
{
	const ssize_t n = splice(from->watch.fd, NULL, f->pipe[1], NULL, len,
				 SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n > 0)
		f->in_pipe += (size_t)n;
	return n;
}

/* There is room for no byte more: is there one? */
static ssize_t peek(const struct side *from)
{
	char byte;
	return recv(from->watch.fd, &byte, 1, MSG_PEEK);
}

static ssize_t take(struct broker *b, struct flow *f, struct side *from, struct side *to, size_t len)
{
	if (len == 0)
		return peek(from);
	if (f->bytes < LONG_BYTES || !has_pipe(f))
		return copy_some(b, f, from, to, len < RELAY_CHUNK_BYTES ? len : RELAY_CHUNK_BYTES);
	return splice_some(f, from, len);
}

static enum relay_end shut(struct flow *f, const struct side *to)
{
	if (!f->shut)
		shutdown(to->watch.fd, SHUT_WR);
	f->shut = true;
	return RELAY_STALLED;
}

enum relay_end relay_move(struct broker *b, struct flow *f, struct side *from, struct side *to,
			  uint64_t *limit)
{
	for (int round = 0; round < RELAY_ROUNDS; round++) {
		const int flushed = relay_flush(f, to);
		if (flushed <= 0)
			return flushed < 0 ? RELAY_BROKEN : RELAY_STALLED;
		if (f->ended)
			return limit ? RELAY_STALLED : shut(f, to);
		if (!from->readable || (limit && *limit == 0))
			return RELAY_STALLED;
		const size_t want = limit && *limit < PIPE_BYTES ? (size_t)*limit : PIPE_BYTES;
		const size_t len = relay_allowance(b, want);
		const ssize_t n = take(b, f, from, to, len);
		if (n > 0 && len == 0)
			return RELAY_LIMIT;
		if (n > 0) {
			relay_count(b, f, (size_t)n);
			if (limit)
				*limit -= (uint64_t)n;
		} else if (n == 0) {
			f->ended = true;
		} else if (would_block()) {
			from->readable = false;
		} else {
			return RELAY_BROKEN;
		}
	}
	return RELAY_MORE;
}
