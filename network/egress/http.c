/* Lines, phases and bodies; what one line or head says is judged in http_head.c. */
#include "network/egress/http.h"

#include "network/egress/http_head.h"

#include <string.h>

/* RFC 9112 7.1: fifteen hexadecimal digits are below 2^60. */
enum { CHUNK_DIGITS_MAX = 15, CRLF_BYTES = 2 };

void http_init(struct http_reader *r, const struct name *wanted, uint16_t port)
{
	*r = (struct http_reader){.wanted = wanted, .port = port};
}

bool http_between(const struct http_reader *r)
{
	return r->phase == HTTP_IN_HEAD && r->scanned == 0;
}

/* ---- lines ---- */

enum scan { SCAN_MORE, SCAN_LINE, SCAN_BAD };

static enum scan bad(struct http_reader *r, enum http_reason reason)
{
	r->reason = reason;
	return SCAN_BAD;
}

static bool is_control(unsigned char c)
{
	return (c < ' ' && c != '\t') || c == 0x7f;
}

/* The next end of a line among bytes that may be no more than max; *end is behind it. What was seen
 * is not looked at again. */
static enum scan scan_line(struct http_reader *r, const unsigned char *bytes, size_t len,
			   size_t max, size_t *end)
{
	size_t i = r->scanned;
	for (; i < len && i < max; i++) {
		unsigned char c = bytes[i];
		if (c == '\n')
			return bad(r, HTTP_BARE_LINE);
		if (c == '\r' && i + 1 == len)
			break;
		if (c == '\r' && bytes[i + 1] != '\n')
			return bad(r, HTTP_BARE_LINE);
		if (c == '\r') {
			r->scanned = i + CRLF_BYTES;
			*end = i + CRLF_BYTES;
			return *end > max ? bad(r, HTTP_TOO_LONG) : SCAN_LINE;
		}
		if (is_control(c))
			return bad(r, HTTP_CONTROL);
	}
	r->scanned = i;
	return len >= max ? bad(r, HTTP_TOO_LONG) : SCAN_MORE;
}

/* ---- phases: each takes from bytes what it can, returns how much, and sets the phase or the
 * reason. Zero without either: more bytes are needed ---- */

struct input {
	const unsigned char *bytes;
	size_t len;
};

static void begin_body(struct http_reader *r, const struct http_head *h)
{
	r->requests++;
	r->scanned = 0;
	r->line_bytes = 0;
	r->left = h->length;
	r->trailer_bytes = 0;
	r->trailer_fields = 0;
	if (h->chunked)
		r->phase = HTTP_IN_SIZE;
	else if (h->length > 0)
		r->phase = HTTP_IN_BODY;
}

/* The first line is judged as soon as it is there: a protocol in which the server speaks next would
 * wait for ever else. */
static size_t take_head(struct http_reader *r, struct input in)
{
	size_t begin = r->scanned, end;
	if (begin == 0 && in.len > 0 && !http_is_token(in.bytes[0])) {
		r->reason = HTTP_NOT_HTTP;
		return 0;
	}
	while (scan_line(r, in.bytes, in.len, HTTP_HEAD_BYTES_MAX, &end) == SCAN_LINE) {
		if (r->line_bytes == 0) {
			r->line_bytes = end;
			r->reason = http_judge_line(r, in.bytes, end - CRLF_BYTES);
			if (r->reason)
				return 0;
			continue;
		}
		/* Empty: an end of a line stands right behind the last one. */
		if (in.bytes[end - CRLF_BYTES - 1] != '\n')
			continue;
		struct http_head h = {.length = 0};
		r->reason = http_judge_fields(r, &h, in.bytes + r->line_bytes,
					      end - CRLF_BYTES - r->line_bytes);
		if (r->reason)
			return 0;
		begin_body(r, &h);
		return end;
	}
	return 0;
}

static size_t take_body(struct http_reader *r, struct input in)
{
	size_t take = r->left < in.len ? (size_t)r->left : in.len;
	r->left -= take;
	if (r->left == 0)
		r->phase = r->phase == HTTP_IN_CHUNK ? HTTP_IN_END : HTTP_IN_HEAD;
	return take;
}

static bool read_hex(unsigned char c, uint64_t *value)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *digit = c ? strchr(digits, c) : NULL;
	if (digit)
		*value = *value << 4 | (uint64_t)(digit - digits) % 16;
	return digit;
}

/* Digits, then nothing or extensions, of which no more is asked than that they are printable. */
static bool read_size(const unsigned char *line, size_t len, uint64_t *size)
{
	size_t digits = 0;
	*size = 0;
	while (digits < len && read_hex(line[digits], size)) {
		if (++digits > CHUNK_DIGITS_MAX)
			return false;
	}
	if (digits == 0 || (digits < len && line[digits] != ';'))
		return false;
	for (size_t i = digits; i < len; i++) {
		if (line[i] >= 0x80)
			return false;
	}
	return true;
}

