#include "spec/address.h"

#include <arpa/inet.h>
#include <string.h>

/* The registries are <iana.org/assignments/iana-ipv4-special-registry> and -ipv6-; a row that they
 * call globally reachable inside one that they do not stands before it, since the first that fits
 * decides. An IPv4 row has its text in IPv4 and its length in 32 bits. */
struct row {
	const char *network;
	unsigned char bits;
	enum address_class class;
	const char *source;
};

static const struct row ipv4_rows[] = {
	{"0.0.0.0", 8, ADDRESS_UNSPECIFIED,
	 "RFC 791 3.2: this network; Linux connects 0.0.0.0 to itself"},
	{"127.0.0.0", 8, ADDRESS_LOOPBACK, "RFC 1122 3.2.1.3"},
	{"169.254.169.254", 32, ADDRESS_METADATA, "EC2, GCE, Azure and others"},
	{"169.254.170.2", 32, ADDRESS_METADATA, "credentials of ECS tasks"},
	{"169.254.170.23", 32, ADDRESS_METADATA, "credentials of EKS pods"},
	{"169.254.0.0", 16, ADDRESS_LINK_LOCAL, "RFC 3927"},
	{"168.63.129.16", 32, ADDRESS_METADATA, "Azure's WireServer, out of public space"},
	{"100.100.100.200", 32, ADDRESS_METADATA, "Alibaba, out of shared space"},
	{"192.0.0.192", 32, ADDRESS_METADATA, "Oracle, out of protocol assignments"},
	{"10.0.0.0", 8, ADDRESS_PRIVATE, "RFC 1918"},
	{"100.64.0.0", 10, ADDRESS_PRIVATE, "RFC 6598: shared address space"},
	{"172.16.0.0", 12, ADDRESS_PRIVATE, "RFC 1918"},
	{"192.168.0.0", 16, ADDRESS_PRIVATE, "RFC 1918"},
	{"192.0.0.9", 32, ADDRESS_GLOBAL, "RFC 7723: PCP anycast"},
	{"192.0.0.10", 32, ADDRESS_GLOBAL, "RFC 8155: TURN anycast"},
	{"192.0.0.0", 24, ADDRESS_RESERVED,
	 "RFC 6890 2.1: protocol assignments, with RFC 7335 and 7050"},
	{"192.0.2.0", 24, ADDRESS_RESERVED, "RFC 5737: documentation"},
	{"192.88.99.0", 24, ADDRESS_TUNNEL, "RFC 7526: 6to4 relays, withdrawn"},
	{"198.18.0.0", 15, ADDRESS_RESERVED, "RFC 2544: benchmarks, and our synthetic addresses"},
	{"198.51.100.0", 24, ADDRESS_RESERVED, "RFC 5737: documentation"},
	{"203.0.113.0", 24, ADDRESS_RESERVED, "RFC 5737: documentation"},
	{"224.0.0.0", 4, ADDRESS_MULTICAST, "RFC 5771"},
	{"255.255.255.255", 32, ADDRESS_BROADCAST, "RFC 8190, RFC 919 7"},
	{"240.0.0.0", 4, ADDRESS_RESERVED, "RFC 1112 4: future use"},
};

