/* Names: their canonical form, what is none, DNS's form of them, and which rule is about which. */
#include "network/egress/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text)   (text), sizeof(text) - 1
#define LABEL63	      "a23456789012345678901234567890123456789012345678901234567890123"

struct row {
	const char *text;
	size_t len;
	enum name_fault fault;
	const char *canonical;
};

static const struct row rows[] = {
	{BYTES("a"), NAME_GOOD, "a"},
	{BYTES("OK.Example"), NAME_GOOD, "ok.example"},
	{BYTES("ok.example."), NAME_GOOD, "ok.example"},
	{BYTES("1-a.2--b.c3"), NAME_GOOD, "1-a.2--b.c3"},
	{BYTES("1.2.3.4a"), NAME_GOOD, "1.2.3.4a"},
	{BYTES("0xyz.example"), NAME_GOOD, "0xyz.example"},
	{BYTES("1.0xfg"), NAME_GOOD, "1.0xfg"},
	{BYTES(LABEL63 ".x"), NAME_GOOD, LABEL63 ".x"},
	{BYTES(""), NAME_EMPTY, NULL},
	{BYTES("."), NAME_EMPTY, NULL},
	{BYTES(".."), NAME_LABEL_EMPTY, NULL},
	{BYTES("ok.example.."), NAME_LABEL_EMPTY, NULL},
	{BYTES(".ok.example"), NAME_LABEL_EMPTY, NULL},
	{BYTES("ok..example"), NAME_LABEL_EMPTY, NULL},
	{BYTES("b" LABEL63 ".x"), NAME_LABEL_LONG, NULL},
	{BYTES(LABEL63 "." LABEL63 "." LABEL63 "." LABEL63), NAME_TOO_LONG, NULL},
	{BYTES("evil\0.ok.example"), NAME_CONTROL, NULL},
	{BYTES("ok.example\0"), NAME_CONTROL, NULL},
	{BYTES("ok.example\r\n"), NAME_CONTROL, NULL},
	{BYTES("ok.example\t"), NAME_CONTROL, NULL},
	{BYTES(" ok.example"), NAME_CONTROL, NULL},
	{BYTES("\x1b[31m.example"), NAME_CONTROL, NULL},
	{BYTES("ok.example\x7f"), NAME_CONTROL, NULL},
	{BYTES("\xff.example"), NAME_NOT_ASCII, NULL},
	{BYTES("ok\xef\xbc\x8e"
	       "example"),
	 NAME_NOT_ASCII, NULL},
	{BYTES("ok%2eexample"), NAME_CHARACTER, NULL},
	{BYTES("ok_.example"), NAME_CHARACTER, NULL},
	{BYTES("*.example"), NAME_CHARACTER, NULL},
	{BYTES("ok.example@evil.example"), NAME_CHARACTER, NULL},
	{BYTES("ok.example:443"), NAME_CHARACTER, NULL},
	{BYTES("[::1]"), NAME_CHARACTER, NULL},
	{BYTES("::1"), NAME_CHARACTER, NULL},
	{BYTES("-a.example"), NAME_HYPHEN, NULL},
	{BYTES("a.b-.example"), NAME_HYPHEN, NULL},
	{BYTES("1.2.3.4"), NAME_ADDRESS, NULL},
	{BYTES("255.255.255.255."), NAME_ADDRESS, NULL},
	{BYTES("0.0.0.0"), NAME_ADDRESS, NULL},
	{BYTES("0"), NAME_DISGUISED, NULL},
	{BYTES("2130706433"), NAME_DISGUISED, NULL},
	{BYTES("0x7f.1"), NAME_DISGUISED, NULL},
	{BYTES("0X7F000001"), NAME_DISGUISED, NULL},
	{BYTES("0x"), NAME_DISGUISED, NULL},
	{BYTES("017700000001"), NAME_DISGUISED, NULL},
	{BYTES("0177.1"), NAME_DISGUISED, NULL},
	{BYTES("127.1"), NAME_DISGUISED, NULL},
	{BYTES("127.0.0.01"), NAME_DISGUISED, NULL},
	{BYTES("127.0.0.256"), NAME_DISGUISED, NULL},
	{BYTES("1.2.3.4.5"), NAME_DISGUISED, NULL},
	{BYTES("ok.example.1"), NAME_DISGUISED, NULL},
};

