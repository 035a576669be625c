/* The parser's side of a name: the dialer is asked, and what it answered is kept for as long as the
 * answer lives. An answer is one rule's, which judged it as a whole; what is connected to comes out
 * of here, so that a second answer with another address is a second judgement. */
#include "network/broker/broker.h"

#include "base/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lookup {
	bool used, over;
	struct name name;
	const struct egress_rule *rule;
	uint16_t port;
	int64_t asked_ns, until_ns;
	struct answer answer;
};

struct lookup_set {
	struct lookup all[LOOKUPS_MAX];
};

struct lookup_set *lookups_open(void)
{
	return calloc(1, sizeof(struct lookup_set));
}

static const char *failure_text(uint32_t f)
{
	static const char *const texts[LOOKUP_FAILURE_COUNT] = {
		[LOOKUP_NO_NAME] = "the name does not exist",
		[LOOKUP_NO_ADDRESS] = "the name has no address",
		[LOOKUP_SILENCE] = "the name servers do not answer",
		[LOOKUP_SERVFAIL] = "the name servers failed (SERVFAIL)",
		[LOOKUP_REFUSED] = "the name servers refuse to tell (REFUSED)",
		[LOOKUP_UNREADABLE] = "the name servers' answer cannot be read",
		[LOOKUP_TOO_MANY_ADDRESSES] = "the name has more addresses than are looked at",
		[LOOKUP_TOO_MANY] = "too many names are being looked up",
		[LOOKUP_NO_RULE] = "no rule allows it",
	};
	return f < LOOKUP_FAILURE_COUNT ? texts[f] : texts[LOOKUP_UNREADABLE];
}

static void tell(struct broker *b, int lookup)
{
	for (size_t i = 0; i < CONNECTIONS_MAX + WAITING_MAX; i++) {
		struct connection *c = &b->connections[i];
		if (c->state == CONN_RESOLVING && c->lookup == lookup)
			connection_resolved(c);
	}
	datagrams_resolved(b, lookup);
}

/* Those for whom there was no room have it now. */
static void go_on(struct broker *b)
{
	for (size_t i = 0; i < CONNECTIONS_MAX + WAITING_MAX; i++) {
		struct connection *c = &b->connections[i];
		if (c->state == CONN_RESOLVING && c->lookup < 0)
			connection_resolve(c);
	}
}

void on_names(struct broker *b, struct watch *w, uint32_t events)
{
	struct name_answer a;
	(void)events;
	if (fd_recv(w->fd, &a, sizeof(a), NULL, NULL) != 1 || a.number >= LOOKUPS_MAX ||
	    a.len > LOOKUP_ADDRESSES_MAX) {
		b->over = true;
		return;
	}
	struct lookup *l = &b->lookups->all[a.number];
	l->over = true;
	l->until_ns = in_ms(b, a.life_ms);
	l->answer = (struct answer){.len = a.len,
				    .verdict = (enum address_verdict)a.verdict,
				    .bad = a.bad,
				    .failure = failure_text(a.failure)};
	memcpy(l->answer.addresses, a.addresses, a.len * sizeof(*a.addresses));
	tell(b, (int)a.number);
	go_on(b);
}

static struct lookup *known(const struct broker *b, const struct name *n,
			    const struct egress_rule *rule, uint16_t port)
{
	for (int i = 0; i < LOOKUPS_MAX; i++) {
		struct lookup *l = &b->lookups->all[i];
		const bool lives = l->used && (!l->over || b->now_ns < l->until_ns);
		if (lives && l->rule == rule && l->port == port && name_equal(&l->name, n))
			return l;
	}
	return NULL;
}

/* One that is free, or the oldest that is over: whoever waited for it was told. */
static struct lookup *room(struct lookup_set *s)
{
	struct lookup *oldest = NULL;
	for (int i = 0; i < LOOKUPS_MAX; i++) {
		struct lookup *l = &s->all[i];
		if (!l->used)
			return l;
		if (l->over && (!oldest || l->asked_ns < oldest->asked_ns))
			oldest = l;
	}
	return oldest;
}

int lookup_ask(struct broker *b, const struct name *name, const struct egress_rule *rule,
	       uint16_t port)
{
	struct lookup *l = known(b, name, rule, port);
	if (l)
		return (int)(l - b->lookups->all);
	l = room(b->lookups);
	if (!l)
		return -1;
	*l = (struct lookup){.used = true,
			     .name = *name,
			     .rule = rule,
			     .port = port,
			     .asked_ns = b->now_ns};
	const struct name_question q = {.number = (uint32_t)(l - b->lookups->all),
					.rule = (uint32_t)(rule - b->p->rules->rules),
					.port = port,
					.name = *name};
	if (write(b->p->names, &q, sizeof(q)) != sizeof(q))
		b->over = true; /* nobody is there to answer */
	return (int)q.number;
}

const struct answer *lookup_answer(const struct broker *b, int lookup)
{
	const struct lookup *l = &b->lookups->all[lookup];
	return l->over ? &l->answer : NULL;
}
