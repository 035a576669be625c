/* The requests of one plain HTTP/1.1 connection, each judged by its Host.
 *
 * Pure, no allocation. One strict grammar (RFC 9112, RFC 9110): what two readers could understand
 * in two ways is refused, and with it the connection. Only requests are read; responses pass
 * unread, which is sound because nothing that could change the protocol (CONNECT, Upgrade, HTTP/2)
 * gets through.
 *
 * The caller owns a buffer of bytes that were read and not yet passed on, HTTP_BUFFER_BYTES large,
 * and goes round in http_read(&r, buffer, len, &step):
 *
 * - HTTP_MORE: read more into the buffer, there is room; at the peer's end of file stop.
 * - HTTP_PASS: write step.pass_bytes of the buffer's front, drop them from it; then, if
 *   step.splice_bytes, move exactly so many unseen (the buffer is empty then); then ask again, even
 *   with an empty buffer.
 * - HTTP_REFUSED: cut both sides; r.reason says why.
 *
 * Absolute forms and Host both have to name the host. Host may end in a dot, which a URL may (RFC
 * 3986 3.2.2), and may name the port. java.net.http asks to upgrade to HTTP/2 on plain connections
 * unless it is told HTTP_1_1, and is refused.
 *
 * What stays possible: a server that does not keep to the RFCs may read a counted body as the next
 * request (GET with a body, where it expects none), or serve another name by a field that is not
 * Host (X-Forwarded-Host). Who allows a name trusts its server not to.
 *
 * Nothing of a request passes before its whole head was judged. Pipelined requests are judged one
 * by one, each before any byte of it passes.
 */
#ifndef PINFOLD_NETWORK_EGRESS_HTTP_H
#define PINFOLD_NETWORK_EGRESS_HTTP_H

#include "spec/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HTTP_HEAD_BYTES_MAX = 32 << 10, /* request line, fields and the empty line */
	HTTP_FIELDS_MAX = 128,
	HTTP_LINE_BYTES_MAX = 1024, /* a chunk's size with its extensions */
	HTTP_TRAILER_BYTES_MAX = 8 << 10,
	HTTP_BUFFER_BYTES = HTTP_HEAD_BYTES_MAX,
};

enum http_verdict { HTTP_MORE, HTTP_PASS, HTTP_REFUSED };

enum http_reason {
	HTTP_FINE,
	HTTP_NOT_HTTP, /* no request line: another protocol */
	HTTP_VERSION,  /* not HTTP/1.1 */
	HTTP_PREFACE,  /* HTTP/2's "PRI * HTTP/2.0" */
	HTTP_METHOD,   /* CONNECT */
	HTTP_UPGRADE,  /* Upgrade, HTTP2-Settings, or either named by Connection */
	HTTP_TARGET, /* neither /path nor http://the-name or http://the-name/path, nor * with OPTIONS */
	HTTP_TOO_LONG,	/* head, line, trailer, or too many fields */
	HTTP_BARE_LINE, /* LF without CR, or CR without LF */
	HTTP_CONTROL,	/* NUL or another control character */
	HTTP_FOLDED,	/* a line that goes on on the next */
	HTTP_FIELD,	/* no field line: no colon, space before it, a bad name */
	HTTP_NO_HOST,	/* none */
	HTTP_SEVERAL_HOSTS,
	HTTP_BAD_HOST,	 /* not canonical, user@: http.fault says how */
	HTTP_BAD_PORT,	 /* nothing behind the colon, or no number from 1 to 65535 */
	HTTP_OTHER_NAME, /* Host or target name another host or port; http.host is it */
	HTTP_LENGTH,	 /* Content-Length repeated, a list, signed, too large */
	HTTP_CODING,	 /* Transfer-Encoding repeated, or other than "chunked" */
	HTTP_BOTH,	 /* Content-Length with Transfer-Encoding */
	HTTP_HIDDEN,	 /* Connection names Host or framing; Content_Length and the like */
	HTTP_CHUNK,	 /* a chunk's size, extension or end */
	HTTP_TRAILER,	 /* framing or Host in a trailer */
	HTTP_REASON_COUNT,
};

/* Inside: what the next byte belongs to. */
enum http_phase {
	HTTP_IN_HEAD,
	HTTP_IN_BODY,
	HTTP_IN_SIZE,
	HTTP_IN_CHUNK,
	HTTP_IN_END,
	HTTP_IN_TRAILER
};

struct http_reader {
	const struct name *wanted;
	uint16_t port;
	enum http_reason reason;
	enum name_fault fault; /* of HTTP_BAD_HOST */
	bool has_host;	       /* host is what the last head said, for the report */
	struct name host;
	uint64_t requests; /* heads that were good */

	enum http_phase phase; /* inside, as what follows */
	size_t scanned;	       /* bytes of the head or line that are known to be sound */
	size_t line_bytes;     /* of the head's first line, once it was judged */
	size_t trailer_bytes, trailer_fields;
	uint64_t left; /* bytes of the body or chunk that are to come */
};

struct http_step {
	size_t pass_bytes; /* of the buffer's front */
	uint64_t splice_bytes; /* that follow and are no more than a body; only when pass_bytes is all */
};

/* wanted is borrowed for as long as the reader is in use; port is the one that was dialled, which
 * Host may name and need not when it is 80. */
void http_init(struct http_reader *r, const struct name *wanted, uint16_t port);

/* The len bytes at the buffer's front. After HTTP_MORE the same bytes come again with more behind
 * them; after HTTP_PASS those that follow what was passed. *step is set with HTTP_PASS alone.
 * HTTP_MORE is never said with len of HTTP_BUFFER_BYTES. After HTTP_REFUSED it is so for good. */
enum http_verdict http_read(struct http_reader *r, const unsigned char *bytes, size_t len,
			    struct http_step *step);

/* Between two requests: an end of file of the peer is a proper one here. */
bool http_between(const struct http_reader *r);

/* A clause for the result: "Host names another host". Never NULL. */
const char *http_reason_text(enum http_reason r);

#endif
