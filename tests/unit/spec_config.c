/* Configuration files: what they say, who has the last word, ceilings, and refusals with their place. */
#include "spec/keys.h"
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MIB	      (1ULL << 20)

static int config(struct spec *s, enum origin who, const char *text, struct err *e)
{
	const char *name = who == ORIGIN_HOST ? "host.json" : "user.json";
	return spec_read_config(s, &(struct config_text){who, name, text, strlen(text)}, e);
}

static enum origin origin_of(const struct spec *s, const char *key)
{
	return (enum origin)s->origins[key_find(key) - spec_keys];
}

static void last_word(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(config(&s, ORIGIN_HOST,
				"{\"defaults\": {\"memory\": \"300M\", \"cpus\": 2, \"pids\": 9,"
				" \"env\": [\"A=host\", \"B=host\"], \"egress\": {\"bytes\": 5}}}",
				&e),
			 0);
	assert_int_equal(config(&s, ORIGIN_USER,
				"{\"defaults\": {\"cpus\": 3, \"pids\": 8, \"env\": [\"B=user\"]}}",
				&e),
			 0);
	s.speaking = ORIGIN_FLAG;
	assert_int_equal(spec_set(&s, "pids", "7", &e), 0);
	assert_int_equal(s.limits.memory_bytes, 300 * MIB);
	assert_int_equal(s.limits.scratch_bytes, 256 * MIB);
	assert_int_equal(s.limits.cpus_milli, 3000);
	assert_int_equal(s.limits.pids, 7);
	assert_int_equal(s.egress.bytes, 5);
	assert_int_equal(s.env_len, 2);
	assert_string_equal(s.env[0], "A=host");
	assert_string_equal(s.env[1], "B=user");
	assert_int_equal(origin_of(&s, "memory"), ORIGIN_HOST);
	assert_int_equal(origin_of(&s, "egress-bytes"), ORIGIN_HOST);
	assert_int_equal(origin_of(&s, "cpus"), ORIGIN_USER);
	assert_int_equal(origin_of(&s, "pids"), ORIGIN_FLAG);
	assert_int_equal(origin_of(&s, "wall"), ORIGIN_DEFAULT);
	assert_string_equal(s.rules.host_file, "host.json");
	assert_string_equal(s.rules.user_file, "user.json");
}

static void rules(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(config(&s, ORIGIN_HOST,
				"{\"audit\": \"syslog\", \"input-base\": \"/srv\", \"slots\": \"3:box\","
				" \"slots-memory\": \"1G\", \"sensitive-paths\": [\"/srv/a\", \"/srv/b\"]}",
				&e),
			 0);
	assert_int_equal(config(&s, ORIGIN_USER,
				"{\"sensitive-paths\": [\"/home/c\"], \"input-base\": \"/srv/c\"}",
				&e),
			 0);
	assert_string_equal(s.rules.audit, "syslog");
	assert_string_equal(s.rules.input_bases[0], "/srv");
	assert_string_equal(s.rules.input_bases[1], "/srv/c");
	assert_int_equal(s.rules.sensitive_len, 3);
	assert_string_equal(s.rules.sensitive[1], "/srv/b");
	assert_string_equal(s.rules.sensitive[2], "/home/c");
	assert_int_equal(s.slots.count, 3);
	assert_string_equal(s.slots.name, "box");
	assert_int_equal(s.slots_memory_bytes, 1024 * MIB);
	s.speaking = ORIGIN_FLAG;
	assert_int_equal(spec_set(&s, "slots", "9", &e), -1);
	assert_string_equal(e.msg, "slots: host.json says this for every run; leave it out");
	assert_int_equal(s.slots.count, 3);
}

/* {key, ceiling, what a flag says or NULL, what comes out; NULL: refused} */
static const struct {
	const char *key, *ceiling, *flag, *value;
} ceilings[] = {
	{"memory", "\"256M\"", NULL, "256M"},	{"memory", "\"256M\"", "256M", "256M"},
	{"memory", "\"256M\"", "257M", NULL},	{"memory", "\"256M\"", "none", NULL},
	{"memory", "\"none\"", "none", "none"}, {"memory", "\"1G\"", NULL, "512M"},
	{"cpu-time", "\"10s\"", NULL, "10s"},	{"cpu-time", "\"10s\"", "9s", "9s"},
	{"cpu-time", "\"10s\"", "10.5s", NULL}, {"cpus", "0.5", NULL, "0.5"},
	{"cpus", "0.5", "0.51", NULL},		{"nofile", "100", NULL, "100"},
	{"nofile", "300", NULL, "256"},		{"nofile", "1024", NULL, "null"},
	{"nofile", "300", "300", "300"},	{"nofile", "300", "301", NULL},
	{"grace", "\"1s\"", NULL, "1s"},	{"queue", "\"1m\"", NULL, "1m"},
	{"slots-memory", "\"1G\"", "2G", NULL}, {"output", "0", NULL, "0"},
};

static void ceiling(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(ceilings); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		const char *text = arena_printf(&a, "{\"ceilings\": {\"%s\": %s}}", ceilings[i].key,
						ceilings[i].ceiling);
		assert_int_equal(spec_init(&s, &a, &e), 0);
		assert_int_equal(config(&s, ORIGIN_HOST, text, &e), 0);
		s.speaking = ORIGIN_FLAG;
		if (ceilings[i].flag)
			assert_int_equal(spec_set(&s, ceilings[i].key, ceilings[i].flag, &e), 0);
		const int applied = spec_apply_ceilings(&s, &e);
		if (!ceilings[i].value) {
			assert_int_equal(applied, -1);
			assert_int_equal(e.kind, ERR_USAGE);
			assert_non_null(strstr(e.msg, "is more than the host allows: "));
			assert_non_null(strstr(e.msg, "host.json"));
			continue;
		}
		char *value = key_value_text(&s, key_find(ceilings[i].key));
		assert_int_equal(applied, 0);
		assert_string_equal(value, ceilings[i].value);
		free(value);
	}
}

