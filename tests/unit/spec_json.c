/* The spec as JSON: what is read, where errors are said to be, and hostile texts. */
#include "spec/keys.h"
#include "spec/spec.h"
#include "spec/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int parse_bytes(struct spec *s, struct arena *a, const char *text, size_t len, struct err *e)
{
	assert_int_equal(spec_init(s, a, e), 0);
	return spec_read_json(s, "j", text, len, e);
}

static void every_key(void **state)
{
	(void)state;
	static const char text[] =
		"{\"image\": \"@host\", \"command\": [\"a\", \"b c\", \"\"],\n"
		" \"memory\": 536870912, \"cpus\": 1.25, \"pids\": 10, \"wall\": \"90s\", \"cpu-time\": \"1m\","
		" \"idle\": \"none\", \"scratch\": \"1M\", \"scratch-inodes\": 100, \"output\": 0, \"nofile\": 64,"
		" \"read-bps\": \"1M\", \"write-bps\": 1, \"read-iops\": 5, \"write-iops\": \"none\","
		" \"priority\": \"low\", \"ids\": \"single\", \"egress\": {\"bytes\": \"1M\", \"allow\": [\"B.example.:443\", \"10.0.0.0/8:80,443\"]},"
		" \"proc\": \"outer\", \"env\": [\"A=1\", \"\\u0042=\\u00e4\"],"
		" \"workdir\": \"/\", \"uid\": 0, \"hostname\": \"h\", \"stdin\": \"-\", \"stdout\": \"o\","
		" \"stderr\": null, \"tty\": false, \"result\": \"fd:3\", \"events\": null, \"id\": \"x\","
		" \"seccomp\": null, \"require\": [\"wall,pids\", \"kill\"], \"on-exit\": \"wait\","
		" \"grace\": \"0s\", \"cgroup-parent\": null}";
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	if (parse_bytes(&s, &a, text, strlen(text), &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(s.image_kind, IMAGE_HOST);
	assert_int_equal(s.command_len, 3);
	assert_string_equal(s.command[1], "b c");
	assert_string_equal(s.command[2], "");
	assert_null(s.command[3]);
	assert_int_equal(s.limits.memory_bytes, 536870912);
	assert_int_equal(s.limits.cpus_milli, 1250);
	assert_int_equal(s.limits.output_bytes, 0);
	assert_int_equal(s.limits.scratch_bytes, 1 << 20);
	assert_true(s.limits.write_iops == LIMIT_NONE);
	assert_int_equal(s.egress.bytes, 1 << 20);
	assert_int_equal(s.egress.allow.len, 2);
	assert_string_equal(s.egress.allow.rules[0].text, "10.0.0.0/8:80,443");
	assert_string_equal(s.egress.allow.rules[1].text, "b.example:443");
	assert_string_equal(s.env[1], "B=\xc3\xa4");
	assert_int_equal(s.uid, 0);
	assert_string_equal(s.result, "fd:3");
	assert_true(s.require == (1ULL << G_WALL | 1ULL << G_PIDS | 1ULL << G_KILL));
	assert_int_equal(s.on_exit, ON_EXIT_WAIT);
	assert_int_equal(spec_check(&s, &e), 0);
}

static void null_is_not_given(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_set(&s, "nofile", "64", &e), 0);
	assert_int_equal(spec_set(&s, "id", "x", &e), 0);
	assert_int_equal(spec_set(&s, "stdin", "f", &e), 0);
	static const char text[] = "{\"nofile\": null, \"id\": null, \"stdin\": null}";
	assert_int_equal(spec_read_json(&s, "j", text, strlen(text), &e), 0);
	assert_int_equal(s.limits.nofile, 0);
	assert_null(s.id);
	assert_int_equal(s.stdin_kind, STDIN_NULL);
	assert_null(s.stdin_file);
}

/* Two keys, one list: what is taken back of one of them leaves the other's, and their order. A list
 * takes no null, and is what it was. */
static void two_keys_of_one_list(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	static const char text[] = "{\"inputs\": {\"copy\": [\"a\", \"b\"], \"read-only\": [\"c\"]}}";
	static const char null[] = "{\"inputs\": {\"read-only\": null}}";
	assert_int_equal(parse_bytes(&s, &a, text, strlen(text), &e), 0);
	assert_int_equal(spec_read_json(&s, "j", null, strlen(null), &e), -1);
	assert_non_null(strstr(e.msg, "inputs.read-only: wrong type"));
	assert_int_equal(s.inputs.len, 3);
	value_clear(&s, key_find("input-ro"));
	assert_int_equal(s.inputs.len, 2);
	assert_string_equal(s.inputs.inputs[0].source, "a");
	assert_string_equal(s.inputs.inputs[1].source, "b");
	value_clear(&s, key_find("input"));
	assert_int_equal(s.inputs.len, 0);
}

struct bad {
	const char *text;
	const char *says; /* from the beginning */
};

static void all_bad(const struct bad *rows, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		if (parse_bytes(&s, &a, rows[i].text, strlen(rows[i].text), &e) == 0)
			fail_msg("%s: accepted", rows[i].text);
		assert_int_equal(e.kind, ERR_USAGE);
		if (strncmp(e.msg, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s: says '%s', not '%s'", rows[i].text, e.msg, rows[i].says);
		for (const char *c = e.msg; *c; c++)
			assert_true(*c >= 0x20 && *c < 0x7f);
	}
}

static void objects(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{"{\"egress\": []}", "j:1:12: egress: wrong type; here belongs an object"},
		{"{\"egress\": {}, \"egress\": {}}", "j:1:16: egress: given twice"},
		{"{\"egress\": {\"alow\": []}}", "j:1:13: egress: unknown key 'alow'"},
		{"{\"egress\": {\"memory\": 1}}", "j:1:13: egress: unknown key 'memory'"},
		{"{\"egress\": {\"egress\": {}}}", "j:1:13: egress: unknown key 'egress'"},
		{"{\"egress\": {\"allow\": [], \"allow\": []}}", "j:1:26: egress.allow: given twice"},
		{"{\"egress\": {\"bytes\": 1, \"bytes\": 1}}", "j:1:25: egress.bytes: given twice"},
		{"{\"egress\": {\"bytes\": 0}}", "j:1:22: egress.bytes: '0' makes no sense"},
		{"{\"egress\": {\"allow\": \"a.example:1\"}}",
		 "j:1:22: egress.allow: wrong type; here belongs an array of rules"},
		{"{\"egress\": {\"allow\": [\"a.example:1\", 5]}}",
		 "j:1:38: egress.allow: a string belongs here"},
		{"{\"egress\": {\"allow\": [\"a.example:1\", \"a.example\"]}}",
		 "j:1:38: egress.allow: 'a.example': the port is missing"},
		{"{\"egress\": {\"allow\": [\"a.example:443\", \"tcp:a.example:443\"]}}",
		 "j:1:40: egress.allow: 'tcp:a.example:443' contradicts 'a.example:443'"},
		{"{\"allow\": []}",
		 "j:1:2: unknown key 'allow'; it is written \"egress\": {\"allow\": ...}"},
		{"{\"egress-bytes\": 1}",
		 "j:1:2: unknown key 'egress-bytes'; it is written \"egress\": {\"bytes\": ...}"},
		{"{\"allows\": []}",
		 "j:1:2: unknown key 'allows'; did you mean \"egress\": {\"allow\": ...}?"},
	};
	all_bad(rows, LENGTH(rows));
}

static void places(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{"{\"memroy\": 1}", "j:1:2: unknown key 'memroy'; did you mean \"memory\"?"},
		{"{\n  \"pids\": 1,\n\t\"xyzzy\": 1}", "j:3:2: unknown key 'xyzzy'"},
		{"{\"spec\": \"x\"}", "j:1:2: unknown key 'spec'"},
		{"{\"\": 1}", "j:1:2: unknown key ''"},
		{"{\"Memory\": 1}", "j:1:2: unknown key 'Memory'; did you mean \"memory\"?"},
		{"{\"pids\": 1, \"pids\": 1}", "j:1:13: pids: given twice"},
		{"{\"pids\": 1, \"\\u0070ids\": [1]}", "j:1:13: pids: given twice"},
		{"{\"image\": \"a\", \"image\": \"a\"}", "j:1:16: image: given twice"},
		{"{\"env\": [\"A=1\"], \"env\": []}", "j:1:18: env: given twice"},
		{"{\"wall\":\r\n 10}", "j:2:2: wall: '10' has no unit; write 10s"},
		{"{\"memory\": true}", "j:1:12: memory: wrong type; here belongs a size"},
		{"{\"memory\": null}", "j:1:12: memory: wrong type"},
		{"{\"memory\": [\"1M\"]}", "j:1:12: memory: wrong type"},
		{"{\"memory\": {}}", "j:1:12: memory: wrong type; here belongs a size"},
		{"{\"memory\": 0}", "j:1:12: memory: '0' is too little"},
		{"{\"memory\": -5}", "j:1:12: memory: '-5' is not a size"},
		{"{\"memory\": 1e9}", "j:1:12: memory: '1e9' is not a size"},
		{"{\"memory\": 1.5}", "j:1:12: memory: '1.5' is not a size"},
		{"{\"memory\": \"64m\"}", "j:1:12: memory: '64m' is not a size; write 64M"},
		{"{\"pids\": 1.5}", "j:1:10: pids: '1.5' is not a whole number"},
		{"{\"pids\": 0.0}", "j:1:10: pids: '0' makes no sense"},
		{"{\"tty\": \"true\"}", "j:1:9: tty: wrong type; here belongs true or false"},
		{"{\"tty\": 1}", "j:1:9: tty: wrong type"},
		{"{\"tty\": null}", "j:1:9: tty: wrong type"},
		{"{\"id\": 7}", "j:1:8: id: wrong type; here belongs a string"},
		{"{\"hostname\": null}", "j:1:14: hostname: wrong type"},
		{"{\"ids\": true}", "j:1:9: ids: wrong type"},
		{"{\"env\": \"A=1\"}", "j:1:9: env: wrong type; here belongs an array"},
		{"{\"env\": {\"A\": \"1\"}}", "j:1:9: env: wrong type"},
		{"{\"env\": null}", "j:1:9: env: wrong type"},
		{"{\"env\": [\"A=1\",\n \"B\"]}", "j:2:2: env: 'B' is not NAME=VALUE"},
		{"{\"env\": [\"A=1\", 2]}", "j:1:17: env: a string belongs here"},
		{"{\"env\": [[\"A=1\"]]}", "j:1:10: env: a string belongs here"},
		{"{\"require\": [\"memory\", \"nix\"]}", "j:1:24: require: 'nix' is no guarantee"},
		{"{\"command\": \"a b\"}", "j:1:13: command: wrong type; here belongs an array"},
		{"{\"command\": []}", "j:1:13: command: it has no word"},
		{"{\"command\": [\"\"]}", "j:1:13: command: its first word is empty"},
		{"{\"command\": [\"a\", null]}", "j:1:19: command: a string belongs here"},
		{"{\"image\": 1}", "j:1:11: image: a string belongs here"},
		{"{\"image\": \"\"}", "j:1:11: image: the name is empty"},
		{"{\"image\": \"@x\"}", "j:1:11: image: '@x' is unknown"},
		/* a column is a character, not a byte */
		{"{\"env\": [\"A=\xc3\xa4\xf0\x9f\x98\x80\", \"B\"]}", "j:1:18: env: 'B'"},
		{"{\"\xc3\xa4\": 1}", "j:1:2: unknown key '\\xc3\\xa4'"},
		{"{\"id\": \"\\u001b[2J\"}", "j:1:8: id: '\\x1b[2J' is not an id"},
		{"{\"stdout\": {\"encoding\": \"base64\"}}", "j:1:12: stdout: a string belongs here"},
		{"{\"stdout\": {\"encoding\": \"hex\", \"data\": \"00\"}}",
		 "j:1:12: stdout: a string belongs"},
		{"{\"stdout\": {\"encoding\": \"base64\", \"data\": \"A\"}}",
		 "j:1:12: stdout: the data are not"},
		{"{\"stdout\": {\"encoding\": \"base64\", \"data\": \"AA==\"}}",
		 "j:1:12: stdout: the data are not"},
		{"{\"stdout\": {\"encoding\": \"base64\", \"data\": \"QQ==\", \"x\": 1}}",
		 "j:1:12: stdout: a str"},
	};
	all_bad(rows, LENGTH(rows));
}

