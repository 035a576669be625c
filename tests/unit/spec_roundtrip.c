/* A spec, written and read again, is the same spec: for random ones, and hostile bytes. */
#include "spec/keys.h"
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 0x9e3779b97f4a7c15ULL; /* fixed, so that a failure repeats */

static uint64_t dice(uint64_t sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return sides ? seed % sides : seed;
}

/* Up to len bytes, none of them NUL: plain, UTF-8 or anything. */
static const char *bytes(struct arena *a, size_t len)
{
	static const char *const pieces[] = {"a",    "\xc3\xa4", "\xf0\x9f\x98\x80",
					     "\"",   "\\",	 "\n",
					     "\x7f", "=",	 ","};
	char *text = arena_alloc(a, len * 4 + 1);
	size_t n = 1 + dice(len);
	bool any = dice(3) == 0;
	for (size_t i = 0; i < n; i++) {
		char one[2] = {(char)(1 + dice(255)), '\0'};
		strcat(text, any ? one : pieces[dice(sizeof(pieces) / sizeof(pieces[0]))]);
	}
	return text;
}

static const char *number(struct arena *a, const struct key *k)
{
	static const char *const units[] = {"ms", "s", "m", "us", "ns"};
	if (!k->no_none && dice(4) == 0)
		return "none";
	uint64_t span = k->max - k->min;
	uint64_t value = k->min + (span ? dice(span) >> dice(60) : 0);
	switch (k->type) {
	case KEY_TIME:
		return arena_printf(a, "%llu%s", 1 + (unsigned long long)dice(1000000),
				    units[dice(5)]);
	case KEY_CPUS:
		return arena_printf(a, "%llu.%03llu", 1 + (unsigned long long)dice(100),
				    (unsigned long long)dice(1000));
	default:
		return arena_printf(a, "%llu", (unsigned long long)value);
	}
}

static const char *value(struct arena *a, const struct key *k)
{
	size_t words = 0;
	switch (k->type) {
	case KEY_ENUM:
		while (k->words[words])
			words++;
		return k->words[dice(words)];
	case KEY_BOOL:
		return dice(2) ? "true" : "false";
	case KEY_ID:
		return arena_printf(a, "id-%llu", (unsigned long long)dice(0));
	case KEY_HOSTNAME:
		return arena_printf(a, "host-%llu.x", (unsigned long long)dice(0));
	case KEY_WORKDIR:
		return arena_printf(a, "/%s", bytes(a, 50));
	case KEY_PATH:
		return bytes(a, 50);
	case KEY_SINK:
		return dice(2) ? arena_printf(a, "fd:%llu", (unsigned long long)dice(1000))
			       : bytes(a, 50);
	case KEY_STDIN:
		return dice(3) ? bytes(a, 20) : dice(2) ? "-" : "null";
	case KEY_ENV:
		return arena_printf(a, "V%llu=%s", (unsigned long long)dice(20), bytes(a, 50));
	case KEY_INPUT: /* two of a kind may not share a place, which spec_check() sees */
	case KEY_INPUT_RO:
		return arena_printf(a, "/s%llu:d%llu/x", (unsigned long long)dice(50),
				    (unsigned long long)dice(50));
	case KEY_ARTIFACT:
		return arena_printf(a,
				    dice(2) ? "out/*.%llu:max=%lluM:required"
					    : "o%llu:type=csv:max=%llu",
				    (unsigned long long)dice(50), (unsigned long long)dice(50));
	case KEY_ALLOW: /* of each host one kind, so that none contradicts another */
		return arena_printf(a,
				    dice(2) ? "h%llu.example:%llu" : "tcp:*.w%llu.example:443,%llu",
				    (unsigned long long)dice(30), 1 + (unsigned long long)dice(60));
	case KEY_SLOTS:
		return dice(4) ? arena_printf(a, "%llu:s-%llu", 1 + (unsigned long long)dice(512),
					      (unsigned long long)dice(0))
			       : "none";
	case KEY_REQUIRE:
		return guarantee_name((enum guarantee_id)dice(G_COUNT));
	default:
		return number(a, k);
	}
}

