/* Classes of addresses: both ends of each row of IANA's registries, what lies beside them, and what
 * is carried in others; and what a rule makes of them. */
#include "network/egress/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct address address(const char *text)
{
	struct address a;
	if (!address_read(&a, text, strlen(text)))
		fail_msg("%s is no address", text);
	return a;
}

static const struct {
	const char *text;
	enum address_class class;
} rows[] = {
	{"1.1.1.1", ADDRESS_GLOBAL},
	{"0.0.0.0", ADDRESS_UNSPECIFIED},
	{"0.255.255.255", ADDRESS_UNSPECIFIED},
	{"1.0.0.0", ADDRESS_GLOBAL},
	{"9.255.255.255", ADDRESS_GLOBAL},
	{"10.0.0.0", ADDRESS_PRIVATE},
	{"10.255.255.255", ADDRESS_PRIVATE},
	{"11.0.0.0", ADDRESS_GLOBAL},
	{"100.63.255.255", ADDRESS_GLOBAL},
	{"100.64.0.0", ADDRESS_PRIVATE},
	{"100.100.100.200", ADDRESS_METADATA},
	{"100.127.255.255", ADDRESS_PRIVATE},
	{"100.128.0.0", ADDRESS_GLOBAL},
	{"126.255.255.255", ADDRESS_GLOBAL},
	{"127.0.0.0", ADDRESS_LOOPBACK},
	{"127.255.255.255", ADDRESS_LOOPBACK},
	{"128.0.0.0", ADDRESS_GLOBAL},
	{"168.63.129.15", ADDRESS_GLOBAL},
	{"168.63.129.16", ADDRESS_METADATA},
	{"169.253.255.255", ADDRESS_GLOBAL},
	{"169.254.0.0", ADDRESS_LINK_LOCAL},
	{"169.254.169.253", ADDRESS_LINK_LOCAL},
	{"169.254.169.254", ADDRESS_METADATA},
	{"169.254.170.2", ADDRESS_METADATA},
	{"169.254.255.255", ADDRESS_LINK_LOCAL},
	{"169.255.0.0", ADDRESS_GLOBAL},
	{"172.15.255.255", ADDRESS_GLOBAL},
	{"172.16.0.0", ADDRESS_PRIVATE},
	{"172.31.255.255", ADDRESS_PRIVATE},
	{"172.32.0.0", ADDRESS_GLOBAL},
	{"191.255.255.255", ADDRESS_GLOBAL},
	{"192.0.0.0", ADDRESS_RESERVED},
	{"192.0.0.8", ADDRESS_RESERVED}, /* dummy address, RFC 7600 */
	{"192.0.0.9", ADDRESS_GLOBAL},
	{"192.0.0.10", ADDRESS_GLOBAL},
	{"192.0.0.170", ADDRESS_RESERVED}, /* NAT64 discovery, RFC 7050 */
	{"192.0.0.192", ADDRESS_METADATA},
	{"192.0.0.255", ADDRESS_RESERVED},
	{"192.0.1.0", ADDRESS_GLOBAL},
	{"192.0.2.0", ADDRESS_RESERVED},
	{"192.0.2.255", ADDRESS_RESERVED},
	{"192.31.196.1", ADDRESS_GLOBAL}, /* AS112, RFC 7535 */
	{"192.52.193.1", ADDRESS_GLOBAL}, /* AMT, RFC 7450 */
	{"192.88.99.1", ADDRESS_TUNNEL},
	{"192.167.255.255", ADDRESS_GLOBAL},
	{"192.168.0.0", ADDRESS_PRIVATE},
	{"192.168.255.255", ADDRESS_PRIVATE},
	{"192.169.0.0", ADDRESS_GLOBAL},
	{"192.175.48.1", ADDRESS_GLOBAL}, /* AS112, RFC 7534 */
	{"198.17.255.255", ADDRESS_GLOBAL},
	{"198.18.0.0", ADDRESS_RESERVED},
	{"198.19.255.255", ADDRESS_RESERVED},
	{"198.20.0.0", ADDRESS_GLOBAL},
	{"198.51.100.1", ADDRESS_RESERVED},
	{"203.0.113.1", ADDRESS_RESERVED},
	{"223.255.255.255", ADDRESS_GLOBAL},
	{"224.0.0.0", ADDRESS_MULTICAST},
	{"239.255.255.255", ADDRESS_MULTICAST},
	{"240.0.0.0", ADDRESS_RESERVED},
	{"255.255.255.254", ADDRESS_RESERVED},
	{"255.255.255.255", ADDRESS_BROADCAST},

	{"2606:4700::1", ADDRESS_GLOBAL},
	{"::", ADDRESS_UNSPECIFIED},
	{"::1", ADDRESS_LOOPBACK},
	{"::2", ADDRESS_UNSPECIFIED}, /* IPv4-compatible 0.0.0.2 */
	{"100::1", ADDRESS_RESERVED},
	{"100:0:0:1::1", ADDRESS_RESERVED},
	{"1fff::1", ADDRESS_RESERVED},
	{"2000::1", ADDRESS_GLOBAL},
	{"2001::1", ADDRESS_TUNNEL},
	{"2001:0:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_TUNNEL},
	{"2001:1::1", ADDRESS_GLOBAL},
	{"2001:1::2", ADDRESS_GLOBAL},
	{"2001:1::3", ADDRESS_GLOBAL},
	{"2001:1::4", ADDRESS_RESERVED},
	{"2001:2::1", ADDRESS_RESERVED}, /* benchmarks, RFC 5180 */
	{"2001:3::1", ADDRESS_GLOBAL},
	{"2001:4:112::1", ADDRESS_GLOBAL},
	{"2001:4:113::1", ADDRESS_RESERVED},
	{"2001:10::1", ADDRESS_RESERVED}, /* ORCHID, RFC 4843 */
	{"2001:20::1", ADDRESS_GLOBAL},
	{"2001:2f:ffff::1", ADDRESS_GLOBAL},
	{"2001:30::1", ADDRESS_GLOBAL},
	{"2001:40::1", ADDRESS_RESERVED},
	{"2001:1ff:ffff::1", ADDRESS_RESERVED},
	{"2001:200::1", ADDRESS_GLOBAL},
	{"2001:db7:ffff::1", ADDRESS_GLOBAL},
	{"2001:db8::1", ADDRESS_RESERVED},
	{"2001:db9::1", ADDRESS_GLOBAL},
	{"2620:4f:8000::1", ADDRESS_GLOBAL},
	{"3ffe:ffff::1", ADDRESS_GLOBAL},
	{"3fff:0fff:ffff::1", ADDRESS_RESERVED},
	{"3fff:1000::1", ADDRESS_GLOBAL},
	{"4000::1", ADDRESS_RESERVED},
	{"5f00::1", ADDRESS_RESERVED}, /* segment routing, RFC 9602 */
	{"fbff::1", ADDRESS_RESERVED},
	{"fc00::1", ADDRESS_PRIVATE},
	{"fd00:ec2::254", ADDRESS_METADATA},
	{"fd20:ce::254", ADDRESS_METADATA},
	{"fdff:ffff::1", ADDRESS_PRIVATE},
	{"fe00::1", ADDRESS_RESERVED},
	{"fe80::1", ADDRESS_LINK_LOCAL},
	{"fe80::a9fe:a9fe", ADDRESS_METADATA},
	{"febf:ffff::1", ADDRESS_LINK_LOCAL},
	{"fec0::1", ADDRESS_PRIVATE},
	{"ff00::", ADDRESS_MULTICAST},
	{"ff02::1", ADDRESS_MULTICAST},

	/* carried */
	{"::ffff:1.1.1.1", ADDRESS_GLOBAL},
	{"::ffff:7f00:1", ADDRESS_LOOPBACK},
	{"::ffff:a9fe:a9fe", ADDRESS_METADATA},
	{"::ffff:10.0.0.1", ADDRESS_PRIVATE},
	{"::ffff:0.0.0.0", ADDRESS_UNSPECIFIED},
	{"::1.1.1.1", ADDRESS_RESERVED},
	{"::127.0.0.1", ADDRESS_LOOPBACK},
	{"::ffff:0:7f00:1", ADDRESS_RESERVED}, /* SIIT, RFC 2765: in no registry, not global */
	{"64:ff9b::1.1.1.1", ADDRESS_GLOBAL},
	{"64:ff9b::a9fe:a9fe", ADDRESS_METADATA},
	{"64:ff9b::10.0.0.1", ADDRESS_PRIVATE},
	{"64:ff9b::127.0.0.1", ADDRESS_LOOPBACK},
	{"64:ff9b::0.0.0.0", ADDRESS_UNSPECIFIED},
	{"64:ff9b::1:0:0", ADDRESS_RESERVED}, /* outside the /96 */
	{"64:ff9b:1::1.1.1.1", ADDRESS_PRIVATE},
	{"64:ff9b:1::127.0.0.1", ADDRESS_LOOPBACK},
	{"64:ff9b:1:a9fe:a9:fe00::", ADDRESS_METADATA}, /* RFC 6052 2.2, prefix of 48 */
	{"64:ff9b:1:7f:0:1::", ADDRESS_LOOPBACK},	/* of 56 */
	{"64:ff9b:1::7f:0:100:0", ADDRESS_LOOPBACK},	/* of 64 */
	{"64:ff9b:2::1", ADDRESS_RESERVED},
	{"2002:101:101::1", ADDRESS_GLOBAL},
	{"2002:7f00:1::", ADDRESS_LOOPBACK},
	{"2002:a9fe:a9fe::1", ADDRESS_METADATA},
	{"2002:c0a8:101::1", ADDRESS_PRIVATE},
	{"2002:e000:1::1", ADDRESS_MULTICAST},
	{"2606:4700::5efe:7f00:1", ADDRESS_TUNNEL},
	{"2606:4700::200:5efe:101:101", ADDRESS_TUNNEL},
	{"fe80::5efe:7f00:1", ADDRESS_LINK_LOCAL},
};

static void classes(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct address a = address(rows[i].text);
		enum address_class class = address_class(&a);
		if (class != rows[i].class)
			fail_msg("%s: %s, not %s", rows[i].text, address_class_name(class),
				 address_class_name(rows[i].class));
	}
}

