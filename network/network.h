/* The network of one run: a namespace of its own in which only loopback is up.
 * See netdevice(7), network_namespaces(7).
 *
 * Of all namespaces this one costs the most to make, more than everything that pid 1 does before the
 * program. So it is not part of clone3: a process beside pid 1 makes it while pid 1 builds the mounts, and
 * pid 1 joins it before anything else exists in the sandbox. How that could go wrong: pid 1 goes on
 * without having joined (where the helper failed pid 1 makes one itself, or fails), or joins another one
 * (the descriptor comes from a socket that the helper opened after it had made the namespace). */
#ifndef PINFOLD_NETWORK_NETWORK_H
#define PINFOLD_NETWORK_NETWORK_H

#include "base/err.h"

/* Child, with CAP_SYS_ADMIN in its user namespace: a network namespace for the calling process, lo up in it
 * (the kernel then gives it 127.0.0.1/8 and ::1), read back. Where ns is not -1 that descriptor is made one
 * of the namespace, for another process that shares the descriptors. */
int network_make(int ns, struct err *e);

/* Child: enter the namespace that network_make() made ns a descriptor of. Borrows ns. */
int network_join(int ns, struct err *e);

#endif
