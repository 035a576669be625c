/* The dialer: the one process of a run that makes sockets on the host's network.
 *
 * It reads nothing that came from the network. From the parser it takes requests of one size, holds
 * each against the rules, and connects; a parser that was taken over gets what the rules allow: by a
 * rule for a block its addresses, by a rule for names what the name servers answered for such a name
 * (answered.h). The name servers' own sockets go to the resolver alone. Datagrams for the program
 * pass through unread, since whoever may send to an address of its choice must not be the parser.
 */
#ifndef PINFOLD_NETWORK_BROKER_DIALER_H
#define PINFOLD_NETWORK_BROKER_DIALER_H

#include "network/broker/answered.h"
#include "network/broker/protocol.h"
#include "spec/egress.h"

#include <stddef.h>

struct name_server {
	struct address address;
	uint16_t udp_port, tcp_port;
};
enum { NAME_SERVERS_MAX = 8 };

/* Our ends of what another process has two of: one for sockets, one for names. */
struct dialer_peer {
	int dial, names;
};

struct dialer {
	const struct egress_list *rules;
	const struct name_server *servers;
	size_t servers_len;
	const int *datagram; /* the sandbox's UDP sockets, by the index that requests have */
	size_t datagram_len;
	struct dialer_peer parser, resolver;
	struct answered *answered;
};

/* Until parser or resolver is gone, which is when the supervisor says so or is gone itself; who stays
 * all the same is ended by the death signal of a dialer that has the supervisor's. All borrowed. */
void dialer_run(const struct dialer *d);

/* One request of the parser's, for tests: 0 and *fd (-1 for DIAL_REPLY), or nothing was made and
 * *reply says why. */
void dialer_answer(const struct dialer *d, const struct dial_request *q, struct dial_reply *reply,
		   int *fd);
/* The same of the resolver's. */
void dialer_answer_resolver(const struct dialer *d, const struct dial_request *q,
			    struct dial_reply *reply, int *fd);

#endif
