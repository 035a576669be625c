/* The sandbox's side of egress: what its network namespace gets when something is allowed.
 *
 * lo gets the synthetic network and the blocks of address rules as local addresses, so that what
 * the program dials ends at a socket of ours, in whatever it listens. Sockets stay in the namespace
 * that they were made in; they are handed to the broker, and nobody else keeps one.
 */
#ifndef PINFOLD_NETWORK_INSIDE_H
#define PINFOLD_NETWORK_INSIDE_H

#include "base/err.h"
#include "spec/egress.h"

/* Child, in the new network namespace with CAP_NET_ADMIN and CAP_NET_BIND_SERVICE there, loopback
 * up. Sends the sockets over broker (struct egress_sockets) and closes its own copies. Blocks only
 * if the broker does not read. Another call begins anew. */
int inside_open(const struct egress_list *rules, int broker, struct err *e);

#endif
