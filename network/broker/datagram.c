/* udp: rules. What one socket of the program says to one address is a flow, with a connected socket
 * of its own on the outside, so that only its peer can answer. */
#include "network/broker/broker.h"

#include "spec/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { FLOWS_MAX = 64, PER_TURN = 16 };

struct datagram_flow {
	bool used;
	struct watch watch; /* -1: not connected yet */
	struct broker *broker;
	const struct sandbox_socket *socket;
	struct address from, to, address;
	uint16_t from_port;
	const struct egress_rule *rule;
	const struct name *name; /* NULL: a literal */
	bool has_address;
	int lookup;
	unsigned char *first; /* what began it, until it is connected */
	size_t first_len;
	uint64_t sent_bytes, received_bytes;
	int64_t begun_ns, deadline_ns;
	bool told; /* there is a row for it, since it is connected */
};

struct datagram_set {
	struct datagram_flow flows[FLOWS_MAX];
};

struct datagram_set *datagrams_open(void)
{
	return calloc(1, sizeof(struct datagram_set));
}

static void set_deadline(struct datagram_flow *f, uint64_t ns)
{
	f->deadline_ns = in_ns(f->broker, ns);
	wake_at(f->broker, f->deadline_ns);
}

static void set_idle_deadline(struct datagram_flow *f)
{
	const uint64_t most_ns = DATAGRAM_IDLE_MS * MS_NS, wish_ns = f->broker->p->config->idle_ns;
	set_deadline(f, wish_ns < most_ns ? wish_ns : most_ns);
}

static void report(const struct datagram_flow *f, const struct fact *said)
{
	const struct broker *b = f->broker;
	report_fact(f->broker, &(struct fact){.verdict = said->verdict,
					      .part = said->part,
					      .route = EGRESS_BY_UDP,
					      .rule = f->rule,
					      .name = f->name ? f->name->text : NULL,
					      .address = f->has_address ? &f->address : NULL,
					      .port = f->socket->port,
					      .reason = said->reason,
					      .sys = said->sys,
					      .sent_bytes = f->sent_bytes,
					      .received_bytes = f->received_bytes,
					      .duration_ns = b->now_ns - f->begun_ns});
}

static void end(struct datagram_flow *f, enum egress_verdict verdict, const char *reason, int sys)
{
	watch_close(&f->watch);
	free(f->first);
	f->first = NULL;
	f->used = false;
	if (f->told)
		report(f, &(struct fact){.verdict = EGRESS_ALLOWED, .part = FACT_ENDS});
	if (f->told && !reason)
		return;
	if (f->told)
		f->sent_bytes = f->received_bytes = 0;
	report(f, &(struct fact){.verdict = verdict, .reason = reason, .sys = sys});
}

static bool spend(struct broker *b, size_t len)
{
	if (b->left_bytes == LIMIT_NONE)
		return true;
	if (b->left_bytes < len) {
		report_limit(b);
		return false;
	}
	b->left_bytes -= len;
	return true;
}

static void on_answer(struct broker *b, struct watch *w, uint32_t events)
{
	struct datagram_flow *f = w->owner;
	(void)events;
	for (int i = 0; i < PER_TURN && f->used; i++) {
		const ssize_t n = recv(w->fd, b->datagram, sizeof(b->datagram), 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			end(f, EGRESS_BROKEN, "the peer does not take it", errno);
			return;
		}
		if (!spend(b, (size_t)n))
			return;
		const struct dial_request q = {.kind = DIAL_REPLY,
					       .index = f->socket->index,
					       .transport = EGRESS_UDP,
					       .port = f->from_port,
					       .address = f->from,
					       .source = f->to};
		dial_answer(b, &q, b->datagram, (size_t)n);
		f->received_bytes += (uint64_t)n;
		set_idle_deadline(f);
	}
}

static void pass(struct datagram_flow *f, const unsigned char *bytes, size_t len)
{
	if (!spend(f->broker, len))
		return;
	/* What finds no room is lost, as datagrams are; what the peer refuses is told by recv(2). */
	if (send(f->watch.fd, bytes, len, MSG_NOSIGNAL) >= 0)
		f->sent_bytes += len;
	set_idle_deadline(f);
}

/* The first address that the kernel has a route to. */
static void connect_flow(struct datagram_flow *f, const struct address *all, size_t len)
{
	struct broker *b = f->broker;
	struct dial_reply reply = {0};
	for (size_t i = 0; i < len && f->watch.fd < 0; i++) {
		const struct dial_request q = {.kind = DIAL_CONNECT,
					       .index = (uint32_t)(f->rule - b->p->rules->rules),
					       .transport = EGRESS_UDP,
					       .port = f->socket->port,
					       .address = all[i]};
		f->address = all[i];
		f->has_address = true;
		f->watch.fd = dial(b, &q, &reply);
	}
	if (f->watch.fd < 0) {
		end(f, EGRESS_BROKEN, "no connection", reply.sys);
		return;
	}
	watch_add(b, &f->watch, EPOLLIN);
	report(f, &(struct fact){.verdict = EGRESS_ALLOWED, .part = FACT_BEGINS});
	f->told = true;
	pass(f, f->first, f->first_len);
	free(f->first);
	f->first = NULL;
}

