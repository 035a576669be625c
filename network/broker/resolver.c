/* The host's name servers, asked by c-ares over sockets that the dialer makes.
 *
 * c-ares calls the functions of struct ares_socket_functions with a handle of ours, which stands for
 * nothing until it says whom it wants to connect to. It reads /etc/resolv.conf when the channel is
 * made, before the jail, and no file afterwards: names are absolute, and only DNS is asked.
 *
 * An answer is judged as a whole, for one rule: an address that may not be connected to refuses the
 * name. What was judged is kept for as long as the answer lives (five minutes at most), and what is
 * connected to comes out of here, so that a second answer with another address is a second judgement.
 */
#include "network/broker/broker.h"

#include <ares.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	SOCKETS_MAX = 32,
	TRY_MS = 1000, /* for the first round of servers, twice as much for each that follows */
	LIVES_MAX_S = 300,
	FAILURE_LIVES_MS = 2000,
};

/* What c-ares takes for a socket: its handle is the index and one, because 0 looks like a mistake. */
struct handle {
	bool used;
	struct watch watch; /* -1: not connected */
	int type;
};

struct lookup {
	bool used, over, asking;
	struct resolver *resolver;
	struct name name;
	const struct egress_rule *rule;
	uint16_t port;
	int64_t asked_ns, until_ns;
	struct answer answer;
};

struct resolver {
	ares_channel channel;
	struct broker *broker;
	struct handle handles[SOCKETS_MAX];
	struct name_server servers[NAME_SERVERS_MAX];
	size_t servers_len;
	struct lookup lookups[LOOKUPS_MAX];
};

/* ---- sockets for c-ares ---- */

static struct handle *handle_of(struct resolver *r, ares_socket_t s)
{
	return s >= 1 && s <= SOCKETS_MAX && r->handles[s - 1].used ? &r->handles[s - 1] : NULL;
}

static void on_server(struct broker *b, struct watch *w, uint32_t events)
{
	struct resolver *r = b->p->resolver;
	const struct handle *h = w->owner;
	const ares_socket_t s = (ares_socket_t)(h - r->handles) + 1;
	const bool broken = events & (EPOLLERR | EPOLLHUP);
	ares_process_fd(r->channel, events & EPOLLIN || broken ? s : ARES_SOCKET_BAD,
			events & EPOLLOUT || broken ? s : ARES_SOCKET_BAD);
	resolver_time(r);
}

static ares_socket_t make(int family, int type, int protocol, void *arg)
{
	struct resolver *r = arg;
	(void)family;
	(void)protocol;
	for (int i = 0; i < SOCKETS_MAX; i++) {
		struct handle *h = &r->handles[i];
		if (h->used)
			continue;
		*h = (struct handle){.used = true,
				     .watch = {.fd = -1, .ready = on_server, .owner = h},
				     .type = type};
		return i + 1;
	}
	errno = EMFILE;
	return ARES_SOCKET_BAD;
}

static int drop(ares_socket_t s, void *arg)
{
	struct handle *h = handle_of(arg, s);
	if (!h)
		return -1;
	watch_close(&h->watch);
	h->used = false;
	return 0;
}

static int server_index(const struct resolver *r, const struct sockaddr *to, ares_socklen_t len)
{
	struct endpoint e = {.len = len};
	struct address a;
	uint16_t port;
	if (len > sizeof(e.v6))
		return -1;
	memcpy(&e.v6, to, len);
	if (!endpoint_get(&e, &a, &port))
		return -1;
	for (size_t i = 0; i < r->servers_len; i++)
		if (memcmp(&r->servers[i].address, &a, sizeof(a)) == 0)
			return (int)i;
	return -1;
}

static int join(ares_socket_t s, const struct sockaddr *to, ares_socklen_t len, void *arg)
{
	struct resolver *r = arg;
	struct handle *h = handle_of(r, s);
	const int server = server_index(r, to, len);
	struct dial_reply reply;
	if (!h || server < 0) {
		errno = EINVAL;
		return -1;
	}
	const struct dial_request q = {.kind = DIAL_RESOLVER,
				       .index = (uint32_t)server,
				       .transport = h->type == SOCK_STREAM ? EGRESS_TCP : EGRESS_UDP};
	h->watch.fd = dial(r->broker, &q, &reply);
	if (h->watch.fd < 0) {
		errno = reply.sys ? reply.sys : ENETUNREACH;
		return -1;
	}
	watch_add(r->broker, &h->watch, 0);
	if (h->type != SOCK_STREAM)
		return 0;
	errno = EINPROGRESS;
	return -1;
}

static ares_ssize_t take(ares_socket_t s, void *bytes, size_t len, int flags, struct sockaddr *from,
			 ares_socklen_t *from_len, void *arg)
{
	const struct handle *h = handle_of(arg, s);
	if (!h || h->watch.fd < 0) {
		errno = EBADF;
		return -1;
	}
	return recvfrom(h->watch.fd, bytes, len, flags, from, from_len);
}

