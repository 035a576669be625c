/* Connecting out: one address after the other, each with a head start over the next, and the first
 * that answers is it (RFC 8305). All of them were judged before. */
#include "network/broker/broker.h"

#include <errno.h>
#include <sys/socket.h>

static void on_attempt(struct broker *b, struct watch *w, uint32_t events);

static bool pending(const struct connection *c)
{
	for (size_t i = 0; i < c->tried; i++)
		if (c->attempts[i].watch.fd >= 0)
			return true;
	return false;
}

static bool start_one(struct connection *c, size_t i)
{
	struct broker *b = c->broker;
	const struct dial_request q = {.kind = DIAL_CONNECT,
				       .index = (uint32_t)(c->rule - b->p->rules->rules),
				       .transport = EGRESS_TCP,
				       .port = c->port,
				       .address = c->candidates[i]};
	struct dial_reply reply;
	struct attempt *a = &c->attempts[i];
	*a = (struct attempt){.watch = {.fd = dial(b, &q, &reply), .ready = on_attempt, .owner = c},
			      .address = c->candidates[i]};
	c->address = a->address;
	c->has_address = true;
	if (a->watch.fd < 0) {
		c->last_sys = reply.sys;
		return false;
	}
	watch_add(b, &a->watch, EPOLLOUT);
	return true;
}

/* The next that the kernel lets begin at all. */
static void start_next(struct connection *c)
{
	bool started = false;
	while (!started && c->tried < c->candidates_len)
		started = start_one(c, c->tried++);
	if (started) {
		c->next_attempt_ns = c->tried < c->candidates_len ? in_ms(c->broker, STAGGER_MS)
								  : NEVER;
		wake_at(c->broker, c->next_attempt_ns);
	} else if (!pending(c)) {
		connection_cut(c, EGRESS_BROKEN, "no connection", c->last_sys);
	}
}

void attempts_begin(struct connection *c)
{
	c->state = CONN_CONNECTING;
	c->tried = 0;
	start_next(c);
}

void attempts_time(struct connection *c)
{
	if (c->broker->now_ns >= c->next_attempt_ns)
		start_next(c);
	else
		wake_at(c->broker, c->next_attempt_ns);
}

void attempts_end(struct connection *c)
{
	for (size_t i = 0; i < c->tried; i++)
		watch_close(&c->attempts[i].watch);
	c->tried = 0;
}

static void connected(struct connection *c, struct attempt *a)
{
	c->address = a->address;
	c->out.watch.fd = a->watch.fd;
	a->watch.fd = -1;
	attempts_end(c);
	c->out.readable = c->out.writable = true;
	watch_change(c->broker, &c->out.watch, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
	connection_connected(c);
}

static void on_attempt(struct broker *b, struct watch *w, uint32_t events)
{
	struct attempt *a = (struct attempt *)w; /* its first member */
	struct connection *c = w->owner;
	int error = 0;
	socklen_t len = sizeof(error);
	(void)b;
	(void)events;
	if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error == 0) {
		connected(c, a);
		return;
	}
	c->last_sys = error;
	c->address = a->address;
	watch_close(w);
	start_next(c);
}
