/* ClientHellos of real programs, and ones made by hand (RFC 8446 4.1.2, RFC 6066 3): whole, byte by
 * byte, over many records, and with everything in them that must not be. */
#include "network/egress/hello.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "egress_hellos.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct name wanted;

static int setup(void **state)
{
	(void)state;
	return name_read(&wanted, "packages.example", 16) == NAME_GOOD ? 0 : -1;
}

static enum hello_verdict whole(struct hello *h, const unsigned char *bytes, size_t len)
{
	hello_init(h, &wanted);
	return hello_read(h, bytes, len);
}

static const struct {
	const char *program;
	const unsigned char *bytes;
	size_t len;
} real[] = {
	{"openssl 1.3", hello_openssl_tls13, sizeof(hello_openssl_tls13)},
	{"openssl 1.2", hello_openssl_tls12, sizeof(hello_openssl_tls12)},
	{"python", hello_python, sizeof(hello_python)},
	{"git", hello_git, sizeof(hello_git)},
	{"java", hello_java, sizeof(hello_java)},
	{"node", hello_node, sizeof(hello_node)},
};

static void real_programs(void **state)
{
	(void)state;
	struct hello h;
	for (size_t i = 0; i < LENGTH(real); i++) {
		if (whole(&h, real[i].bytes, real[i].len) != HELLO_GOOD)
			fail_msg("%s: %s", real[i].program, hello_reason_text(h.reason));
		assert_string_equal(h.name.text, "packages.example");
		/* Byte by byte: not before the last one. */
		hello_init(&h, &wanted);
		for (size_t len = 0; len < real[i].len; len++)
			assert_int_equal(hello_read(&h, real[i].bytes, len), HELLO_MORE);
		assert_int_equal(hello_read(&h, real[i].bytes, real[i].len), HELLO_GOOD);
		assert_int_equal(hello_read(&h, real[i].bytes, real[i].len), HELLO_GOOD);
	}
	assert_int_equal(whole(&h, hello_openssl_no_name, sizeof(hello_openssl_no_name)),
			 HELLO_REFUSED);
	assert_int_equal(h.reason, HELLO_NO_NAME);
}

/* The same message in records of `size` bytes; returns the length. */
static size_t in_records(unsigned char *out, const unsigned char *bytes, size_t len, size_t size)
{
	size_t at = 0;
	for (size_t from = 5; from < len; from += size) {
		size_t part = len - from < size ? len - from : size;
		const unsigned char header[] = {22, 3, 1, (unsigned char)(part >> 8),
						(unsigned char)part};
		memcpy(out + at, header, sizeof(header));
		memcpy(out + at + sizeof(header), bytes + from, part);
		at += sizeof(header) + part;
	}
	return at;
}

static void many_records(void **state)
{
	(void)state;
	static unsigned char out[6 * 1024];
	for (size_t i = 0; i < LENGTH(real); i++) {
		for (size_t size = 1; size < real[i].len; size += size < 10 ? 1 : 37) {
			struct hello h;
			size_t len = in_records(out, real[i].bytes, real[i].len, size);
			assert_int_equal(whole(&h, out, len), HELLO_GOOD);
			assert_int_equal(whole(&h, out, len - 1), HELLO_MORE);
			/* Early data behind it are not ours. */
			assert_int_equal(whole(&h, out, len + 20), HELLO_GOOD);
		}
	}
}

/* ---- made by hand ---- */

struct made {
	unsigned char bytes[40000];
	size_t len;
};

