/* The ClientHellos of a TLS connection: the first, before anything is connected, and the second, if
 * the server asks for one. Until it has answered the first nothing more is read from the program,
 * and what it answers is looked at before it passes: see network/egress/retry.h. */
#include "network/broker/broker.h"

#include "network/egress/retry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void refuse(struct connection *c)
{
	char reason[EGRESS_REASON_BYTES];
	const char *text = hello_reason_text(c->hello.reason);
	if (c->hello.reason == HELLO_BAD_NAME)
		snprintf(reason, sizeof(reason), "%s: %s", text, name_fault_text(c->hello.fault));
	else if (c->hello.has_name)
		snprintf(reason, sizeof(reason), "%s: %s", text, c->hello.name.text);
	else
		snprintf(reason, sizeof(reason), "%s", text);
	connection_cut(c, EGRESS_DENIED, reason, 0);
}

int hello_first(struct connection *c)
{
	for (;;) {
		switch (buffer_fill(c, HELLO_BYTES_MAX)) {
		case FILL_SOME:
			break;
		case FILL_NOTHING:
			return 0;
		case FILL_RESET:
			connection_reset(c);
			return -1;
		case FILL_END:
			connection_cut(c, EGRESS_BROKEN,
				       "the program closed it without a ClientHello", 0);
			return -1;
		}
		switch (hello_read(&c->hello, c->buffer, c->buffer_len)) {
		case HELLO_GOOD:
			c->pass_bytes = c->hello.record; /* what is behind it was not judged */
			return 1;
		case HELLO_REFUSED:
			refuse(c);
			return -1;
		case HELLO_MORE:
			break;
		}
	}
}

/* ---- the second ---- */

static enum retry look_at_answer(struct connection *c)
{
	unsigned char bytes[RETRY_BYTES_MAX];
	const ssize_t n = recv(c->out.watch.fd, bytes, sizeof(bytes), MSG_PEEK);
	if (n < 0 && errno == EAGAIN)
		return RETRY_MORE;
	if (n <= 0)
		return RETRY_NO; /* its end, or a reset, which whoever reads next is told of */
	const enum retry r = retry_read(bytes, (size_t)n);
	return r == RETRY_MORE && c->out.ending ? RETRY_NO : r;
}

/* False: nothing is known yet. */
static bool is_answered(struct connection *c)
{
	const enum retry r = c->out.readable ? look_at_answer(c) : RETRY_MORE;
	if (r == RETRY_MORE)
		return false;
	c->handshake = r == RETRY_YES ? HANDSHAKE_AGAIN : HANDSHAKE_OVER;
	hello_init(&c->hello, &c->name);
	return true;
}

static enum hello_verdict judge_second(struct connection *c, bool ended)
{
	bool whole;
	const size_t at = retry_skip(c->buffer, c->buffer_len, &whole);
	enum hello_verdict v = HELLO_MORE;
	if (at < c->buffer_len)
		v = hello_read(&c->hello, c->buffer + at, c->buffer_len - at);
	else if (ended && whole)
		return HELLO_GOOD; /* the program gave up, and may say so */
	if (v != HELLO_MORE || (!ended && c->buffer_len < HELLO_BYTES_MAX))
		return v;
	c->hello.reason = ended ? HELLO_MALFORMED : HELLO_TOO_LONG;
	return HELLO_REFUSED;
}

/* Everything up to it is held back, and passes with it. STALLED and HANDSHAKE_OVER: it may. */
static enum relay_end read_second(struct connection *c)
{
	enum hello_verdict v = judge_second(c, false); /* it may have come before it was asked for */
	while (v == HELLO_MORE) {
		const enum fill filled = buffer_fill(c, HELLO_BYTES_MAX);
		if (filled == FILL_NOTHING)
			return RELAY_STALLED;
		if (filled == FILL_RESET)
			return RELAY_BROKEN;
		c->up.ended = filled == FILL_END;
		v = judge_second(c, c->up.ended);
	}
	if (v == HELLO_REFUSED)
		refuse(c);
	else
		c->handshake = HANDSHAKE_OVER;
	return RELAY_STALLED;
}

bool handshake_awaits_answer(const struct connection *c)
{
	return c->check == EGRESS_TLS && c->handshake == HANDSHAKE_FIRST;
}

/* What is in the buffer passes, and then what comes. */
static enum relay_end move_all(struct connection *c)
{
	const enum relay_end end = buffer_pass(c);
	if (end != RELAY_MORE)
		return end;
	free(c->buffer);
	c->buffer = NULL;
	return relay_move(c->broker, &c->up, &c->in, &c->out, NULL);
}

enum relay_end handshake_move(struct connection *c)
{
	if (c->handshake == HANDSHAKE_OVER)
		return move_all(c);
	enum relay_end end = buffer_pass(c);
	if (end != RELAY_MORE)
		return end;
	if (c->handshake == HANDSHAKE_FIRST && !is_answered(c))
		return RELAY_STALLED;
	if (c->handshake == HANDSHAKE_AGAIN)
		end = read_second(c);
	if (c->state != CONN_RELAYING || c->handshake != HANDSHAKE_OVER)
		return end;
	c->pass_bytes = c->buffer_len;
	return move_all(c);
}
