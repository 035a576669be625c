/* The network of one run: a namespace of its own in which only loopback is up.
 * See netdevice(7), network_namespaces(7). Making and joining namespaces is runtime/'s.
 */
#ifndef PINFOLD_NETWORK_NETWORK_H
#define PINFOLD_NETWORK_NETWORK_H

#include "base/err.h"

/* Child, in the new network namespace with CAP_NET_ADMIN there: lo up (the kernel then gives it
 * 127.0.0.1/8 and ::1), read back. A loopback that is up already is fine. Where ns is not -1 that
 * descriptor is made one of this namespace, for another process that shares the descriptors. */
int network_loopback_up(int ns, struct err *e);

#endif
