/* Requests of one connection (RFC 9112): what passes passes byte for byte, whatever the pieces in
 * which it comes; and what two readers could understand in two ways is refused before it passes. */
#include "network/egress/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT(text)    (text), sizeof(text) - 1
#define HOST	      "Host: ok.example\r\n"
#define GET	      "GET / HTTP/1.1\r\n" HOST "\r\n"
#define POST	      "POST /x HTTP/1.1\r\n" HOST

static struct name wanted;

static int setup(void **state)
{
	(void)state;
	return name_read(&wanted, "ok.example", 10) == NAME_GOOD ? 0 : -1;
}

/* A connection: input that comes in pieces, the caller's buffer, and what was passed on. */
struct relay {
	struct http_reader r;
	const char *input;
	size_t input_len, at, piece;
	unsigned char buffer[HTTP_BUFFER_BYTES];
	size_t len;
	char *out;
	size_t out_len;
	bool ended; /* in the middle of a splice too */
};

static void pass(struct relay *c, const void *bytes, size_t len)
{
	memcpy(c->out + c->out_len, bytes, len);
	c->out_len += len;
}

static bool read_more(struct relay *c)
{
	size_t left = c->input_len - c->at, room = sizeof(c->buffer) - c->len;
	size_t take = left < c->piece ? left : c->piece;
	assert_true(room > 0); /* HTTP_MORE promises it */
	take = take < room ? take : room;
	memcpy(c->buffer + c->len, c->input + c->at, take);
	c->len += take;
	c->at += take;
	return take > 0;
}

static void splice_body(struct relay *c, uint64_t bytes)
{
	size_t left = c->input_len - c->at;
	size_t take = bytes < left ? (size_t)bytes : left;
	assert_true(bytes == 0 || c->len == 0);
	pass(c, c->input + c->at, take);
	c->at += take;
	c->ended = take < bytes;
}

/* As http.h has it. */
static void go_round(struct relay *c)
{
	while (!c->ended) {
		struct http_step step;
		switch (http_read(&c->r, c->buffer, c->len, &step)) {
		case HTTP_MORE:
			c->ended = !read_more(c);
			break;
		case HTTP_PASS:
			assert_true(step.pass_bytes <= c->len);
			assert_true(step.splice_bytes == 0 || step.pass_bytes == c->len);
			pass(c, c->buffer, step.pass_bytes);
			c->len -= step.pass_bytes;
			memmove(c->buffer, c->buffer + step.pass_bytes, c->len);
			splice_body(c, step.splice_bytes);
			break;
		default:
			assert_int_equal(http_read(&c->r, c->buffer, c->len, &step), HTTP_REFUSED);
			return;
		}
	}
}

/* What passes of the input in pieces of so many bytes; the reason at the end. */
static enum http_reason relay(const char *input, size_t len, size_t piece, struct relay *c)
{
	static char out[200000];
	assert_true(len <= sizeof(out));
	*c = (struct relay){.input = input, .input_len = len, .piece = piece, .out = out};
	http_init(&c->r, &wanted, 80);
	go_round(c);
	return c->r.reason;
}

static const size_t pieces[] = {1, 2, 3, 7, 64, 1000000};

static void expect(const char *input, size_t len, size_t passed, enum http_reason reason)
{
	static struct relay c;
	for (size_t i = 0; i < LENGTH(pieces); i++) {
		enum http_reason r = relay(input, len, pieces[i], &c);
		if (r != reason)
			fail_msg("%.*s\n-- in pieces of %zu: %s", (int)len, input, pieces[i],
				 http_reason_text(r));
		if (c.out_len != passed || memcmp(c.out, input, passed) != 0)
			fail_msg("%.*s\n-- in pieces of %zu: %zu bytes passed", (int)len, input,
				 pieces[i], c.out_len);
	}
}