static void random_spec(struct spec *s, struct arena *a)
{
	struct err e = ERR_INIT;
	assert_int_equal(spec_init(s, a, &e), 0);
	for (size_t i = 0; i < dice(60); i++) {
		const struct key *k = &spec_keys[dice(spec_keys_len)];
		const char *text = value(a, k);
		if (spec_set(s, k->name, text, &e) < 0)
			fail_msg("%s: %s", text, e.msg);
	}
	assert_int_equal(spec_set_image(s, arena_printf(a, "/%s", bytes(a, 30)), &e), 0);
	const char *words[] = {bytes(a, 10), "", bytes(a, 10), bytes(a, 100)};
	assert_int_equal(spec_set_command(s, words, 1 + dice(4), &e), 0);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The next of that kind from at on; the order of the two kinds among each other is not kept, and means nothing. */
static const struct input *next_input(const struct spec *s, bool read_only, size_t *at)
{
	while (*at < s->inputs.len && s->inputs.inputs[*at].read_only != read_only)
		++*at;
	return *at < s->inputs.len ? &s->inputs.inputs[(*at)++] : NULL;
}

static void assert_inputs(const struct spec *a, const struct spec *b, bool read_only)
{
	size_t i = 0, j = 0;
	const struct input *x, *y;
	do {
		x = next_input(a, read_only, &i);
		y = next_input(b, read_only, &j);
		assert_true(!x == !y);
		if (x && y)
			assert_string_equal(x->text, y->text);
	} while (x);
}

/* Field by field, without the writer's help. */
static void assert_same(const struct spec *a, const struct spec *b)
{
	assert_memory_equal(&a->limits, &b->limits, sizeof(a->limits));
	assert_true(a->egress.bytes == b->egress.bytes);
	assert_true(a->egress.connections == b->egress.connections);
	assert_true(a->egress.connect_ns == b->egress.connect_ns);
	assert_true(a->egress.idle_ns == b->egress.idle_ns);
	assert_int_equal(a->egress.allow.len, b->egress.allow.len);
	for (size_t i = 0; i < a->egress.allow.len; i++)
		assert_string_equal(a->egress.allow.rules[i].text, b->egress.allow.rules[i].text);
	assert_int_equal(a->artifacts.len, b->artifacts.len);
	for (size_t i = 0; i < a->artifacts.len; i++) {
		assert_string_equal(a->artifacts.rules[i].text, b->artifacts.rules[i].text);
		assert_true(a->artifacts.rules[i].max_bytes == b->artifacts.rules[i].max_bytes);
	}
	assert_inputs(a, b, false);
	assert_inputs(a, b, true);
	assert_int_equal(a->image_kind, b->image_kind);
	assert_string_equal(a->image, b->image);
	assert_int_equal(a->command_len, b->command_len);
	for (size_t i = 0; i < a->command_len; i++)
		assert_string_equal(a->command[i], b->command[i]);
	assert_int_equal(a->env_len, b->env_len);
	for (size_t i = 0; i < a->env_len; i++)
		assert_string_equal(a->env[i], b->env[i]);
	assert_true(a->ids == b->ids && a->uid == b->uid && a->proc == b->proc &&
		    a->on_exit == b->on_exit);
	assert_int_equal(a->slots.count, b->slots.count);
	assert_true(a->slots.count == 0 || same_text(a->slots.name, b->slots.name));
	assert_true(a->queue_ns == b->queue_ns && a->slots_memory_bytes == b->slots_memory_bytes);
	assert_true(a->grace_ns == b->grace_ns && a->require == b->require &&
		    a->accept == b->accept && a->tty == b->tty);
	assert_true(a->stdin_kind == b->stdin_kind && same_text(a->stdin_file, b->stdin_file));
	assert_true(same_text(a->cgroup_parent, b->cgroup_parent) &&
		    same_text(a->seccomp_file, b->seccomp_file));
	assert_true(same_text(a->stdout_file, b->stdout_file) &&
		    same_text(a->stderr_file, b->stderr_file));
	assert_true(same_text(a->result, b->result) && same_text(a->events, b->events) &&
		    same_text(a->id, b->id));
	assert_true(same_text(a->workdir, b->workdir) && same_text(a->hostname, b->hostname));
}

static void random_specs(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec first, second;
		random_spec(&first, &a);
		char *text = spec_write_json(&first);
		assert_non_null(text);
		assert_int_equal(spec_init(&second, &a, &e), 0);
		if (spec_read_json(&second, "j", text, strlen(text), &e) < 0)
			fail_msg("%s\n%s", e.msg, text);
		assert_same(&first, &second);
		char *again = spec_write_json(&second);
		assert_string_equal(text, again);
		free(again);
		free(text);
	}
}

