/* The resolver: who asks the host's name servers, and reads what they answer.
 *
 * It gets names from the dialer, which takes them from the rules; it tells addresses to the dialer
 * alone. It has nothing of what the program says but those names, can make no socket and send to no
 * address: the dialer connects it to the host's name servers and to nobody else. One that was taken
 * over can lie about allowed names; what it says is judged like any answer.
 */
#ifndef PINFOLD_NETWORK_BROKER_RESOLVER_H
#define PINFOLD_NETWORK_BROKER_RESOLVER_H

#include "base/err.h"
#include "network/broker/dialer.h"
#include "network/broker/protocol.h"

#include <stddef.h>

struct resolver;

/* Before the process is jailed: reads /etc/resolv.conf. NULL and *e. */
struct resolver *resolver_open(struct err *e);
/* The name servers that it will ask; returns how many. */
size_t resolver_servers(const struct resolver *r, struct name_server servers[NAME_SERVERS_MAX]);
/* Until the dialer is gone. Borrows its two ends. */
void resolver_run(struct resolver *r, int dial, int names);

#endif
