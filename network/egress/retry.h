/* Whether a TLS server asks for a second ClientHello (HelloRetryRequest, RFC 8446 4.1.4).
 *
 * Pure, no allocation. The second hello has a server name of its own, in clear text, and there are
 * servers that go by that one and not by the first (OpenSSL and what is built on it). So it is judged
 * as the first was. Nothing else that a client says after its hello can be another: TLS 1.2 negotiates
 * anew within the channel alone.
 *
 * The server is asked and not the client: what the client says next may be data that a server which
 * sends a retry passes over (0-RTT, RFC 8446 4.2.10), with the second hello behind it. Until a server
 * has answered nothing more of the client's passes, so that no hello comes before it is known for one.
 */
#ifndef PINFOLD_NETWORK_EGRESS_RETRY_H
#define PINFOLD_NETWORK_EGRESS_RETRY_H

#include <stdbool.h>
#include <stddef.h>

/* A server's first bytes, of which no more are looked at: alerts that are warnings, and the
 * beginning of a ServerHello in whatever records. */
enum { RETRY_BYTES_MAX = 512 };

enum retry {
	RETRY_MORE, /* cannot be told yet; never with RETRY_BYTES_MAX */
	RETRY_NO,   /* an answer of another kind, no TLS included */
	RETRY_YES,  /* or not to be told by RETRY_BYTES_MAX */
};

/* What the server said, from its first byte on. */
enum retry retry_read(const unsigned char *bytes, size_t len);

/* The client's bytes after a retry: how many stand before the second hello (ChangeCipherSpec,
 * alerts, and data that the server passes over), len if it has not begun. *whole is false if that
 * ends in a record's midst, of which more has to come. */
size_t retry_skip(const unsigned char *bytes, size_t len, bool *whole);

#endif
