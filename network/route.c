#include "network/route.h"

#include "base/fd.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	LOOPBACK_INDEX = 1, /* the first device of every network namespace */
	MAPPED = 12,	    /* an IPv4 address stands behind so many bytes of its mapped form */
	MAPPED_BITS = 96,
};

struct request {
	struct nlmsghdr head;
	union {
		struct ifaddrmsg address;
		struct rtmsg route;
	};
	char attributes[128];
};

int route_open(struct err *e)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	return fd < 0 ? err_sys(e, "egress: routing socket") : fd;
}

static void begin(struct request *q, uint16_t type, size_t body)
{
	memset(q, 0, sizeof(*q));
	q->head = (struct nlmsghdr){.nlmsg_len = (uint32_t)NLMSG_LENGTH(body),
				    .nlmsg_type = type,
				    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
						   NLM_F_EXCL};
}

static void add(struct request *q, uint16_t type, const void *data, uint16_t len)
{
	struct rtattr *a = (struct rtattr *)((char *)q + NLMSG_ALIGN(q->head.nlmsg_len));
	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	q->head.nlmsg_len = NLMSG_ALIGN(q->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

/* The kernel answers before send(2) returns. 0, or -1 with errno. */
static int ask(int netlink, const struct request *q)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[sizeof(struct request)];
	} answer;
	if (send(netlink, q, q->head.nlmsg_len, 0) < 0)
		return -1;
	const ssize_t n = recv(netlink, &answer, sizeof(answer), 0);
	if (n < 0)
		return -1;
	if ((size_t)n < sizeof(answer.head) + sizeof(answer.error.error) ||
	    answer.head.nlmsg_type != NLMSG_ERROR) {
		errno = EPROTO;
		return -1;
	}
	errno = -answer.error.error;
	return answer.error.error == 0 ? 0 : -1;
}

int route_add_address(int netlink, const unsigned char a[4], unsigned int bits, struct err *e)
{
	struct request q;
	begin(&q, RTM_NEWADDR, sizeof(q.address));
	q.address = (struct ifaddrmsg){.ifa_family = AF_INET,
				       .ifa_prefixlen = (unsigned char)bits,
				       .ifa_scope = RT_SCOPE_UNIVERSE,
				       .ifa_index = LOOPBACK_INDEX};
	add(&q, IFA_LOCAL, a, 4);
	add(&q, IFA_ADDRESS, a, 4);
	if (ask(netlink, &q) < 0 && errno != EEXIST)
		return err_sys(e, "egress: give lo the address %u.%u.%u.%u/%u", a[0], a[1], a[2],
			       a[3], bits);
	return 0;
}

int route_add_local(int netlink, const struct address *network, unsigned int prefix, struct err *e)
{
	const bool ipv4 = address_is_ipv4(network) && prefix >= MAPPED_BITS;
	const int device = LOOPBACK_INDEX;
	struct request q;
	begin(&q, RTM_NEWROUTE, sizeof(q.route));
	q.route = (struct rtmsg){.rtm_family = ipv4 ? AF_INET : AF_INET6,
				 .rtm_dst_len = (unsigned char)(ipv4 ? prefix - MAPPED_BITS : prefix),
				 .rtm_table = RT_TABLE_LOCAL,
				 .rtm_protocol = RTPROT_BOOT,
				 .rtm_scope = ipv4 ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
				 .rtm_type = RTN_LOCAL};
	add(&q, RTA_DST, network->bytes + (ipv4 ? MAPPED : 0), ipv4 ? 4 : 16);
	add(&q, RTA_OIF, &device, sizeof(device));
	if (ask(netlink, &q) < 0 && errno != EEXIST) {
		char text[ADDRESS_TEXT_BYTES];
		address_format(network, text);
		return err_sys(e, "egress: make %s/%u local", text,
			       ipv4 ? prefix - MAPPED_BITS : prefix);
	}
	return 0;
}