static void texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct name n = {.len = 7};
		enum name_fault f = name_read(&n, rows[i].text, rows[i].len);
		if (f != rows[i].fault)
			fail_msg("%s: %s", rows[i].text, name_fault_text(f));
		if (f) {
			assert_int_equal(n.len, 7);
			continue;
		}
		assert_string_equal(n.text, rows[i].canonical);
		assert_int_equal(n.len, strlen(rows[i].canonical));
	}
	for (int f = 0; f < NAME_FAULT_COUNT; f++)
		assert_true(strlen(name_fault_text((enum name_fault)f)) > 0);
}

/* len counts the array's own NUL as the root's label. */
#define WIRE(text) (text), sizeof(text)

static const struct row wires[] = {
	{WIRE("\2Ok\7eXample"), NAME_GOOD, "ok.example"},
	{WIRE("\1a"), NAME_GOOD, "a"},
	{WIRE("\77" LABEL63 "\1x"), NAME_GOOD, LABEL63 ".x"},
	{WIRE(""), NAME_EMPTY, NULL},
	{BYTES("\2ok\7example"), NAME_LABEL_LONG, NULL}, /* no end */
	{BYTES("\2ok\7exampl"), NAME_LABEL_LONG, NULL},
	{WIRE("\2ok\7example\0"), NAME_LABEL_LONG, NULL}, /* more behind it */
	{WIRE("\2ok\xc0\x02"), NAME_LABEL_LONG, NULL},
	{WIRE("\xc0"), NAME_LABEL_LONG, NULL},
	{WIRE("\100" LABEL63 "a"), NAME_LABEL_LONG, NULL},
	{WIRE("\12ok.example"), NAME_CHARACTER, NULL}, /* one label with a dot in it */
	{WIRE("\5evil.\2ok\7example"), NAME_CHARACTER, NULL},
	{WIRE("\5evil\0\2ok\7example"), NAME_CONTROL, NULL},
	{WIRE("\4_dns\2ok\7example"), NAME_CHARACTER, NULL},
	{WIRE("\1 \7example"), NAME_CONTROL, NULL},
	{WIRE("\1\xe4\7example"), NAME_NOT_ASCII, NULL},
	{WIRE("\3"
	      "127\1"
	      "1"),
	 NAME_DISGUISED, NULL},
	{WIRE("\0011\0012\0013\0014"), NAME_ADDRESS, NULL},
	{WIRE("\77" LABEL63 "\77" LABEL63 "\77" LABEL63 "\77" LABEL63), NAME_TOO_LONG, NULL},
};

static void wire_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(wires); i++) {
		struct name n = {.len = 7};
		enum name_fault f = name_read_wire(&n, (const unsigned char *)wires[i].text,
						   wires[i].len);
		if (f != wires[i].fault)
			fail_msg("row %zu: %s", i, name_fault_text(f));
		if (f)
			assert_int_equal(n.len, 7);
		else
			assert_string_equal(n.text, wires[i].canonical);
	}
}