static void literals(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",	    "1.2.3",	"1.2.3.4.5",  "01.2.3.4", "0x7f.0.0.1", "2130706433",
		"1.2.3.4 ", " 1.2.3.4", "1.2.3.256",  "[::1]",	  "fe80::1%lo", "::1::",
		"1::2::3",  ":::",	"1.2.3.4/32", "12345::",  "a.example",	"::1.2.3",
	};
	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct address a;
		if (address_read(&a, bad[i], strlen(bad[i])))
			fail_msg("%s: accepted", bad[i]);
	}
	struct address a;
	assert_false(address_read(&a, "1.2.3.4\0", 8));
	assert_true(address_read(&a, "1.2.3.4xyz", 7)); /* what is behind does not count */
	char text[ADDRESS_TEXT_BYTES];
	static const char *const same[][2] = {
		{"1.2.3.4", "1.2.3.4"},
		{"::FFFF:1.2.3.4", "1.2.3.4"},
		{"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
		{"::", "::"},
	};
	for (size_t i = 0; i < LENGTH(same); i++) {
		a = address(same[i][0]);
		address_format(&a, text);
		assert_string_equal(text, same[i][1]);
	}
}

static void blocks(void **state)
{
	(void)state;
	static const struct {
		const char *address, *network;
		unsigned int prefix;
		bool in;
	} cases[] = {
		{"10.1.2.3", "10.1.2.0", 120, true},
		{"10.1.3.3", "10.1.2.0", 120, false},
		{"10.1.3.3", "10.1.2.0", 119, true},
		{"::a01:203", "10.1.2.0", 120, false},
		{"1.2.3.4", "::", 0, true},
		{"2001:db8::1", "2001:db8::", 32, true},
		{"2001:db9::1", "2001:db8::", 32, false},
		{"2001:db9::1", "2001:db8::", 31, true},
		{"::1", "::1", 128, true},
		{"::2", "::1", 128, false},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct address a = address(cases[i].address), n = address(cases[i].network);
		if (address_in(&a, &n, cases[i].prefix) != cases[i].in)
			fail_msg("%s in %s/%u", cases[i].address, cases[i].network, cases[i].prefix);
	}
	struct address n = address("0.0.0.0");
	assert_int_equal(address_block_class(&n, 96), ADDRESS_GLOBAL);
	n = address("126.0.0.0");
	assert_int_equal(address_block_class(&n, 96 + 7), ADDRESS_GLOBAL);
	n = address("127.0.0.0");
	assert_int_equal(address_block_class(&n, 96 + 8), ADDRESS_LOOPBACK);
	n = address("169.254.169.254");
	assert_int_equal(address_block_class(&n, 128), ADDRESS_METADATA);
	assert_int_equal(address_block_class(&n, 127), ADDRESS_LINK_LOCAL);
	n = address("fe80::");
	assert_int_equal(address_block_class(&n, 10), ADDRESS_LINK_LOCAL);
	assert_int_equal(address_block_class(&n, 9), ADDRESS_RESERVED);
}

