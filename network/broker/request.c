#include "network/broker/broker.h"

#include <stdio.h>
#include <string.h>

static int refuse(struct connection *c)
{
	char reason[EGRESS_REASON_BYTES];
	const char *text = http_reason_text(c->http.reason);
	if (c->http.reason == HTTP_BAD_HOST)
		snprintf(reason, sizeof(reason), "%s: %s", text, name_fault_text(c->http.fault));
	else if (c->http.has_host && c->http.reason == HTTP_OTHER_NAME)
		snprintf(reason, sizeof(reason), "%s: %s", text, c->http.host.text);
	else
		snprintf(reason, sizeof(reason), "%s", text);
	connection_cut(c, EGRESS_DENIED, reason, 0);
	return -1;
}

/* 1: there is more in the buffer; 0: nothing for now, or the end (up.ended); -1: cut. */
static int fill(struct connection *c)
{
	switch (buffer_fill(c, HTTP_BUFFER_BYTES)) {
	case FILL_SOME:
		return 1;
	case FILL_NOTHING:
		return 0;
	case FILL_RESET:
		connection_reset(c);
		return -1;
	case FILL_END:
		break;
	}
	if (c->buffer_len == 0 && http_between(&c->http)) {
		c->up.ended = true;
		return 0;
	}
	connection_cut(c, EGRESS_DENIED, "the request ends in its midst", 0);
	return -1;
}

/* 1: something was judged and may pass; else as fill(). */
static int judge(struct connection *c)
{
	for (;;) {
		struct http_step step;
		switch (http_read(&c->http, c->buffer, c->buffer_len, &step)) {
		case HTTP_PASS:
			c->pass_bytes = step.pass_bytes;
			c->splice_bytes = step.splice_bytes;
			return 1;
		case HTTP_REFUSED:
			return refuse(c);
		case HTTP_MORE:
			break;
		}
		const int rc = fill(c);
		if (rc <= 0)
			return rc;
	}
}

int requests_first(struct connection *c)
{
	const int rc = judge(c);
	if (rc == 0 && c->up.ended) {
		connection_cut(c, EGRESS_BROKEN, "the program closed it without a request", 0);
		return -1;
	}
	return rc;
}

/* What follows unseen. STALLED with splice_bytes 0: all of it is on its way. */
static enum relay_end body(struct connection *c)
{
	const enum relay_end end = relay_move(c->broker, &c->up, &c->in, &c->out, &c->splice_bytes);
	if (c->splice_bytes > 0 && c->up.ended)
		return RELAY_BROKEN; /* a body that ends too soon is no end of file between requests */
	return end;
}

enum relay_end requests_move(struct connection *c)
{
	for (int round = 0; round < RELAY_ROUNDS; round++) {
		const int flushed = relay_flush(&c->up, &c->out);
		if (flushed <= 0)
			return flushed < 0 ? RELAY_BROKEN : RELAY_STALLED;
		const enum relay_end passed = buffer_pass(c);
		if (passed != RELAY_MORE)
			return passed;
		if (c->splice_bytes > 0) {
			const enum relay_end end = body(c);
			if (end != RELAY_STALLED || c->splice_bytes > 0)
				return end;
			continue;
		}
		if (c->up.ended)
			return relay_move(c->broker, &c->up, &c->in, &c->out, NULL);
		const int rc = judge(c);
		if (rc < 0)
			return RELAY_STALLED; /* and it is gone */
		if (rc == 0 && !c->up.ended)
			return RELAY_STALLED;
	}
	return RELAY_MORE;
}
