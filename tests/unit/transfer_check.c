/* The readers of artifacts, with values from their specifications: RFC 8259, JSON Schema 2020-12,
 * RFC 4180, PNG (third edition), the ELF gABI; and what lies just beyond each bound. */
#include "transfer/check.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text)   {(const unsigned char *)(text), sizeof(text) - 1}

struct row {
	struct checked c;
	const char *why; /* NULL: it is right */
};

static void check_rows(enum artifact_type type, const struct row *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		struct err e = ERR_INIT;
		/* A buffer of its own size, so that a sanitizer sees a byte too much. */
		unsigned char *copy = malloc(rows[i].c.len + 1);
		memcpy(copy, rows[i].c.bytes, rows[i].c.len);
		const struct checked c = {realloc(copy, rows[i].c.len ? rows[i].c.len : 1),
					  rows[i].c.len};
		const int rc = check_bytes(type, &c, NULL, &e);
		if ((rc == 0) != (rows[i].why == NULL) ||
		    (rows[i].why && !strstr(e.msg, rows[i].why)))
			fail_msg("row %zu: %s", i, rc == 0 ? "taken" : e.msg);
		if (rc < 0)
			assert_int_equal(e.kind, ERR_USAGE);
		free((void *)(uintptr_t)c.bytes);
	}
}

static void json(void **state)
{
	(void)state;
	static const struct row rows[] = {
		/* RFC 8259, 13 */
		{BYTES("{\"Image\":{\"Width\":800,\"Title\":\"View from 15th Floor\",\"Thumbnail\":"
		       "{\"Url\":\"http://www.example.com/image/481989943\"},\"IDs\":[116,943,234]}}"),
		 NULL},
		{BYTES("\"Hello world!\""), NULL},
		{BYTES("42"), NULL},
		{BYTES(" \t\r\n true "), NULL},
		{BYTES("[-0, 0.5, 1e400, 1E-7, 123456789012345678901234567890]"), NULL},
		{BYTES("\"\\uD834\\uDD1E\\\"\\\\\\/\\b\""), NULL}, /* 7: the G clef */
		{BYTES("[]"), NULL},
		{BYTES("{}"), NULL},
		{BYTES("\"\x7f\xc3\xa9\xf0\x9d\x84\x9e\""), NULL},
		{BYTES(""), "column 1: a value belongs here"},
		{BYTES("[1,]"), "column 4: a value"},
		{BYTES("[,1]"), "a value"},
		{BYTES("[1 2]"), "a comma"},
		{BYTES("[1"), "a comma or the end"},
		{BYTES("{\"a\":1,}"), "a string belongs"},
		{BYTES("{a:1}"), "a string belongs"},
		{BYTES("{\"a\" 1}"), "a colon"},
		{BYTES("{\"a\":}"), "a value"},
		{BYTES("01"), "behind the document"},
		{BYTES("-"), "a value"},
		{BYTES("1."), "a value"},
		{BYTES(".5"), "a value"},
		{BYTES("1e"), "a value"},
		{BYTES("+1"), "a value"},
		{BYTES("0x1"), "behind"},
		{BYTES("nul"), "a value"},
		{BYTES("Infinity"), "a value"},
		{BYTES("\"a"), "does not end"},
		{BYTES("\"\n\""), "control character"},
		{BYTES("\"\\x41\""), "no such escape"},
		{BYTES("\"\\u12g4\""), "four hexadecimal"},
		{BYTES("\"\\u12"), "four hexadecimal"},
		{BYTES("\"\\ud834\""), "surrogate"},
		{BYTES("\"\\udd1e\\ud834\""), "surrogate"},
		{BYTES("\"\xc0\x80\""), "not UTF-8"},
		{BYTES("\"\xed\xa0\x80\""), "not UTF-8"},
		{BYTES("\"\xf4\x90\x80\x80\""), "not UTF-8"},
		{BYTES("\"\xc3"), "not UTF-8"},
		{BYTES("\xef\xbb\xbf{}"), "a value"}, /* 8.1: no byte order mark */
		{BYTES("{\"a\":1,\"b\":{\"a\":1},\"\\u0061\":2}"), "this key is there already"},
		{BYTES("{\"\":1,\"\":2}"), "already"},
		{BYTES("{}\n[]"), "line 2, column 1: something stands behind"},
		{BYTES("1\0"), "behind"},
	};
	check_rows(ARTIFACT_JSON, rows, LENGTH(rows));
}