static const struct {
	const char *rule, *address;
	uint16_t port;
	enum address_verdict verdict;
} verdicts[] = {
	{"a.example:443", "1.1.1.1", 443, ADDRESS_PERMITTED},
	{"a.example:443", "2606:4700::1", 443, ADDRESS_PERMITTED},
	{"a.example:443", "1.1.1.1", 80, ADDRESS_NO_PORT},
	{"a.example:443", "10.0.0.1", 443, ADDRESS_NOT_GLOBAL},
	{"a.example:443", "192.0.2.1", 443, ADDRESS_NOT_GLOBAL},
	{"a.example:443", "198.18.0.1", 443, ADDRESS_NOT_GLOBAL},
	{"a.example:443", "2001::1", 443, ADDRESS_NOT_GLOBAL},
	{"a.example:443", "::ffff:127.0.0.1", 443, ADDRESS_NOT_GLOBAL},
	{"a.example:443", "64:ff9b::a9fe:a9fe", 443, ADDRESS_NOT_GLOBAL},
	{"a.example:443", "::", 443, ADDRESS_NEVER},
	{"private:a.example:443", "10.0.0.1", 443, ADDRESS_PERMITTED},
	{"private:a.example:443", "127.0.0.1", 443, ADDRESS_PERMITTED},
	{"private:a.example:443", "169.254.169.254", 443, ADDRESS_PERMITTED},
	{"private:a.example:443", "0.0.0.0", 443, ADDRESS_NEVER},
	{"private:a.example:443", "255.255.255.255", 443, ADDRESS_NEVER},
	{"private:a.example:443", "ff02::1", 443, ADDRESS_NEVER},
	{"*.a.example:443", "10.0.0.1", 443, ADDRESS_NOT_GLOBAL},
	{"10.0.0.0/8:443", "10.9.9.9", 443, ADDRESS_PERMITTED},
	{"10.0.0.0/8:443", "11.0.0.0", 443, ADDRESS_OUTSIDE},
	{"10.0.0.0/8:443", "::a09:909", 443, ADDRESS_OUTSIDE},
	{"0.0.0.0/0:443", "10.0.0.1", 443, ADDRESS_PERMITTED},
	{"0.0.0.0/0:443", "127.0.0.1", 443, ADDRESS_NOT_PRIVATE},
	{"0.0.0.0/0:443", "169.254.1.1", 443, ADDRESS_NOT_PRIVATE},
	{"0.0.0.0/0:443", "169.254.169.254", 443, ADDRESS_NOT_PRIVATE},
	{"0.0.0.0/0:443", "0.0.0.0", 443, ADDRESS_NEVER},
	{"0.0.0.0/0:443", "2606:4700::1", 443, ADDRESS_OUTSIDE},
	{"private:0.0.0.0/0:443", "127.0.0.1", 443, ADDRESS_PERMITTED},
	{"[::/0]:443", "2606:4700::1", 443, ADDRESS_PERMITTED},
	{"[::/0]:443", "::1", 443, ADDRESS_NOT_PRIVATE},
	{"[::/0]:443", "64:ff9b::127.0.0.1", 443, ADDRESS_NOT_PRIVATE},
	{"[::/0]:443", "fd00:ec2::254", 443, ADDRESS_NOT_PRIVATE},
	{"[::/0]:443", "10.0.0.1", 443, ADDRESS_OUTSIDE},
	{"[fd00::/8]:443", "fd01::1", 443, ADDRESS_PERMITTED},
};