static ares_ssize_t put(ares_socket_t s, const struct iovec *parts, int len, void *arg)
{
	const struct handle *h = handle_of(arg, s);
	if (!h || h->watch.fd < 0) {
		errno = EBADF;
		return -1;
	}
	return writev(h->watch.fd, parts, len);
}

static const struct ares_socket_functions functions = {make, drop, join, take, put};

static void on_state(void *arg, ares_socket_t s, int readable, int writable)
{
	struct resolver *r = arg;
	struct handle *h = handle_of(r, s);
	if (h && h->watch.fd >= 0)
		watch_change(r->broker, &h->watch,
			     (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U));
}

/* ---- the channel ---- */

static void take_servers(struct resolver *r)
{
	struct ares_addr_port_node *all = NULL;
	r->servers_len = 0;
	if (ares_get_servers_ports(r->channel, &all) != ARES_SUCCESS)
		return;
	for (const struct ares_addr_port_node *n = all; n && r->servers_len < NAME_SERVERS_MAX;
	     n = n->next) {
		struct name_server *s = &r->servers[r->servers_len++];
		if (n->family == AF_INET)
			address_from_ipv4(&s->address, (const unsigned char *)&n->addr.addr4);
		else
			address_from_ipv6(&s->address, (const unsigned char *)&n->addr.addr6);
		s->udp_port = n->udp_port ? (uint16_t)n->udp_port : EGRESS_DNS_PORT;
		s->tcp_port = n->tcp_port ? (uint16_t)n->tcp_port : EGRESS_DNS_PORT;
	}
	ares_free_data(all);
}

/* A name whose A is there and whose AAAA never comes is known to have no more than that when c-ares
 * gives up, which has to be before CONNECT_MS: 7 s for one server, 6 and 9 for two and three. */
static int tries_for(size_t servers)
{
	return servers <= 1 ? 3 : servers <= 3 ? 2 : 1;
}

/* Without EDNS, as glibc asks: there are servers that drop or refuse it, and an answer beyond 512
 * bytes comes by TCP. */
static int open_channel(struct resolver *r, int tries)
{
	char lookups[] = "b";
	struct ares_options o =
		{.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
		 .timeout = TRY_MS,
		 .tries = tries,
		 .lookups = lookups,
		 .ndomains = 0, /* whatever resolv.conf says: a denied name would be asked for */
		 .sock_state_cb = on_state,
		 .sock_state_cb_data = r};
	const int rc = ares_init_options(&r->channel, &o,
					 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
						 ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS |
						 ARES_OPT_SOCK_STATE_CB);
	if (rc == ARES_SUCCESS) {
		ares_set_socket_functions(r->channel, &functions, r);
		take_servers(r);
	}
	return rc;
}

/* How many servers there are is known when the channel is made, and not to be changed then. */
static int open_fitting_channel(struct resolver *r)
{
	const int rc = open_channel(r, tries_for(1));
	if (rc != ARES_SUCCESS || r->servers_len <= 1)
		return rc;
	const int tries = tries_for(r->servers_len);
	ares_destroy(r->channel);
	return open_channel(r, tries);
}

struct resolver *resolver_open(struct err *e)
{
	struct resolver *r = calloc(1, sizeof(*r));
	if (!r || ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) {
		err_host(e, "egress: out of memory for the resolver");
		free(r);
		return NULL;
	}
	const int rc = open_fitting_channel(r);
	if (rc != ARES_SUCCESS) {
		err_host(e, "egress: read /etc/resolv.conf: %s", ares_strerror(rc));
		free(r);
		return NULL;
	}
	return r;
}

size_t resolver_servers(const struct resolver *r, struct name_server servers[NAME_SERVERS_MAX])
{
	memcpy(servers, r->servers, r->servers_len * sizeof(*servers));
	return r->servers_len;
}

int resolver_attach(struct resolver *r, struct broker *b)
{
	r->broker = b;
	return 0;
}

void resolver_time(struct resolver *r)
{
	struct timeval left;
	ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	if (ares_timeout(r->channel, NULL, &left))
		wake_at(r->broker,
			in_ms(r->broker, (int64_t)left.tv_sec * 1000 + left.tv_usec / 1000 + 1));
}

/* ---- lookups ---- */

static const char *failure_text(int status)
{
	switch (status) {
	case ARES_ENOTFOUND:
		return "the name does not exist";
	case ARES_ENODATA:
		return "the name has no address";
	case ARES_ETIMEOUT:
	case ARES_ECONNREFUSED: /* also what c-ares makes of SERVFAIL by each of them */
		return "the name servers do not answer";
	case ARES_ESERVFAIL:
	case ARES_EREFUSED:
	case ARES_ENOTIMP:
		return "the name servers do not tell";
	default:
		return "the name servers' answer cannot be read";
	}
}