static void json_bounds(void **state)
{
	(void)state;
	char text[2 * 65 + 1];
	struct tree t;
	struct err e = ERR_INIT;
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	assert_int_equal(tree_read(&t, text + 1, 128, &e), 0); /* 64 */
	assert_int_equal(t.used, 64);
	tree_close(&t);
	assert_int_equal(tree_read(&t, text, 130, &e), -1);
	assert_non_null(strstr(e.msg, "column 65: nested deeper than 64"));
	const size_t len = 2 * (size_t)TREE_NODES_MAX + 1;
	char *many = malloc(len);
	for (size_t i = 0; i < len; i++)
		many[i] = i % 2 ? '0' : ',';
	many[0] = '[';
	many[len - 1] = ']';
	assert_int_equal(tree_read(&t, many, len, &e), -1); /* the array itself is one too many */
	many[len - 3] = ']';
	assert_int_equal(tree_read(&t, many, len - 2, &e), 0);
	assert_int_equal(t.used, TREE_NODES_MAX);
	tree_close(&t);
	free(many);
}

/* A number has its value however many digits it has: the exponent is behind all of them. */
static void json_long_numbers(void **state)
{
	(void)state;
	char text[TREE_NUMBER_BYTES_MAX + 2];
	struct tree t;
	struct err e = ERR_INIT;
	memset(text, '0', sizeof(text));
	memcpy(text, "1.", 2);
	memcpy(text + TREE_NUMBER_BYTES_MAX - 2, "e9", 2);
	assert_int_equal(tree_read(&t, text, TREE_NUMBER_BYTES_MAX, &e), 0);
	assert_true(tree_value(&t, t.nodes) == 1e9);
	tree_close(&t);
	memcpy(text + TREE_NUMBER_BYTES_MAX - 2, "e19", 3);
	assert_int_equal(tree_read(&t, text, TREE_NUMBER_BYTES_MAX + 1, &e), -1);
	assert_non_null(strstr(e.msg, "column 1: a number longer than 4096 bytes"));
}

/* Forty keys in no order and one of them again, written otherwise: its second place is told. */
static void json_keys(void **state)
{
	(void)state;
	enum { KEYS = 40 };
	for (int twice = 0; twice < KEYS; twice++) {
		char text[1024], place[64];
		struct tree t;
		struct err e = ERR_INIT;
		size_t len = 0;
		for (int i = 0; i < KEYS; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%c\"%c\":{}",
						i ? ',' : '{', '0' + i * 17 % KEYS);
		assert_int_equal(tree_read(&t, strcat(text, "}"), len + 1, &e), 0);
		tree_close(&t);
		snprintf(place, sizeof(place), "line 1, column %zu: this key is there already",
			 len + 2);
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					",\"\\u00%02x\":1,\"zz\":2}", '0' + twice);
		assert_int_equal(tree_read(&t, text, len, &e), -1);
		assert_string_equal(e.msg, place);
	}
}

struct schema_row {
	const char *schema, *document, *why;
};

