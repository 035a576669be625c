/* What the name servers answered, as the dialer holds it: which addresses belong to which rule.
 *
 * Without it a parser that was taken over could connect to any address of the right class. So the
 * dialer takes a name from the parser only where a rule decides it, hands it to the resolver,
 * judges every address of the answer by that rule, and lets the parser connect to those alone. No
 * byte of the network's is read for it: the resolver's records have one size.
 *
 * Pure but for memory of one size; time is the caller's. A new question takes the place of the
 * oldest answer. There is room for many more than the parser remembers itself.
 */
#ifndef PINFOLD_NETWORK_BROKER_ANSWERED_H
#define PINFOLD_NETWORK_BROKER_ANSWERED_H

#include "network/broker/protocol.h"
#include "spec/egress.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	ANSWERED_MAX = 1024,
	ANSWERED_LIFE_MAX_MS = 300000,
};

struct answered_name {
	enum { ANSWERED_FREE, ANSWERED_PENDING, ANSWERED_OPEN } state;
	uint32_t asked_as; /* the parser's number */
	uint32_t rule;
	uint16_t port;
	int64_t until_ns; /* of OPEN: it may be connected to */
	uint32_t len;
	struct address addresses[LOOKUP_ADDRESSES_MAX];
};

/* Zero but for keep_ns: nothing was answered yet. */
struct answered {
	int64_t keep_ns; /* how long one connection may go on trying addresses */
	struct answered_name all[ANSWERED_MAX];
	uint32_t pending;
	uint32_t used; /* those behind were never asked for */
	uint32_t next; /* whose turn it is to make room */
};

/* A question of the parser's. LOOKUP_FOUND: *out is for the resolver; else the failure that the
 * parser is to be told, and nothing is asked. */
enum lookup_failure answered_ask(struct answered *t, const struct egress_list *rules,
				 const struct name_question *q, struct server_question *out);
/* It did not get to the resolver. */
void answered_forget(struct answered *t, const struct server_question *asked);

/* The resolver's answer to it, judged: *out is for the parser. False: it answers nothing that was
 * asked, or is out of range, which is not what the resolver does when it is well. */
bool answered_take(struct answered *t, const struct egress_list *rules,
		   const struct server_answer *a, int64_t now_ns, struct name_answer *out);

/* Whether that address was answered for a name of that rule and port, and all of that answer may be
 * connected to. */
bool answered_permits(const struct answered *t, uint32_t rule, uint16_t port,
		      const struct address *address, int64_t now_ns);

#endif