static void base64_where_bytes_may_be(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{"{\"id\": {\"encoding\": \"base64\", \"data\": \"QQ==\"}}", "j:1:8: id: wrong type"},
		{"{\"require\": [{\"encoding\": \"base64\", \"data\": \"cGlkcw==\"}]}",
		 "j:1:14: require: a string belongs here"},
		{"{\"stdout\": {\"encoding\": \"base64\", \"data\": \"\"}}",
		 "j:1:12: stdout: the data are not"},
	};
	all_bad(rows, LENGTH(rows));
}

static void syntax(void **state)
{
	(void)state;
	static const struct bad rows[] = {
		{"", "j:1:1: it is empty; a JSON object belongs here"},
		{" ", "j:1:1: it is empty"},
		{"[]", "j:1:1: a spec is an object"},
		{"\n [1]", "j:2:2: a spec is an object"},
		{"1", "j:1:1: an object belongs here"},
		{"null", "j:1:1: an object belongs here"},
		{"{", "j:1:1: "},
		{"{\"pids\": 1,}", "j:1:12: not JSON here"},
		{"{\"pids\" 1}", "j:1:9: "},
		{"{\"pids\": 1} x", "j:1:13: something stands behind"},
		{"{\"pids\": 1}{}", "j:1:12: "},
		{"{\"pids\": 01}", "j:1:"},
		{"{\"pids\": +1}", "j:1:10: "},
		{"{\"pids\": NaN}", "j:1:"},
		{"{\"pids\": Infinity}", "j:1:"},
		{"{\"pids\": 0x1}", "j:1:"},
		{"{\"cpus\": 1e400}", "j:1:14: a number out of range"},
		{"{\"cpus\": -1e400}", "j:1:"},
		{"{\"pids\": 18446744073709551616}", "j:1:29: a number out of range"},
		{"{'pids': 1}", "j:1:2: "},
		{"{\"pids\": 1 // no\n}", "j:1:"},
		{"{\"id\": \"a\nb\"}", "j:"},
		{"{\"id\": \"\xff\"}", "j:1:8: bytes that are not UTF-8"},
		{"{\"id\": \"\xed\xa0\x80\"}", "j:1:"},
		{"{\"id\": \"\xc0\xaf\"}", "j:1:"},
		{"{\"id\": \"\\ud800\"}", "j:1:"},
		{"{\"id\": \"a\\u0000\"}", "j:1:16: a text that holds a NUL"},
		{"{\"a\\u0000\": 1}", "j:1:"},
		{"\xef\xbb\xbf{}", "j:1:1: "},
		{"{\"id\": \"abc", "j:1:11: the text ends in the middle"},
		{"{\"id\": \"abc\\", "j:1:"},
		{"}{", "j:1:1: "},
	};
	all_bad(rows, LENGTH(rows));
}

