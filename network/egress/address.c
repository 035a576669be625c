#include "network/egress/address.h"

static bool block_has(const struct egress_rule *r, const struct address *a)
{
	return r->target == EGRESS_BLOCK && address_in(a, &r->network, r->prefix) &&
	       /* ::/0 holds ::ffff:0:0/96, but whoever wrote it did not mean IPv4 */
	       (r->prefix >= 96 || !address_is_ipv4(a));
}

/* What a rule of this kind takes of those that one can connect to. */
static enum address_verdict judge_class(const struct egress_rule *r, enum address_class class)
{
	if (r->private_too || class == ADDRESS_GLOBAL)
		return ADDRESS_PERMITTED;
	if (r->target != EGRESS_BLOCK)
		return ADDRESS_NOT_GLOBAL;
	return class >= ADDRESS_LINK_LOCAL ? ADDRESS_NOT_PRIVATE : ADDRESS_PERMITTED;
}

enum address_verdict address_judge(const struct egress_rule *r, const struct address *a, uint16_t port)
{
	enum address_class class = address_class(a);
	if (!egress_rule_has_port(r, port))
		return ADDRESS_NO_PORT;
	if (class >= ADDRESS_MULTICAST)
		return ADDRESS_NEVER;
	if (r->target == EGRESS_BLOCK && !block_has(r, a))
		return ADDRESS_OUTSIDE;
	return judge_class(r, class);
}

enum address_verdict address_judge_all(const struct egress_rule *r, const struct address *all,
				       size_t len, uint16_t port, size_t *bad)
{
	for (size_t i = 0; i < len; i++) {
		enum address_verdict v = address_judge(r, &all[i], port);
		if (v == ADDRESS_PERMITTED)
			continue;
		if (bad)
			*bad = i;
		return v;
	}
	return len > 0 ? ADDRESS_PERMITTED : ADDRESS_NONE;
}

const struct egress_rule *address_find_rule(const struct address *a, const struct egress_list *list,
					    enum egress_transport t, uint16_t port)
{
	const struct egress_rule *best = NULL;
	for (size_t i = 0; i < list->len; i++) {
		const struct egress_rule *r = &list->rules[i];
		if (r->transport == t && block_has(r, a) && egress_rule_has_port(r, port) &&
		    (!best || r->prefix > best->prefix))
			best = r;
	}
	return best;
}

static const char *const texts[ADDRESS_VERDICT_COUNT] = {
	[ADDRESS_PERMITTED] = "the address is permitted",
	[ADDRESS_NOT_GLOBAL] =
		"the address is not globally reachable, and the rule does not say private:",
	[ADDRESS_NOT_PRIVATE] =
		"the address is loopback, link-local or metadata, and the rule does not say private:",
	[ADDRESS_OUTSIDE] = "the address is outside the rule's block",
	[ADDRESS_NEVER] = "the address is none that one connects to",
	[ADDRESS_NO_PORT] = "the rule does not have the port",
	[ADDRESS_NONE] = "the name has no address",
	[ADDRESS_UNANSWERED] = "no name of the rule has the address",
};

const char *address_verdict_text(enum address_verdict v)
{
	return (unsigned int)v < ADDRESS_VERDICT_COUNT ? texts[v] : "the address was not judged";
}
