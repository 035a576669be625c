#include "network/broker/dialer.h"

#include "base/fd.h"
#include "network/broker/endpoint.h"
#include "network/egress/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The program's own end of a connected socket is chosen by the kernel; nothing is bound. */
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
	const int on = 1;
	if (t == EGRESS_TCP)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, &to.any, to.len) < 0 && errno != EINPROGRESS) {
		*sys = errno;
		return -1;
	}
	return fd_take(&fd);
}

static bool has_transport(const struct egress_rule *r, uint8_t transport)
{
	return transport == r->transport;
}

static void connect_out(const struct dialer *d, const struct dial_request *q,
			struct dial_reply *reply, int *fd)
{
	reply->refused = ADDRESS_NO_PORT;
	if (q->index >= d->rules->len || !has_transport(&d->rules->rules[q->index], q->transport))
		return;
	reply->refused = address_judge(&d->rules->rules[q->index], &q->address, q->port);
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
	else if (q->kind == DIAL_RESOLVER)
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

/* False: the parser is gone, or not itself. */
static bool serve(const struct dialer *d, unsigned char *room, size_t size)
{
	struct dial_request q;
	struct iovec parts[] = {{&q, sizeof(q)}, {room, size}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
	const ssize_t n = recvmsg(d->parser, &m, 0);
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
	return fd_send(d->parser, &reply, sizeof(reply), &fd, fd >= 0) == 0;
}

void dialer_run(const struct dialer *d)
{
	static unsigned char room[DIAL_DATAGRAM_BYTES];
	while (serve(d, room, sizeof(room)))
		;
}
