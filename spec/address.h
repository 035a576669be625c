/* What an IP address is: globally reachable, or what else.
 *
 * Pure. The table in address.c is IANA's two registries of special-purpose addresses with the RFC of
 * each row, multicast, and the places where clouds keep credentials. An address that carries an IPv4
 * address (IPv4-mapped, IPv4-compatible, NAT64, 6to4) is what the carried one is, if that is worse.
 */
#ifndef PINFOLD_SPEC_ADDRESS_H
#define PINFOLD_SPEC_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* IPv4 is held as IPv4-mapped IPv6 (::ffff:a.b.c.d), network order, so that an AAAA record with
 * such an address and the A record it stands for are the same value. */
struct address {
	unsigned char bytes[16];
};

/* From harmless to worse. */
enum address_class {
	ADDRESS_GLOBAL,
	ADDRESS_PRIVATE,  /* 10/8, 172.16/12, 192.168/16, fc00::/7; 100.64/10; 64:ff9b:1::/48 */
	ADDRESS_RESERVED, /* documentation, benchmarks, protocol assignments, future use, and all
			   * IPv6 outside 2000::/3 */
	ADDRESS_TUNNEL,	  /* Teredo, ISATAP: leads to a host that cannot be judged */
	ADDRESS_LINK_LOCAL,
	ADDRESS_METADATA, /* where a cloud tells machines their credentials */
	ADDRESS_LOOPBACK,
	ADDRESS_MULTICAST, /* no place that one connects to, from here on */
	ADDRESS_BROADCAST,
	ADDRESS_UNSPECIFIED, /* 0.0.0.0/8 and ::; connect(2) takes them for loopback */
	ADDRESS_CLASS_COUNT,
};

bool address_is_ipv4(const struct address *a);
void address_from_ipv4(struct address *a, const unsigned char bytes[4]);
void address_from_ipv6(struct address *a, const unsigned char bytes[16]);

/* A literal, strict: four decimal numbers without leading zeros, or IPv6 without brackets and
 * without a scope (%lo). len bytes, not terminated. False: it is none. */
bool address_read(struct address *a, const char *text, size_t len);

/* Canonical text (RFC 5952). */
enum { ADDRESS_TEXT_BYTES = 46 };
void address_format(const struct address *a, char text[ADDRESS_TEXT_BYTES]);

/* In network/prefix, where prefix counts in 128 bits: 10.0.0.0/8 is 104. */
bool address_in(const struct address *a, const struct address *network, unsigned int prefix);

enum address_class address_class(const struct address *a);

/* The class that every address of network/prefix has by one row of the table, its own or that of the
 * IPv4 addresses that it carries, whichever is worse; ADDRESS_GLOBAL where it reaches beyond any. */
enum address_class address_block_class(const struct address *network, unsigned int prefix);

/* "loopback", "link-local": a word for the result. Never NULL. */
const char *address_class_name(enum address_class c);

#endif
