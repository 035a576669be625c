/* Queries byte by byte (RFC 1035 4.1, RFC 6891 6.1), glibc's resolver as the other end, and what is
 * malformed. */
#include "network/egress/dns.h"

#include <arpa/nameser.h>
#include <resolv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text)   (const unsigned char *)(text), sizeof(text) - 1

#define HEADER	 "\x12\x34\x01\x00\0\1\0\0\0\0\0\0"
#define HEADER_1 "\x12\x34\x01\x00\0\1\0\0\0\0\0\1" /* with one additional record */
#define NAME	 "\2oK\7ExAmple\0"
#define A_IN	 "\0\1\0\1"
#define OPT	 "\0\0\x29\x10\0\0\0\0\0\0\0" /* 4096 bytes, version 0, no options */

struct row {
	const unsigned char *bytes;
	size_t len;
	enum dns_verdict verdict;
	enum dns_rcode rcode;
};

static const struct row rows[] = {
	{BYTES(HEADER NAME A_IN), DNS_QUESTION, DNS_NOERROR},
	{BYTES(HEADER_1 NAME A_IN OPT), DNS_QUESTION, DNS_NOERROR},
	{BYTES(HEADER "\0" A_IN), DNS_QUESTION, DNS_NOERROR}, /* the root */
	{BYTES(HEADER NAME "\xff\xff\0\1"), DNS_QUESTION, DNS_NOERROR},
	/* options: a cookie (RFC 7873) and padding (RFC 7830) */
	{BYTES(HEADER_1 NAME A_IN "\0\0\x29\x04\xd0\0\0\x80\0\0\x10\0\x0a\0\x08"
				  "abcdefgh\0\x0c\0\0"),
	 DNS_QUESTION, DNS_NOERROR},
	/* another record beside it, whose owner is a pointer */
	{BYTES("\x12\x34\x01\x00\0\1\0\0\0\0\0\2" NAME A_IN OPT "\xc0\x0c\0\1\0\1\0\0\0\0\0\4"
	       "abcd"),
	 DNS_QUESTION, DNS_NOERROR},
	/* dropped */
	{BYTES(""), DNS_DROP, DNS_NOERROR},
	{BYTES("\x12\x34\x01\x00\0\1\0\0\0\0\0"), DNS_DROP, DNS_NOERROR},
	{BYTES("\x12\x34\x81\x80\0\1\0\0\0\0\0\0" NAME A_IN), DNS_DROP, DNS_NOERROR}, /* a response */
	/* counts */
	{BYTES("\x12\x34\x01\x00\0\0\0\0\0\0\0\0"), DNS_REJECT, DNS_FORMERR},
	{BYTES("\x12\x34\x01\x00\0\2\0\0\0\0\0\0" NAME A_IN NAME A_IN), DNS_REJECT, DNS_FORMERR},
	{BYTES("\x12\x34\x01\x00\0\1\0\1\0\0\0\0" NAME A_IN OPT), DNS_REJECT, DNS_FORMERR},
	{BYTES("\x12\x34\x01\x00\0\1\0\0\0\1\0\0" NAME A_IN OPT), DNS_REJECT, DNS_FORMERR},
	{BYTES("\x12\x34\x01\x00\0\1\0\0\0\0\xff\xff" NAME A_IN OPT), DNS_REJECT, DNS_FORMERR},
	{BYTES("\x12\x34\x01\x00\0\1\0\0\0\0\0\2" NAME A_IN OPT), DNS_REJECT, DNS_FORMERR},
	{BYTES("\x12\x34\x01\x00\0\1\0\0\0\0\0\2" NAME A_IN OPT OPT), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER NAME A_IN "x"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER_1 NAME A_IN OPT "x"), DNS_REJECT, DNS_FORMERR},
	/* names */
	{BYTES(HEADER), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER "\2ok"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER "\7ok"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER NAME "\0\1\0"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER "\xc0\x0c" A_IN), DNS_REJECT, DNS_FORMERR}, /* points at itself */
	{BYTES(HEADER "\2ok\xc0\x0c" A_IN), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER "\xc0\x00" A_IN), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER "\x41"
		      "abc\0" A_IN),
	 DNS_REJECT, DNS_FORMERR}, /* an extended label */
	/* OPT */
	{BYTES(HEADER_1 NAME A_IN "\1x\0\0\x29\x10\0\0\0\0\0\0\0"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER_1 NAME A_IN "\xc0\x17\0\x29\x10\0\0\0\0\0\0\0"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER_1 NAME A_IN "\0\0\x29\x10\0\0\0\0\0\0\5\0\x0a\0\x08"
				  "a"),
	 DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER_1 NAME A_IN "\0\0\x29\x10\0\0\0\0\0\0\1"), DNS_REJECT, DNS_FORMERR},
	{BYTES(HEADER_1 NAME A_IN "\0\0\x29\x10\0\0\1\0\0\0\0"), DNS_REJECT, DNS_BADVERS},
	/* opcodes, classes, transfers */
	{BYTES("\x12\x34\x09\x00\0\1\0\0\0\0\0\0" NAME A_IN), DNS_REJECT, DNS_NOTIMP},
	{BYTES("\x12\x34\x21\x00\0\1\0\0\0\0\0\0" NAME A_IN), DNS_REJECT, DNS_NOTIMP}, /* notify */
	{BYTES("\x12\x34\x29\x00\0\1\0\1\0\1\0\0" NAME A_IN), DNS_REJECT, DNS_NOTIMP}, /* update */
	{BYTES(HEADER NAME "\0\1\0\3"), DNS_REJECT, DNS_REFUSED},		       /* CHAOS */
	{BYTES(HEADER NAME "\0\1\0\xff"), DNS_REJECT, DNS_REFUSED},		       /* ANY */
	{BYTES(HEADER NAME "\0\xfc\0\1"), DNS_REJECT, DNS_REFUSED},		       /* AXFR */
	{BYTES(HEADER NAME "\0\xfb\0\1"), DNS_REJECT, DNS_REFUSED},
};

