/* One connection of the program's, from accept(2) to its row in the result. */
#include "network/broker/broker.h"

#include "spec/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SIDE_EVENTS = EPOLLIN | EPOLLOUT | EPOLLRDHUP,
	REST_TURNS = 8, /* more than what the kernel holds of one connection (tcp_rmem) */
};

static void on_side(struct broker *b, struct watch *w, uint32_t events);
static void begin(struct connection *c);

static void set_deadline(struct connection *c, uint64_t ns)
{
	c->deadline_ns = in_ns(c->broker, ns);
	wake_at(c->broker, c->deadline_ns);
}

static void set_idle_deadline(struct connection *c)
{
	set_deadline(c, c->broker->p->config->idle_ns);
}

static void set_connect_deadline(struct connection *c)
{
	set_deadline(c, c->broker->p->config->connect_ns);
}

/* ---- the end ---- */

static void close_side(struct side *s, bool reset)
{
	const struct linger at_once = {.l_onoff = 1};
	if (s->watch.fd >= 0 && reset)
		setsockopt(s->watch.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	watch_close(&s->watch);
}

static void report(struct connection *c, const struct fact *f)
{
	struct fact fact = *f;
	fact.rule = c->rule;
	fact.name = c->has_name ? c->name.text : NULL;
	fact.address = c->has_address ? &c->address : NULL;
	fact.port = c->port;
	fact.sent_bytes = c->up.bytes;
	fact.received_bytes = c->down.bytes;
	fact.duration_ns = c->broker->now_ns - c->begun_ns;
	report_fact(c->broker, &fact);
}

/* A request of an allowed connection may be denied: that is a row of its own, with no bytes. */
static void report_end(struct connection *c, const struct fact *f)
{
	const struct fact allowed = {.verdict = EGRESS_ALLOWED, .part = FACT_ENDS};
	if (c->told)
		report(c, &allowed);
	if (c->told && f->verdict == EGRESS_ALLOWED && !f->reason)
		return;
	if (c->told) {
		c->up.bytes = c->down.bytes = 0;
		c->begun_ns = c->broker->now_ns;
	}
	report(c, f);
}

static void end(struct connection *c, const struct fact *f, bool reset)
{
	struct broker *b = c->broker;
	if (c->state == CONN_WAITING)
		b->waiting--;
	else
		b->busy--;
	close_side(&c->in, reset);
	close_side(&c->out, reset);
	attempts_end(c);
	flow_close(&c->up);
	flow_close(&c->down);
	free(c->buffer);
	c->buffer = NULL;
	c->again = false;
	c->state = CONN_GONE;
	b->gone = true;
	report_end(c, f);
}

void connection_cut(struct connection *c, enum egress_verdict verdict, const char *reason, int sys)
{
	end(c, &(struct fact){.verdict = verdict, .reason = reason, .sys = sys}, true);
}

void connection_reset(struct connection *c)
{
	if (c->state == CONN_RELAYING)
		connection_cut(c, EGRESS_ALLOWED, NULL, 0);
	else
		connection_cut(c, EGRESS_BROKEN, "the program closed it before it was connected", 0);
}

void connection_done(struct connection *c)
{
	end(c, &(struct fact){.verdict = EGRESS_ALLOWED}, false);
}

/* ---- the first bytes ---- */

static void go_out(struct connection *c)
{
	set_connect_deadline(c);
	if (!c->has_name) {
		const enum address_verdict v = address_judge(c->rule, &c->dialled, c->port);
		if (v != ADDRESS_PERMITTED) {
			connection_cut(c, EGRESS_DENIED, address_verdict_text(v), 0);
			return;
		}
		c->candidates[0] = c->dialled;
		c->candidates_len = 1;
		attempts_begin(c);
		return;
	}
	c->state = CONN_RESOLVING;
	connection_resolve(c);
}

void connection_resolve(struct connection *c)
{
	struct broker *b = c->broker;
	c->lookup = lookup_ask(b, &c->name, c->rule, c->port);
	if (c->lookup >= 0 && lookup_answer(b, c->lookup))
		connection_resolved(c);
}

void connection_resolved(struct connection *c)
{
	const struct answer *a = lookup_answer(c->broker, c->lookup);
	if (a->failure) {
		connection_cut(c, EGRESS_BROKEN, a->failure, 0);
		return;
	}
	if (a->verdict != ADDRESS_PERMITTED) {
		c->address = a->bad;
		c->has_address = true;
		connection_cut(c, EGRESS_DENIED, address_verdict_text(a->verdict), 0);
		return;
	}
	c->candidates_len = a->len < ATTEMPTS_MAX ? a->len : ATTEMPTS_MAX;
	memcpy(c->candidates, a->addresses, c->candidates_len * sizeof(*c->candidates));
	attempts_begin(c);
}

static void judge(struct connection *c)
{
	const int judged = c->check == EGRESS_TLS ? hello_first(c) : requests_first(c);
	if (judged == 1)
		go_out(c);
}

/* ---- what can be done now ---- */

/* A server may answer and reset in one breath, because it does not want the rest of the request: the
 * kernel holds the answer in front of the reset, and so do we, as far as the program takes it. */
static enum relay_end relay_rest(struct connection *c, bool last)
{
	enum relay_end end;
	int turns = last ? REST_TURNS : 1;
	do
		end = relay_move(c->broker, &c->down, &c->out, &c->in, NULL);
	while (end == RELAY_MORE && --turns > 0);
	return end;
}

enum fill buffer_fill(struct connection *c, size_t size)
{
	if (!c->in.readable)
		return FILL_NOTHING;
	const ssize_t n = recv(c->in.watch.fd, c->buffer + c->buffer_len, size - c->buffer_len, 0);
	if (n > 0) {
		c->buffer_len += (size_t)n;
		return FILL_SOME;
	}
	if (n == 0)
		return FILL_END;
	if (errno != EAGAIN)
		return FILL_RESET;
	c->in.readable = false;
	return FILL_NOTHING;
}

enum relay_end buffer_pass(struct connection *c)
{
	while (c->pass_bytes > 0) {
		const size_t len = relay_allowance(c->broker, c->pass_bytes);
		if (len == 0)
			return RELAY_LIMIT;
		if (!c->out.writable)
			return RELAY_STALLED;
		const ssize_t n = send(c->out.watch.fd, c->buffer, len, MSG_NOSIGNAL);
		if (n < 0) {
			c->out.writable = false;
			return errno == EAGAIN ? RELAY_STALLED : RELAY_BROKEN;
		}
		relay_count(c->broker, &c->up, (size_t)n);
		c->pass_bytes -= (size_t)n;
		c->buffer_len -= (size_t)n;
		memmove(c->buffer, c->buffer + n, c->buffer_len);
	}
	return RELAY_MORE;
}

static enum relay_end move_up(struct connection *c)
{
	switch (c->check) {
	case EGRESS_TLS:
		return handshake_move(c);
	case EGRESS_HTTP:
		return requests_move(c);
	default:
		return relay_move(c->broker, &c->up, &c->in, &c->out, NULL);
	}
}

void connection_relay(struct connection *c)
{
	struct broker *b = c->broker;
	const uint64_t before = c->up.bytes + c->down.bytes;
	const enum relay_end up = move_up(c);
	if (c->state != CONN_RELAYING)
		return;
	enum relay_end down = RELAY_STALLED;
	if (up == RELAY_BROKEN || (up != RELAY_LIMIT && !handshake_awaits_answer(c)))
		down = relay_rest(c, up == RELAY_BROKEN);
	if (up == RELAY_LIMIT || down == RELAY_LIMIT) {
		report_limit(b);
	} else if (up == RELAY_BROKEN || down == RELAY_BROKEN) {
		connection_reset(c);
	} else if (c->up.shut && c->down.shut) {
		connection_done(c);
	} else {
		c->again = up == RELAY_MORE || down == RELAY_MORE;
		b->again |= c->again;
		if (c->up.bytes + c->down.bytes != before)
			set_idle_deadline(c);
	}
}

void connection_look(struct connection *c)
{
	c->again = false;
	if (c->state == CONN_JUDGING)
		judge(c);
	else if (c->state == CONN_RELAYING)
		connection_relay(c);
}

void connection_connected(struct connection *c)
{
	const struct fact allowed = {.verdict = EGRESS_ALLOWED, .part = FACT_BEGINS};
	report(c, &allowed);
	c->told = true;
	c->state = CONN_RELAYING;
	set_idle_deadline(c);
	connection_look(c);
}

static void on_side(struct broker *b, struct watch *w, uint32_t events)
{
	struct side *s = (struct side *)w; /* its first member */
	struct connection *c = w->owner;
	(void)b;
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		s->readable = true;
	if (events & (EPOLLRDHUP | EPOLLHUP))
		s->ending = true;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		s->writable = true;
	/* RST crosses right behind what came before it, and waits for nobody who does not take that. */
	const bool lost = (events & EPOLLERR) || (c->state != CONN_RELAYING && (events & EPOLLHUP));
	if (!lost || c->state == CONN_RELAYING)
		connection_look(c);
	if (lost && c->state != CONN_GONE)
		connection_reset(c);
}

/* ---- time ---- */

/* One side does not take what is there for it: it may be slow, and the kernel tells of room only
 * when there is much of it again. */
static bool somebody_is_slow(const struct connection *c)
{
	return c->up.held_len + c->up.in_pipe + c->pass_bytes + c->down.held_len + c->down.in_pipe >
	       0;
}

static void be_late(struct connection *c)
{
	const struct egress_config *config = c->broker->p->config;
	char late[LATE_BYTES];
	switch (c->state) {
	case CONN_WAITING:
		connection_cut(c, EGRESS_DENIED, "too many connections at once", 0);
		return;
	case CONN_JUDGING:
		connection_cut(c, EGRESS_DENIED, "no request within 10 s", 0);
		return;
	case CONN_RESOLVING:
		late_text(late, "the name servers did not answer within", config->connect_ns);
		connection_cut(c, EGRESS_BROKEN, late, 0);
		return;
	case CONN_CONNECTING:
		late_text(late, "no connection within", config->connect_ns);
		connection_cut(c, EGRESS_BROKEN, late, ETIMEDOUT);
		return;
	default:
		late_text(late, "no byte either way for", config->idle_ns);
		connection_cut(c, EGRESS_ALLOWED, late, 0);
	}
}

void connection_time(struct connection *c)
{
	if (c->state == CONN_GONE)
		return;
	const bool due = c->broker->now_ns >= c->deadline_ns;
	if (due && (c->state != CONN_RELAYING || !somebody_is_slow(c))) {
		be_late(c);
		return;
	}
	if (due)
		set_idle_deadline(c);
	wake_at(c->broker, c->deadline_ns);
	if (c->state == CONN_CONNECTING)
		attempts_time(c);
}

/* ---- the begin ---- */

static bool begin_judging(struct connection *c)
{
	c->buffer = malloc(c->check == EGRESS_TLS ? HELLO_BYTES_MAX : HTTP_BUFFER_BYTES);
	if (!c->buffer)
		return false;
	if (c->check == EGRESS_TLS)
		hello_init(&c->hello, &c->name);
	else
		http_init(&c->http, &c->name, c->port);
	c->state = CONN_JUDGING;
	set_deadline(c, FIRST_BYTES_MS * MS_NS);
	return true;
}

static void begin(struct connection *c)
{
	c->broker->busy++;
	c->state = CONN_JUDGING;
	c->in.readable = c->in.writable = true;
	watch_add(c->broker, &c->in.watch, SIDE_EVENTS | EPOLLET);
	if (c->check == EGRESS_RELAY)
		go_out(c);
	else if (begin_judging(c))
		judge(c);
	else
		connection_cut(c, EGRESS_BROKEN, "out of memory", ENOMEM);
}

static struct connection *free_one(struct broker *b)
{
	for (size_t i = 0; i < CONNECTIONS_MAX + WAITING_MAX; i++)
		if (b->connections[i].state == CONN_FREE)
			return &b->connections[i];
	return NULL;
}

bool connection_open(struct broker *b, int fd, const struct dialled *to)
{
	struct connection *c = free_one(b);
	if (!c) /* so many were closed in this very round */
		return false;
	*c = (struct connection){.broker = b,
				 .in = {.watch = {.fd = fd, .ready = on_side, .owner = c}},
				 .out = {.watch = {.fd = -1, .ready = on_side, .owner = c}},
				 .rule = to->rule,
				 .has_name = to->name != NULL,
				 .dialled = to->address,
				 .address = to->address,
				 .has_address = !to->name,
				 .port = to->port,
				 .check = to->name ? egress_rule_check(to->rule, to->port)
						   : EGRESS_RELAY,
				 .lookup = -1,
				 .next_attempt_ns = NEVER,
				 .begun_ns = b->now_ns};
	flow_init(&c->up);
	flow_init(&c->down);
	if (to->name)
		c->name = *to->name;
	if (b->busy < b->p->config->connections) {
		begin(c);
		return true;
	}
	c->state = CONN_WAITING;
	b->waiting++;
	set_connect_deadline(c);
	return true;
}

static struct connection *longest_waiting(struct broker *b)
{
	struct connection *first = NULL;
	for (size_t i = 0; i < CONNECTIONS_MAX + WAITING_MAX; i++) {
		struct connection *c = &b->connections[i];
		if (c->state == CONN_WAITING && (!first || c->begun_ns < first->begun_ns))
			first = c;
	}
	return first;
}

void connections_admit(struct broker *b)
{
	for (size_t i = 0; b->gone && i < CONNECTIONS_MAX + WAITING_MAX; i++)
		if (b->connections[i].state == CONN_GONE)
			b->connections[i].state = CONN_FREE;
	b->gone = false;
	while (b->waiting > 0 && b->busy < b->p->config->connections) {
		b->waiting--;
		begin(longest_waiting(b));
	}
}

bool connections_sending(const struct broker *b)
{
	for (size_t i = 0; b->busy + b->waiting > 0 && i < CONNECTIONS_MAX + WAITING_MAX; i++) {
		const struct connection *c = &b->connections[i];
		if (c->state != CONN_FREE && c->state != CONN_GONE && !c->up.shut)
			return true;
	}
	return false;
}

void connections_end(struct broker *b)
{
	for (size_t i = 0; b->busy + b->waiting > 0 && i < CONNECTIONS_MAX + WAITING_MAX; i++) {
		struct connection *c = &b->connections[i];
		if (c->state == CONN_RELAYING)
			connection_cut(c, EGRESS_ALLOWED, NULL, 0);
		else if (c->state != CONN_FREE && c->state != CONN_GONE)
			connection_cut(c, EGRESS_BROKEN, "the run ended first", 0);
	}
}