static void resolved(struct datagram_flow *f)
{
	const struct answer *a = lookup_answer(f->broker, f->lookup);
	f->lookup = -1;
	if (a->failure) {
		end(f, EGRESS_BROKEN, a->failure, 0);
	} else if (a->verdict != ADDRESS_PERMITTED) {
		f->address = a->bad;
		f->has_address = true;
		end(f, EGRESS_DENIED, address_verdict_text(a->verdict), 0);
	} else {
		connect_flow(f, a->addresses, a->len);
	}
}

void datagrams_resolved(struct broker *b, int lookup)
{
	for (int i = 0; i < FLOWS_MAX; i++) {
		struct datagram_flow *f = &b->datagrams->flows[i];
		if (f->used && f->lookup == lookup)
			resolved(f);
	}
}

static void go_out(struct datagram_flow *f)
{
	struct broker *b = f->broker;
	if (!f->name) {
		const enum address_verdict v = address_judge(f->rule, &f->to, f->socket->port);
		if (v == ADDRESS_PERMITTED)
			connect_flow(f, &f->to, 1);
		else
			end(f, EGRESS_DENIED, address_verdict_text(v), 0);
		return;
	}
	f->lookup = lookup_ask(b, f->name, f->rule, f->socket->port);
	if (f->lookup < 0)
		end(f, EGRESS_BROKEN, "too many names are being looked up", 0);
	else if (lookup_answer(b, f->lookup))
		resolved(f);
}

static struct datagram_flow *find(struct broker *b, const struct datagram *d)
{
	for (int i = 0; i < FLOWS_MAX; i++) {
		struct datagram_flow *f = &b->datagrams->flows[i];
		if (f->used && f->socket == d->socket && f->from_port == d->from_port &&
		    memcmp(&f->from, &d->from, sizeof(f->from)) == 0 &&
		    memcmp(&f->to, &d->to, sizeof(f->to)) == 0)
			return f;
	}
	return NULL;
}

static void deny(struct broker *b, const struct datagram *d, const struct dialled *to,
		 const char *reason)
{
	report_fact(b, &(struct fact){.verdict = EGRESS_DENIED,
				      .route = EGRESS_BY_UDP,
				      .rule = to->rule,
				      .name = to->name ? to->name->text : NULL,
				      .address = to->name ? NULL : &d->to,
				      .port = d->socket->port,
				      .reason = reason});
}

/* Who asks from a new port each time has flows that nobody will use any more: the one that has been
 * silent longest makes room. NULL: all of them wait for their names. */
static struct datagram_flow *room(struct broker *b)
{
	struct datagram_flow *oldest = NULL;
	for (int i = 0; i < FLOWS_MAX; i++) {
		struct datagram_flow *f = &b->datagrams->flows[i];
		if (!f->used)
			return f;
		if (f->watch.fd >= 0 && (!oldest || f->deadline_ns < oldest->deadline_ns))
			oldest = f;
	}
	if (oldest)
		end(oldest, EGRESS_ALLOWED, NULL, 0);
	return oldest;
}

static void begin(struct broker *b, const struct datagram *d, const struct dialled *to)
{
	struct datagram_flow *f = room(b);
	unsigned char *first = f ? malloc(d->len + 1) : NULL;
	if (!first) {
		deny(b, d, to, "too many flows of datagrams at once");
		return;
	}
	memcpy(first, d->bytes, d->len);
	*f = (struct datagram_flow){.used = true,
				    .watch = {.fd = -1, .ready = on_answer, .owner = f},
				    .broker = b,
				    .socket = d->socket,
				    .from = d->from,
				    .to = d->to,
				    .address = d->to,
				    .has_address = !to->name,
				    .from_port = d->from_port,
				    .rule = to->rule,
				    .name = to->name,
				    .lookup = -1,
				    .first = first,
				    .first_len = d->len,
				    .begun_ns = b->now_ns};
	set_deadline(f, b->p->config->connect_ns);
	go_out(f);
}

void datagrams_take(struct broker *b, const struct datagram *d)
{
	struct datagram_flow *f = find(b, d);
	struct dialled to = {.address = d->to, .port = d->socket->port};
	if (f && f->watch.fd >= 0)
		pass(f, d->bytes, d->len);
	else if (!f && !find_rule(b, &to, EGRESS_UDP))
		deny(b, d, &to, "no rule allows it");
	else if (!f && !b->limit_reached)
		begin(b, d, &to);
}

static void be_late(struct datagram_flow *f)
{
	char late[LATE_BYTES];
	late_text(late, "the name servers did not answer within", f->broker->p->config->connect_ns);
	end(f, EGRESS_BROKEN, late, 0);
}

void datagrams_time(struct broker *b)
{
	for (int i = 0; i < FLOWS_MAX; i++) {
		struct datagram_flow *f = &b->datagrams->flows[i];
		if (!f->used)
			continue;
		if (b->now_ns < f->deadline_ns)
			wake_at(b, f->deadline_ns);
		else if (f->watch.fd >= 0)
			end(f, EGRESS_ALLOWED, NULL, 0);
		else
			be_late(f);
	}
}

bool datagrams_sending(const struct broker *b)
{
	for (int i = 0; i < FLOWS_MAX; i++)
		if (b->datagrams->flows[i].used && b->datagrams->flows[i].watch.fd < 0)
			return true;
	return false;
}

void datagrams_end(struct broker *b)
{
	for (int i = 0; i < FLOWS_MAX; i++) {
		struct datagram_flow *f = &b->datagrams->flows[i];
		if (f->used && f->watch.fd >= 0)
			end(f, EGRESS_ALLOWED, NULL, 0);
		else if (f->used)
			end(f, EGRESS_BROKEN, "the run ended first", 0);
	}
}