/* The user's default is a wish like a flag; the host's own is the host's. The scratch is memory. */
static void whose_ceiling(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(config(&s, ORIGIN_HOST,
				"{\"defaults\": {\"memory\": \"2G\"}, \"ceilings\": {\"memory\": \"100M\","
				" \"egress\": {\"bytes\": \"1M\"}}}",
				&e),
			 0);
	assert_int_equal(spec_apply_ceilings(&s, &e), 0);
	assert_int_equal(s.limits.memory_bytes, 100 * MIB);
	assert_int_equal(s.limits.scratch_bytes, 100 * MIB);
	assert_int_equal(s.egress.bytes, MIB);
	assert_int_equal(config(&s, ORIGIN_USER, "{\"defaults\": {\"memory\": \"101M\"}}", &e), 0);
	assert_int_equal(spec_apply_ceilings(&s, &e), -1);
	assert_string_equal(e.msg,
			    "memory 101M (user) is more than the host allows: 100M in host.json");
}

static const struct {
	enum origin who;
	const char *text, *message;
} refused[] = {
	{ORIGIN_HOST, "[]", "host.json:1:1: a configuration is an object"},
	{ORIGIN_HOST, "{\"defaults\": []}",
	 "host.json:1:14: defaults: wrong type; here belongs an object"},
	{ORIGIN_HOST, "{\"defaults\": {\n \"memroy\": 1}}",
	 "host.json:2:2: unknown key 'memroy'; did you mean \"memory\"?"},
	{ORIGIN_HOST, "{\"defaults\": {\"memory\": true}}",
	 "host.json:1:25: memory: wrong type; here belongs a size: \"64M\" or a number of bytes"},
	{ORIGIN_HOST, "{\"defaults\": {\"image\": \"x\"}}",
	 "host.json:1:15: image is for each run to say"},
	{ORIGIN_HOST, "{\"defaults\": {\"command\": [\"x\"]}}",
	 "host.json:1:15: command is for each run to say"},
	{ORIGIN_HOST, "{\"ceilings\": {\"command\": [\"x\"]}}",
	 "host.json:1:15: command is for each run to say"},
	{ORIGIN_HOST, "{\"ceilings\": {\"hostname\": \"x\"}}",
	 "host.json:1:15: hostname: there is no ceiling to this"},
	{ORIGIN_HOST, "{\"ceilings\": {\"uid\": 1}}",
	 "host.json:1:15: uid: there is no ceiling to this"},
	{ORIGIN_HOST, "{\"ceilings\": {\"slots\": 1}}",
	 "host.json:1:15: slots: there is no ceiling to this"},
	{ORIGIN_HOST, "{\"ceilings\": {\"egress\": {\"allow\": []}}}",
	 "host.json:1:26: egress.allow: there is no ceiling to this"},
	{ORIGIN_HOST, "{\"defaults\": {}, \"defaults\": {}}", "host.json:1:18: defaults: given twice"},
	{ORIGIN_HOST, "{\"memory\": 1}",
	 "host.json:1:2: unknown member 'memory'; a key is written \"defaults\": {\"memory\": ...}"},
	{ORIGIN_HOST, "{\"frob\": 1}", "host.json:1:2: unknown member 'frob'"},
	{ORIGIN_HOST, "{\"audit\": \"log\"}", "host.json:1:11: audit: 'log' is not an absolute path"},
	{ORIGIN_HOST, "{\"audit\": null}",
	 "host.json:1:11: audit: a string belongs here (or {\"encoding\": \"base64\", \"data\": ...})"},
	{ORIGIN_HOST, "{\"sensitive-paths\": [\"/a\", \"b\"]}",
	 "host.json:1:28: sensitive-paths: 'b' is not an absolute path"},
	{ORIGIN_HOST, "{\"sensitive-paths\": \"/a\"}",
	 "host.json:1:21: sensitive-paths: here belongs an array of absolute paths, 1024 at most"},
	{ORIGIN_HOST, "{\"slots\": 0}",
	 "host.json:1:11: slots: '0' is not N or N:NAME with a number from 1 to 512; none shares nothing"},
	{ORIGIN_USER, "{\"ceilings\": {}}",
	 "user.json:1:2: ceilings: this is the host's to say, in /etc/pinfold/config.json"},
	{ORIGIN_USER, "{\"audit\": \"syslog\"}",
	 "user.json:1:2: audit: this is the host's to say, in /etc/pinfold/config.json"},
	{ORIGIN_USER, "{\"slots\": 1}",
	 "user.json:1:2: slots: this is the host's to say, in /etc/pinfold/config.json"},
};

static void refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(refused); i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		assert_int_equal(spec_init(&s, &a, &e), 0);
		assert_int_equal(config(&s, refused[i].who, refused[i].text, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_string_equal(e.msg, refused[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_word), cmocka_unit_test(rules),
		cmocka_unit_test(ceiling),   cmocka_unit_test(whose_ceiling),
		cmocka_unit_test(refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