/* spec_sha256 is taken over these bytes: a change here changes every digest. */
static void canonical_form(void **state)
{
	(void)state;
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	const char *const words[] = {"a", "\xc3\xa4\xff"};
	assert_int_equal(spec_init(&s, &a, &e), 0);
	assert_int_equal(spec_set_image(&s, "\xf0\x9f\x98\x80", &e), 0);
	assert_int_equal(spec_set_command(&s, words, 2, &e), 0);
	assert_int_equal(spec_set(&s, "require", "pids,memory", &e), 0);
	assert_int_equal(spec_set(&s, "cpus", "1.50", &e), 0);
	assert_int_equal(spec_set(&s, "wall", "90000ms", &e), 0);
	assert_int_equal(spec_set(&s, "allow", "*.B.example.:80,443", &e), 0);
	assert_int_equal(spec_set(&s, "allow", "a.example:443", &e), 0);
	char *text = spec_write_json(&s);
	assert_string_equal(text,
			    "{\"accept\":[],\"artifacts\":{\"collect\":[],\"dir\":null},\"audit\":null,\"cgroup-parent\":null,\"command\":[\"a\",{\"data\":\"w6T/\",\"encoding\":\"base64\"}],"
			    "\"cpu-time\":\"none\",\"cpus\":\"1.5\","
			    "\"egress\":{\"allow\":[\"*.b.example:80,443\",\"a.example:443\"],\"bytes\":\"none\",\"connect-timeout\":\"10s\",\"connections\":64,\"idle\":\"5m\"},\"env\":[],\"events\":null,\"grace\":\"2s\","
			    "\"hostname\":\"pinfold\",\"id\":null,\"idle\":\"none\",\"ids\":\"auto\","
			    "\"image\":\"\\ud83d\\ude00\",\"inputs\":{\"copy\":[],\"read-only\":[]},\"memory\":536870912,\"nofile\":null,\"on-exit\":\"kill\","
			    "\"output\":16777216,\"pids\":256,\"priority\":\"normal\",\"proc\":\"own\",\"pull\":\"never\",\"queue\":\"none\",\"read-bps\":\"none\","
			    "\"read-iops\":\"none\",\"require\":[\"memory\",\"pids\"],\"result\":null,\"scratch\":268435456,"
			    "\"scratch-inodes\":65536,\"seccomp\":null,\"slots\":\"none\",\"slots-memory\":\"none\",\"stderr\":null,\"stdin\":\"null\",\"stdout\":null,"
			    "\"tty\":false,\"uid\":1000,\"wall\":\"90s\",\"workdir\":\"/scratch\",\"write-bps\":\"none\","
			    "\"write-iops\":\"none\"}");
	free(text);
}

static void order_does_not_matter(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"memory", "64M"},	  {"scratch", "32M"},	    {"tty", "true"},
		{"env", "B=1"},		  {"env", "A=2"},	    {"require", "kill"},
		{"require", "memory"},	  {"stdin", "null"},	    {"id", "x"},
		{"allow", "b.example:1"}, {"allow", "a.example:2"}, {"egress-bytes", "1M"},
	};
	enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };
	char *want = NULL;
	for (int i = 0; i < 200; i++) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		bool done[PAIRS] = {false};
		assert_int_equal(spec_init(&s, &a, &e), 0);
		for (int left = PAIRS; left > 0;) {
			size_t at = dice(PAIRS);
			if (done[at])
				continue;
			done[at] = true;
			left--;
			assert_int_equal(spec_set(&s, pairs[at][0], pairs[at][1], &e), 0);
		}
		char *text = spec_write_json(&s);
		if (want)
			assert_string_equal(text, want);
		else
			want = strdup(text);
		free(text);
	}
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_specs),
		cmocka_unit_test(canonical_form),
		cmocka_unit_test(order_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
