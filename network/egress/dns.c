#include "network/egress/dns.h"

#include "network/egress/name.h"

#include <string.h>

/* RFC 1035 4.1.1, RFC 6891 6.1. */
enum {
	HEADER_BYTES = 12,
	WIRE_NAME_MAX = 255,
	POINTER_BITS = 0xc0,
	FLAG_QR = 0x8000,
	FLAG_RD = 0x0100,
	FLAG_RA = 0x0080,
	FLAG_CD = 0x0010,
	EDNS_DO = 0x8000,
	TYPE_SOA = 6,
	TYPE_OPT = 41,
	CLASS_IN = 1,
	TYPE_AXFR = 252, /* and IXFR, 251: questions for a server of a zone */
	TYPE_IXFR = 251,
	RECORDS_MAX = 8,
	POINTER_TO_QUESTION = 0xc000 | HEADER_BYTES,
};

/* ---- reading ---- */

struct reader {
	const unsigned char *bytes;
	size_t at, len;
};

static bool take16(struct reader *r, uint16_t *value)
{
	if (r->len - r->at < 2)
		return false;
	*value = (uint16_t)(r->bytes[r->at] << 8 | r->bytes[r->at + 1]);
	r->at += 2;
	return true;
}

static bool skip(struct reader *r, size_t len)
{
	if (r->len - r->at < len)
		return false;
	r->at += len;
	return true;
}

/* The size of an uncompressed name; 0: it is none. */
static size_t name_size(const struct reader *r)
{
	size_t at = r->at;
	while (at < r->len && r->bytes[at] != 0) {
		if (r->bytes[at] & POINTER_BITS)
			return 0;
		at += 1 + (size_t)r->bytes[at];
	}
	if (at >= r->len || at + 1 - r->at > WIRE_NAME_MAX)
		return 0;
	return at + 1 - r->at;
}

/* An owner in the additional section may end in a pointer; where it leads does not matter. */
static bool skip_owner(struct reader *r, bool *root)
{
	*root = r->at < r->len && r->bytes[r->at] == 0;
	while (r->at < r->len) {
		unsigned char c = r->bytes[r->at];
		if ((c & POINTER_BITS) == POINTER_BITS)
			return skip(r, 2);
		if (c & POINTER_BITS || !skip(r, 1 + (size_t)c))
			return false;
		if (c == 0)
			return true;
	}
	return false;
}

static enum dns_verdict reject(struct dns_query *q, enum dns_rcode rcode)
{
	q->rcode = rcode;
	return DNS_REJECT;
}

static bool read_question(struct dns_query *q, struct reader *r)
{
	size_t start = r->at, size = name_size(r);
	if (size == 0 || !skip(r, size) || !take16(r, &q->type) || !take16(r, &q->class))
		return false;
	q->wire_len = size;
	q->question_len = r->at - start;
	memcpy(q->question, r->bytes + start, q->question_len);
	q->is_host = name_read_wire(&q->name, q->question, size) == NAME_GOOD;
	return true;
}

/* Options are passed over, but have to be whole (RFC 6891 6.1.2). */
static bool options_are_whole(struct reader r)
{
	uint16_t code, len;
	while (r.at < r.len) {
		if (!take16(&r, &code) || !take16(&r, &len) || !skip(&r, len))
			return false;
	}
	return true;
}

/* One record of the additional section. False: malformed, or a second OPT. */
static bool read_record(struct dns_query *q, struct reader *r, unsigned char *version)
{
	bool root;
	uint16_t type, class, high, flags, size;
	if (!skip_owner(r, &root) || !take16(r, &type) || !take16(r, &class) || !take16(r, &high) ||
	    !take16(r, &flags) || !take16(r, &size) || r->len - r->at < size)
		return false;
	struct reader data = {r->bytes, r->at, r->at + size};
	r->at += size;
	if (type != TYPE_OPT)
		return true;
	if (!root || q->edns || !options_are_whole(data))
		return false;
	q->edns = true;
	q->dnssec_ok = flags & EDNS_DO;
	*version = (unsigned char)high;
	return true;
}

static enum dns_verdict read_records(struct dns_query *q, struct reader *r, uint16_t count)
{
	unsigned char version = 0;
	if (count > RECORDS_MAX)
		return reject(q, DNS_FORMERR);
	for (; count > 0; count--) {
		if (!read_record(q, r, &version))
			return reject(q, DNS_FORMERR);
	}
	if (r->at != r->len)
		return reject(q, DNS_FORMERR);
	if (version > 0)
		return reject(q, DNS_BADVERS);
	if (q->class != CLASS_IN)
		return reject(q, DNS_REFUSED);
	return q->type == TYPE_AXFR || q->type == TYPE_IXFR ? reject(q, DNS_REFUSED) : DNS_QUESTION;
}

