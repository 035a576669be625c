/* Rules of --allow: what they mean by hand, what is refused and in which words, and lists of them. */
#include "spec/egress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define LABEL63	      "a23456789012345678901234567890123456789012345678901234567890123"

static const char *const canonical_rows[][2] = {
	{"packages.example:443", "packages.example:443"},
	{"Packages.EXAMPLE.:443", "packages.example:443"},
	{"*.Files.example:443", "*.files.example:443"},
	{"host:80", "host:80"},
	{"3com.example:80", "3com.example:80"},
	{"xn--bcher-kva.example:443", "xn--bcher-kva.example:443"},
	{"tcp:db.example:5432", "tcp:db.example:5432"},
	{"udp:time.example:123", "udp:time.example:123"},
	{"private:git.example:443", "private:git.example:443"},
	{"private:tcp:git.example:443", "private:tcp:git.example:443"},
	{"10.1.2.0/24:5432", "10.1.2.0/24:5432"},
	{"10.1.2.3:5432", "10.1.2.3:5432"},
	{"10.1.2.3/32:5432", "10.1.2.3:5432"},
	{"0.0.0.0/0:443", "0.0.0.0/0:443"},
	{"[2001:DB8:0::/32]:443", "[2001:db8::/32]:443"},
	{"[2001:db8::1]:443", "[2001:db8::1]:443"},
	{"[2001:db8::1/128]:443", "[2001:db8::1]:443"},
	{"[::/0]:443", "[::/0]:443"},
	{"private:127.0.0.1:5432", "private:127.0.0.1:5432"},
	{"private:tcp:[::1]:1", "private:tcp:[::1]:1"},
	{"private:169.254.169.254:80", "private:169.254.169.254:80"},
	{"a.example:443,80", "a.example:80,443"},
	{"a.example:8000-8010,80,8005-8020,8021", "a.example:80,8000-8021"},
	{"a.example:1,3,2", "a.example:1-3"},
	{"a.example:65535,65534-65535", "a.example:65534-65535"},
	{"a.example:1000-1255", "a.example:1000-1255"}, /* 256 ports */
	{LABEL63 ".example:1", LABEL63 ".example:1"},
};

static void canonical(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(canonical_rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct egress_rule r, again;
		if (egress_rule_read(&r, canonical_rows[i][0], &a, &e) < 0)
			fail_msg("%s: %s", canonical_rows[i][0], e.msg);
		assert_string_equal(r.text, canonical_rows[i][1]);
		assert_int_equal(egress_rule_read(&again, r.text, &a, &e), 0);
		assert_string_equal(again.text, r.text);
	}
}