static void schemas(void **state)
{
	(void)state;
	static const struct schema_row rows[] = {
		{"true", "1", NULL},
		{"false", "1", "nothing here"},
		{"{}", "[1]", NULL},
		{"{\"type\":\"integer\"}", "1.0", NULL}, /* 2020-12 core, 4.2.3 */
		{"{\"type\":\"integer\"}", "1.5", "type"},
		{"{\"type\":\"number\"}", "1", NULL},
		{"{\"type\":[\"string\",\"null\"]}", "null", NULL},
		{"{\"type\":[\"string\",\"null\"]}", "0", "type"},
		{"{\"type\":\"boolean\"}", "false", NULL},
		{"{\"const\":{\"a\":1,\"b\":[true]}}", "{\"b\":[true],\"a\":1.0}", NULL},
		{"{\"const\":true}", "false", "const"},
		{"{\"const\":[1,2]}", "[2,1]", "const"},
		{"{\"enum\":[1,\"a\",null]}", "\"\\u0061\"", NULL},
		{"{\"enum\":[1,\"a\",null]}", "2", "enum"},
		{"{\"minimum\":1}", "1", NULL},
		{"{\"minimum\":1}", "0.9", "minimum"},
		{"{\"minimum\":1}", "\"x\"", NULL}, /* of numbers alone */
		{"{\"exclusiveMinimum\":1}", "1", "exclusiveMinimum"},
		{"{\"maximum\":1}", "1.1", "maximum"},
		{"{\"exclusiveMaximum\":1}", "1", "exclusiveMaximum"},
		{"{\"maxLength\":1}", "\"\\ud834\\udd1e\"", NULL}, /* characters */
		{"{\"maxLength\":1}", "\"ab\"", "maxLength"},
		{"{\"minLength\":1}", "\"\"", "minLength"},
		{"{\"minItems\":1,\"maxItems\":2}", "[]", "minItems"},
		{"{\"minItems\":1,\"maxItems\":2}", "[1,2,3]", "maxItems"},
		{"{\"maxProperties\":1}", "{\"a\":1,\"b\":2}", "maxProperties"},
		{"{\"required\":[\"a\"]}", "{\"b\":1}", "required"},
		{"{\"required\":[\"a\"]}", "[]", NULL},
		{"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}", "line 1, column 6"},
		{"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"b\":2}",
		 "no such member"},
		{"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a\":0}", "type"},
		{"{\"items\":{\"minimum\":2}}", "[2,3,1]", "column 6"},
		{"{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "6", NULL},
		{"{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "4", "anyOf"},
		{"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "3", "maximum"},
		{"{\"anyOf\":[{\"items\":false},{\"anyOf\":[{\"allOf\":[false]},{}]}]}", "[1]", NULL},
		{"{\"anyOf\":[{\"items\":{\"anyOf\":[false]}},{\"type\":\"null\"}]}", "\n[1]",
		 "line 2, column 1: the schema's anyOf"},
		{"{\"items\":{\"anyOf\":[{\"anyOf\":[{\"type\":\"null\"},false]},{\"minimum\":5}]}}",
		 "[null,5,4]", "column 9: the schema's anyOf"},
		{"{\"anyOf\":[{\"items\":{\"type\":\"null\"}},{\"items\":{\"allOf\":[{\"minimum\":2},true]}}]}",
		 "[1]", "column 1: the schema's anyOf"},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct tree s, d;
		struct err e = ERR_INIT;
		assert_int_equal(tree_read(&s, rows[i].schema, strlen(rows[i].schema), &e), 0);
		assert_int_equal(schema_check(&s, &e), 0);
		assert_int_equal(tree_read(&d, rows[i].document, strlen(rows[i].document), &e), 0);
		const int rc = schema_holds(&s, &d, &e);
		if ((rc == 0) != !rows[i].why || (rows[i].why && !strstr(e.msg, rows[i].why)))
			fail_msg("row %zu: %s", i, rc == 0 ? "holds" : e.msg);
		tree_close(&s);
		tree_close(&d);
	}
}

/* Each null is none of the first, and why is nobody's to hear: this ends soon, or not for hours. */
static void anyof_over_many(void **state)
{
	(void)state;
	static const char nullable[] =
		"{\"items\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}}";
	const size_t many = 1000000, len = 5 * many + 1;
	char *text = malloc(len + 1);
	struct tree s, d;
	struct err e = ERR_INIT;
	for (size_t i = 0; i < many; i++)
		memcpy(text + 5 * i, ",null", 5);
	text[0] = '[';
	text[len - 1] = ']';
	assert_int_equal(tree_read(&s, nullable, sizeof(nullable) - 1, &e), 0);
	assert_int_equal(tree_read(&d, text, len, &e), 0);
	assert_int_equal(schema_holds(&s, &d, &e), 0);
	tree_close(&s);
	tree_close(&d);
	free(text);
}

/* The key is the schema's maker's, and the message goes to a terminal. */
static void a_keyword_is_shown(void **state)
{
	(void)state;
	static const char text[] = "{\"\xc2\x9b"
				   "2J\":1}";
	struct tree s;
	struct err e = ERR_INIT;
	assert_int_equal(tree_read(&s, text, sizeof(text) - 1, &e), 0);
	assert_int_equal(schema_check(&s, &e), -1);
	assert_non_null(strstr(e.msg, "the keyword '\\xc2\\x9b2J' is not supported"));
	tree_close(&s);
}

static void schemas_that_are_none(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"1",
		"[]",
		"{\"$ref\":\"#\"}",
		"{\"pattern\":\"a\"}",
		"{\"type\":\"text\"}",
		"{\"type\":1}",
		"{\"minLength\":-1}",
		"{\"minLength\":1.5}",
		"{\"minimum\":\"1\"}",
		"{\"required\":\"a\"}",
		"{\"properties\":[]}",
		"{\"properties\":{\"a\":1}}",
		"{\"items\":{\"format\":\"date\"}}",
		"{\"anyOf\":[]}",
		"{\"additionalProperties\":0}",
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct tree s;
		struct err e = ERR_INIT;
		assert_int_equal(tree_read(&s, rows[i], strlen(rows[i]), &e), 0);
		if (schema_check(&s, &e) == 0)
			fail_msg("%s", rows[i]);
		assert_int_equal(e.kind, ERR_USAGE);
		tree_close(&s);
	}
}

static void csv(void **state)
{
	(void)state;
	static const struct row rows[] = {
		/* RFC 4180, 2: rules 1 to 7 */
		{BYTES("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n"), NULL},
		{BYTES("aaa,bbb,ccc\r\nzzz,yyy,xxx"), NULL},
		{BYTES("\"aaa\",\"bbb\",\"ccc\"\r\nzzz,yyy,xxx"), NULL},
		{BYTES("\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx"), NULL},
		{BYTES("\"aaa\",\"b\"\"bb\",\"ccc\""), NULL},
		{BYTES("a,\n,b\n"), NULL},
		{BYTES(""), "empty"},
		{BYTES("a,b\nc\n"), "record 2 has 1 field, the first has 2"},
		{BYTES("a,b\n\n"), "record 2 has 1"},
		{BYTES("a\"b\n"), "a quote in a field"},
		{BYTES("\"a\"b\n"), "behind a quoted field"},
		{BYTES("\"a\n"), "does not end"},
		{BYTES("\""), "does not end"},
		{BYTES("a\rb\n"), "carriage return"},
		{BYTES("a,b\r"), "carriage return"},
		{BYTES("a\0b"), "control character"},
		{BYTES("\xff"), "not UTF-8"},
	};
	check_rows(ARTIFACT_CSV, rows, LENGTH(rows));
}

static void text(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{BYTES(""), NULL},
		{BYTES("a\tb\r\n\f"), NULL},
		{BYTES("\xe2\x82\xac"), NULL},
		{BYTES("\x1b[1m"), "0x1b"},
		{BYTES("\xc2\x9b"), "0x9b"}, /* CSI as one character */
		{BYTES("\x7f"), "0x7f"},
		{BYTES("a\n\xe2\x82"), "line 2, column 1: not UTF-8"},
	};
	check_rows(ARTIFACT_TEXT, rows, LENGTH(rows));
}

/* A grey pixel; the CRCs of IHDR and IEND are those that every such file has. */
#define PNG_HEAD "\x89PNG\r\n\x1a\n"
#define IHDR	 "\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0\x3a\x7e\x9b\x55"
#define IDAT	 "\0\0\0\x0aIDAT\x78\x9c\x63\x60\0\0\0\2\0\1\x48\xaf\xa4\x71"
#define IEND	 "\0\0\0\0IEND\xae\x42\x60\x82"

static void png(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{BYTES(PNG_HEAD IHDR IDAT IEND), NULL},
		{BYTES(PNG_HEAD IHDR IDAT IDAT IEND), NULL},
		{BYTES(""), "no PNG"},
		{BYTES("\x89PNG\n\x1a\n" IHDR), "no PNG"},
		{BYTES(PNG_HEAD), "without IEND"},
		{BYTES(PNG_HEAD IDAT IHDR IEND), "IHDR is not the first"},
		{BYTES(PNG_HEAD IHDR IHDR IDAT IEND), "there twice"},
		{BYTES(PNG_HEAD IHDR IEND), "without IDAT"},
		{BYTES(PNG_HEAD IHDR IDAT), "without IEND"},
		{BYTES(PNG_HEAD IHDR IDAT IEND "x"), "1 bytes stand behind"},
		{BYTES(PNG_HEAD "\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0\x3a\x7e\x9b\x54"), "CRC"},
		{BYTES(PNG_HEAD "\xff\xff\xff\xffIHDR\0\0\0\1"), "longer than the file"},
	};
	check_rows(ARTIFACT_PNG, rows, LENGTH(rows));
}

