/* Addresses and routes of the loopback device, by rtnetlink(7).
 *
 * A few messages of our own making: Debian has no static libmnl, and the ioctls of netdevice(7)
 * know neither local routes nor IPv6 ones.
 */
#ifndef PINFOLD_NETWORK_ROUTE_H
#define PINFOLD_NETWORK_ROUTE_H

#include "base/err.h"
#include "spec/address.h"

/* A socket for the calls below, in the network namespace of the caller. -1 and *e. */
int route_open(struct err *e);

/* lo gets the IPv4 address a; all of its network, bits long, becomes local with it, as 127.0.0.0/8 is. */
int route_add_address(int netlink, const unsigned char a[4], unsigned int bits, struct err *e);

/* Every address of network/prefix (in 128 bits) becomes local. One that is so already is fine. */
int route_add_local(int netlink, const struct address *network, unsigned int prefix, struct err *e);

#endif
