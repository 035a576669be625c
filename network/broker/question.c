/* The resolver that the program sees: it knows the rules, and nothing else. */
#include "network/broker/broker.h"

#include "network/egress/dns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	STREAMS_MAX = 16, /* more are closed at once */
	STREAM_IDLE_MS = 10000,
	LENGTH_BYTES = 2,
};

struct stream {
	struct watch watch;
	int64_t deadline_ns;
	size_t len;
	unsigned char *bytes; /* LENGTH_BYTES + DNS_QUERY_BYTES_MAX */
};

struct question_set {
	struct stream streams[STREAMS_MAX];
};

struct question_set *questions_open(void)
{
	struct question_set *s = calloc(1, sizeof(*s));
	for (int i = 0; s && i < STREAMS_MAX; i++)
		s->streams[i].watch.fd = -1;
	return s;
}

static void deny(struct broker *b, const struct dns_query *q, const char *reason)
{
	char shown[NAME_SHOWN_BYTES] = "";
	if (!q->is_host && q->wire_len > 0)
		name_show_wire(shown, q->question, q->wire_len);
	report_fact(b, &(struct fact){.verdict = EGRESS_DENIED,
				      .route = EGRESS_BY_DNS,
				      .name = q->is_host ? q->name.text : shown,
				      .reason = reason});
}

static size_t decide(struct broker *b, const struct dns_query *q, unsigned char *out)
{
	unsigned char address[4];
	if (!q->is_host || !name_allowed(&q->name, b->p->rules)) {
		deny(b, q, "no rule names it");
		return dns_write_reply(out, q, DNS_NXDOMAIN, NULL);
	}
	if (q->rcode != DNS_NOERROR)
		return dns_write_reply(out, q, q->rcode, NULL);
	if (q->type != DNS_TYPE_A)
		return dns_write_reply(out, q, DNS_NOERROR, NULL);
	if (!synthetic_address(&b->names, &q->name, address)) {
		deny(b, q, "too many names were asked for");
		return dns_write_reply(out, q, DNS_SERVFAIL, NULL);
	}
	return dns_write_reply(out, q, DNS_NOERROR, address);
}

/* The size of the answer; 0: there is none. */
static size_t answer(struct broker *b, const unsigned char *bytes, size_t len,
		     unsigned char out[DNS_REPLY_BYTES_MAX])
{
	struct dns_query q;
	switch (dns_read_query(&q, bytes, len)) {
	case DNS_QUESTION:
		return decide(b, &q, out);
	case DNS_REJECT:
		/* Of another class, or a zone's transfer, it is a question all the same. */
		if (q.rcode == DNS_REFUSED)
			return decide(b, &q, out);
		return dns_write_reply(out, &q, q.rcode, NULL);
	case DNS_DROP:
		break;
	}
	return 0;
}

void questions_take(struct broker *b, const struct datagram *d)
{
	unsigned char out[DNS_REPLY_BYTES_MAX];
	const size_t len = answer(b, d->bytes, d->len, out);
	const struct dial_request q = {.kind = DIAL_REPLY,
				       .index = d->socket->index,
				       .transport = EGRESS_UDP,
				       .port = d->from_port,
				       .address = d->from,
				       .source = d->to};
	if (len > 0)
		dial_answer(b, &q, out, len);
}

/* ---- TCP ---- */

static void close_stream(struct stream *s)
{
	watch_close(&s->watch);
	free(s->bytes);
	s->bytes = NULL;
}

/* Every whole message in the buffer. False: cut it. */
static bool answer_all(struct broker *b, struct stream *s)
{
	int frame;
	while ((frame = dns_tcp_frame(s->bytes, s->len)) > 0 && (size_t)frame <= s->len) {
		unsigned char out[LENGTH_BYTES + DNS_REPLY_BYTES_MAX];
		const size_t len = answer(b, s->bytes + LENGTH_BYTES, (size_t)frame - LENGTH_BYTES,
					  out + LENGTH_BYTES);
		out[0] = (unsigned char)(len >> 8);
		out[1] = (unsigned char)len;
		/* An answer that finds no room is for somebody who does not read. */
		if (len == 0 || send(s->watch.fd, out, LENGTH_BYTES + len, MSG_NOSIGNAL) !=
					(ssize_t)(LENGTH_BYTES + len))
			return false;
		s->len -= (size_t)frame;
		memmove(s->bytes, s->bytes + frame, s->len);
	}
	return frame >= 0;
}

static void on_stream(struct broker *b, struct watch *w, uint32_t events)
{
	struct stream *s = w->owner;
	(void)events;
	const ssize_t n = recv(w->fd, s->bytes + s->len,
			       LENGTH_BYTES + DNS_QUERY_BYTES_MAX - s->len, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0)
		s->len += (size_t)n;
	if (n <= 0 || !answer_all(b, s)) {
		close_stream(s);
		return;
	}
	s->deadline_ns = in_ms(b, STREAM_IDLE_MS);
	wake_at(b, s->deadline_ns);
}

void questions_accept(struct broker *b, int fd)
{
	struct stream *s = b->questions->streams, *end = s + STREAMS_MAX;
	while (s < end && s->watch.fd >= 0)
		s++;
	unsigned char *bytes = s < end ? malloc(LENGTH_BYTES + DNS_QUERY_BYTES_MAX) : NULL;
	if (!bytes) {
		close(fd);
		return;
	}
	*s = (struct stream){.watch = {.fd = fd, .ready = on_stream, .owner = s},
			     .deadline_ns = in_ms(b, STREAM_IDLE_MS),
			     .bytes = bytes};
	watch_add(b, &s->watch, EPOLLIN);
	wake_at(b, s->deadline_ns);
}

void questions_time(struct broker *b)
{
	for (int i = 0; i < STREAMS_MAX; i++) {
		struct stream *s = &b->questions->streams[i];
		if (s->watch.fd >= 0 && b->now_ns >= s->deadline_ns)
			close_stream(s);
		else if (s->watch.fd >= 0)
			wake_at(b, s->deadline_ns);
	}
}