static size_t take_size(struct http_reader *r, struct input in)
{
	size_t end;
	if (scan_line(r, in.bytes, in.len, HTTP_LINE_BYTES_MAX, &end) != SCAN_LINE)
		return 0;
	if (!read_size(in.bytes, end - CRLF_BYTES, &r->left)) {
		r->reason = HTTP_CHUNK;
		return 0;
	}
	r->scanned = 0;
	r->phase = r->left > 0 ? HTTP_IN_CHUNK : HTTP_IN_TRAILER;
	return end;
}

static size_t take_end(struct http_reader *r, struct input in)
{
	if ((in.len > 0 && in.bytes[0] != '\r') || (in.len > 1 && in.bytes[1] != '\n'))
		r->reason = HTTP_CHUNK;
	if (r->reason || in.len < CRLF_BYTES)
		return 0;
	r->phase = HTTP_IN_SIZE;
	return CRLF_BYTES;
}

static size_t take_trailer(struct http_reader *r, struct input in)
{
	size_t end;
	if (scan_line(r, in.bytes, in.len, HTTP_TRAILER_BYTES_MAX - r->trailer_bytes, &end) !=
	    SCAN_LINE)
		return 0;
	r->scanned = 0;
	r->trailer_bytes += end;
	if (end == CRLF_BYTES) {
		r->phase = HTTP_IN_HEAD;
		return end;
	}
	r->reason = ++r->trailer_fields > HTTP_FIELDS_MAX
			    ? HTTP_TOO_LONG
			    : http_judge_trailer(in.bytes, end - CRLF_BYTES);
	return r->reason ? 0 : end;
}

static size_t (*const takers[])(struct http_reader *r, struct input in) = {
	[HTTP_IN_HEAD] = take_head,  [HTTP_IN_BODY] = take_body, [HTTP_IN_SIZE] = take_size,
	[HTTP_IN_CHUNK] = take_body, [HTTP_IN_END] = take_end,	 [HTTP_IN_TRAILER] = take_trailer,
};

/* A refusal waits until what is good before it has passed. */
enum http_verdict http_read(struct http_reader *r, const unsigned char *bytes, size_t len,
			    struct http_step *step)
{
	size_t at = 0;
	bool body = false;
	while (!r->reason) {
		size_t taken =
			takers[r->phase](r, (struct input){len > at ? bytes + at : bytes, len - at});
		at += taken;
		body = r->phase == HTTP_IN_BODY || r->phase == HTTP_IN_CHUNK;
		if (taken == 0)
			break;
	}
	if (at == 0 && !body)
		return r->reason ? HTTP_REFUSED : HTTP_MORE;
	*step = (struct http_step){.pass_bytes = at};
	if (body && !r->reason) {
		step->splice_bytes = r->left;
		r->phase = r->phase == HTTP_IN_CHUNK ? HTTP_IN_END : HTTP_IN_HEAD;
		r->left = 0;
	}
	return HTTP_PASS;
}

static const char *const texts[HTTP_REASON_COUNT] = {
	[HTTP_FINE] = "nothing is wrong with it",
	[HTTP_NOT_HTTP] = "what was said is no HTTP request",
	[HTTP_VERSION] = "the request is not of HTTP/1.1",
	[HTTP_PREFACE] = "HTTP/2 without TLS",
	[HTTP_METHOD] = "CONNECT asks for a tunnel",
	[HTTP_UPGRADE] = "Upgrade asks for another protocol",
	[HTTP_TARGET] = "the request's target is neither a path nor a URL of http",
	[HTTP_TOO_LONG] = "the request's head, a line or a trailer is too long",
	[HTTP_BARE_LINE] = "a line of the request ends in CR or LF alone",
	[HTTP_CONTROL] = "a control character is in the request's head",
	[HTTP_FOLDED] = "a field is folded over two lines",
	[HTTP_FIELD] = "a line of the request's head is no field",
	[HTTP_NO_HOST] = "the request has no Host",
	[HTTP_SEVERAL_HOSTS] = "the request has several Host fields",
	[HTTP_BAD_HOST] = "Host is no host name",
	[HTTP_BAD_PORT] = "the port behind Host's colon is no number from 1 to 65535",
	[HTTP_OTHER_NAME] = "Host or the target names another host or port",
	[HTTP_LENGTH] = "Content-Length is repeated or no number",
	[HTTP_CODING] = "Transfer-Encoding is repeated or not chunked alone",
	[HTTP_BOTH] = "Content-Length stands beside Transfer-Encoding",
	[HTTP_HIDDEN] = "a field hides or disguises Host or the body's length",
	[HTTP_CHUNK] = "a chunk is malformed",
	[HTTP_TRAILER] = "a trailer names the host or the body's length",
};

const char *http_reason_text(enum http_reason r)
{
	return (unsigned int)r < HTTP_REASON_COUNT ? texts[r] : "the request was not read";
}
