#include "network/broker/broker.h"

#include "base/fd.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* write(2), because this process may send to no address, and sendmsg(2) could. One request at a
 * time, and the dialer never waits for anybody: this takes no longer than the kernel does. */
int dial(const struct broker *b, const struct dial_request *q, struct dial_reply *reply)
{
	int fd = -1;
	size_t len = 1;
	*reply = (struct dial_reply){.sys = EPIPE};
	if (write(b->p->dialer, q, sizeof(*q)) != sizeof(*q) ||
	    fd_recv(b->p->dialer, reply, sizeof(*reply), &fd, &len) != 1)
		return -1;
	return len == 1 ? fd : -1;
}

void dial_answer(const struct broker *b, const struct dial_request *q, const void *bytes, size_t len)
{
	const struct iovec parts[] = {{(void *)(uintptr_t)q, sizeof(*q)},
				      {(void *)(uintptr_t)bytes, len}};
	if (writev(b->p->dialer, parts, 2) < 0)
		return; /* a dialer that is gone is seen by the loop */
}
