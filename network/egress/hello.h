/* The server name of a TLS ClientHello, before any of it is passed on.
 *
 * Pure, no allocation. The caller keeps the bytes of the connection from its start (it needs them
 * to pass them on) and shows all of them each time; only what is new is looked at, so that a peer
 * who writes single bytes costs no more. The hello may lie in several records (RFC 8446 5.1).
 *
 * It must have exactly one server_name of type host_name (RFC 6066 3), canonical but for case,
 * equal to the name that the connection is for. No dot at the end (RFC 6066 forbids it), no
 * address.
 *
 * Encrypted Client Hello (RFC 9849) is refused, the greasing kind included: an ECH that a shared
 * front server can open makes it serve the inner name, whatever the outer one says, and one that is
 * only grease looks the same by design. curl, OpenSSL, GnuTLS, python, node, java, Go and git send
 * none unless told so; browsers do, and need it switched off, or a rule with "tcp:".
 *
 * A second hello after HelloRetryRequest is read like the first: see retry.h. What stays possible:
 * within the encrypted channel a server may serve other names than the one in the hello (a Host
 * header of its own, renegotiation). Who allows a name trusts its server not to.
 */
#ifndef PINFOLD_NETWORK_EGRESS_HELLO_H
#define PINFOLD_NETWORK_EGRESS_HELLO_H

#include "spec/name.h"

#include <stdbool.h>
#include <stddef.h>

/* The most that a hello may take, record headers included: one record of the largest size. */
enum { HELLO_BYTES_MAX = 5 + (1 << 14) };

enum hello_verdict {
	HELLO_MORE,    /* nothing is wrong yet */
	HELLO_GOOD,    /* the name is the one wanted: connect, and pass on all bytes */
	HELLO_REFUSED, /* hello.reason says why; cut it */
};

enum hello_reason {
	HELLO_FINE,
	HELLO_NOT_TLS,	 /* the first bytes are no handshake record: plain text, SSH, an alert */
	HELLO_SSL2,	 /* SSL 2.0's hello, which has no names */
	HELLO_OLD,	 /* SSL 3.0 */
	HELLO_TOO_LONG,	 /* more than HELLO_BYTES_MAX */
	HELLO_MALFORMED, /* lengths that disagree, a duplicate extension, an empty record … */
	HELLO_NO_NAME,
	HELLO_SEVERAL_NAMES,
	HELLO_BAD_NAME, /* not canonical: hello.fault says how */
	HELLO_ENCRYPTED,
	HELLO_OTHER_NAME, /* hello.name is another than the wanted one */
	HELLO_REASON_COUNT,
};

struct hello {
	const struct name *wanted;
	enum hello_reason reason;
	enum name_fault fault; /* of HELLO_BAD_NAME */
	bool has_name;	       /* name is what the hello said, for the report */
	struct name name;

	size_t record;	  /* inside: where the next record begins that was not counted */
	size_t collected; /* inside: bytes of the handshake in the records before it */
	bool decided;	  /* inside: reason is final */
};

/* wanted is borrowed until the verdict. */
void hello_init(struct hello *h, const struct name *wanted);

/* len bytes from the connection's first on, at least as many as the last time. After a verdict other
 * than HELLO_MORE it is the same for good. HELLO_MORE is never said once HELLO_BYTES_MAX are there. */
enum hello_verdict hello_read(struct hello *h, const unsigned char *bytes, size_t len);

/* A clause for the result: "the server name is another". Never NULL. */
const char *hello_reason_text(enum hello_reason r);

#endif
