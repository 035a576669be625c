/* The parser: what the program and the peers say is read here and nowhere else.
 *
 * It accepts what the program dials, knows the name by the address dialled, judges the first bytes,
 * has the dialer find the name's addresses and connect, and relays. It can make no socket and send
 * to no address: each of its descriptors came from pid 1 of the sandbox or from the dialer.
 */
#ifndef PINFOLD_NETWORK_BROKER_PARSER_H
#define PINFOLD_NETWORK_BROKER_PARSER_H

#include "base/err.h"
#include "network/broker/dialer.h"
#include "network/broker/protocol.h"

#include <stddef.h>
#include <stdint.h>

/* What pid 1 of the sandbox made. */
struct sandbox_socket {
	int fd;
	uint16_t port;
	enum egress_transport transport;
	uint32_t index; /* of a datagram socket: how the dialer knows it */
};
enum { SANDBOX_SOCKETS_MAX = EGRESS_PORTS_MAX + 2 };

struct parser {
	const struct egress_list *rules;
	const struct egress_config *config;
	const struct sandbox_socket *sockets;
	size_t sockets_len;
	int dialer;	/* our end, for sockets */
	int names;	/* and for names */
	int supervisor; /* the broker's end */
};

/* Until the supervisor says END or is gone, or the dialer is gone. All borrowed, the descriptors too. */
void parser_run(const struct parser *p);

#endif
