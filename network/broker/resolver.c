/* The resolver: the process that asks the host's name servers, by c-ares over sockets that the
 * dialer makes.
 *
 * c-ares calls the functions of struct ares_socket_functions with a handle of ours, which stands
 * for nothing until it says whom it wants to connect to. It reads /etc/resolv.conf when the channel
 * is made, before the jail, and no file afterwards: names are absolute, and only DNS is asked.
 * Which names, the dialer says; what is answered is told to the dialer alone, and judged there.
 */
#include "network/broker/resolver.h"

#include "base/fd.h"
#include "network/broker/endpoint.h"
#include "network/egress/name.h"

#include <ares.h>
#include <errno.h>
#include <poll.h>
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
	HEADER_BYTES = 12, /* of a message, RFC 1035 4.1.1 */
	RCODE_SERVFAIL = 2,
	RCODE_REFUSED = 5,
};

/* What c-ares takes for a socket: its handle is the index and one, because 0 looks like a mistake. */
struct handle {
	bool used;
	int fd; /* -1: not connected */
	int type;
	short events; /* that c-ares waits for */
};

struct lookup {
	bool used;
	struct resolver *resolver;
	struct server_question asked;
	enum lookup_failure told; /* by some server: SERVFAIL or REFUSED; c-ares asks the next, and forgets */
};