static void queries(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct dns_query q;
		enum dns_verdict v = dns_read_query(&q, rows[i].bytes, rows[i].len);
		if (v != rows[i].verdict || q.rcode != rows[i].rcode)
			fail_msg("row %zu: verdict %d, rcode %d", i, v, q.rcode);
		/* Whatever it was: an answer fits. */
		unsigned char out[DNS_REPLY_BYTES_MAX];
		size_t len = dns_write_reply(out, &q, q.rcode, NULL);
		assert_true(len >= 12 && len <= sizeof(out));
	}
}

static void fields(void **state)
{
	(void)state;
	struct dns_query q;
	assert_int_equal(dns_read_query(&q, BYTES(HEADER_1 NAME "\0\x1c\0\1"
								"\0\0\x29\x04\xd0\0\0\x80\0\0\0")),
			 DNS_QUESTION);
	assert_int_equal(q.id, 0x1234);
	assert_int_equal(q.type, DNS_TYPE_AAAA);
	assert_int_equal(q.class, 1);
	assert_true(q.recursion_desired && q.edns && q.dnssec_ok && q.is_host);
	assert_false(q.checking_disabled);
	assert_string_equal(q.name.text, "ok.example");
	assert_int_equal(q.wire_len, 12);
	assert_int_equal(q.question_len, 16);
	assert_int_equal(dns_read_query(&q, BYTES("\xff\xff\0\x10\0\1\0\0\0\0\0\0\4_tcp\2ok\0" A_IN)),
			 DNS_QUESTION);
	assert_false(q.is_host || q.recursion_desired || q.edns);
	assert_true(q.checking_disabled);
	assert_int_equal(dns_read_query(&q, BYTES(HEADER "\4a\0.b\2ok\0" A_IN)), DNS_QUESTION);
	assert_false(q.is_host);
}

