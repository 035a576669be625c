/* What one line, the fields of a head or a trailer say. For http.c alone.
 *
 * Bytes were scanned: no control character but HTAB, and CR and LF as ends of lines only.
 */
#ifndef PINFOLD_NETWORK_EGRESS_HTTP_HEAD_H
#define PINFOLD_NETWORK_EGRESS_HTTP_HEAD_H

#include "network/egress/http.h"

/* The framing of the body that follows. */
struct http_head {
	bool has_host, has_length, chunked;
	uint64_t length;
};

/* A character of a token (RFC 9110 5.6.2). */
bool http_is_token(unsigned char c);

/* The request line, without its end. Sets r->host if the target names one. */
enum http_reason http_judge_line(struct http_reader *r, const unsigned char *line, size_t len);

/* All field lines, each with its end, without the empty one. Sets r->host and *h. */
enum http_reason http_judge_fields(struct http_reader *r, struct http_head *h,
				   const unsigned char *lines, size_t len);

/* One line of a trailer, without its end. */
enum http_reason http_judge_trailer(const unsigned char *line, size_t len);

#endif