static void shown_names(void **state)
{
	(void)state;
	static const struct {
		const char *wire;
		size_t len;
		const char *shown;
	} cases[] = {
		{WIRE("\2Ok\7example"), "Ok.example"},
		{WIRE(""), "."},
		{WIRE("\3a.b\2\\c"), "a\\.b.\\\\c"},
		{WIRE("\4\0\x1b\n\xff\1 "), "\\000\\027\\010\\255.\\032"},
		{WIRE("\1\"\1{"), "\".{"},
		{BYTES("\3a"), "a"},
	};
	char shown[NAME_SHOWN_BYTES];
	for (size_t i = 0; i < LENGTH(cases); i++) {
		name_show_wire(shown, (const unsigned char *)cases[i].wire, cases[i].len);
		assert_string_equal(shown, cases[i].shown);
	}
	/* The longest text: bytes of four characters each. */
	unsigned char wire[255] = {0};
	for (size_t at = 0; at + 64 < sizeof(wire); at += 64)
		wire[at] = 63;
	wire[192] = 61;
	name_show_wire(shown, wire, sizeof(wire));
	assert_int_equal(strlen(shown), 3 * (63 * 4 + 1) + 61 * 4);
}

static struct name name(const char *text)
{
	struct name n;
	assert_int_equal(name_read(&n, text, strlen(text)), NAME_GOOD);
	return n;
}

static void wildcards(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_rule wildcard, exact, block;
	assert_int_equal(egress_rule_read(&wildcard, "*.ok.example:443", &a, &e), 0);
	assert_int_equal(egress_rule_read(&exact, "ok.example:443", &a, &e), 0);
	assert_int_equal(egress_rule_read(&block, "0.0.0.0/0:443", &a, &e), 0);
	static const struct {
		const char *name;
		bool wildcard, exact;
	} cases[] = {
		{"ok.example", false, true},
		{"a.ok.example", true, false},
		{"a.b.ok.example", true, false},
		{"OK.EXAMPLE", false, true},
		{"A.OK.EXAMPLE.", true, false},
		{"xok.example", false, false},
		{"x.xok.example", false, false},
		{"ok.example.evil.example", false, false},
		{"a.ok.examples", false, false},
		{"example", false, false},
		{"ok", false, false},
		{"a", false, false},
		{"k.example", false, false},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct name n = name(cases[i].name);
		if (name_matches(&n, &wildcard) != cases[i].wildcard ||
		    name_matches(&n, &exact) != cases[i].exact)
			fail_msg("%s", cases[i].name);
		assert_false(name_matches(&n, &block));
	}
}

static void deciding_rules(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	static const char *const given[] = {
		"*.example.org:443",	 "tcp:*.b.example.org:443", "a.b.example.org:443",
		"udp:*.example.org:123", "*.example.org:80",	    "10.0.0.0/8:443",
	};
	for (size_t i = 0; i < LENGTH(given); i++)
		assert_int_equal(egress_list_add(&list, given[i], &a, &e), 0);
	static const struct {
		const char *name;
		enum egress_transport transport;
		uint16_t port;
		const char *rule;
	} cases[] = {
		{"x.example.org", EGRESS_TCP, 443, "*.example.org:443"},
		{"x.b.example.org", EGRESS_TCP, 443, "tcp:*.b.example.org:443"},
		{"a.b.example.org", EGRESS_TCP, 443, "a.b.example.org:443"},
		{"a.b.example.org", EGRESS_TCP, 80, "*.example.org:80"},
		{"a.b.example.org", EGRESS_UDP, 123, "udp:*.example.org:123"},
		{"a.b.example.org", EGRESS_UDP, 443, NULL},
		{"a.b.example.org", EGRESS_TCP, 22, NULL},
		{"example.org", EGRESS_TCP, 443, NULL},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct name n = name(cases[i].name);
		const struct egress_rule *r = name_find_rule(&n, &list, cases[i].transport,
							     cases[i].port);
		if (cases[i].rule ? !r || strcmp(r->text, cases[i].rule) : r != NULL)
			fail_msg("%s: %s", cases[i].name, r ? r->text : "(none)");
	}
	struct name good = name("q.example.org"), other = name("example.org");
	assert_true(name_allowed(&good, &list));
	assert_false(name_allowed(&other, &list));
	assert_false(name_allowed(&good, &(struct egress_list){.len = 0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),	  cmocka_unit_test(wire_names),
		cmocka_unit_test(shown_names),	  cmocka_unit_test(wildcards),
		cmocka_unit_test(deciding_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