static struct egress_rule rule(struct arena *a, const char *text)
{
	struct err e = ERR_INIT;
	struct egress_rule r = {.text = NULL};
	if (egress_rule_read(&r, text, a, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

static void judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(verdicts); i++) {
		autoarena arena = ARENA_INIT;
		struct egress_rule r = rule(&arena, verdicts[i].rule);
		struct address a = address(verdicts[i].address);
		enum address_verdict v = address_judge(&r, &a, verdicts[i].port);
		if (v != verdicts[i].verdict)
			fail_msg("%s to %s: %s", verdicts[i].rule, verdicts[i].address,
				 address_verdict_text(v));
	}
}

static void one_bad_answer(void **state)
{
	(void)state;
	autoarena arena = ARENA_INIT;
	struct egress_rule r = rule(&arena, "a.example:443");
	struct address all[3] = {address("1.1.1.1"), address("2606:4700::1"), address("9.9.9.9")};
	size_t bad = 77;
	assert_int_equal(address_judge_all(&r, all, 3, 443, &bad), ADDRESS_PERMITTED);
	assert_int_equal(bad, 77);
	assert_int_equal(address_judge_all(&r, all, 0, 443, &bad), ADDRESS_NONE);
	all[2] = address("::ffff:192.168.0.1");
	assert_int_equal(address_judge_all(&r, all, 3, 443, &bad), ADDRESS_NOT_GLOBAL);
	assert_int_equal(bad, 2);
	assert_int_equal(address_judge_all(&r, all, 2, 443, NULL), ADDRESS_PERMITTED);
}

static void deciding_rules(void **state)
{
	(void)state;
	autoarena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	static const char *const given[] = {"10.0.0.0/8:443", "10.1.0.0/16:443",
					    "10.1.2.3:80",    "[::/0]:443",
					    "a.example:443",  "udp:10.0.0.0/8:53"};
	for (size_t i = 0; i < LENGTH(given); i++)
		assert_int_equal(egress_list_add(&list, given[i], &arena, &e), 0);
	static const struct {
		const char *address;
		enum egress_transport transport;
		uint16_t port;
		const char *rule;
	} cases[] = {
		{"10.1.2.3", EGRESS_TCP, 443, "10.1.0.0/16:443"},
		{"10.2.2.3", EGRESS_TCP, 443, "10.0.0.0/8:443"},
		{"10.1.2.3", EGRESS_TCP, 80, "10.1.2.3:80"},
		{"10.1.2.3", EGRESS_UDP, 53, "udp:10.0.0.0/8:53"},
		{"10.1.2.3", EGRESS_UDP, 443, NULL},
		{"127.0.0.1", EGRESS_TCP, 443, NULL},
		{"2001:db8::1", EGRESS_TCP, 443, "[::/0]:443"},
		{"2001:db8::1", EGRESS_TCP, 80, NULL},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct address a = address(cases[i].address);
		const struct egress_rule *r = address_find_rule(&a, &list, cases[i].transport,
								cases[i].port);
		if (cases[i].rule ? !r || strcmp(r->text, cases[i].rule) : r != NULL)
			fail_msg("%s: %s", cases[i].address, r ? r->text : "(none)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),	  cmocka_unit_test(literals),
		cmocka_unit_test(blocks),	  cmocka_unit_test(judged),
		cmocka_unit_test(one_bad_answer), cmocka_unit_test(deciding_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