static void nul_bytes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{"{\"pids\": 1}\0", 12},    {"\0{\"pids\": 1}", 12}, {"{\"pids\":\0 1}", 12},
		{"{\"id\": \"a\0b\"}", 13}, {"{\"pids\0\": 1}", 12},
	};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		assert_int_equal(parse_bytes(&s, &a, rows[i].text, rows[i].len, &e), -1);
		assert_true(strncmp(e.msg, "j:1:", 4) == 0);
	}
}

static void too_deep(void **state)
{
	(void)state;
	enum { DEPTH = 1000000 };
	char *text = malloc(DEPTH);
	assert_non_null(text);
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	memset(text, '[', DEPTH);
	assert_int_equal(parse_bytes(&s, &a, text, DEPTH, &e), -1);
	assert_string_equal(e.msg, "j:1:9: nested too deep");
	for (size_t i = 0; i + 5 <= DEPTH; i += 5)
		memcpy(text + i, "{\"a\":", 5);
	assert_int_equal(parse_bytes(&s, &a, text, DEPTH, &e), -1);
	assert_string_equal(e.msg, "j:1:41: nested too deep");
	free(text);
	/* brackets in a string nest nothing */
	static const char fine[] = "{\"env\": [\"A=[[[[[[[[[[{{{{{{{{{\\\"[[[[[[\"]}";
	assert_int_equal(parse_bytes(&s, &a, fine, strlen(fine), &e), 0);
}

