#include "network/broker/answered.h"

#include "base/clock.h"
#include "network/egress/address.h"
#include "network/egress/name.h"

#include <string.h>

/* Its bytes are what the parser says: held against the one form that a name has, and against the
 * rule that would decide a connection to it. */
static bool is_decided(const struct egress_list *rules, const struct name_question *q,
		       struct name *name)
{
	if (q->rule >= rules->len ||
	    name_read(name, q->name.text,
		      q->name.len < NAME_BYTES_MAX ? q->name.len : NAME_BYTES_MAX) != NAME_GOOD)
		return false;
	const struct egress_rule *r = &rules->rules[q->rule];
	return name->len == q->name.len && memcmp(name->text, q->name.text, name->len) == 0 &&
	       name_find_rule(name, rules, r->transport, q->port) == r;
}

/* By turns, so that it is the oldest. Nobody is pending everywhere: LOOKUPS_MAX. */
static struct answered_name *room(struct answered *t)
{
	struct answered_name *n;
	do {
		n = &t->all[t->next];
		t->next = (t->next + 1) % ANSWERED_MAX;
	} while (n->state == ANSWERED_PENDING);
	if (t->used < ANSWERED_MAX && n == &t->all[t->used])
		t->used++;
	return n;
}

enum lookup_failure answered_ask(struct answered *t, const struct egress_list *rules,
				 const struct name_question *q, struct server_question *out)
{
	struct name name;
	if (!is_decided(rules, q, &name))
		return LOOKUP_NO_RULE;
	if (t->pending == LOOKUPS_MAX)
		return LOOKUP_TOO_MANY;
	struct answered_name *n = room(t);
	*n = (struct answered_name){.state = ANSWERED_PENDING,
				    .asked_as = q->number,
				    .rule = q->rule,
				    .port = q->port};
	t->pending++;
	*out = (struct server_question){.number = (uint32_t)(n - t->all)};
	out->name.len = name.len;
	memcpy(out->name.text, name.text, name.len); /* and no byte of the parser's behind it */
	return LOOKUP_FOUND;
}

void answered_forget(struct answered *t, const struct server_question *asked)
{
	t->all[asked->number].state = ANSWERED_FREE;
	t->pending--;
}

/* The first address that may not be connected to refuses them all. */
static void judge(const struct egress_rule *r, uint16_t port, const struct server_answer *a,
		  struct name_answer *out)
{
	size_t bad = 0;
	out->verdict = address_judge_all(r, a->addresses, a->len, port, &bad);
	if (out->verdict != ADDRESS_PERMITTED) {
		out->bad = a->addresses[bad];
		return;
	}
	out->len = a->len < LOOKUP_ADDRESSES_MAX ? a->len : LOOKUP_ADDRESSES_MAX;
	memcpy(out->addresses, a->addresses, out->len * sizeof(*out->addresses));
}

bool answered_take(struct answered *t, const struct egress_list *rules,
		   const struct server_answer *a, int64_t now_ns, struct name_answer *out)
{
	if (a->number >= ANSWERED_MAX || t->all[a->number].state != ANSWERED_PENDING ||
	    a->failure > LOOKUP_TOO_MANY_ADDRESSES || a->len > SERVER_ADDRESSES_MAX ||
	    (a->failure == LOOKUP_FOUND) != (a->len > 0))
		return false;
	struct answered_name *n = &t->all[a->number];
	const uint32_t life_ms = a->life_ms < ANSWERED_LIFE_MAX_MS ? a->life_ms
								   : ANSWERED_LIFE_MAX_MS;
	*out = (struct name_answer){.number = n->asked_as,
				    .failure = a->failure,
				    .verdict = ADDRESS_PERMITTED,
				    .life_ms = life_ms};
	t->pending--;
	n->state = ANSWERED_FREE;
	if (a->failure != LOOKUP_FOUND)
		return true;
	judge(&rules->rules[n->rule], n->port, a, out);
	if (out->verdict != ADDRESS_PERMITTED)
		return true;
	n->state = ANSWERED_OPEN;
	n->until_ns = now_ns + t->keep_ns + life_ms * MS_NS;
	n->len = out->len;
	memcpy(n->addresses, out->addresses, n->len * sizeof(*n->addresses));
	return true;
}

bool answered_permits(const struct answered *t, uint32_t rule, uint16_t port,
		      const struct address *address, int64_t now_ns)
{
	for (uint32_t i = 0; i < t->used; i++) {
		const struct answered_name *n = &t->all[i];
		if (n->state != ANSWERED_OPEN || n->rule != rule || n->port != port ||
		    now_ns >= n->until_ns)
			continue;
		for (uint32_t k = 0; k < n->len; k++)
			if (memcmp(&n->addresses[k], address, sizeof(*address)) == 0)
				return true;
	}
	return false;
}
