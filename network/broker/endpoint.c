#include "network/broker/endpoint.h"

#include <errno.h>
#include <string.h>

enum { MAPPED = 12 }; /* an IPv4 address stands behind so many bytes of its mapped form */

void endpoint_set(struct endpoint *to, const struct address *a, uint16_t port)
{
	memset(to, 0, sizeof(*to));
	if (address_is_ipv4(a)) {
		to->v4.sin_family = AF_INET;
		to->v4.sin_port = htons(port);
		memcpy(&to->v4.sin_addr, a->bytes + MAPPED, sizeof(to->v4.sin_addr));
		to->len = sizeof(to->v4);
		return;
	}
	to->v6.sin6_family = AF_INET6;
	to->v6.sin6_port = htons(port);
	memcpy(&to->v6.sin6_addr, a->bytes, sizeof(to->v6.sin6_addr));
	to->len = sizeof(to->v6);
}

static int family_of(int socket)
{
	struct endpoint own = {.len = sizeof(own.v6)};
	return getsockname(socket, &own.any, &own.len) < 0 ? AF_UNSPEC : own.any.sa_family;
}

void endpoint_set_inside(struct endpoint *to, int socket, const struct address *a, uint16_t port)
{
	endpoint_set(to, a, port);
	if (to->any.sa_family == AF_INET && family_of(socket) == AF_INET6) {
		memset(to, 0, sizeof(*to));
		to->v6.sin6_family = AF_INET6;
		to->v6.sin6_port = htons(port);
		memcpy(&to->v6.sin6_addr, a->bytes, sizeof(to->v6.sin6_addr));
		to->len = sizeof(to->v6);
	}
}

bool endpoint_get(const struct endpoint *from, struct address *a, uint16_t *port)
{
	if (from->any.sa_family == AF_INET) {
		unsigned char bytes[4];
		memcpy(bytes, &from->v4.sin_addr, sizeof(bytes));
		address_from_ipv4(a, bytes);
		*port = ntohs(from->v4.sin_port);
		return true;
	}
	if (from->any.sa_family != AF_INET6)
		return false;
	address_from_ipv6(a, from->v6.sin6_addr.s6_addr);
	*port = ntohs(from->v6.sin6_port);
	return true;
}

union packet_info {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo))];
};

static bool take_destination(struct msghdr *m, struct address *to)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			address_from_ipv6(to, info.ipi6_addr.s6_addr);
			return true;
		}
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			unsigned char bytes[4];
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			memcpy(bytes, &info.ipi_addr, sizeof(bytes));
			address_from_ipv4(to, bytes);
			return true;
		}
	}
	return false;
}

ssize_t endpoint_receive(int socket, struct endpoint *from, struct address *to, void *bytes,
			 size_t size)
{
	union packet_info info;
	struct iovec part = {bytes, size};
	struct msghdr m = {.msg_name = &from->v6,
			   .msg_namelen = sizeof(from->v6),
			   .msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &info,
			   .msg_controllen = sizeof(info)};
	const ssize_t n = recvmsg(socket, &m, MSG_DONTWAIT);
	from->len = m.msg_namelen;
	if (n >= 0 && (!take_destination(&m, to) || (m.msg_flags & MSG_TRUNC))) {
		errno = EMSGSIZE;
		return -1;
	}
	return n;
}

void endpoint_send(int socket, const struct endpoint *to, const struct address *source, void *bytes,
		   size_t len)
{
	union packet_info info = {.bytes = {0}};
	struct iovec part = {bytes, len};
	struct msghdr m = {.msg_name = (void *)(uintptr_t)&to->v6,
			   .msg_namelen = to->len,
			   .msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &info};
	struct cmsghdr *c = &info.align;
	if (to->any.sa_family == AF_INET6) {
		struct in6_pktinfo from = {.ipi6_ifindex = 0};
		memcpy(&from.ipi6_addr, source->bytes, sizeof(from.ipi6_addr));
		m.msg_controllen = CMSG_SPACE(sizeof(from));
		*c = (struct cmsghdr){.cmsg_level = IPPROTO_IPV6,
				      .cmsg_type = IPV6_PKTINFO,
				      .cmsg_len = CMSG_LEN(sizeof(from))};
		memcpy(CMSG_DATA(c), &from, sizeof(from));
	} else {
		struct in_pktinfo from = {.ipi_ifindex = 0};
		memcpy(&from.ipi_spec_dst, source->bytes + MAPPED, sizeof(from.ipi_spec_dst));
		m.msg_controllen = CMSG_SPACE(sizeof(from));
		*c = (struct cmsghdr){.cmsg_level = IPPROTO_IP,
				      .cmsg_type = IP_PKTINFO,
				      .cmsg_len = CMSG_LEN(sizeof(from))};
		memcpy(CMSG_DATA(c), &from, sizeof(from));
	}
	sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}
