/* pinfold-egress: the egress broker of one run. Started by runtime/egress.c, never by hand: it takes no
 * argument and no environment, its config comes over a socket. See docs/egress.md, pinfold-egress(7). */
#include "network/broker/protocol.h"
#include "runtime/broker.h"

#include <stdio.h>
#include <sys/socket.h>

int main(void)
{
	int type;
	socklen_t len = sizeof(type);
	if (getsockopt(EGRESS_SUPERVISOR_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
		fprintf(stderr,
			"pinfold-egress: a part of pinfold run --allow; see pinfold-egress(7)\n");
		return 125;
	}
	return broker_main();
}
