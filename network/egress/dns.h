/* DNS as the program speaks it: queries read, answers written.
 *
 * Pure, no allocation, nothing grows. One question at a time (RFC 1035 4.1, RFC 9619); EDNS as RFC
 * 6891 has it; the question goes back byte for byte, so that 0x20 casing is kept. An answer always
 * fits into DNS_REPLY_BYTES_MAX, which is below 512, so nothing is ever truncated.
 */
#ifndef PINFOLD_NETWORK_EGRESS_DNS_H
#define PINFOLD_NETWORK_EGRESS_DNS_H

#include "spec/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DNS_QUERY_BYTES_MAX = 4096, /* by UDP or TCP; a larger one is dropped, or its connection cut */
	DNS_REPLY_BYTES_MAX = 512,
	DNS_QUESTION_BYTES_MAX = 255 + 4,
	DNS_UDP_BYTES = 4096, /* what our OPT offers */
	DNS_TTL_SECONDS = 60, /* synthetic addresses live as long as the run, and so do refusals */
};

/* The types that are looked at. */
enum { DNS_TYPE_A = 1, DNS_TYPE_AAAA = 28 };

enum dns_rcode {
	DNS_NOERROR = 0,
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
	DNS_BADVERS = 16, /* EDNS above version 0 */
};

enum dns_verdict {
	DNS_DROP, /* no answer: shorter than a header, a response, or too large */
	DNS_REJECT, /* answer with q->rcode, whatever the name: malformed, opcode, class, EDNS version */
	DNS_QUESTION, /* a sound question of class IN: the name decides */
};

struct dns_query {
	uint16_t id;
	unsigned char opcode;
	bool recursion_desired, checking_disabled;
	bool edns, dnssec_ok;
	enum dns_rcode rcode; /* of DNS_REJECT */
	uint16_t type, class;
	bool is_host;	  /* name is set: it is a host's name. An allowed name always is one */
	struct name name; /* canonical, for the decision */
	size_t wire_len;  /* of the name in question[], 0: there is none (DNS_REJECT) */
	size_t question_len;
	unsigned char question[DNS_QUESTION_BYTES_MAX]; /* as it came, uncompressed */
};

/* One message. Compression pointers have no place in a question and are malformed, so there are no
 * loops. Records behind the question are walked within bounds: one OPT with the root's name may be
 * there, anything else in the additional section is passed over (TSIG, SIG(0)); answers or authorities
 * are malformed. *q is filled as far as the reading came, enough for dns_write_reply(). */
enum dns_verdict dns_read_query(struct dns_query *q, const unsigned char *bytes, size_t len);

/* TCP (RFC 7766): the size of the first message of a stream, its two bytes of length included.
 * 0: more bytes are needed. -1: larger than DNS_QUERY_BYTES_MAX or shorter than a header; cut it. */
int dns_tcp_frame(const unsigned char *bytes, size_t len);

/* The answer, in out; returns its size. For TCP the caller puts two bytes of length in front.
 *	NOERROR with an address		one A record
 *	NOERROR without (NULL)		no data: AAAA and other types of an allowed name
 *	NXDOMAIN			no such name
 * The last two carry a SOA record of the root, so that they can be cached (RFC 2308). OPT is there
 *when it was in the query. rcode is what decides, q->rcode is the caller's to pass on. */
size_t dns_write_reply(unsigned char out[DNS_REPLY_BYTES_MAX], const struct dns_query *q,
		       enum dns_rcode rcode, const unsigned char address[4]);

#endif
