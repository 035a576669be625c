/* What a sandbox may reach: the rules of --allow, parsed once.
 *
 *	RULE  = ["private:"] ["tcp:" | "udp:"] HOST ":" PORTS
 *	HOST  = NAME | "*." NAME | IPV4 ["/" BITS] | "[" IPV6 ["/" BITS] "]"
 *	PORTS = PORT ["-" PORT] *("," PORT ["-" PORT])
 *
 * A name rule names one host; with "*." all below it, one label or more, never the bare domain, and
 *the domain has two labels at least. Without a prefix it is TCP, and on ports 443 and 80 what is
 *said must be TLS and HTTP for that name; other ports, "tcp:", "udp:" and addresses are relayed as
 *they are. "private:" lets a name lead to addresses that are not globally reachable, and an address
 *rule to loopback, link-local and metadata addresses. A wider block (0.0.0.0/0) may hold such
 *addresses without "private:"; they stay closed then, the dialer judges each one.
 *
 * At most EGRESS_PORTS_MAX ports over the whole list. Each costs one listening socket, so a port
 *counts once for each transport, however many rules name it. Order never matters: an exact name
 *goes before a wildcard, a longer wildcard or prefix before a shorter; two rules for the same host,
 *transport and port that differ in "tcp:" or "private:" contradict each other and are refused.
 *
 * Pure: no system call but memory. A rule's canonical text reads back as the same rule, so that it
 *may cross to another process as text.
 */
#ifndef PINFOLD_SPEC_EGRESS_H
#define PINFOLD_SPEC_EGRESS_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/address.h"
#include "spec/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EGRESS_PORTS_MAX = 256,	      /* pairs of transport and port over a list */
	EGRESS_RULES_MAX = 20000,     /* of a list */
	EGRESS_RULE_BYTES_MAX = 2048, /* of one rule's text; 256 single ports fit */
	EGRESS_LIST_BYTES_MAX = 2 << 20, /* of all canonical texts: the broker holds them */
};

/* The most that --egress-connections may be: a broker has a pool of one size. */
enum { EGRESS_CONNECTIONS_MAX = 256 };

/* What the sandbox's resolv.conf names, when there are rules. */
#define EGRESS_RESOLVER_TEXT "198.18.0.1"

enum egress_target { EGRESS_NAME, EGRESS_WILDCARD, EGRESS_BLOCK };
enum egress_transport { EGRESS_TCP, EGRESS_UDP, EGRESS_TRANSPORTS };
/* What the first bytes of a connection must be. */
enum egress_check { EGRESS_RELAY, EGRESS_TLS, EGRESS_HTTP };

struct egress_ports {
	uint16_t first, last; /* both belong to it; never 0 */
};

struct egress_rule {
	const char *text; /* canonical, what the result names it by */
	enum egress_target target;
	enum egress_transport transport;
	bool unchecked;			  /* "tcp:" or "udp:" was there */
	bool private_too;		  /* "private:" was there */
	const struct name *name;	  /* of NAME and WILDCARD, without "*."; else NULL */
	struct address network;		  /* of BLOCK; a single address has prefix 128 */
	unsigned int prefix;		  /* in 128 bits: 10.0.0.0/8 is 104, see address_in() */
	const struct egress_ports *ports; /* rising, apart from each other, at least one */
	size_t ports_len;
};

/* All strings and arrays are the arena's. Zero: nothing is allowed, which never means open. The rules
 * are sorted by their text, each once; ports[] has every port of the list, by transport, rising. */
struct egress_list {
	struct egress_rule *rules;
	size_t len, room, bytes; /* bytes: of all texts */
	uint16_t ports[EGRESS_TRANSPORTS][EGRESS_PORTS_MAX];
	size_t ports_len[EGRESS_TRANSPORTS];
};

/* One rule. Strings are copied into the arena. ERR_USAGE shows the rule, says what is wrong with it
 * and how it is written; *r is untouched then. */
int egress_rule_read(struct egress_rule *r, const char *text, struct arena *a, struct err *e);

/* One more rule for the list: as above, and the whole is within its bounds and without
 * contradiction; quickest where rules come in their order. A rule that is there already is taken once. *list is untouched on failure. */
int egress_list_add(struct egress_list *list, const char *text, struct arena *a, struct err *e);

/* Room for that many rules in all, which then leaves nothing behind as the list grows. */
void egress_list_reserve(struct egress_list *list, size_t rules, struct arena *a);

bool egress_rule_has_port(const struct egress_rule *r, uint16_t port);

/* Of a connection to that port, which the rule has. */
enum egress_check egress_rule_check(const struct egress_rule *r, uint16_t port);

#endif