static void put(struct made *m, const void *bytes, size_t len)
{
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static void put16(struct made *m, size_t value)
{
	const unsigned char bytes[] = {(unsigned char)(value >> 8), (unsigned char)value};
	put(m, bytes, 2);
}

static void extension(struct made *m, size_t type, const void *bytes, size_t len)
{
	put16(m, type);
	put16(m, len);
	put(m, bytes, len);
}

/* server_name with the entries given: each of them a type, a length in two bytes and a name. */
static void server_name(struct made *m, const void *entries, size_t len)
{
	put16(m, 0);
	put16(m, len + 2);
	put16(m, len);
	put(m, entries, len);
}

static void host(struct made *m, const char *name, size_t len)
{
	struct made entry = {.len = 0};
	put(&entry, "", 1);
	put16(&entry, len);
	put(&entry, name, len);
	server_name(m, entry.bytes, entry.len);
}

/* One record with a hello of that version around the extensions. */
static void hello_around(struct made *m, size_t version, const struct made *extensions)
{
	struct made body = {.len = 0};
	put16(&body, version);
	put(&body, "0123456789abcdef0123456789abcdef", 32);
	put(&body, "\0", 1);		   /* no session */
	put(&body, "\0\2\x13\x01\1\0", 6); /* one cipher suite, no compression */
	if (extensions) {
		put16(&body, extensions->len);
		put(&body, extensions->bytes, extensions->len);
	}
	m->len = 0;
	put(m, "\x16\3\1", 3);
	put16(m, body.len + 4);
	put(m, "\1\0", 2);
	put16(m, body.len);
	put(m, body.bytes, body.len);
}

static void expect(const struct made *m, enum hello_reason reason)
{
	struct hello h;
	enum hello_verdict v = whole(&h, m->bytes, m->len);
	if (v == HELLO_MORE || h.reason != reason)
		fail_msg("verdict %d: %s", v, hello_reason_text(h.reason));
	assert_int_equal(v, reason == HELLO_FINE ? HELLO_GOOD : HELLO_REFUSED);
}

static void names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t len;
		enum hello_reason reason;
		enum name_fault fault;
	} rows[] = {
#define NAME(text) (text), sizeof(text) - 1
		{NAME("packages.example"), HELLO_FINE, NAME_GOOD},
		{NAME("PACKAGES.Example"), HELLO_FINE, NAME_GOOD},
		{NAME("packages.example."), HELLO_BAD_NAME, NAME_LABEL_EMPTY},
		{NAME("evil.example"), HELLO_OTHER_NAME, NAME_GOOD},
		{NAME("x.packages.example"), HELLO_OTHER_NAME, NAME_GOOD},
		{NAME("packages.exampl"), HELLO_OTHER_NAME, NAME_GOOD},
		{NAME("packages.example\0.evil.example"), HELLO_BAD_NAME, NAME_CONTROL},
		{NAME("packages.example\0"), HELLO_BAD_NAME, NAME_CONTROL},
		{NAME("packages.example "), HELLO_BAD_NAME, NAME_CONTROL},
		{NAME("packages.example:443"), HELLO_BAD_NAME, NAME_CHARACTER},
		{NAME("*.example"), HELLO_BAD_NAME, NAME_CHARACTER},
		{NAME("192.0.2.1"), HELLO_BAD_NAME, NAME_ADDRESS},
		{NAME("0x7f.1"), HELLO_BAD_NAME, NAME_DISGUISED},
		{NAME("::1"), HELLO_BAD_NAME, NAME_CHARACTER},
		{NAME("p\xc3\xa4"
		      "ckages.example"),
		 HELLO_BAD_NAME, NAME_NOT_ASCII},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct made extensions = {.len = 0}, m;
		struct hello h;
		host(&extensions, rows[i].name, rows[i].len);
		hello_around(&m, 0x0303, &extensions);
		expect(&m, rows[i].reason);
		whole(&h, m.bytes, m.len);
		assert_int_equal(h.fault, rows[i].fault);
		assert_int_equal(h.has_name, rows[i].fault == NAME_GOOD);
	}
	/* too long to be kept */
	struct made extensions = {.len = 0}, m;
	char longer[300];
	memset(longer, 'a', sizeof(longer));
	host(&extensions, longer, sizeof(longer));
	hello_around(&m, 0x0303, &extensions);
	expect(&m, HELLO_BAD_NAME);
}

