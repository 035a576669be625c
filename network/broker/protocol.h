/* What crosses between supervisor, pid 1 of the sandbox and the broker's three processes.
 *
 * Seven sockets, each SOCK_SEQPACKET, each record of one size:
 *
 *	supervisor -> broker	config, its rules as text, and at the end of the run END
 *	broker -> supervisor	READY or FAILED, then ROW and LIMIT (struct egress_report)
 *	pid 1 -> broker		the sandbox's sockets (struct egress_sockets), before anything runs
 *	parser -> dialer	struct dial_request, answered by struct dial_reply with the descriptor,
 *				but for DIAL_REPLY, which carries a datagram and has no answer
 *	resolver -> dialer	the same, of one kind: DIAL_SERVER
 *	parser -> dialer	struct name_question, answered in its time by struct name_answer
 *	dialer -> resolver	struct server_question, answered in its time by struct server_answer
 *
 * A record of another size, or out of range, ends whoever receives it: both ends are one build.
 */
#ifndef PINFOLD_NETWORK_BROKER_PROTOCOL_H
#define PINFOLD_NETWORK_BROKER_PROTOCOL_H

#include "base/err.h"
#include "base/fd.h"
#include "spec/address.h"
#include "spec/egress.h"
#include "spec/name.h"
#include "spec/result.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers under which the broker finds its ends of the first and the third when it starts. */
enum { EGRESS_SUPERVISOR_FD = 3, EGRESS_SANDBOX_FD = 4 };

/* 198.18.0.0/15 (RFC 2544) is nobody's on the internet: EGRESS_RESOLVER_TEXT, and behind it a name each. */
enum {
	EGRESS_SYNTHETIC_BITS = 15,
	EGRESS_NAMES_MAX = 4096, /* of wildcards, as they are asked for; exact names are besides */
	EGRESS_DNS_PORT = 53,
};
static const unsigned char egress_resolver_address[4] = {198, 18, 0, 1};

/* ---- supervisor -> broker ---- */

struct egress_config {
	uint32_t size;	/* of this struct: another build is refused */
	uint32_t rules; /* so many texts follow, a message each, without NUL */
	uint64_t bytes; /* payload of all connections, both ways; LIMIT_NONE: no limit */
	uint64_t connect_ns, idle_ns; /* of a connection; idle LIMIT_NONE: never cut */
	uint32_t connections;
	uint32_t uid, gid; /* to become, for root; 0: stay who you are */
};

enum { EGRESS_END = 1 }; /* a message of one byte */

/* ---- broker -> supervisor ---- */

enum egress_report_type {
	EGRESS_READY = 1, /* both processes are jailed, the sandbox's sockets are held */
	EGRESS_FAILED,	  /* err says why; the broker ends */
	EGRESS_ROW,	  /* a row of the result as it stands now */
	EGRESS_LIMIT,	  /* --egress-bytes is used up, and more was to be passed on */
	EGRESS_REPORT_END,
};

enum { EGRESS_NO_RULE = UINT32_MAX };

struct egress_report {
	uint32_t type;
	uint32_t row; /* of ROW: below EGRESS_ROWS_MAX; a row that was there is replaced */
	uint32_t rule;
	uint32_t verdict, route;
	int32_t sys; /* errno of a connection that could not be made, 0 none */
	struct address address;
	bool has_address;
	bool others;			  /* all that found no row; what they were is not said */
	uint16_t port;			  /* 0: none */
	char name[EGRESS_NAME_BYTES];	  /* "": an address was dialled */
	char reason[EGRESS_REASON_BYTES]; /* "": none */
	uint64_t count, sent_bytes, received_bytes, duration_usec;
	struct err err;
};

/* ---- pid 1 -> broker ---- */

enum egress_sockets_type {
	EGRESS_SOCKETS_BEGIN = 1, /* forget what came before: this is another attempt */
	EGRESS_SOCKETS_SOME,	  /* with as many descriptors as count says */
	EGRESS_SOCKETS_DONE,
};

struct egress_sockets {
	uint32_t type, count;
	struct {
		uint16_t port;
		uint8_t transport; /* enum egress_transport */
	} of[FD_PASS_MAX];
};

/* ---- parser and resolver -> dialer: sockets ---- */

enum dial_kind {
	DIAL_CONNECT = 1, /* the parser's: to address and port, under that rule */
	DIAL_REPLY, /* the parser's: a datagram to the program, by the sandbox's own socket of that index */
	DIAL_SERVER, /* the resolver's: to the name server of that index */
};

struct dial_request {
	uint32_t kind;
	uint32_t index; /* of the rule, of the server, of the socket */
	uint8_t transport;
	uint16_t port;
	struct address address;
	struct address source; /* of REPLY: what the program had sent to */
};

struct dial_reply {
	int32_t sys;	  /* of the system call that failed, 0 none; EINPROGRESS is none */
	uint32_t refused; /* enum address_verdict: ADDRESS_PERMITTED, or why nothing was tried */
};

enum { DIAL_DATAGRAM_BYTES = 65507 }; /* the most that UDP over IPv4 takes */

/* ---- parser -> dialer -> resolver and back: names ---- */

enum {
	LOOKUPS_MAX = 128, /* at once: so many questions and answers fit into a socket's buffer */
	LOOKUP_ADDRESSES_MAX = 16, /* of a name, to be tried */
	SERVER_ADDRESSES_MAX = 128 /* of a name, to be judged: one that has more is refused */
};

/* Why there is no address. */
enum lookup_failure {
	LOOKUP_FOUND,
	LOOKUP_NO_NAME,	   /* the name servers say that there is none */
	LOOKUP_NO_ADDRESS, /* it has neither A nor AAAA */
	LOOKUP_SILENCE,	   /* none of them answers */
	LOOKUP_SERVFAIL,   /* what they answer */
	LOOKUP_REFUSED,
	LOOKUP_UNREADABLE,
	LOOKUP_TOO_MANY_ADDRESSES,
	LOOKUP_TOO_MANY, /* lookups; the dialer's answer */
	LOOKUP_NO_RULE,	 /* the dialer's: this rule does not decide that name and port */
	LOOKUP_FAILURE_COUNT,
};

struct name_question {
	uint32_t number; /* the parser's, goes back */
	uint32_t rule;
	uint16_t port;
	struct name name;
};

struct name_answer {
	uint32_t number;
	uint32_t failure; /* enum lookup_failure */
	uint32_t verdict; /* of FOUND, enum address_verdict; not PERMITTED: bad is which address */
	uint32_t life_ms; /* for so long it may be used again */
	struct address bad;
	uint32_t len;
	struct address addresses[LOOKUP_ADDRESSES_MAX]; /* in the order to be tried in */
};

struct server_question {
	uint32_t number; /* the dialer's, goes back */
	struct name name;
};

struct server_answer {
	uint32_t number;
	uint32_t failure; /* enum lookup_failure up to TOO_MANY_ADDRESSES */
	uint32_t life_ms;
	uint32_t len;
	struct address addresses[SERVER_ADDRESSES_MAX]; /* in the order to be tried in */
};

#endif
