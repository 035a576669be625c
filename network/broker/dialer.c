#include "network/broker/dialer.h"

#include "base/clock.h"
#include "base/fd.h"
#include "network/broker/endpoint.h"
#include "network/egress/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { UNSENT_BYTES = 256 << 10 };

/* What is sent at once, and no more than so much in the kernel that it has not sent: a peer who
 * does not read would have it hold all of tcp_wmem for each connection. */
static void set_up_stream(int fd)
{
	const int on = 1, unsent = UNSENT_BYTES;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
}

/* Our end of a connected socket is chosen by the kernel; nothing is bound. */
static int make(const struct address *a, uint16_t port, enum egress_transport t, int *sys)
{
	struct endpoint to;
	endpoint_set(&to, a, port);
	const int type = t == EGRESS_TCP ? SOCK_STREAM : SOCK_DGRAM;
	autoclose int fd = socket(to.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		*sys = errno;
		return -1;
	}
	if (t == EGRESS_TCP)
		set_up_stream(fd);
	if (connect(fd, &to.any, to.len) < 0 && errno != EINPROGRESS) {
		*sys = errno;
		return -1;
	}
	return fd_take(&fd);
}

static enum address_verdict judge(const struct dialer *d, const struct dial_request *q)
{
	if (q->index >= d->rules->len || d->rules->rules[q->index].transport != q->transport)
		return ADDRESS_NO_PORT;
	const struct egress_rule *r = &d->rules->rules[q->index];
	const enum address_verdict v = address_judge(r, &q->address, q->port);
	if (v != ADDRESS_PERMITTED || r->target == EGRESS_BLOCK)
		return v;
	return answered_permits(d->answered, q->index, q->port, &q->address, monotonic_ns())
		       ? ADDRESS_PERMITTED
		       : ADDRESS_UNANSWERED;
}

static void connect_out(const struct dialer *d, const struct dial_request *q,
			struct dial_reply *reply, int *fd)
{
	reply->refused = judge(d, q);
	if (reply->refused == ADDRESS_PERMITTED)
		*fd = make(&q->address, q->port, (enum egress_transport)q->transport, &reply->sys);
}

static void ask_server(const struct dialer *d, const struct dial_request *q,
		       struct dial_reply *reply, int *fd)
{
	reply->refused = ADDRESS_OUTSIDE;
	if (q->index >= d->servers_len || q->transport > EGRESS_UDP)
		return;
	const struct name_server *s = &d->servers[q->index];
	const enum egress_transport t = (enum egress_transport)q->transport;
	reply->refused = ADDRESS_PERMITTED;
	*fd = make(&s->address, t == EGRESS_TCP ? s->tcp_port : s->udp_port, t, &reply->sys);
}

void dialer_answer(const struct dialer *d, const struct dial_request *q, struct dial_reply *reply,
		   int *fd)
{
	*reply = (struct dial_reply){.refused = ADDRESS_NEVER};
	*fd = -1;
	if (q->kind == DIAL_CONNECT)
		connect_out(d, q, reply, fd);
}

void dialer_answer_resolver(const struct dialer *d, const struct dial_request *q,
			    struct dial_reply *reply, int *fd)
{
	*reply = (struct dial_reply){.refused = ADDRESS_NEVER};
	*fd = -1;
	if (q->kind == DIAL_SERVER)
		ask_server(d, q, reply, fd);
}

/* The socket is in the sandbox's network namespace, where nothing but the sandbox is. What cannot
 * be sent at once is lost, as datagrams are. */
static void reply_inside(const struct dialer *d, const struct dial_request *q, void *bytes, size_t len)
{
	struct endpoint to;
	if (q->index >= d->datagram_len)
		return;
	endpoint_set_inside(&to, d->datagram[q->index], &q->address, q->port);
	endpoint_send(d->datagram[q->index], &to, &q->source, bytes, len);
}

/* ---- records: each of these is false when who sent it is gone, or not itself ---- */

static bool serve_parser(const struct dialer *d)
{
	static unsigned char room[DIAL_DATAGRAM_BYTES];
	struct dial_request q;
	struct iovec parts[] = {{&q, sizeof(q)}, {room, sizeof(room)}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
	const ssize_t n = recvmsg(d->parser.dial, &m, 0);
	if (n < 0)
		return errno == EINTR;
	if (n < (ssize_t)sizeof(q) || (m.msg_flags & MSG_TRUNC))
		return false;
	const size_t len = (size_t)n - sizeof(q);
	if (q.kind == DIAL_REPLY) {
		reply_inside(d, &q, room, len);
		return true;
	}
	struct dial_reply reply;
	autoclose int fd = -1;
	if (len != 0)
		return false;
	dialer_answer(d, &q, &reply, &fd);
	return fd_send(d->parser.dial, &reply, sizeof(reply), &fd, fd >= 0) == 0;
}

static bool serve_resolver(const struct dialer *d)
{
	struct dial_request q;
	struct dial_reply reply;
	autoclose int fd = -1;
	if (fd_recv(d->resolver.dial, &q, sizeof(q), NULL, NULL) != 1)
		return false;
	dialer_answer_resolver(d, &q, &reply, &fd);
	return fd_send(d->resolver.dial, &reply, sizeof(reply), &fd, fd >= 0) == 0;
}

/* False: there is no room for it. */
static bool send_now(int socket, const void *record, size_t len)
{
	struct iovec part = {(void *)(uintptr_t)record, len};
	const struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	return sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

static bool take_question(const struct dialer *d)
{
	struct name_question q;
	struct server_question ask;
	if (fd_recv(d->parser.names, &q, sizeof(q), NULL, NULL) != 1)
		return false;
	enum lookup_failure f = answered_ask(d->answered, d->rules, &q, &ask);
	if (f == LOOKUP_FOUND) {
		/* It may be waiting for us to take its answers. */
		if (send_now(d->resolver.names, &ask, sizeof(ask)))
			return true;
		answered_forget(d->answered, &ask);
		f = LOOKUP_TOO_MANY;
	}
	const struct name_answer refusal = {.number = q.number, .failure = f};
	return fd_send(d->parser.names, &refusal, sizeof(refusal), NULL, 0) == 0;
}

static bool take_answer(const struct dialer *d)
{
	struct server_answer a;
	struct name_answer told;
	return fd_recv(d->resolver.names, &a, sizeof(a), NULL, NULL) == 1 &&
	       answered_take(d->answered, d->rules, &a, monotonic_ns(), &told) &&
	       fd_send(d->parser.names, &told, sizeof(told), NULL, 0) == 0;
}

void dialer_run(const struct dialer *d)
{
	static bool (*const serve[])(const struct dialer *) = {serve_parser, serve_resolver,
							       take_question, take_answer};
	enum { SOCKETS = sizeof(serve) / sizeof(serve[0]) };
	struct pollfd all[SOCKETS] = {{.fd = d->parser.dial, .events = POLLIN},
				      {.fd = d->resolver.dial, .events = POLLIN},
				      {.fd = d->parser.names, .events = POLLIN},
				      {.fd = d->resolver.names, .events = POLLIN}};
	for (;;) {
		if (poll(all, SOCKETS, -1) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		for (int i = 0; i < SOCKETS; i++)
			if (all[i].revents && !serve[i](d))
				return;
	}
}