static void server_names(void **state)
{
	(void)state;
	static const struct {
		const char *entries;
		size_t len;
		enum hello_reason reason;
	} rows[] = {
		{NAME("\0\0\1a"), HELLO_OTHER_NAME},
		{NAME(""), HELLO_MALFORMED},
		{NAME("\0\0\0"), HELLO_MALFORMED},
		{NAME("\0\0\2a"), HELLO_MALFORMED},
		{NAME("\0\0\1ab"), HELLO_MALFORMED},
		{NAME("\1\0\1a"), HELLO_MALFORMED}, /* a type that nobody defined */
		{NAME("\0\0\x10packages.example\0\0\x10packages.example"), HELLO_SEVERAL_NAMES},
		{NAME("\0\0\x10packages.example\0\0\4evil"), HELLO_SEVERAL_NAMES},
		{NAME("\0\0\x10packages.example\1\0\4evil"), HELLO_MALFORMED},
	};
	struct made m, extensions;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		extensions.len = 0;
		server_name(&extensions, rows[i].entries, rows[i].len);
		hello_around(&m, 0x0303, &extensions);
		expect(&m, rows[i].reason);
	}
	/* twice, which is a duplicate extension (RFC 8446 4.2) */
	extensions.len = 0;
	host(&extensions, "packages.example", 16);
	host(&extensions, "evil.example", 12);
	hello_around(&m, 0x0303, &extensions);
	expect(&m, HELLO_MALFORMED);
	/* a list that says less than the extension has */
	extensions.len = 0;
	extension(&extensions, 0, "\0\4\0\0\1a\0\0\1b", 10);
	hello_around(&m, 0x0303, &extensions);
	expect(&m, HELLO_MALFORMED);
	/* none at all */
	hello_around(&m, 0x0303, NULL);
	expect(&m, HELLO_NO_NAME);
	extensions.len = 0;
	hello_around(&m, 0x0303, &extensions);
	expect(&m, HELLO_NO_NAME);
}

/* Grease of unknown types (RFC 8701) is fine; an encrypted hello is not, on either side of the name. */
static void extensions(void **state)
{
	(void)state;
	struct made m, e = {.len = 0};
	extension(&e, 0x0a0a, "", 0);
	host(&e, "packages.example", 16);
	extension(&e, 0xfafa, "\0", 1);
	hello_around(&m, 0x0303, &e);
	expect(&m, HELLO_FINE);
	static const size_t encrypted[] = {0xfe0d, 0xfe08, 0xffce, 0xfd00};
	for (size_t i = 0; i < 2 * LENGTH(encrypted); i++) {
		e.len = 0;
		if (i % 2)
			host(&e, "packages.example", 16);
		extension(&e, encrypted[i / 2], "\0\0\1\0\1\x17\0\1a\0\1b", 11);
		if (i % 2 == 0)
			host(&e, "packages.example", 16);
		hello_around(&m, 0x0303, &e);
		expect(&m, HELLO_ENCRYPTED);
	}
	/* More extensions than anybody sends, each of another type. */
	e.len = 0;
	host(&e, "packages.example", 16);
	for (size_t i = 1; i < 128; i++)
		extension(&e, 0x1000 + i, "", 0);
	hello_around(&m, 0x0303, &e);
	expect(&m, HELLO_FINE);
	extension(&e, 0x2000, "", 0);
	hello_around(&m, 0x0303, &e);
	expect(&m, HELLO_MALFORMED);
}

static void versions(void **state)
{
	(void)state;
	struct made m, e = {.len = 0};
	host(&e, "packages.example", 16);
	static const struct {
		size_t version;
		enum hello_reason reason;
	} rows[] = {{0x0300, HELLO_OLD},  {0x0200, HELLO_OLD},	{0x0301, HELLO_FINE},
		    {0x0302, HELLO_FINE}, {0x0303, HELLO_FINE}, {0x0304, HELLO_FINE}};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		hello_around(&m, rows[i].version, &e);
		expect(&m, rows[i].reason);
	}
	hello_around(&m, 0x0303, &e);
	m.bytes[2] = 0; /* the record's version does not matter (RFC 8446 5.1) */
	expect(&m, HELLO_FINE);
	m.bytes[1] = 2;
	expect(&m, HELLO_NOT_TLS);
}

