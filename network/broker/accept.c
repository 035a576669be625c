#include "network/broker/broker.h"

#include "base/fd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	ACCEPTS = 1,	/* the set is level-triggered for these, so that more are another event */
	DATAGRAMS = 16, /* of one socket, then others have their turn */
};

static bool is_resolver(const struct address *a)
{
	struct address own;
	address_from_ipv4(&own, egress_resolver_address);
	return memcmp(a, &own, sizeof(own)) == 0;
}

/* RST rather than an end: nobody answered. */
static void refuse(struct broker *b, int fd, const struct dialled *to, const char *reason)
{
	const struct linger at_once = {.l_onoff = 1};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	report_fact(b, &(struct fact){.verdict = EGRESS_DENIED,
				      .rule = to->rule,
				      .name = to->name ? to->name->text : NULL,
				      .address = to->name ? NULL : &to->address,
				      .port = to->port,
				      .reason = reason});
}

bool find_rule(const struct broker *b, struct dialled *to, enum egress_transport t)
{
	to->name = synthetic_name(&b->names, &to->address);
	to->rule = to->name ? name_find_rule(to->name, b->p->rules, t, to->port)
			    : address_find_rule(&to->address, b->p->rules, t, to->port);
	return to->rule != NULL;
}

static void take(struct broker *b, int fd, uint16_t port)
{
	struct endpoint own = {.len = sizeof(own.v6)};
	struct dialled to = {.port = port};
	uint16_t own_port;
	if (getsockname(fd, &own.any, &own.len) < 0 || !endpoint_get(&own, &to.address, &own_port)) {
		close(fd); /* it was reset before it was accepted */
		return;
	}
	if (port == EGRESS_DNS_PORT && is_resolver(&to.address))
		questions_accept(b, fd);
	else if (!find_rule(b, &to, EGRESS_TCP))
		refuse(b, fd, &to, "no rule allows it");
	else if (b->limit_reached)
		refuse(b, fd, &to, "--egress-bytes is used up");
	else if (b->waiting == WAITING_MAX || !connection_open(b, fd, &to))
		refuse(b, fd, &to, "too many connections at once");
}

void on_listener(struct broker *b, struct watch *w, uint32_t events)
{
	const struct sandbox_socket *s = w->owner;
	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		const int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			take(b, fd, s->port);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			pause_accepting(b);
		if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

void on_datagram(struct broker *b, struct watch *w, uint32_t events)
{
	const struct sandbox_socket *s = w->owner;
	(void)events;
	for (int i = 0; i < DATAGRAMS; i++) {
		struct datagram d = {.socket = s, .bytes = b->datagram};
		struct endpoint from;
		const ssize_t n = endpoint_receive(w->fd, &from, &d.to, d.bytes, sizeof(b->datagram));
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 || !endpoint_get(&from, &d.from, &d.from_port))
			continue;
		d.len = (size_t)n;
		if (s->port == EGRESS_DNS_PORT && is_resolver(&d.to))
			questions_take(b, &d);
		else
			datagrams_take(b, &d);
	}
}