struct resolver {
	ares_channel channel;
	struct dialer_peer dialer;
	bool over;
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

static ares_socket_t make(int family, int type, int protocol, void *arg)
{
	struct resolver *r = arg;
	(void)family;
	(void)protocol;
	for (int i = 0; i < SOCKETS_MAX; i++) {
		struct handle *h = &r->handles[i];
		if (h->used)
			continue;
		*h = (struct handle){.used = true, .fd = -1, .type = type};
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
	fd_close(&h->fd);
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

/* One request at a time; the dialer never waits for us. -1 and errno: no socket. */
static int dial_server(struct resolver *r, int server, int type)
{
	const struct dial_request q = {.kind = DIAL_SERVER,
				       .index = (uint32_t)server,
				       .transport = type == SOCK_STREAM ? EGRESS_TCP : EGRESS_UDP};
	struct dial_reply reply;
	int fd = -1;
	size_t len = 1;
	if (write(r->dialer.dial, &q, sizeof(q)) != sizeof(q) ||
	    fd_recv(r->dialer.dial, &reply, sizeof(reply), &fd, &len) != 1) {
		r->over = true;
		errno = EPIPE;
		return -1;
	}
	if (len == 1)
		return fd;
	errno = reply.sys ? reply.sys : ENETUNREACH;
	return -1;
}

static int join(ares_socket_t s, const struct sockaddr *to, ares_socklen_t len, void *arg)
{
	struct resolver *r = arg;
	struct handle *h = handle_of(r, s);
	const int server = server_index(r, to, len);
	if (!h || server < 0) {
		errno = EINVAL;
		return -1;
	}
	h->fd = dial_server(r, server, h->type);
	if (h->fd < 0)
		return -1;
	if (h->type != SOCK_STREAM)
		return 0;
	errno = EINPROGRESS;
	return -1;
}

static struct lookup *lookup_of(struct resolver *r, const struct name *n)
{
	for (int i = 0; i < LOOKUPS_MAX; i++)
		if (r->lookups[i].used && name_equal(&r->lookups[i].asked.name, n))
			return &r->lookups[i];
	return NULL;
}

/* c-ares takes SERVFAIL and REFUSED for silence in the end. */
static void note_code(struct resolver *r, const unsigned char *bytes, size_t len)
{
	size_t end = HEADER_BYTES;
	struct name name;
	if (len < HEADER_BYTES || !(bytes[2] & 0x80))
		return;
	const int code = bytes[3] & 0xf;
	if (code != RCODE_SERVFAIL && code != RCODE_REFUSED)
		return;
	while (end < len && bytes[end] != 0)
		end += 1 + (size_t)bytes[end];
	if (end >= len ||
	    name_read_wire(&name, bytes + HEADER_BYTES, end + 1 - HEADER_BYTES) != NAME_GOOD)
		return;
	struct lookup *l = lookup_of(r, &name);
	if (l)
		l->told = code == RCODE_SERVFAIL ? LOOKUP_SERVFAIL : LOOKUP_REFUSED;
}

static ares_ssize_t take(ares_socket_t s, void *bytes, size_t len, int flags, struct sockaddr *from,
			 ares_socklen_t *from_len, void *arg)
{
	const struct handle *h = handle_of(arg, s);
	if (!h || h->fd < 0) {
		errno = EBADF;
		return -1;
	}
	const ssize_t n = recvfrom(h->fd, bytes, len, flags, from, from_len);
	if (n > 0 && h->type == SOCK_DGRAM)
		note_code(arg, bytes, (size_t)n);
	return n;
}

static ares_ssize_t put(ares_socket_t s, const struct iovec *parts, int len, void *arg)
{
	const struct handle *h = handle_of(arg, s);
	if (!h || h->fd < 0) {
		errno = EBADF;
		return -1;
	}
	return writev(h->fd, parts, len);
}

static const struct ares_socket_functions functions = {make, drop, join, take, put};

static void on_state(void *arg, ares_socket_t s, int readable, int writable)
{
	struct handle *h = handle_of(arg, s);
	if (h)
		h->events = (short)((readable ? POLLIN : 0) | (writable ? POLLOUT : 0));
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
 * gives up, which has to be before the usual --egress-connect-timeout: 7 s for one server, 6 and 9
 * for two and three. */
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

/* ---- lookups ---- */

static enum lookup_failure failure_of(const struct lookup *l, int status)
{
	switch (status) {
	case ARES_SUCCESS:
		return LOOKUP_FOUND;
	case ARES_ENOTFOUND:
		return LOOKUP_NO_NAME;
	case ARES_ENODATA:
		return LOOKUP_NO_ADDRESS;
	case ARES_ESERVFAIL:
		return LOOKUP_SERVFAIL;
	case ARES_EREFUSED:
	case ARES_ENOTIMP:
		return LOOKUP_REFUSED;
	case ARES_ETIMEOUT:
	case ARES_ECONNREFUSED:
		return l->told ? l->told : LOOKUP_SILENCE;
	default:
		return LOOKUP_UNREADABLE;
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

/* What an answer has, by family; IPv4 is of[1]. */
struct found {
	struct address of[2][SERVER_ADDRESSES_MAX];
	size_t len[2];
	int lives_s;
};

/* False: it has more than can be told. */
static bool gather(struct found *f, const struct ares_addrinfo *info)
{
	*f = (struct found){.lives_s = LIVES_MAX_S};
	for (const struct ares_addrinfo_node *n = info->nodes; n; n = n->ai_next) {
		struct address a;
		if (!address_of(n, &a))
			continue;
		const int ipv4 = address_is_ipv4(&a);
		if (f->len[0] + f->len[1] == SERVER_ADDRESSES_MAX)
			return false;
		f->of[ipv4][f->len[ipv4]++] = a;
		if (n->ai_ttl < f->lives_s)
			f->lives_s = n->ai_ttl;
	}
	if (f->lives_s < 1)
		f->lives_s = 1;
	return true;
}

/* IPv6 first, then by turns (RFC 8305 4). */
static void interleave(struct server_answer *a, const struct found *f)
{
	size_t at[2] = {0, 0};
	int ipv4 = 0;
	while (at[0] < f->len[0] || at[1] < f->len[1]) {
		if (at[ipv4] < f->len[ipv4])
			a->addresses[a->len++] = f->of[ipv4][at[ipv4]++];
		ipv4 = !ipv4;
	}
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	struct lookup *l = arg;
	struct resolver *r = l->resolver;
	struct found f;
	struct server_answer a = {.number = l->asked.number,
				  .failure = failure_of(l, status),
				  .life_ms = FAILURE_LIVES_MS};
	(void)timeouts;
	l->used = false;
	if (a.failure == LOOKUP_FOUND && !gather(&f, info)) {
		a.failure = LOOKUP_TOO_MANY_ADDRESSES;
	} else if (a.failure == LOOKUP_FOUND) {
		interleave(&a, &f);
		a.failure = a.len > 0 ? LOOKUP_FOUND : LOOKUP_NO_ADDRESS;
		a.life_ms = a.len > 0 ? (uint32_t)f.lives_s * 1000 : FAILURE_LIVES_MS;
	}
	if (info)
		ares_freeaddrinfo(info);
	if (send(r->dialer.names, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
		r->over = true;
}

static void take_question(struct resolver *r)
{
	const struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT,
						  .ai_family = AF_UNSPEC,
						  .ai_socktype = SOCK_STREAM};
	struct server_question q;
	struct lookup *l = r->lookups, *end = l + LOOKUPS_MAX;
	while (l < end && l->used)
		l++;
	if (fd_recv(r->dialer.names, &q, sizeof(q), NULL, NULL) != 1 || l == end) {
		r->over = true; /* the dialer is gone, or not itself */
		return;
	}
	*l = (struct lookup){.used = true, .resolver = r, .asked = q};
	ares_getaddrinfo(r->channel, l->asked.name.text, NULL, &hints, on_answer, l);
}

/* ---- the loop ---- */

static int wait_ms(struct resolver *r)
{
	struct timeval left;
	if (!ares_timeout(r->channel, NULL, &left))
		return -1;
	return (int)(left.tv_sec * 1000 + left.tv_usec / 1000 + 1);
}

static void turn(struct resolver *r)
{
	struct pollfd all[SOCKETS_MAX + 2] = {{.fd = r->dialer.names, .events = POLLIN},
					      {.fd = r->dialer.dial}};
	for (int i = 0; i < SOCKETS_MAX; i++) {
		const struct handle *h = &r->handles[i];
		all[2 + i] = (struct pollfd){.fd = h->used ? h->fd : -1, .events = h->events};
	}
	if (poll(all, SOCKETS_MAX + 2, wait_ms(r)) < 0 && errno != EINTR)
		r->over = true;
	for (int i = 0; i < SOCKETS_MAX; i++) {
		const struct pollfd *p = &all[2 + i];
		const bool broken = p->revents & (POLLERR | POLLHUP);
		/* What was done for one before may have closed the next, and opened another there. */
		if (p->fd < 0 || !p->revents || !r->handles[i].used || r->handles[i].fd != p->fd)
			continue;
		ares_process_fd(r->channel, p->revents & POLLIN || broken ? i + 1 : ARES_SOCKET_BAD,
				p->revents & POLLOUT || broken ? i + 1 : ARES_SOCKET_BAD);
	}
	ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	if (all[0].revents)
		take_question(r);
	if (all[1].revents)
		r->over = true;
}

void resolver_run(struct resolver *r, int dial, int names)
{
	r->dialer = (struct dialer_peer){.dial = dial, .names = names};
	while (!r->over)
		turn(r);
}