static const struct {
	const char *input;
	size_t len;
} good[] = {
	{TEXT("")},
	{TEXT(GET)},
	{TEXT(GET GET GET)},
	{TEXT("GET / HTTP/1.1\r\nhOSt:\t OK.Example. \t\r\n\r\n")},
	{TEXT("GET / HTTP/1.1\r\nHost: ok.example:80\r\n\r\n")},
	{TEXT("GET http://ok.example/x?y=http://evil.example/ HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("GET HTTP://OK.example:80/?x HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("GET http://ok.example HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("OPTIONS * HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("GET //evil.example/ HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("GET /a|\"{}\\^` HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("X-y!#$%&'*+.^_`|~9 / HTTP/1.1\r\n" HOST "\r\n")},
	{TEXT("GET / HTTP/1.1\r\n" HOST
	      "A:\r\nB: \t\r\nC: \xe4\xff\r\nConnection: close, TE,,\r\nTE: trailers\r\n\r\n")},
	{TEXT("HEAD / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n" GET)},
	{TEXT(POST "Content-Length: 5\r\n\r\n"
		   "01\n\0"
		   "4" GET)},
	{TEXT(POST "Content-Length: 00005\r\nExpect: 100-continue\r\n\r\n"
		   "01234" GET)},
	{TEXT(POST "Transfer-Encoding: chunked\r\n\r\n"
		   "0\r\n\r\n" GET)},
	{TEXT(POST "transfer-encoding: CHUNKED \r\n\r\n"
		   "5\r\n01\r\n4\r\n0A\r\n0123456789\r\n000\r\n\r\n" GET)},
	{TEXT(POST "Transfer-Encoding: chunked\r\n\r\n"
		   "3;a=b;c=\"d e\"\r\nabc\r\n0;x\r\nA: b\r\nC:\r\n\r\n" GET)},
	/* ends in the middle */
	{TEXT(POST "Content-Length: 500\r\n\r\n"
		   "01234")},
	{TEXT(POST "Transfer-Encoding: chunked\r\n\r\n"
		   "fffffffffffffff\r\nabc")},
};

static void passes(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(good); i++)
		expect(good[i].input, good[i].len, good[i].len, HTTP_FINE);
	/* What is not whole does not pass. */
	expect(TEXT(GET "GET / HTTP/1.1\r\n" HOST), sizeof(GET) - 1, HTTP_FINE);
	expect(TEXT(GET "GET / HTTP/1.1\r\n" HOST "\r"), sizeof(GET) - 1, HTTP_FINE);
}

static void counted(void **state)
{
	(void)state;
	static struct relay c;
	relay(TEXT(GET POST "Content-Length: 5\r\n\r\n01234" GET), 1000, &c);
	assert_int_equal(c.r.requests, 3);
	assert_true(http_between(&c.r));
	relay(TEXT(GET "G"), 1000, &c);
	assert_false(http_between(&c.r));
	/* A body that is not in the buffer is to be spliced to its last byte. */
	struct http_reader r;
	struct http_step step;
	static const char head[] = POST "Content-Length: 123456789012345678\r\n\r\nabc";
	http_init(&r, &wanted, 80);
	assert_int_equal(http_read(&r, (const unsigned char *)head, sizeof(head) - 1, &step),
			 HTTP_PASS);
	assert_int_equal(step.pass_bytes, sizeof(head) - 1);
	assert_true(step.splice_bytes == 123456789012345678 - 3);
	assert_int_equal(http_read(&r, NULL, 0, &step), HTTP_MORE);
	assert_int_equal(http_read(&r, (const unsigned char *)GET, sizeof(GET) - 1, &step),
			 HTTP_PASS);
}

struct bad {
	const char *input;
	size_t len;
	enum http_reason reason;
};

static void refuse_all(const struct bad *rows, size_t len)
{
	static char input[8192];
	for (size_t i = 0; i < len; i++) {
		expect(rows[i].input, rows[i].len, 0, rows[i].reason);
		/* and behind a good one, which passes */
		memcpy(input, GET, sizeof(GET) - 1);
		memcpy(input + sizeof(GET) - 1, rows[i].input, rows[i].len);
		expect(input, sizeof(GET) - 1 + rows[i].len, sizeof(GET) - 1, rows[i].reason);
	}
}

static void lines(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{TEXT("\x16\3\1"), HTTP_NOT_HTTP},
		{TEXT("\r\n" GET), HTTP_NOT_HTTP},
		{TEXT(" GET"), HTTP_NOT_HTTP},
		{TEXT("EHLO x\r\n"), HTTP_NOT_HTTP},
		{TEXT("SSH-2.0-OpenSSH_9\r\n"), HTTP_NOT_HTTP},
		{TEXT("GET /\r\n"), HTTP_NOT_HTTP},
		{TEXT("GET  / HTTP/1.1\r\n"), HTTP_NOT_HTTP},
		{TEXT("GET / HTTP/1.1 \r\n"), HTTP_VERSION},
		{TEXT("GET / x HTTP/1.1\r\n"), HTTP_NOT_HTTP},
		{TEXT("GET\t/ HTTP/1.1\r\n"), HTTP_NOT_HTTP},
		{TEXT("G(T / HTTP/1.1\r\n"), HTTP_NOT_HTTP},
		{TEXT("GET / HTTP/1.0\r\n"), HTTP_VERSION},
		{TEXT("GET / HTTP/2.0\r\n"), HTTP_VERSION},
		{TEXT("GET / HTTP/1.10\r\n"), HTTP_VERSION},
		{TEXT("GET / http/1.1\r\n"), HTTP_NOT_HTTP},
		{TEXT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), HTTP_PREFACE},
		{TEXT("CONNECT ok.example:443 HTTP/1.1\r\n"), HTTP_METHOD},
		{TEXT("connect / HTTP/1.1\r\n"), HTTP_METHOD},
		{TEXT("GET * HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET ok.example HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET https://ok.example/ HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET http:/ok.example/ HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET /\xff HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET /#x HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET http://ok.example#@evil.example/ HTTP/1.1\r\n"), HTTP_TARGET},
		{TEXT("GET http://evil.example/ HTTP/1.1\r\n"), HTTP_OTHER_NAME},
		{TEXT("GET http://ok.example:8080/ HTTP/1.1\r\n"), HTTP_OTHER_NAME},
		{TEXT("GET http://ok.example@evil.example/ HTTP/1.1\r\n"), HTTP_BAD_HOST},
		{TEXT("GET http://u:p@ok.example/ HTTP/1.1\r\n"), HTTP_BAD_PORT},
		{TEXT("GET http:"
		      "///x HTTP/1.1\r\n"),
		 HTTP_BAD_HOST},
		{TEXT("GET http://ok.example\\@evil.example/ HTTP/1.1\r\n"), HTTP_BAD_HOST},
		{TEXT("GET http://ok.example?@evil.example/ HTTP/1.1\r\n"), HTTP_BAD_HOST},
		{TEXT("GET http://ok.example:80?@evil.example/ HTTP/1.1\r\n"), HTTP_BAD_PORT},
		{TEXT("GET / HTTP/1.1\n"), HTTP_BARE_LINE},
		{TEXT("GET / HTTP/1.1\r\r\n"), HTTP_BARE_LINE},
		{TEXT("GET /\r HTTP/1.1\r\n"), HTTP_BARE_LINE},
		{TEXT("GET /\0 HTTP/1.1\r\n"), HTTP_CONTROL},
		{TEXT("GET /\x7f HTTP/1.1\r\n"), HTTP_CONTROL},
		{TEXT("GET /\x1b[2J HTTP/1.1\r\n"), HTTP_CONTROL},
	};
	refuse_all(rows, LENGTH(rows));
}

