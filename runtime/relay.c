#include "runtime/relay.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { END_OF_TRANSMISSION = 4 }; /* VEOF, as a terminal's line discipline takes it */

/* The same file by a description of our own, whose flags are ours to set. -1 where that is not allowed. */
static int reopen(int fd, int flags)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int outlet_open(struct outlet *o, int fd, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "stdio: stat fd %d", fd);
	enum outlet_kind kind = OUTLET_FILE;
	autoclose int own = -1;
	if (S_ISSOCK(st.st_mode)) {
		kind = OUTLET_SOCKET;
	} else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		own = reopen(fd, O_WRONLY);
		kind = own >= 0 ? OUTLET_NONBLOCK : OUTLET_CAREFUL;
	}
	if (own < 0)
		own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return err_sys(e, "stdio: duplicate fd %d", fd);
	o->fd = fd_take(&own);
	o->kind = kind;
	return 0;
}

void outlet_close(struct outlet *o)
{
	fd_close(&o->fd);
	free(o->buf);
	o->buf = NULL;
	o->len = 0;
}

static bool outlet_buffer(struct outlet *o)
{
	if (!o->buf)
		o->buf = malloc(o->size = RELAY_BYTES);
	return o->buf;
}

size_t outlet_room(const struct outlet *o)
{
	return o->broken ? 0 : (o->buf ? o->size : RELAY_BYTES) - o->head - o->len;
}

bool outlet_put(struct outlet *o, const char *data, size_t len)
{
	if (!outlet_buffer(o) || outlet_room(o) < len)
		return false;
	memcpy(o->buf + o->head + o->len, data, len);
	o->len += len;
	return true;
}

bool outlet_put_last(struct outlet *o, const char *data, size_t len)
{
	if (!outlet_buffer(o) || o->broken)
		return false;
	if (outlet_room(o) < len) {
		char *more = realloc(o->buf, o->head + o->len + len);
		if (!more)
			return false;
		o->buf = more;
		o->size = o->head + o->len + len;
	}
	return outlet_put(o, data, len);
}

static ssize_t outlet_write(const struct outlet *o)
{
	const char *data = o->buf + o->head;
	if (o->kind == OUTLET_SOCKET)
		return send(o->fd, data, o->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (o->kind == OUTLET_CAREFUL)
		return fd_write_now(o->fd, data, o->len);
	return write(o->fd, data, o->len);
}

size_t outlet_flush(struct outlet *o)
{
	size_t total = 0;
	while (o->len > 0 && !o->broken) {
		ssize_t n = outlet_write(o);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			o->broken = errno;
			break;
		}
		o->head += (size_t)n;
		o->len -= (size_t)n;
		total += (size_t)n;
	}
	if (o->len == 0)
		o->head = 0;
	return total;
}

bool outlet_reader_left(const struct outlet *o)
{
	/* EIO is how a terminal says that it hung up, and a disk that it is broken. */
	return o->broken == EPIPE || o->broken == ECONNRESET ||
	       (o->broken == EIO && o->kind != OUTLET_FILE);
}

int stream_open(struct stream *s, int from, int to, uint64_t limit, struct err *e)
{
	if (outlet_open(&s->to, to, e) < 0)
		return -1;
	s->from = from;
	s->limit = limit;
	SHA256Init(&s->sha);
	return 0;
}

void stream_close(struct stream *s)
{
	fd_close(&s->from);
	outlet_close(&s->to);
}

/* What could not be read is lost, and the stream is not whole. */
static size_t stream_fail(struct stream *s, int sys)
{
	s->failed = sys;
	s->truncated = true;
	fd_close(&s->from);
	return 0;
}

size_t stream_pump(struct stream *s, bool *over_limit)
{
	struct outlet *o = &s->to;
	char excess;
	*over_limit = false;
	if (!outlet_buffer(o))
		return stream_fail(s, ENOMEM);
	const bool full = s->bytes == s->limit; /* one byte more is read, to know that there is one */
	size_t want = full ? 1 : outlet_room(o);
	if (!full && s->limit - s->bytes < want)
		want = (size_t)(s->limit - s->bytes);
	ssize_t n = read(s->from, full ? &excess : o->buf + o->head + o->len, want);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && !(s->is_tty && errno == EIO))
		return stream_fail(s, errno);
	if (n <= 0) {
		fd_close(&s->from);
		return 0;
	}
	if (full) {
		*over_limit = s->truncated = true;
		return (size_t)n;
	}
	SHA256Update(&s->sha, (const uint8_t *)o->buf + o->head + o->len, (size_t)n);
	o->len += (size_t)n;
	s->bytes += (uint64_t)n;
	outlet_flush(o);
	return (size_t)n;
}

void stream_report(struct stream *s, struct stream_result *r)
{
	r->relayed = true;
	r->bytes = (int64_t)s->bytes;
	r->truncated = s->truncated || s->to.len > 0 || s->to.broken;
	SHA256End(&s->sha, r->sha256);
}

int feed_open(struct feed *f, int from, bool owned, int to, struct err *e)
{
	struct stat st;
	f->to.fd = to;
	f->to.kind = OUTLET_NONBLOCK;
	if (fstat(from, &st) < 0)
		return err_sys(e, "stdio: stat stdin");
	int own = -1;
	if (!owned && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		own = reopen(from, O_RDONLY);
	f->from_socket = S_ISSOCK(st.st_mode);
	f->from_owned = owned || own >= 0;
	f->from = own >= 0 ? own : from;
	return 0;
}

static void feed_stop(struct feed *f)
{
	if (f->from_owned)
		fd_close(&f->from);
	f->from = -1;
}

void feed_close(struct feed *f)
{
	feed_stop(f);
	outlet_close(&f->to);
}

static size_t feed_fail(struct feed *f, int sys)
{
	f->failed = sys;
	feed_stop(f);
	return 0;
}

size_t feed_pump(struct feed *f)
{
	struct outlet *o = &f->to;
	if (!outlet_buffer(o))
		return feed_fail(f, ENOMEM);
	size_t want = outlet_room(o);
	char *at = o->buf + o->head + o->len;
	ssize_t n = f->from_socket ? recv(f->from, at, want, MSG_DONTWAIT) : read(f->from, at, want);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return feed_fail(f, errno);
	if (n == 0) {
		feed_stop(f);
		const char eof = END_OF_TRANSMISSION;
		if (f->is_tty)
			outlet_put(o, &eof, 1);
	} else {
		o->len += (size_t)n;
	}
	outlet_flush(o);
	return n > 0 ? (size_t)n : 0;
}

void feed_settle(struct feed *f)
{
	/* A pty's master serves the output too, and is not the feed's to close. */
	if (f->from < 0 && !f->is_tty && (f->to.len == 0 || f->to.broken))
		outlet_close(&f->to);
}
