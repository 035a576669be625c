#include "transfer/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Spliced from here on, rather than copied through the buffer. */
enum { SPLICE_BYTES = 128 << 10 };

int reader_cut_short(struct err *e)
{
	return err_host(e, "inputs: the stream ended too early");
}

/* At least need bytes in the buffer. */
static int fill(struct reader *r, size_t need, struct err *e)
{
	if (r->end - r->begin >= need)
		return 0;
	memmove(r->buf, r->buf + r->begin, r->end - r->begin);
	r->end -= r->begin;
	r->begin = 0;
	while (r->end < need) {
		const ssize_t n = read(r->from, r->buf + r->end, STREAM_BUFFER - r->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(e, "inputs: read the stream") : reader_cut_short(e);
		r->end += (size_t)n;
	}
	return 0;
}

static int take_text(struct reader *r, char *to, size_t len, struct err *e)
{
	if (len >= PATH_MAX)
		return err_bug(e, "inputs: a name of %zu bytes", len);
	if (fill(r, len, e) < 0)
		return -1;
	memcpy(to, r->buf + r->begin, len);
	to[len] = '\0';
	r->begin += len;
	return strlen(to) == len ? 0 : err_bug(e, "inputs: a name with a NUL");
}

int reader_record(struct reader *r, struct stream_record *h, struct err *e)
{
	if (fill(r, sizeof(*h), e) < 0)
		return -1;
	memcpy(h, r->buf + r->begin, sizeof(*h));
	r->begin += sizeof(*h);
	if (take_text(r, r->name, h->name_len, e) < 0 || take_text(r, r->text, h->text_len, e) < 0)
		return -1;
	const bool path = h->type == STREAM_INPUT;
	if (!path && (strchr(r->name, '/') || strcmp(r->name, "..") == 0))
		return err_bug(e, "inputs: a name that is a path");
	return 0;
}

ssize_t reader_some(struct reader *r, uint64_t left, const char **bytes, struct err *e)
{
	if (fill(r, 1, e) < 0)
		return -1;
	const size_t there = r->end - r->begin, len = there < left ? there : (size_t)left;
	*bytes = r->buf + r->begin;
	r->begin += len;
	return (ssize_t)len;
}

bool reader_may_splice(const struct reader *r, uint64_t left)
{
	return r->begin == r->end && left >= SPLICE_BYTES;
}

ssize_t reader_splice(struct reader *r, int fd, off_t *at, uint64_t left)
{
	const size_t want = left < STREAM_CHUNK ? (size_t)left : STREAM_CHUNK;
	ssize_t n;
	do
		n = splice(r->from, NULL, fd, at, want, 0);
	while (n < 0 && errno == EINTR);
	return n;
}
