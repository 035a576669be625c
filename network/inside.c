#include "network/inside.h"

#include "base/fd.h"
#include "network/broker/protocol.h"
#include "network/route.h"

#include <errno.h>
#include <linux/in6.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Half of what the kernel may hold of one connection inside, each way: it doubles the number. Without it
 * tcp_rmem and tcp_wmem decide, which are made for the world's distances and the broker's to pay. */
enum { BACKLOG = 128, BUFFER_BYTES = 208 << 10 };

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Both families on one socket; IPv4 alone where the kernel has no IPv6. */
static int bind_any(int fd, int family, uint16_t port)
{
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
					.sin6_addr = IN6ADDR_ANY_INIT,
					.sin6_port = htons(port)};
	const struct sockaddr_in v4 = {.sin_family = AF_INET,
				       .sin_addr = {htonl(INADDR_ANY)},
				       .sin_port = htons(port)};
	if (family == AF_INET)
		return bind(fd, (const struct sockaddr *)&v4, sizeof(v4));
	if (set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0) < 0)
		return -1;
	return bind(fd, (const struct sockaddr *)&v6, sizeof(v6));
}

/* What is accepted inherits it: the relay passes on what comes as it comes. */
static int start_listening(int fd)
{
	if (set(fd, IPPROTO_TCP, TCP_NODELAY, 1) < 0 ||
	    set(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES) < 0 ||
	    set(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES) < 0)
		return -1;
	return listen(fd, BACKLOG);
}

/* A datagram tells what it was sent to, and an answer may come from there: to IPv6 an address of a
 * local route is none of the host's own. */
static int tell_destination(int fd, int family)
{
	if (family == AF_INET)
		return set(fd, IPPROTO_IP, IP_PKTINFO, 1);
	return set(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1) < 0
		       ? -1
		       : set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
}

static int make_socket(uint16_t port, enum egress_transport t, struct err *e)
{
	const int type = (t == EGRESS_TCP ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int family = AF_INET6;
	int made = socket(family, type, 0);
	if (made < 0 && errno == EAFNOSUPPORT)
		made = socket(family = AF_INET, type, 0);
	autoclose int fd = made;
	if (fd < 0)
		return err_sys(e, "egress: socket");
	if (bind_any(fd, family, port) < 0)
		return err_sys(e, "egress: bind port %u of the sandbox", port);
	if (t == EGRESS_TCP ? start_listening(fd) : tell_destination(fd, family))
		return err_sys(e, "egress: open port %u of the sandbox", port);
	return fd_take(&fd);
}

static int add_addresses(const struct egress_list *rules, struct err *e)
{
	autoclose int netlink = route_open(e);
	if (netlink < 0 ||
	    route_add_address(netlink, egress_resolver_address, EGRESS_SYNTHETIC_BITS, e) < 0)
		return -1;
	for (size_t i = 0; i < rules->len; i++) {
		const struct egress_rule *r = &rules->rules[i];
		if (r->target == EGRESS_BLOCK &&
		    route_add_local(netlink, &r->network, r->prefix, e) < 0)
			return -1;
	}
	return 0;
}

/* Sockets on their way out, as many as one message takes. */
struct parcel {
	int broker;
	struct egress_sockets record;
	int fds[FD_PASS_MAX];
};

static int send_parcel(struct parcel *p, enum egress_sockets_type type, struct err *e)
{
	const size_t len = p->record.count;
	p->record.type = type;
	int rc = fd_hand_over(p->broker, &p->record, sizeof(p->record), p->fds, len);
	if (rc < 0)
		err_sys(e, "egress: hand the sockets to the broker");
	for (size_t i = 0; i < len; i++)
		close(p->fds[i]);
	p->record.count = 0;
	return rc;
}

static int pack(struct parcel *p, uint16_t port, enum egress_transport t, struct err *e)
{
	const int fd = make_socket(port, t, e);
	if (fd < 0)
		return -1;
	const uint32_t at = p->record.count++;
	p->fds[at] = fd;
	p->record.of[at].port = port;
	p->record.of[at].transport = (uint8_t)t;
	return at + 1 == FD_PASS_MAX ? send_parcel(p, EGRESS_SOCKETS_SOME, e) : 0;
}

/* The rules' ports, and the resolver's. */
static int pack_ports(struct parcel *p, const struct egress_list *rules, enum egress_transport t,
		      struct err *e)
{
	bool dns = false;
	for (size_t i = 0; i < rules->ports_len[t]; i++) {
		dns |= rules->ports[t][i] == EGRESS_DNS_PORT;
		if (pack(p, rules->ports[t][i], t, e) < 0)
			return -1;
	}
	return dns ? 0 : pack(p, EGRESS_DNS_PORT, t, e);
}

int inside_open(const struct egress_list *rules, int broker, struct err *e)
{
	struct parcel p = {.broker = broker};
	if (add_addresses(rules, e) < 0 || send_parcel(&p, EGRESS_SOCKETS_BEGIN, e) < 0)
		return -1;
	/* What is packed when another fails ends with this process. */
	if (pack_ports(&p, rules, EGRESS_TCP, e) < 0 || pack_ports(&p, rules, EGRESS_UDP, e) < 0)
		return -1;
	return send_parcel(&p, EGRESS_SOCKETS_DONE, e);
}