enum dns_verdict dns_read_query(struct dns_query *q, const unsigned char *bytes, size_t len)
{
	struct reader r = {bytes, 0, len};
	uint16_t flags = 0, questions = 0, answers = 0, authorities = 0, additional = 0;
	*q = (struct dns_query){.rcode = DNS_NOERROR};
	if (len < HEADER_BYTES || len > DNS_QUERY_BYTES_MAX)
		return DNS_DROP;
	take16(&r, &q->id);
	take16(&r, &flags);
	take16(&r, &questions);
	take16(&r, &answers);
	take16(&r, &authorities);
	take16(&r, &additional);
	if (flags & FLAG_QR)
		return DNS_DROP;
	q->opcode = flags >> 11 & 0xf;
	q->recursion_desired = flags & FLAG_RD;
	q->checking_disabled = flags & FLAG_CD;
	if (q->opcode != 0)
		return reject(q, DNS_NOTIMP);
	if (questions != 1 || answers != 0 || authorities != 0 || !read_question(q, &r))
		return reject(q, DNS_FORMERR);
	return read_records(q, &r, additional);
}

int dns_tcp_frame(const unsigned char *bytes, size_t len)
{
	if (len < 2)
		return 0;
	size_t size = (size_t)(bytes[0] << 8 | bytes[1]);
	if (size < HEADER_BYTES || size > DNS_QUERY_BYTES_MAX)
		return -1;
	return len - 2 < size ? 0 : (int)size + 2;
}

/* ---- writing ---- */

struct writer {
	unsigned char *bytes;
	size_t at;
};

static void put16(struct writer *w, unsigned int value)
{
	w->bytes[w->at++] = (unsigned char)(value >> 8);
	w->bytes[w->at++] = (unsigned char)value;
}

static void put32(struct writer *w, uint32_t value)
{
	put16(w, value >> 16);
	put16(w, value & 0xffff);
}

static void put_bytes(struct writer *w, const unsigned char *bytes, size_t len)
{
	memcpy(w->bytes + w->at, bytes, len);
	w->at += len;
}

static void put_address(struct writer *w, const unsigned char address[4])
{
	put16(w, POINTER_TO_QUESTION);
	put16(w, DNS_TYPE_A);
	put16(w, CLASS_IN);
	put32(w, DNS_TTL_SECONDS);
	put16(w, 4);
	put_bytes(w, address, 4);
}

/* Of the root, with both of its names the root: no other zone is told of. Serial and times but the
 * last are for secondary servers, which there are none of. */
static void put_soa(struct writer *w)
{
	w->bytes[w->at++] = 0;
	put16(w, TYPE_SOA);
	put16(w, CLASS_IN);
	put32(w, DNS_TTL_SECONDS);
	put16(w, 2 + 5 * 4);
	w->bytes[w->at++] = 0;
	w->bytes[w->at++] = 0;
	put32(w, 1);
	put32(w, 3600);
	put32(w, 600);
	put32(w, 86400);
	put32(w, DNS_TTL_SECONDS);
}

static void put_opt(struct writer *w, const struct dns_query *q, enum dns_rcode rcode)
{
	w->bytes[w->at++] = 0;
	put16(w, TYPE_OPT);
	put16(w, DNS_UDP_BYTES);
	put16(w, (unsigned int)rcode >> 4 << 8);
	put16(w, q->dnssec_ok ? EDNS_DO : 0);
	put16(w, 0);
}

static unsigned int flags_of(const struct dns_query *q, enum dns_rcode rcode)
{
	unsigned int flags = FLAG_QR | FLAG_RA | (unsigned int)q->opcode << 11 |
			     ((unsigned int)rcode & 0xf);
	if (q->recursion_desired)
		flags |= FLAG_RD;
	return q->checking_disabled ? flags | FLAG_CD : flags;
}

size_t dns_write_reply(unsigned char out[DNS_REPLY_BYTES_MAX], const struct dns_query *q,
		       enum dns_rcode rcode, const unsigned char address[4])
{
	struct writer w = {out, 0};
	bool answer = rcode == DNS_NOERROR && address;
	bool nothing = (rcode == DNS_NOERROR && !address) || rcode == DNS_NXDOMAIN;
	put16(&w, q->id);
	put16(&w, flags_of(q, rcode));
	put16(&w, q->question_len > 0);
	put16(&w, answer);
	put16(&w, nothing);
	put16(&w, q->edns);
	put_bytes(&w, q->question, q->question_len);
	if (answer)
		put_address(&w, address);
	if (nothing)
		put_soa(&w);
	if (q->edns)
		put_opt(&w, q, rcode);
	return w.at;
}