static void elf(void **state)
{
	(void)state;
	unsigned char file[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)] = {0};
	Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(h),
			.e_phoff = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1};
	struct err e = ERR_INIT;
	const struct checked c = {file, sizeof(file)};
	memcpy(file, &h, sizeof(h));
	assert_int_equal(check_elf(&c, &e), 0);
	assert_int_equal(check_elf(&(struct checked){file, sizeof(file) - 1}, &e), -1);
	assert_non_null(strstr(e.msg, "program headers"));
	h.e_phoff = UINT64_MAX - 8;
	memcpy(file, &h, sizeof(h));
	assert_int_equal(check_elf(&c, &e), -1);
	h.e_phoff = sizeof(h);
	h.e_shnum = 1;
	h.e_shentsize = sizeof(Elf64_Shdr);
	h.e_shoff = sizeof(h);
	memcpy(file, &h, sizeof(h));
	assert_int_equal(check_elf(&c, &e), -1);
	assert_non_null(strstr(e.msg, "section headers"));
	static const struct row rows[] = {
		{BYTES("\x7f"
		       "ELF"),
		 "no ELF"},
		{BYTES("\x7f"
		       "ELF\2\1\1\0\0\0\0\0\0\0\0\0"),
		 "shorter"},
		{BYTES("\x7f"
		       "ELF\1\2\1\0\0\0\0\0\0\0\0\0"),
		 "byte order"},
	};
	check_rows(ARTIFACT_ELF, rows, LENGTH(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json),
		cmocka_unit_test(json_bounds),
		cmocka_unit_test(schemas),
		cmocka_unit_test(schemas_that_are_none),
		cmocka_unit_test(json_long_numbers),
		cmocka_unit_test(anyof_over_many),
		cmocka_unit_test(a_keyword_is_shown),
		cmocka_unit_test(json_keys),
		cmocka_unit_test(csv),
		cmocka_unit_test(text),
		cmocka_unit_test(png),
		cmocka_unit_test(elf),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