static const struct row ipv6_rows[] = {
	{"::", 128, ADDRESS_UNSPECIFIED, "RFC 4291 2.5.2"},
	{"::1", 128, ADDRESS_LOOPBACK, "RFC 4291 2.5.3"},
	{"::", 96, ADDRESS_RESERVED, "RFC 4291 2.5.5.1: IPv4-compatible, deprecated"},
	{"64:ff9b::", 96, ADDRESS_GLOBAL, "RFC 6052: NAT64, is what it carries"},
	{"64:ff9b:1::", 48, ADDRESS_PRIVATE, "RFC 8215: NAT64 of a local network"},
	{"100::", 64, ADDRESS_RESERVED, "RFC 6666: discarded"},
	{"100:0:0:1::", 64, ADDRESS_RESERVED, "RFC 9780: dummy prefix"},
	{"2001::", 32, ADDRESS_TUNNEL, "RFC 4380: Teredo"},
	{"2001:1::1", 128, ADDRESS_GLOBAL, "RFC 7723: PCP anycast"},
	{"2001:1::2", 128, ADDRESS_GLOBAL, "RFC 8155: TURN anycast"},
	{"2001:1::3", 128, ADDRESS_GLOBAL, "RFC 9665: DNS-SD SRP anycast"},
	{"2001:3::", 32, ADDRESS_GLOBAL, "RFC 7450: AMT"},
	{"2001:4:112::", 48, ADDRESS_GLOBAL, "RFC 7535: AS112"},
	{"2001:20::", 28, ADDRESS_GLOBAL, "RFC 7343: ORCHIDv2"},
	{"2001:30::", 28, ADDRESS_GLOBAL, "RFC 9374: DRIP"},
	{"2001::", 23, ADDRESS_RESERVED,
	 "RFC 2928: protocol assignments; benchmarks RFC 5180, ORCHID RFC 4843"},
	{"2001:db8::", 32, ADDRESS_RESERVED, "RFC 3849: documentation"},
	{"2002::", 16, ADDRESS_GLOBAL, "RFC 3056: 6to4, is what it carries"},
	{"2620:4f:8000::", 48, ADDRESS_GLOBAL, "RFC 7534: AS112"},
	{"3fff::", 20, ADDRESS_RESERVED, "RFC 9637: documentation"},
	{"2000::", 3, ADDRESS_GLOBAL, "RFC 4291 2.4, RFC 3587: global unicast"},
	{"fd00:ec2::254", 128, ADDRESS_METADATA, "EC2"},
	{"fd00:ec2::23", 128, ADDRESS_METADATA, "credentials of EKS pods"},
	{"fd20:ce::254", 128, ADDRESS_METADATA, "GCE"},
	{"fc00::", 7, ADDRESS_PRIVATE, "RFC 4193"},
	{"fe80::a9fe:a9fe", 128, ADDRESS_METADATA, "OpenStack"},
	{"fe80::", 10, ADDRESS_LINK_LOCAL, "RFC 4291 2.5.6"},
	{"fec0::", 10, ADDRESS_PRIVATE, "RFC 3879: site-local, deprecated"},
	{"ff00::", 8, ADDRESS_MULTICAST, "RFC 4291 2.7"},
	{"::", 0, ADDRESS_RESERVED,
	 "RFC 4291 2.4, 5f00::/16 of RFC 9602 too: not assigned, not global"},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

bool address_is_ipv4(const struct address *a)
{
	return memcmp(a->bytes, mapped, sizeof(mapped)) == 0;
}

void address_from_ipv4(struct address *a, const unsigned char bytes[4])
{
	memcpy(a->bytes, mapped, sizeof(mapped));
	memcpy(a->bytes + sizeof(mapped), bytes, 4);
}

void address_from_ipv6(struct address *a, const unsigned char bytes[16])
{
	memcpy(a->bytes, bytes, sizeof(a->bytes));
}

bool address_read(struct address *a, const char *text, size_t len)
{
	char copy[ADDRESS_TEXT_BYTES];
	unsigned char ipv4[4], ipv6[16];
	if (len >= sizeof(copy) || memchr(text, '\0', len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET, copy, ipv4) == 1)
		address_from_ipv4(a, ipv4);
	else if (inet_pton(AF_INET6, copy, ipv6) == 1)
		address_from_ipv6(a, ipv6);
	else
		return false;
	return true;
}

void address_format(const struct address *a, char text[ADDRESS_TEXT_BYTES])
{
	if (address_is_ipv4(a))
		inet_ntop(AF_INET, a->bytes + sizeof(mapped), text, ADDRESS_TEXT_BYTES);
	else
		inet_ntop(AF_INET6, a->bytes, text, ADDRESS_TEXT_BYTES);
}

bool address_in(const struct address *a, const struct address *network, unsigned int prefix)
{
	size_t whole = prefix / 8;
	unsigned int rest = prefix % 8;
	if (memcmp(a->bytes, network->bytes, whole) != 0)
		return false;
	return rest == 0 || (a->bytes[whole] ^ network->bytes[whole]) >> (8 - rest) == 0;
}

/* The first row that takes the whole of network/prefix; NULL: none does. */
static const struct row *row_find(const struct address *network, unsigned int prefix)
{
	bool ipv4 = prefix >= 96 && address_is_ipv4(network);
	const struct row *rows = ipv4 ? ipv4_rows : ipv6_rows;
	size_t len = ipv4 ? LENGTH(ipv4_rows) : LENGTH(ipv6_rows);
	for (size_t i = 0; i < len; i++) {
		struct address of = {.bytes = {0}};
		unsigned int bits = rows[i].bits + (ipv4 ? 96U : 0U);
		address_read(&of, rows[i].network, strlen(rows[i].network));
		if (prefix >= bits && address_in(network, &of, bits))
			return &rows[i];
	}
	return NULL;
}

static enum address_class row_class(const struct address *network, unsigned int prefix)
{
	const struct row *row = row_find(network, prefix);
	return row ? row->class : ADDRESS_GLOBAL;
}

/* ---- addresses that carry an IPv4 address ---- */

/* Where its four bytes lie (RFC 6052 2.2 leaves out byte 8). Which layout a local NAT64 uses cannot
 * be known: each of them is looked at. */
struct carrier {
	const char *network;
	unsigned char bits;
	unsigned char at[4];
};

static const struct carrier carriers[] = {
	{"::", 96, {12, 13, 14, 15}},	       /* IPv4-compatible */
	{"64:ff9b::", 96, {12, 13, 14, 15}},   /* NAT64 */
	{"64:ff9b:1::", 48, {12, 13, 14, 15}}, /* NAT64 of a local network, /96 */
	{"64:ff9b:1::", 48, {9, 10, 11, 12}},  /* the same, /64 */
	{"64:ff9b:1::", 48, {7, 9, 10, 11}},   /* the same, /56 */
	{"64:ff9b:1::", 48, {6, 7, 9, 10}},    /* the same, /48 */
	{"2002::", 16, {2, 3, 4, 5}},	       /* 6to4 */
};

/* ISATAP (RFC 5214 6.1): the interface's half is [02]00:5efe and an IPv4 address, below any prefix. */
static bool is_isatap(const struct address *a)
{
	static const unsigned char id[3] = {0x00, 0x5e, 0xfe};
	return (a->bytes[8] & 0xfd) == 0 && memcmp(a->bytes + 9, id, sizeof(id)) == 0;
}

static enum address_class worse(enum address_class a, enum address_class b)
{
	return a > b ? a : b;
}

/* A carried 0.0.0.0/8 of a local NAT64 is what the other layouts' zeros look like. */
static enum address_class carried_class(const struct address *a, const struct carrier *c)
{
	unsigned char bytes[4];
	struct address carried;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = a->bytes[c->at[i]];
	address_from_ipv4(&carried, bytes);
	enum address_class class = row_class(&carried, 128);
	return c->bits == 48 && class >= ADDRESS_MULTICAST ? ADDRESS_GLOBAL : class;
}

enum address_class address_class(const struct address *a)
{
	enum address_class class = row_class(a, 128);
	if (address_is_ipv4(a) || class >= ADDRESS_LOOPBACK)
		return class;
	for (size_t i = 0; i < LENGTH(carriers); i++) {
		struct address network = {.bytes = {0}};
		address_read(&network, carriers[i].network, strlen(carriers[i].network));
		if (address_in(a, &network, carriers[i].bits))
			class = worse(class, carried_class(a, &carriers[i]));
	}
	return is_isatap(a) ? worse(class, ADDRESS_TUNNEL) : class;
}

/* Of a block whose carried addresses are one block too, as far as they begin right behind the carrier. */
static enum address_class carried_block_class(const struct address *network, unsigned int prefix,
					      const struct carrier *c)
{
	unsigned int begin = c->at[0] * 8U;
	struct address of = {.bytes = {0}}, carried;
	address_read(&of, c->network, strlen(c->network));
	if (c->bits != begin || prefix < begin || !address_in(network, &of, c->bits))
		return ADDRESS_GLOBAL;
	address_from_ipv4(&carried, network->bytes + c->at[0]);
	return row_class(&carried, 96 + (prefix - begin < 32 ? prefix - begin : 32));
}

enum address_class address_block_class(const struct address *network, unsigned int prefix)
{
	enum address_class class = row_class(network, prefix);
	if (prefix == 128)
		return address_class(network);
	if (class >= ADDRESS_LOOPBACK)
		return class;
	for (size_t i = 0; i < LENGTH(carriers); i++)
		class = worse(class, carried_block_class(network, prefix, &carriers[i]));
	return class;
}

static const char *const names[ADDRESS_CLASS_COUNT] = {
	[ADDRESS_GLOBAL] = "global",	     [ADDRESS_PRIVATE] = "private",
	[ADDRESS_RESERVED] = "reserved",     [ADDRESS_TUNNEL] = "tunnel",
	[ADDRESS_LINK_LOCAL] = "link-local", [ADDRESS_METADATA] = "metadata",
	[ADDRESS_LOOPBACK] = "loopback",     [ADDRESS_MULTICAST] = "multicast",
	[ADDRESS_BROADCAST] = "broadcast",   [ADDRESS_UNSPECIFIED] = "unspecified",
};

const char *address_class_name(enum address_class c)
{
	return (unsigned int)c < ADDRESS_CLASS_COUNT ? names[c] : "unknown";
}