/* One head with these lines behind the request line. */
#define FIELDS(text) TEXT("POST / HTTP/1.1\r\n" text "\r\n")

static const struct bad field_rows[] = {
	{FIELDS(""), HTTP_NO_HOST},
	{FIELDS("Hos: ok.example\r\n"), HTTP_NO_HOST},
	{FIELDS(HOST HOST), HTTP_SEVERAL_HOSTS},
	{FIELDS(HOST "host: evil.example\r\n"), HTTP_SEVERAL_HOSTS},
	{FIELDS("Host: evil.example\r\n"), HTTP_OTHER_NAME},
	{FIELDS("Host: evil.example\r\n" HOST), HTTP_OTHER_NAME},
	{FIELDS("Host: x.ok.example\r\n"), HTTP_OTHER_NAME},
	{FIELDS("Host: ok.example:81\r\n"), HTTP_OTHER_NAME},
	{FIELDS("Host:\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: ok.example:\r\n"), HTTP_BAD_PORT},
	{FIELDS("Host: ok.example:080\r\n"), HTTP_BAD_PORT},
	{FIELDS("Host: ok.example:65616\r\n"), HTTP_BAD_PORT}, /* 80 + 2^16 */
	{FIELDS("Host: ok.example:80:80\r\n"), HTTP_BAD_PORT},
	{FIELDS("Host: ok.example, evil.example\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: ok.example evil.example\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: ok.example@evil.example\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: ok.example..\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: 127.0.0.1\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: [::1]\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host: ok.\xc3\xa4\r\n"), HTTP_BAD_HOST},
	{FIELDS("Host : ok.example\r\n"), HTTP_FIELD},
	{FIELDS(HOST "X\r\n"), HTTP_FIELD},
	{FIELDS(HOST ": x\r\n"), HTTP_FIELD},
	{FIELDS(HOST "X y: z\r\n"), HTTP_FIELD},
	{FIELDS(HOST "X\xe4: z\r\n"), HTTP_FIELD},
	{FIELDS(" " HOST), HTTP_FOLDED},
	{FIELDS(HOST "X: a\r\n b\r\n"), HTTP_FOLDED},
	{FIELDS(HOST "X: a\r\n\tHost: evil.example\r\n"), HTTP_FOLDED},
	{FIELDS(HOST "X: a\nHost: evil.example\r\n"), HTTP_BARE_LINE},
	{FIELDS(HOST "X: a\rHost: evil.example\r\n"), HTTP_BARE_LINE},
	{FIELDS(HOST "\n"), HTTP_BARE_LINE},
	{FIELDS(HOST "X: \0\r\n"), HTTP_CONTROL},
	{FIELDS(HOST "X: \x0b\r\n"), HTTP_CONTROL},
	{FIELDS(HOST "Content-Length: 5\r\nContent-Length: 5\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length: 5, 5\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length:\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length: +5\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length: -5\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length: 0x5\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length: 5 5\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Content-Length: 1234567890123456789\r\n"), HTTP_LENGTH},
	{FIELDS(HOST "Transfer-Encoding: gzip, chunked\r\n"), HTTP_CODING},
	{FIELDS(HOST "Transfer-Encoding: identity\r\n"), HTTP_CODING},
	{FIELDS(HOST "Transfer-Encoding: xchunked\r\n"), HTTP_CODING},
	{FIELDS(HOST "Transfer-Encoding: chunked;x\r\n"), HTTP_CODING},
	{FIELDS(HOST "Transfer-Encoding: \"chunked\"\r\n"), HTTP_CODING},
	{FIELDS(HOST "Transfer-Encoding:\r\n"), HTTP_CODING},
	{FIELDS(HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), HTTP_CODING},
	{FIELDS(HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), HTTP_BOTH},
	{FIELDS(HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), HTTP_BOTH},
	{FIELDS(HOST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"), HTTP_BOTH},
	{FIELDS(HOST "Upgrade: websocket\r\nConnection: Upgrade\r\n"), HTTP_UPGRADE},
	{FIELDS(HOST "Connection: keep-alive, upgrade\r\n"), HTTP_UPGRADE},
	{FIELDS(HOST "Connection: HTTP2-Settings\r\n"), HTTP_UPGRADE},
	{FIELDS(HOST "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"), HTTP_UPGRADE},
	{FIELDS(HOST "Connection: close, Host\r\n"), HTTP_HIDDEN},
	{FIELDS(HOST "Connection: content-length\r\n"), HTTP_HIDDEN},
	{FIELDS(HOST "Connection: Transfer-Encoding\r\n"), HTTP_HIDDEN},
	{FIELDS(HOST "Connection: a b\r\n"), HTTP_FIELD},
	{FIELDS(HOST "Content_Length: 5\r\n"), HTTP_HIDDEN},
	{FIELDS(HOST "Transfer_encoding: chunked\r\n"), HTTP_HIDDEN},
};

static void fields(void **state)
{
	(void)state;
	refuse_all(field_rows, LENGTH(field_rows));
}

static void chunks(void **state)
{
	(void)state;
#define HEAD POST "Transfer-Encoding: chunked\r\n\r\n"
	static const struct {
		const char *body;
		size_t passed; /* of it */
		enum http_reason reason;
	} rows[] = {
		{"\r\n", 0, HTTP_CHUNK},
		{"x\r\n", 0, HTTP_CHUNK},
		{"@\r\n", 0, HTTP_CHUNK},
		{"`\r\n", 0, HTTP_CHUNK},
		{"-1\r\n", 0, HTTP_CHUNK},
		{"0x1\r\n", 0, HTTP_CHUNK},
		{" 1\r\n", 0, HTTP_CHUNK},
		{"1 \r\n", 0, HTTP_CHUNK},
		{"1 ;x\r\n", 0, HTTP_CHUNK},
		{"1\tx\r\n", 0, HTTP_CHUNK},
		{"1;\xff\r\n", 0, HTTP_CHUNK},
		{"1000000000000000\r\n", 0, HTTP_CHUNK}, /* sixteen digits */
		{"1\n", 0, HTTP_BARE_LINE},
		{"1;x\ny\r\n", 0, HTTP_BARE_LINE},
		{"1\r\r\n", 0, HTTP_BARE_LINE},
		{"1;\x01\r\n", 0, HTTP_CONTROL},
		{"1\r\nab", 4, HTTP_CHUNK},
		{"1\r\na\n", 4, HTTP_CHUNK},
		{"1\r\na\rx", 4, HTTP_CHUNK},
		{"1\r\na\r\n\r\n", 6, HTTP_CHUNK},
		{"0\r\nHost: evil.example\r\n\r\n", 3, HTTP_TRAILER},
		{"0\r\nA: b\r\nContent-Length: 5\r\n\r\n", 9, HTTP_TRAILER},
		{"0\r\nTransfer-Encoding: chunked\r\n\r\n", 3, HTTP_TRAILER},
		{"0\r\nA\r\n\r\n", 3, HTTP_FIELD},
		{"0\r\n A: b\r\n\r\n", 3, HTTP_FOLDED},
		{"0\r\nA: b\n\r\n", 3, HTTP_BARE_LINE},
		{"0\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 5, HTTP_OTHER_NAME},
	};
	char input[1024];
	for (size_t i = 0; i < LENGTH(rows); i++) {
		size_t head = sizeof(HEAD) - 1;
		int len = snprintf(input, sizeof(input), "%s%s", HEAD, rows[i].body);
		expect(input, (size_t)len, head + rows[i].passed, rows[i].reason);
	}
}

static char *fill(char *to, size_t len)
{
	memset(to, 'a', len);
	return to + len;
}

static void bounds(void **state)
{
	(void)state;
	static char input[100000];
	static const char begin[] = "GET / HTTP/1.1\r\n" HOST "X: ", end[] = "\r\n\r\n";
	const size_t fixed = sizeof(begin) - 1 + sizeof(end) - 1;
	for (int over = 0; over < 2; over++) {
		char *to = input + sprintf(input, "%s", begin);
		to = fill(to, HTTP_HEAD_BYTES_MAX - fixed + (size_t)over);
		memcpy(to, end, sizeof(end) - 1);
		size_t len = HTTP_HEAD_BYTES_MAX + (size_t)over;
		expect(input, len, over ? 0 : len, over ? HTTP_TOO_LONG : HTTP_FINE);
	}
	memcpy(input, "GET /", 5);
	fill(input + 5, sizeof(input) - 5);
	expect(input, sizeof(input), 0, HTTP_TOO_LONG);
	/* fields */
	for (int over = 0; over < 2; over++) {
		int len = sprintf(input, "GET / HTTP/1.1\r\n" HOST);
		for (int i = 1; i < HTTP_FIELDS_MAX + over; i++)
			len += sprintf(input + len, "A%d: b\r\n", i);
		len += sprintf(input + len, "\r\n");
		expect(input, (size_t)len, over ? 0 : (size_t)len, over ? HTTP_TOO_LONG : HTTP_FINE);
	}
	/* extensions of a chunk; trailers, by bytes and by number */
	const size_t head = sizeof(HEAD) - 1;
	for (size_t over = 0; over < 2; over++) {
		char *to = fill(input + sprintf(input, "%s0;", HEAD), HTTP_LINE_BYTES_MAX - 4 + over);
		size_t len = (size_t)(to + sprintf(to, "\r\n\r\n") - input);
		expect(input, len, over ? head : len, over ? HTTP_TOO_LONG : HTTP_FINE);
		to = fill(input + sprintf(input, "%s0\r\nA:", HEAD),
			  HTTP_TRAILER_BYTES_MAX - 6 + over);
		len = (size_t)(to + sprintf(to, "\r\n\r\n") - input);
		expect(input, len, over ? head + 3 + HTTP_TRAILER_BYTES_MAX - 1 : len,
		       over ? HTTP_TOO_LONG : HTTP_FINE);
	}
	int len = sprintf(input, "%s0\r\n", HEAD);
	for (int i = 0; i < 128; i++)
		len += sprintf(input + len, "A: b\r\n");
	sprintf(input + len, "A: b\r\n\r\n");
	expect(input, (size_t)len + 8, (size_t)len, HTTP_TOO_LONG);
}

/* Hundreds of requests in one connection, of which a buffer holds many and part of one. */
static void pipeline(void **state)
{
	(void)state;
	static char input[40 * 1000];
	size_t len = 0;
	for (; len + sizeof(GET) <= sizeof(input); len += sizeof(GET) - 1)
		memcpy(input + len, GET, sizeof(GET) - 1);
	expect(input, len, len, HTTP_FINE);
}

static void other_port(void **state)
{
	(void)state;
	struct http_reader r;
	struct http_step step;
	http_init(&r, &wanted, 8080);
	assert_int_equal(http_read(&r, (const unsigned char *)GET, sizeof(GET) - 1, &step),
			 HTTP_REFUSED);
	assert_int_equal(r.reason, HTTP_OTHER_NAME);
	assert_true(r.has_host && strcmp(r.host.text, "ok.example") == 0);
	static const char text[] = "GET / HTTP/1.1\r\nHost: ok.example:8080\r\n\r\n";
	http_init(&r, &wanted, 8080);
	assert_int_equal(http_read(&r, (const unsigned char *)text, sizeof(text) - 1, &step),
			 HTTP_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes),   cmocka_unit_test(counted),	  cmocka_unit_test(lines),
		cmocka_unit_test(fields),   cmocka_unit_test(chunks),	  cmocka_unit_test(bounds),
		cmocka_unit_test(pipeline), cmocka_unit_test(other_port),
	};
	for (int r = 0; r < HTTP_REASON_COUNT; r++) {
		if (strlen(http_reason_text((enum http_reason)r)) == 0)
			return 1;
	}
	return cmocka_run_group_tests(tests, setup, NULL);
}