static bool address_of(const struct ares_addrinfo_node *n, struct address *a)
{
	struct endpoint e = {.len = n->ai_addrlen};
	uint16_t port;
	if (n->ai_addrlen > sizeof(e.v6))
		return false;
	memcpy(&e.v6, n->ai_addr, n->ai_addrlen);
	return endpoint_get(&e, a, &port);
}

/* All are judged; of those there are too many of, the first are tried. Returns the shortest life. */
static int judge(struct lookup *l, const struct ares_addrinfo *info, struct address of[2][8],
		 size_t len[2])
{
	int lives_s = LIVES_MAX_S;
	for (const struct ares_addrinfo_node *n = info->nodes; n; n = n->ai_next) {
		struct address a;
		if (!address_of(n, &a))
			continue;
		const enum address_verdict v = address_judge(l->rule, &a, l->port);
		if (v != ADDRESS_PERMITTED && l->answer.verdict == ADDRESS_PERMITTED) {
			l->answer.verdict = v;
			l->answer.bad = a;
		}
		const int ipv4 = address_is_ipv4(&a);
		if (len[ipv4] < 8)
			of[ipv4][len[ipv4]++] = a;
		if (n->ai_ttl < lives_s)
			lives_s = n->ai_ttl;
	}
	return lives_s > 1 ? lives_s : 1;
}

/* IPv6 first, then by turns (RFC 8305 4). */
static void interleave(struct answer *a, struct address of[2][8], const size_t len[2])
{
	size_t at[2] = {0, 0};
	int ipv4 = 0;
	while (a->len < LOOKUP_ADDRESSES_MAX && (at[0] < len[0] || at[1] < len[1])) {
		if (at[ipv4] < len[ipv4])
			a->addresses[a->len++] = of[ipv4][at[ipv4]++];
		ipv4 = !ipv4;
	}
}

static void tell(struct broker *b, int lookup)
{
	for (size_t i = 0; i < CONNECTIONS_MAX + WAITING_MAX; i++) {
		struct connection *c = &b->connections[i];
		if (c->state == CONN_RESOLVING && c->lookup == lookup)
			connection_resolved(c);
	}
	datagrams_resolved(b, lookup);
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	struct lookup *l = arg;
	struct resolver *r = l->resolver;
	struct address of[2][8];
	size_t len[2] = {0, 0};
	(void)timeouts;
	l->over = true;
	l->answer = (struct answer){.verdict = ADDRESS_PERMITTED};
	l->until_ns = in_ms(r->broker, FAILURE_LIVES_MS);
	if (status != ARES_SUCCESS) {
		l->answer.failure = failure_text(status);
	} else {
		l->until_ns = in_ms(r->broker, (int64_t)judge(l, info, of, len) * 1000);
		interleave(&l->answer, of, len);
		if (l->answer.len == 0)
			l->answer.failure = failure_text(ARES_ENODATA);
	}
	if (info)
		ares_freeaddrinfo(info);
	if (!l->asking)
		tell(r->broker, (int)(l - r->lookups));
}

static struct lookup *known(struct resolver *r, const struct name *n,
			    const struct egress_rule *rule, uint16_t port)
{
	for (int i = 0; i < LOOKUPS_MAX; i++) {
		struct lookup *l = &r->lookups[i];
		const bool lives = l->used && (!l->over || r->broker->now_ns < l->until_ns);
		if (lives && l->rule == rule && l->port == port && name_equal(&l->name, n))
			return l;
	}
	return NULL;
}

/* One that is free, or the oldest that is over: whoever waited for it was told. */
static struct lookup *room(struct resolver *r)
{
	struct lookup *oldest = NULL;
	for (int i = 0; i < LOOKUPS_MAX; i++) {
		struct lookup *l = &r->lookups[i];
		if (!l->used)
			return l;
		if (l->over && (!oldest || l->asked_ns < oldest->asked_ns))
			oldest = l;
	}
	return oldest;
}

int resolver_ask(struct resolver *r, const struct name *name, const struct egress_rule *rule,
		 uint16_t port)
{
	const struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT,
						  .ai_family = AF_UNSPEC,
						  .ai_socktype = SOCK_STREAM};
	struct lookup *l = known(r, name, rule, port);
	if (l)
		return (int)(l - r->lookups);
	l = room(r);
	if (!l)
		return -1;
	*l = (struct lookup){.used = true,
			     .asking = true,
			     .resolver = r,
			     .name = *name,
			     .rule = rule,
			     .port = port,
			     .asked_ns = r->broker->now_ns};
	ares_getaddrinfo(r->channel, l->name.text, NULL, &hints, on_answer, l);
	l->asking = false;
	resolver_time(r);
	return (int)(l - r->lookups);
}

const struct answer *resolver_answer(const struct resolver *r, int lookup)
{
	return r->lookups[lookup].over ? &r->lookups[lookup].answer : NULL;
}
