/* struct address and port as the socket calls take and give them, see ip(7), ipv6(7). */
#ifndef PINFOLD_NETWORK_BROKER_ENDPOINT_H
#define PINFOLD_NETWORK_BROKER_ENDPOINT_H

#include "spec/address.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct endpoint {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/* In the address's own family. */
void endpoint_set(struct endpoint *to, const struct address *a, uint16_t port);
/* In the family of that socket: an IPv6 one speaks IPv4 by mapped addresses. */
void endpoint_set_inside(struct endpoint *to, int socket, const struct address *a, uint16_t port);
/* False: of another family. */
bool endpoint_get(const struct endpoint *from, struct address *a, uint16_t *port);

/* One datagram. The program's address and the one it had sent to; -1 and errno. */
ssize_t endpoint_receive(int socket, struct endpoint *from, struct address *to, void *bytes,
			 size_t size);
/* The same way back: source is what the program had sent to. Never blocks. */
void endpoint_send(int socket, const struct endpoint *to, const struct address *source, void *bytes,
		   size_t len);

#endif
