#include "runtime/control.h"

#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

int control_send(int sock, const struct record *r, const int *fds, size_t nfds)
{
	return fd_hand_over(sock, r, sizeof(*r), fds, nfds);
}

int control_recv(int sock, struct record *r, int *fds, size_t *nfds)
{
	const size_t room = nfds ? *nfds : 0;
	int got = fd_recv(sock, r, sizeof(*r), fds, nfds);
	/* Whoever closes with a record unread resets the connection; what it had sent is still there. */
	if (got < 0 && errno == ECONNRESET) {
		if (nfds)
			*nfds = room;
		got = fd_recv(sock, r, sizeof(*r), fds, nfds);
	}
	if (got <= 0)
		return got;
	r->err.msg[sizeof(r->err.msg) - 1] = '\0';
	if (r->type >= RECORD_GO && r->type < RECORD_TYPE_END && r->err.kind <= ERR_BUG)
		return 1;
	for (size_t i = 0; nfds && i < *nfds; i++)
		close(fds[i]);
	errno = EPROTO;
	return -1;
}