static const char *const refused_rows[][2] = {
	{"", "there is no host"},
	{":443", "the name is empty"},
	{"443", "there is no host"},
	{"tcp:443", "there is no host"},
	{"packages.example", "the port is missing"},
	{"packages.example:", "ports from 1 to 65535"},
	{"packages.example:0", "ports from 1 to 65535"},
	{"packages.example:65536", "ports from 1 to 65535"},
	{"packages.example:0443", "ports from 1 to 65535"},
	{"packages.example:443abc", "ports from 1 to 65535"},
	{"packages.example:443,", "ports from 1 to 65535"},
	{"packages.example:,443", "ports from 1 to 65535"},
	{"packages.example:443-", "ports from 1 to 65535"},
	{"packages.example:90-80", "ports from 1 to 65535"},
	{"packages.example:80-90-100", "ports from 1 to 65535"},
	{"packages.example:+443", "ports from 1 to 65535"},
	{"packages.example: 443", "ports from 1 to 65535"},
	{"packages.example:https", "ports from 1 to 65535"},
	{"packages.example:1-257", "more than 256 ports"},
	{"packages.example:1-200,300-400", "more than 256 ports"},
	{"https://packages.example/", "no URL"},
	{"user@packages.example:443", "no URL"},
	{"tcp:private:a.example:1", "private: before tcp:"},
	{"tcp:private:10.0.0.0/8:1", "private: before tcp:"},
	{"TCP:a.example:1", "too many colons"},
	{"2001:db8::1:443", "in brackets"},
	{"*:443", "*.files.example"},
	{"*.:443", "the name is empty"},
	{"*.com:443", "two labels at least"},
	{"*.*.example.org:443", "asterisk"},
	{"a.*.example:443", "asterisk"},
	{"*a.example.org:443", "asterisk"},
	{"*.10.0.0.1:443", "an address is no name"},
	{"a..example:443", "a label of the name is empty"},
	{".example:443", "a label of the name is empty"},
	{"a.example..:443", "a label of the name is empty"},
	{"-a.example:443", "hyphen"},
	{"a-.example:443", "hyphen"},
	{"a_b.example:443", "letters, digits, hyphens"},
	{"a.example%2e:443", "letters, digits, hyphens"},
	{"a.example/x:443", "letters, digits, hyphens"},
	{"a b.example:443", "space or control"},
	{"a.example\n:443", "space or control"},
	{"a\x7f.example:443", "space or control"},
	{"b\xc3\xbc"
	 "cher.example:443",
	 "write its form with xn--"},
	{"a\xef\xbc\x8e"
	 "example:443",
	 "not ASCII"}, /* FULLWIDTH FULL STOP */
	{"a" LABEL63 ".example:443", "longer than 63"},
	{LABEL63 "." LABEL63 "." LABEL63 "." LABEL63 ":443", "longer than 253"},
	{"udp.:80", "no hosts"}, /* whose canonical text would be another rule */
	{"tcp:private:80", "no hosts"},
	{"localhost:443", "the sandbox itself"},
	{"a.localhost:443", "the sandbox itself"},
	{"2130706433:80", "four decimal numbers"},
	{"0x7f.1:80", "in disguise"},
	{"0x7f000001:80", "in disguise"},
	{"017700000001:80", "four decimal numbers"},
	{"127.1:80", "four decimal numbers"},
	{"0177.0.0.1:80", "four decimal numbers"},
	{"10.0.0.01:80", "four decimal numbers"},
	{"10.0.0.256:80", "four decimal numbers"},
	{"10.0.0.0.0:80", "four decimal numbers"},
	{"a.1:80", "in disguise"},
	{"a.0x:80", "in disguise"},
	{"10.0.0.0/33:80", "0 to 32"},
	{"10.0.0.0/:80", "0 to 32"},
	{"10.0.0.0/08:80", "0 to 32"},
	{"10.0.0.0/-1:80", "letters, digits, hyphens"},
	{"10.1.2.3/24:80", "write 10.1.2.0/24"},
	{"[2001:db8::1/32]:80", "write [2001:db8::/32]"},
	{"[2001:db8::/129]:80", "0 to 128"},
	{"[2001:db8::]", "the port is missing"},
	{"[2001:db8::", "closing bracket"},
	{"[2001:db8::]80", "the port is missing"},
	{"[10.0.0.1]:80", "without brackets"},
	{"[::ffff:10.0.0.1]:80", "without brackets"},
	{"[fe80::1%lo]:80", "without a scope"},
	{"[::g]:80", "IPv6 address"},
	{"[]:80", "IPv6 address"},
	{"127.0.0.1:80", "loopback addresses; write private:"},
	{"127.0.0.0/8:80", "loopback addresses; write private:"},
	{"[::1]:80", "loopback addresses; write private:"},
	{"[64:ff9b::7f00:1]:80", "loopback addresses; write private:"},
	{"[64:ff9b::7f00:0/104]:80", "loopback addresses; write private:"},
	{"[2002:7f00:1::1]:80", "loopback addresses; write private:"},
	{"[2002:a9fe::/32]:80", "link-local addresses; write private:"},
	{"[64:ff9b::a9fe:a9fe]:80", "metadata addresses; write private:"},
	{"[64:ff9b::e000:0/100]:80", "multicast addresses; nobody"},
	{"169.254.1.0/24:80", "link-local addresses; write private:"},
	{"[fe80::/10]:80", "link-local addresses; write private:"},
	{"169.254.169.254:80", "metadata addresses; write private:"},
	{"[fd00:ec2::254]:80", "metadata addresses; write private:"},
	{"private:0.0.0.0:80", "unspecified addresses; nobody"},
	{"private:[::]:80", "unspecified addresses; nobody"},
	{"udp:224.0.0.251:5353", "multicast addresses; nobody"},
	{"udp:[ff02::fb]:5353", "multicast addresses; nobody"},
	{"udp:255.255.255.255:67", "broadcast addresses; nobody"},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(refused_rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct egress_rule r = {.prefix = 77};
		if (egress_rule_read(&r, refused_rows[i][0], &a, &e) == 0)
			fail_msg("%s: accepted as %s", refused_rows[i][0], r.text);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(r.prefix, 77);
		if (!strstr(e.msg, refused_rows[i][1]))
			fail_msg("%s: says '%s', not '%s'", refused_rows[i][0], e.msg,
				 refused_rows[i][1]);
		assert_int_equal(e.msg[0], '\''); /* the rule is named */
		for (const char *c = e.msg; *c; c++)
			assert_true(*c >= 0x20 && *c < 0x7f);
	}
}