static void too_large(void **state)
{
	(void)state;
	size_t len = SPEC_FILE_BYTES_MAX + 1;
	char *text = malloc(len);
	assert_non_null(text);
	memset(text, ' ', len);
	memcpy(text, "{}", 2);
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(parse_bytes(&s, &a, text, len, &e), -1);
	assert_non_null(strstr(e.msg, "too large"));
	assert_int_equal(parse_bytes(&s, &a, text, len - 1, &e), 0);
	free(text);
}

/* cases.md T41: 20,000 variables are fine. */
static void many(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	char *text = arena_alloc(&a, 20000 * 20 + 20);
	size_t len = (size_t)sprintf(text, "{\"env\": [");
	for (int i = 0; i < 20000; i++)
		len += (size_t)sprintf(text + len, "%s\"N%d=%d\"", i ? "," : "", i * 7919 % 20000, i);
	len += (size_t)sprintf(text + len, "]}");
	assert_int_equal(parse_bytes(&s, &a, text, len, &e), 0);
	assert_int_equal(s.env_len, 20000);
}

static void long_name(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	char name[1000];
	memset(name, 'n', sizeof(name));
	memcpy(name + sizeof(name) - 8, "\x1b/t.json", 8);
	char ended[1001];
	snprintf(ended, sizeof(ended), "%.1000s", name);
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_read_json(&s, ended, "{\"x\": 1}", 8, &e), -1);
	assert_non_null(strstr(e.msg, "n?/t.json:1:2: unknown key 'x'"));
}

static void values_override(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	static const char text[] =
		"{\"stdout\": {\"data\": \"/34B\", \"encoding\": \"base64\"}, \"memory\": \"none\"}";
	assert_int_equal(parse_bytes(&s, &a, text, strlen(text), &e), 0);
	assert_string_equal(s.stdout_file, "\xff\x7e\x01");
	assert_true(s.limits.memory_bytes == LIMIT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key),
		cmocka_unit_test(null_is_not_given),
		cmocka_unit_test(two_keys_of_one_list),
		cmocka_unit_test(objects),
		cmocka_unit_test(places),
		cmocka_unit_test(base64_where_bytes_may_be),
		cmocka_unit_test(syntax),
		cmocka_unit_test(nul_bytes),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(too_large),
		cmocka_unit_test(many),
		cmocka_unit_test(long_name),
		cmocka_unit_test(values_override),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