/* 255 bytes of name on the wire are the most, 256 malformed; 4096 bytes of query, 4097 dropped. */
static void longest(void **state)
{
	(void)state;
	unsigned char bytes[DNS_QUERY_BYTES_MAX + 1] = HEADER;
	struct dns_query q;
	for (size_t at = 0; at < 4; at++) {
		memset(bytes + 12 + at * 64, 'a', 64);
		bytes[12 + at * 64] = 63;
	}
	bytes[12 + 192] = 61;
	memcpy(bytes + 12 + 254, "\0" A_IN, 5);
	assert_int_equal(dns_read_query(&q, bytes, 12 + 255 + 4), DNS_QUESTION);
	assert_true(q.is_host && q.name.len == 253 && q.question_len == DNS_QUESTION_BYTES_MAX);
	unsigned char out[DNS_REPLY_BYTES_MAX];
	q.edns = true;
	assert_int_equal(dns_write_reply(out, &q, DNS_NXDOMAIN, NULL), 12 + 259 + 33 + 11);
	bytes[12 + 192] = 62;
	memcpy(bytes + 12 + 254, "a\0" A_IN, 6);
	assert_int_equal(dns_read_query(&q, bytes, 12 + 256 + 4), DNS_REJECT);
	/* 192 is a pointer and no length, even where so many bytes follow */
	memset(bytes + 12, 'a', 200);
	bytes[12] = 192;
	memcpy(bytes + 12 + 193, "\0" A_IN, 5);
	assert_int_equal(dns_read_query(&q, bytes, 12 + 193 + 5), DNS_REJECT);
	/* padded with one option to 4096 bytes: 4096 - 28 of header and question - 11 of OPT */
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, HEADER_1 NAME A_IN "\0\0\x29\x10\0\0\0\0\0\x0f\xd9\0\x0c\x0f\xd5", 28 + 15);
	assert_int_equal(dns_read_query(&q, bytes, DNS_QUERY_BYTES_MAX), DNS_QUESTION);
	assert_int_equal(dns_read_query(&q, bytes, DNS_QUERY_BYTES_MAX + 1), DNS_DROP);
}

static void tcp(void **state)
{
	(void)state;
	unsigned char bytes[2 + DNS_QUERY_BYTES_MAX] = {0};
	assert_int_equal(dns_tcp_frame(bytes, 0), 0);
	assert_int_equal(dns_tcp_frame(bytes, 1), 0);
	assert_int_equal(dns_tcp_frame(bytes, 2), -1); /* length 0 */
	bytes[1] = 11;
	assert_int_equal(dns_tcp_frame(bytes, 2), -1);
	bytes[1] = 12;
	assert_int_equal(dns_tcp_frame(bytes, 2), 0);
	assert_int_equal(dns_tcp_frame(bytes, 13), 0);
	assert_int_equal(dns_tcp_frame(bytes, 14), 14);
	assert_int_equal(dns_tcp_frame(bytes, 20), 14);
	bytes[0] = 0x10;
	bytes[1] = 0;
	assert_int_equal(dns_tcp_frame(bytes, 4097), 0);
	assert_int_equal(dns_tcp_frame(bytes, 4098), 4098);
	bytes[1] = 1;
	assert_int_equal(dns_tcp_frame(bytes, 2), -1);
}

static void replies_byte_by_byte(void **state)
{
	(void)state;
	struct dns_query q;
	unsigned char out[DNS_REPLY_BYTES_MAX];
	static const unsigned char address[4] = {198, 18, 0, 7};
	assert_int_equal(dns_read_query(&q, BYTES(HEADER NAME A_IN)), DNS_QUESTION);
	static const unsigned char answer[] = "\x12\x34\x81\x80\0\1\0\1\0\0\0\0" NAME A_IN
					      "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc6\x12\0\7";
	assert_int_equal(dns_write_reply(out, &q, DNS_NOERROR, address), sizeof(answer) - 1);
	assert_memory_equal(out, answer, sizeof(answer) - 1);
	static const unsigned char nothing[] =
		"\x12\x34\x81\x83\0\1\0\0\0\1\0\0" NAME A_IN
		"\0\0\6\0\1\0\0\0\x3c\0\x16\0\0\0\0\0\1\0\0\x0e\x10\0\0\2\x58\0\1\x51\x80\0\0\0\x3c";
	assert_int_equal(dns_write_reply(out, &q, DNS_NXDOMAIN, address), sizeof(nothing) - 1);
	assert_memory_equal(out, nothing, sizeof(nothing) - 1);
	/* An EDNS version that nobody knows: 16 is 1 in OPT and 0 in the header (RFC 6891 6.1.3). */
	assert_int_equal(dns_read_query(&q, BYTES(HEADER_1 NAME A_IN "\0\0\x29\x10\0\0\1\x80\0\0\0")),
			 DNS_REJECT);
	static const unsigned char version[] = "\x12\x34\x81\x80\0\1\0\0\0\0\0\1" NAME A_IN
					       "\0\0\x29\x10\0\1\0\x80\0\0\0";
	assert_int_equal(dns_write_reply(out, &q, q.rcode, NULL), sizeof(version) - 1);
	assert_memory_equal(out, version, sizeof(version) - 1);
	assert_int_equal(dns_read_query(&q, BYTES("\x12\x34\x20\x00\0\1\0\0\0\0\0\0" NAME A_IN)),
			 DNS_REJECT);
	static const unsigned char opcode[] = "\x12\x34\xa0\x84\0\0\0\0\0\0\0\0";
	assert_int_equal(dns_write_reply(out, &q, q.rcode, NULL), sizeof(opcode) - 1);
	assert_memory_equal(out, opcode, sizeof(opcode) - 1);
}