static struct egress_rule rule(struct arena *a, const char *text)
{
	struct err e = ERR_INIT;
	struct egress_rule r = {.text = NULL};
	if (egress_rule_read(&r, text, a, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

static void fields(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct egress_rule r = rule(&a, "*.a.example:443,80,8000-8001");
	assert_int_equal(r.target, EGRESS_WILDCARD);
	assert_string_equal(r.name->text, "a.example");
	assert_int_equal(r.name->len, 9);
	assert_int_equal(r.transport, EGRESS_TCP);
	assert_false(r.unchecked || r.private_too);
	assert_int_equal(r.ports_len, 3);
	assert_true(egress_rule_has_port(&r, 80) && egress_rule_has_port(&r, 8001));
	assert_false(egress_rule_has_port(&r, 81) || egress_rule_has_port(&r, 8002) ||
		     egress_rule_has_port(&r, 0));
	assert_int_equal(egress_rule_check(&r, 443), EGRESS_TLS);
	assert_int_equal(egress_rule_check(&r, 80), EGRESS_HTTP);
	assert_int_equal(egress_rule_check(&r, 8000), EGRESS_RELAY);
	r = rule(&a, "private:tcp:a.example:443");
	assert_int_equal(r.target, EGRESS_NAME);
	assert_true(r.unchecked && r.private_too);
	assert_int_equal(egress_rule_check(&r, 443), EGRESS_RELAY);
	r = rule(&a, "udp:a.example:443");
	assert_int_equal(r.transport, EGRESS_UDP);
	assert_int_equal(egress_rule_check(&r, 443), EGRESS_RELAY);
	r = rule(&a, "10.1.2.0/24:443");
	assert_int_equal(r.target, EGRESS_BLOCK);
	assert_int_equal(r.prefix, 96 + 24);
	assert_memory_equal(r.network.bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x01\x02\0", 16);
	assert_int_equal(egress_rule_check(&r, 443), EGRESS_RELAY);
	r = rule(&a, "[2001:db8::/33]:80");
	assert_int_equal(r.prefix, 33);
	assert_memory_equal(r.network.bytes, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

/* RFC 1035 2.3.4: 255 octets on the wire are 253 of text. */
static void longest_name(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct egress_rule r =
		rule(&a, LABEL63 "." LABEL63 "." LABEL63 "."
				 "a234567890123456789012345678901234567890123456789012345678901:1");
	assert_int_equal(r.name->len, 253);
}

static int add(struct egress_list *list, struct arena *a, const char *text, struct err *e)
{
	size_t before = list->len;
	int done = egress_list_add(list, text, a, e);
	assert_true(done == 0 || list->len == before);
	return done;
}

static void ports_of_a_list(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	assert_int_equal(add(&list, &a, "a.example:443,80", &e), 0);
	assert_int_equal(add(&list, &a, "b.example:443", &e), 0);
	assert_int_equal(add(&list, &a, "udp:b.example:443", &e), 0);
	assert_int_equal(add(&list, &a, "B.example.:443", &e), 0); /* there already */
	assert_int_equal(list.len, 3);
	assert_string_equal(list.rules[0].text, "a.example:80,443");
	assert_string_equal(list.rules[1].text, "b.example:443");
	assert_string_equal(list.rules[2].text, "udp:b.example:443");
	assert_int_equal(list.ports_len[EGRESS_TCP], 2);
	assert_int_equal(list.ports[EGRESS_TCP][0], 80);
	assert_int_equal(list.ports[EGRESS_TCP][1], 443);
	assert_int_equal(list.ports_len[EGRESS_UDP], 1);
	/* 253 more are 256, on which any rule may stand; one more is refused. */
	assert_int_equal(add(&list, &a, "c.example:1000-1252", &e), 0);
	assert_int_equal(add(&list, &a, "d.example:443,1252", &e), 0);
	assert_int_equal(add(&list, &a, "d.example:1253", &e), -1);
	assert_non_null(strstr(e.msg, "'d.example:1253': with it the rules have more than 256 ports"));
	assert_int_equal(list.ports_len[EGRESS_TCP], 255);
	assert_int_equal(add(&list, &a, "udp:d.example:80", &e), -1);
	assert_int_equal(list.len, 5);
}

static void contradictions(void **state)
{
	(void)state;
	static const struct {
		const char *first, *second;
		bool good;
	} rows[] = {
		{"a.example:443", "tcp:a.example:443", false},
		{"a.example:80-90", "tcp:a.example:79,80", false},
		{"a.example:443", "private:a.example:443", false},
		{"tcp:10.0.0.0/8:5", "private:10.0.0.0/8:1-9", false},
		{"*.a.example:443", "tcp:*.a.example:443", false},
		{"a.example:5432", "tcp:a.example:5432", true}, /* the same in effect */
		{"a.example:443", "tcp:a.example:80", true},
		{"a.example:443", "udp:a.example:443", true},
		{"*.a.example:443", "tcp:a.example:443", true},
		{"*.a.example:443", "tcp:*.b.a.example:443", true},
		{"10.0.0.0/8:443", "private:10.0.0.0/9:443", true},
	};
	for (size_t i = 0; i < 2 * LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct egress_list list = {.len = 0};
		bool turned = i >= LENGTH(rows);
		const char *first = rows[i % LENGTH(rows)].first,
			   *second = rows[i % LENGTH(rows)].second;
		assert_int_equal(add(&list, &a, turned ? second : first, &e), 0);
		int done = add(&list, &a, turned ? first : second, &e);
		if ((done == 0) != rows[i % LENGTH(rows)].good)
			fail_msg("%s and %s: %s", first, second, e.msg);
		assert_true(done == 0 || strstr(e.msg, " contradicts '"));
	}
}

static void many_rules(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	char text[64];
	for (int i = 0; i < EGRESS_RULES_MAX; i++) {
		snprintf(text, sizeof(text), "h%d.example:443", i * 7919 % EGRESS_RULES_MAX);
		assert_int_equal(add(&list, &a, text, &e), 0);
	}
	assert_int_equal(list.len, EGRESS_RULES_MAX);
	for (size_t i = 1; i < list.len; i++)
		assert_true(strcmp(list.rules[i - 1].text, list.rules[i].text) < 0);
	assert_int_equal(add(&list, &a, "h5.example:443", &e), 0);
	assert_int_equal(add(&list, &a, "one.more.example:443", &e), -1);
	assert_non_null(strstr(e.msg, "20000 rules already"));
}

/* Among thousands, and whatever stands before, behind and between them in the order of texts. */
static void contradictions_among_many(void **state)
{
	(void)state;
	static const char *const given[] = {"a.example:443",	   "tcp:b.example:5000-5009",
					    "udp:a.example:443",   "*.a.example:443",
					    "10.0.0.0/8:443",	   "[2001:db8::]:443",
					    "private:c.example:80"};
	static const char *const against[] =
		{"tcp:a.example:443",	      "private:a.example:443",
		 "private:tcp:a.example:443", "private:b.example:5009",
		 "private:udp:a.example:443", "tcp:*.a.example:443",
		 "private:10.0.0.0/8:443",    "private:[2001:db8::]:443",
		 "tcp:c.example:80",	      "private:tcp:c.example:80"};
	static const char *const beside[] = {"private:a.example.net:443", "tcp:aa.example:443",
					     "private:10.0.0.0/9:443",	  "tcp:a.example:444",
					     "private:b.example:5010",	  "b.example:5003"};
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	char text[64];
	for (size_t i = 0; i < LENGTH(given); i++)
		assert_int_equal(add(&list, &a, given[i], &e), 0);
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%s%c%d.a.example:443", i & 1 ? "private:" : "",
			 'a' + i % 26, i);
		assert_int_equal(add(&list, &a, text, &e), 0);
	}
	for (size_t i = 0; i < LENGTH(against); i++)
		if (add(&list, &a, against[i], &e) == 0 || !strstr(e.msg, " contradicts '"))
			fail_msg("%s: %s", against[i], e.msg);
	for (size_t i = 0; i < LENGTH(beside); i++)
		if (add(&list, &a, beside[i], &e) < 0)
			fail_msg("%s: %s", beside[i], e.msg);
}

/* Few rules, but of long texts. */
static void many_bytes(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	char ports[1800], text[EGRESS_RULE_BYTES_MAX];
	size_t at = 0;
	int done = 0;
	for (int i = 0; i < 250; i++)
		at += (size_t)snprintf(ports + at, sizeof(ports) - at, "%s%d", i ? "," : "",
				       10001 + 2 * i);
	for (int i = 0; done == 0 && i < EGRESS_RULES_MAX; i++) {
		snprintf(text, sizeof(text), "h%d.example:%s", i, ports);
		done = add(&list, &a, text, &e);
	}
	assert_int_equal(done, -1);
	assert_non_null(strstr(e.msg, "more than 2 MiB"));
	assert_true(list.bytes <= EGRESS_LIST_BYTES_MAX);
	assert_true(list.bytes + strlen(text) > EGRESS_LIST_BYTES_MAX);
	assert_int_equal(add(&list, &a, "a.b:1", &e),
			 list.bytes + 5 > EGRESS_LIST_BYTES_MAX ? -1 : 0);
}

static void long_rules(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct egress_list list = {.len = 0};
	/* 256 single ports apart from each other, and one more. */
	char text[4096];
	int at = snprintf(text, sizeof(text), "a.example:");
	for (int i = 0; i < 256; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%d", i ? "," : "",
			       10001 + 2 * i);
	assert_int_equal(add(&list, &a, text, &e), 0);
	assert_int_equal(list.ports_len[EGRESS_TCP], 256);
	snprintf(text + at, sizeof(text) - (size_t)at, ",9");
	assert_int_equal(add(&list, &a, text, &e), -1);
	assert_non_null(strstr(e.msg, "more than 256 ports"));
	memset(text, 'a', 3000);
	text[3000] = '\0';
	assert_int_equal(add(&list, &a, text, &e), -1);
	assert_non_null(strstr(e.msg, "longer than 2048"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canonical),	   cmocka_unit_test(refused),
		cmocka_unit_test(fields),	   cmocka_unit_test(longest_name),
		cmocka_unit_test(ports_of_a_list), cmocka_unit_test(contradictions),
		cmocka_unit_test(many_rules),	   cmocka_unit_test(contradictions_among_many),
		cmocka_unit_test(many_bytes),	   cmocka_unit_test(long_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
