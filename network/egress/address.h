/* May the dialer connect to this address under this rule?
 *
 * Pure, no allocation. What an address is, spec/address.h says; here stands what follows from it.
 * The dialer asks address_judge() for the very address that it then connects to, and refuses a name
 * as a whole if one of its addresses is refused (address_judge_all()), so that an answer that mixes
 * a good and a bad address opens nothing.
 */
#ifndef PINFOLD_NETWORK_EGRESS_ADDRESS_H
#define PINFOLD_NETWORK_EGRESS_ADDRESS_H

#include "spec/address.h"
#include "spec/egress.h"

#include <stddef.h>
#include <stdint.h>

enum address_verdict {
	ADDRESS_PERMITTED,
	ADDRESS_NOT_GLOBAL,  /* a name's, and the rule does not say "private:" */
	ADDRESS_NOT_PRIVATE, /* loopback, link-local or metadata in a block without "private:" */
	ADDRESS_OUTSIDE,     /* not in the rule's block */
	ADDRESS_NEVER,	     /* unspecified, multicast, broadcast: whatever the rule says */
	ADDRESS_NO_PORT,     /* the rule does not have the port */
	ADDRESS_NONE,	     /* of a set: it is empty */
	ADDRESS_UNANSWERED,  /* of a rule for names: no name server gave it for one of them */
	ADDRESS_VERDICT_COUNT,
};

enum address_verdict address_judge(const struct egress_rule *r, const struct address *a,
				   uint16_t port);

/* The first that is not permitted decides, and *bad (which may be NULL) is its index. */
enum address_verdict address_judge_all(const struct egress_rule *r, const struct address *all,
				       size_t len, uint16_t port, size_t *bad);

/* The rule that decides a connection to a literal address: the longest prefix that has the port.
 * NULL: none. Whether the address is permitted is another question: address_judge(). */
const struct egress_rule *address_find_rule(const struct address *a, const struct egress_list *list,
					    enum egress_transport t, uint16_t port);

/* A clause for the result: "the address is not globally reachable". Never NULL. */
const char *address_verdict_text(enum address_verdict v);

#endif