/* The queries of glibc's resolver are read, and it reads the answers. */
static void against_glibc(void **state)
{
	(void)state;
	static const char *const names[] = {"a", "ok.example", "WWW.oK.eXample", "x.y.z.example.org"};
	static const unsigned char address[4] = {198, 18, 1, 2};
	for (size_t i = 0; i < LENGTH(names); i++) {
		unsigned char query[512], out[DNS_REPLY_BYTES_MAX];
		struct dns_query q;
		int len = res_mkquery(ns_o_query, names[i], ns_c_in, ns_t_a, NULL, 0, NULL, query,
				      sizeof(query));
		assert_true(len > 0);
		assert_int_equal(dns_read_query(&q, query, (size_t)len), DNS_QUESTION);
		assert_true(q.is_host && strcasecmp(q.name.text, names[i]) == 0);
		len = (int)dns_write_reply(out, &q, DNS_NOERROR, address);
		ns_msg message;
		ns_rr record;
		assert_int_equal(ns_initparse(out, len, &message), 0);
		assert_int_equal(ns_msg_id(message), query[0] << 8 | query[1]);
		assert_int_equal(ns_msg_getflag(message, ns_f_rcode), ns_r_noerror);
		assert_int_equal(ns_msg_count(message, ns_s_an), 1);
		assert_int_equal(ns_parserr(&message, ns_s_an, 0, &record), 0);
		assert_string_equal(ns_rr_name(record), names[i]); /* with its casing */
		assert_int_equal(ns_rr_ttl(record), DNS_TTL_SECONDS);
		assert_int_equal(ns_rr_rdlen(record), 4);
		assert_memory_equal(ns_rr_rdata(record), address, 4);
		len = (int)dns_write_reply(out, &q, DNS_NXDOMAIN, NULL);
		assert_int_equal(ns_initparse(out, len, &message), 0);
		assert_int_equal(ns_msg_getflag(message, ns_f_rcode), ns_r_nxdomain);
		assert_int_equal(ns_parserr(&message, ns_s_ns, 0, &record), 0);
		assert_int_equal(ns_rr_type(record), ns_t_soa);
		assert_string_equal(ns_rr_name(record), ".");
	}
}

/* Every beginning of a query, and every byte of it changed: no answer but one that fits. */
static void damaged(void **state)
{
	(void)state;
	static const char query[] = HEADER_1 NAME A_IN "\0\0\x29\x04\xd0\0\0\x80\0\0\x0c\0\x0a\0\x08"
						       "abcdefgh";
	unsigned char bytes[sizeof(query) - 1], out[DNS_REPLY_BYTES_MAX];
	struct dns_query q;
	for (size_t len = 0; len < sizeof(bytes); len++) {
		memcpy(bytes, query, sizeof(bytes));
		enum dns_verdict v = dns_read_query(&q, bytes, len);
		assert_int_equal(v, len < 12 ? DNS_DROP : DNS_REJECT);
		for (int value = 0; value < 256; value++) {
			memcpy(bytes, query, sizeof(bytes));
			bytes[len] = (unsigned char)value;
			if (dns_read_query(&q, bytes, sizeof(bytes)) != DNS_DROP)
				assert_true(dns_write_reply(out, &q, q.rcode, NULL) <= sizeof(out));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries),
		cmocka_unit_test(fields),
		cmocka_unit_test(longest),
		cmocka_unit_test(tcp),
		cmocka_unit_test(replies_byte_by_byte),
		cmocka_unit_test(against_glibc),
		cmocka_unit_test(damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