static void other_protocols(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
		enum hello_reason reason; /* HELLO_FINE: more is needed */
	} rows[] = {
		{NAME(""), HELLO_FINE},
		{NAME("G"), HELLO_NOT_TLS},
		{NAME("GET / HTTP/1.1\r\n"), HELLO_NOT_TLS},
		{NAME("SSH-2.0-x\r\n"), HELLO_NOT_TLS},
		{NAME("\0"), HELLO_NOT_TLS},
		{NAME("\x15\3\1\0\2\2\x28"), HELLO_NOT_TLS}, /* an alert */
		{NAME("\x17\3\3\0\1x"), HELLO_NOT_TLS},
		{NAME("\x16\3\1\0\4\2"), HELLO_NOT_TLS}, /* a ServerHello */
		{NAME("\x80"), HELLO_FINE},
		{NAME("\x80\x2e\1\0\2"), HELLO_SSL2},
		{NAME("\x80\x2e\4"), HELLO_NOT_TLS},
		{NAME("\x16\3\1\x81\0\2"), HELLO_MALFORMED},
		{NAME("\x16\3\1\0\0"), HELLO_MALFORMED},       /* an empty record */
		{NAME("\x16\3\1\x40\1"), HELLO_MALFORMED},     /* 2^14 + 1 */
		{NAME("\x16\3\1\0\1\1\x17"), HELLO_MALFORMED}, /* another record in between */
		{NAME("\x16\3\1\0\1\1\x16\2"), HELLO_MALFORMED},
		{NAME("\x16\3\1\0\4\1\1\0\0"), HELLO_TOO_LONG}, /* a message of 64 KiB */
		{NAME("\x16\3\1\0\4\1\0\x40\2"), HELLO_TOO_LONG},
		{NAME("\x16\3\1\0\5\1\0\0\0x"),
		 HELLO_MALFORMED}, /* more in the record than the message */
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct hello h;
		enum hello_verdict v = whole(&h, (const unsigned char *)rows[i].bytes, rows[i].len);
		if (h.reason != rows[i].reason || v != (rows[i].reason ? HELLO_REFUSED : HELLO_MORE))
			fail_msg("row %zu: verdict %d: %s", i, v, hello_reason_text(h.reason));
	}
}

/* One record of 2^14 bytes is the most; in two records there is less room for the message. */
static void longest(void **state)
{
	(void)state;
	static struct made m, e;
	static unsigned char zeros[20000];
	static unsigned char out[20000];
	e.len = 0;
	host(&e, "packages.example", 16);
	/* 4 of message header, 43 up to the extensions' length, 25 of server_name, 4 of padding */
	extension(&e, 21, zeros, 16384 - 4 - 43 - 25 - 4);
	hello_around(&m, 0x0303, &e);
	assert_int_equal(m.len, HELLO_BYTES_MAX);
	expect(&m, HELLO_FINE);
	struct hello h;
	size_t len = in_records(out, m.bytes, m.len, 10000);
	assert_int_equal(whole(&h, out, len), HELLO_REFUSED);
	assert_int_equal(h.reason, HELLO_TOO_LONG);
	/* and nobody waits for more than there may be */
	assert_int_equal(whole(&h, out, HELLO_BYTES_MAX), HELLO_REFUSED);
	/* single bytes of a message that does not end */
	len = 0;
	for (; len + 6 <= sizeof(out); len += 6)
		memcpy(out + len, "\x16\3\1\0\1\0", 6);
	memcpy(out + 5, "\1", 1);
	memcpy(out + 5 + 6, "\0", 1);
	memcpy(out + 5 + 12, "\x3f", 1);
	hello_init(&h, &wanted);
	for (size_t i = 0; i < HELLO_BYTES_MAX; i++) {
		if (hello_read(&h, out, i) == HELLO_MORE)
			continue;
		assert_int_equal(h.reason, HELLO_TOO_LONG);
		assert_true(i > HELLO_BYTES_MAX - 12);
		return;
	}
	assert_int_equal(hello_read(&h, out, HELLO_BYTES_MAX), HELLO_REFUSED);
}

/* Every byte changed, every length: no crash, no good hello with another name. */
static void damaged(void **state)
{
	(void)state;
	unsigned char bytes[sizeof(hello_python)];
	for (size_t at = 0; at < sizeof(bytes); at++) {
		for (int value = 0; value < 256; value++) {
			struct hello h;
			memcpy(bytes, hello_python, sizeof(bytes));
			bytes[at] = (unsigned char)value;
			if (whole(&h, bytes, sizeof(bytes)) == HELLO_GOOD)
				assert_true(name_equal(&h.name, &wanted));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_programs),   cmocka_unit_test(many_records),
		cmocka_unit_test(names),	   cmocka_unit_test(server_names),
		cmocka_unit_test(extensions),	   cmocka_unit_test(versions),
		cmocka_unit_test(other_protocols), cmocka_unit_test(longest),
		cmocka_unit_test(damaged),
	};
	for (int r = 0; r < HELLO_REASON_COUNT; r++) {
		if (strlen(hello_reason_text((enum hello_reason)r)) == 0)
			return 1;
	}
	return cmocka_run_group_tests(tests, setup, NULL);
}
