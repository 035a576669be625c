/* What the dialer asks for, and what it opens of an answer. */
#include "network/broker/answered.h"

#include "network/egress/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_NS 1000000000LL
enum { PORT = 443, KEEP_S = 10 };

struct world {
	struct arena arena;
	struct egress_list rules;
	struct answered t;
};

static void add(struct world *w, const char *text)
{
	struct err e = ERR_INIT;
	if (egress_list_add(&w->rules, text, &w->arena, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
}

/* They are sorted by their text. */
static const char *const rules[] = {"*.wide.example:443",	"93.184.216.0/24:443",
				    "exact.wide.example:443",	"host.example:443,8443",
				    "private:near.example:443", "udp:time.example:123"};
enum { WIDE, BLOCK, EXACT, HOST, NEAR, TIME };

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	if (!w)
		return -1;
	w->arena = (struct arena)ARENA_INIT;
	w->t.keep_ns = KEEP_S * SECOND_NS;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		add(w, rules[i]);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		assert_string_equal(w->rules.rules[i].text, rules[i]);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	arena_free(&w->arena);
	free(w);
	return 0;
}

static struct address address(const char *text)
{
	struct address a;
	if (!address_read(&a, text, strlen(text)))
		fail_msg("%s is no address", text);
	return a;
}

static struct name_question question(uint32_t rule, const char *name, uint16_t port)
{
	struct name_question q = {.number = 7, .rule = rule, .port = port};
	q.name.len = (unsigned char)strlen(name);
	memcpy(q.name.text, name, q.name.len);
	return q;
}

static enum lookup_failure ask(struct world *w, const struct name_question *q,
			       struct server_question *out)
{
	memset(out, 0xff, sizeof(*out));
	return answered_ask(&w->t, &w->rules, q, out);
}

/* told is NULL where nobody looks at it. */
static bool takes(struct world *w, const struct server_answer *a, struct name_answer *told)
{
	struct name_answer unseen;
	return answered_take(&w->t, &w->rules, a, 0, told ? told : &unseen);
}

static void denied(struct world *w, struct name_question q)
{
	struct server_question out;
	assert_int_equal(ask(w, &q, &out), LOOKUP_NO_RULE);
	assert_int_equal(w->t.pending, 0);
	assert_int_equal(out.number, UINT32_MAX); /* nothing was written for the resolver */
}

static void allowed(struct world *w, struct name_question q)
{
	struct server_question out;
	assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	assert_string_equal(out.name.text, q.name.text);
	const struct server_answer a = {.number = out.number, .failure = LOOKUP_NO_NAME};
	struct name_answer told;
	assert_true(takes(w, &a, &told));
	assert_int_equal(told.number, q.number);
	assert_int_equal(told.failure, LOOKUP_NO_NAME);
}

static void asks_for_what_a_rule_decides(void **state)
{
	struct world *w = *state;
	allowed(w, question(HOST, "host.example", 443));
	allowed(w, question(HOST, "host.example", 8443));
	allowed(w, question(WIDE, "a.wide.example", 443));
	allowed(w, question(WIDE, "a.b.wide.example", 443));
	allowed(w, question(EXACT, "exact.wide.example", 443));
	allowed(w, question(NEAR, "near.example", 443));
	allowed(w, question(TIME, "time.example", 123));
}

static void asks_for_nothing_else(void **state)
{
	struct world *w = *state;
	static const char *const others[] = {"evil.example",	  "host.example.evil.example",
					     "a.host.example",	  "xhost.example",
					     "host.exampl",	  "host.example.",
					     "HOST.example",	  "host.example\1",
					     "host.example evil", ".host.example",
					     "host..example",	  "example",
					     "93.184.216.34",	  "wide.example",
					     "xwide.example",	  "a.wide.example"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		denied(w, question(HOST, others[i], 443));
	denied(w, question(WIDE, "wide.example", 443));
	denied(w, question(WIDE, "a.wide.example.evil.example", 443));
	/* The right name by the wrong rule or port. */
	denied(w, question(WIDE, "exact.wide.example", 443));
	denied(w, question(NEAR, "host.example", 443));
	denied(w, question(HOST, "near.example", 443));
	denied(w, question(HOST, "host.example", 80));
	denied(w, question(HOST, "host.example", 0));
	denied(w, question(BLOCK, "host.example", 443));
	denied(w, question(BLOCK, "", 443));
	denied(w, question(TIME, "time.example", 443));
	denied(w, question(6, "host.example", 443));
	denied(w, question(UINT32_MAX, "host.example", 443));
}

static void takes_no_byte_behind_the_name(void **state)
{
	struct world *w = *state;
	struct name_question q = question(HOST, "host.example", 443);
	struct server_question out;
	memcpy(q.name.text + q.name.len + 1, "secret", 6);
	assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	for (size_t i = out.name.len; i < sizeof(out.name.text); i++)
		assert_int_equal(out.name.text[i], 0);
	/* A NUL within, a length that lies. */
	q.name.len += 7;
	assert_int_equal(ask(w, &q, &out), LOOKUP_NO_RULE);
	q.name.len = 255;
	assert_int_equal(ask(w, &q, &out), LOOKUP_NO_RULE);
	q.name.len = 0;
	assert_int_equal(ask(w, &q, &out), LOOKUP_NO_RULE);
}

static struct name_answer answer(struct world *w, struct name_question q, const char *const *all,
				 uint32_t life_ms, int64_t now_ns)
{
	struct server_question out;
	struct name_answer told;
	assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	struct server_answer a = {.number = out.number, .life_ms = life_ms};
	for (; *all; all++)
		a.addresses[a.len++] = address(*all);
	assert_true(answered_take(&w->t, &w->rules, &a, now_ns, &told));
	assert_int_equal(told.failure, LOOKUP_FOUND);
	return told;
}

static bool permits(const struct world *w, uint32_t rule, uint16_t port, const char *text,
		    int64_t now_ns)
{
	const struct address a = address(text);
	return answered_permits(&w->t, rule, port, &a, now_ns);
}

static void opens_what_was_answered(void **state)
{
	struct world *w = *state;
	static const char *const good[] = {"93.184.216.34", "2606:2800:220:1::1", NULL};
	assert_false(permits(w, HOST, 443, "93.184.216.34", 0));
	const struct name_answer told = answer(w, question(HOST, "host.example", 443), good, 5000, 0);
	assert_int_equal(told.verdict, ADDRESS_PERMITTED);
	assert_int_equal(told.len, 2);
	assert_int_equal(told.life_ms, 5000);
	assert_true(permits(w, HOST, 443, "93.184.216.34", 0));
	assert_true(permits(w, HOST, 443, "2606:2800:220:1::1", 0));
	assert_false(permits(w, HOST, 443, "93.184.216.35", 0));
	assert_false(permits(w, HOST, 8443, "93.184.216.34", 0)); /* another port was not asked for */
	assert_false(permits(w, WIDE, 443, "93.184.216.34", 0));
	/* As long as it lives, and whoever began then may go on trying. */
	assert_true(permits(w, HOST, 443, "93.184.216.34", (5 + KEEP_S) * SECOND_NS - 1));
	assert_false(permits(w, HOST, 443, "93.184.216.34", (5 + KEEP_S) * SECOND_NS));
}

static void one_bad_address_closes_all(void **state)
{
	struct world *w = *state;
	static const char *const mixed[] = {"93.184.216.34", "10.0.0.1", NULL},
				 *const near[] = {"10.0.0.1", NULL};
	const struct name_answer told = answer(w, question(HOST, "host.example", 443), mixed, 5000,
					       0);
	assert_int_equal(told.verdict, ADDRESS_NOT_GLOBAL);
	assert_int_equal(told.len, 0);
	const struct address bad = address("10.0.0.1");
	assert_memory_equal(&told.bad, &bad, sizeof(bad));
	assert_false(permits(w, HOST, 443, "93.184.216.34", 0));
	answer(w, question(NEAR, "near.example", 443), near, 5000, 0);
	assert_true(permits(w, NEAR, 443, "10.0.0.1", 0));
}

/* Those that are tried are the first; those that are judged are all. */
static void judges_more_than_it_tries(void **state)
{
	struct world *w = *state;
	const char *all[SERVER_ADDRESSES_MAX + 1] = {NULL};
	for (size_t i = 0; i < SERVER_ADDRESSES_MAX; i++)
		all[i] = i < LOOKUP_ADDRESSES_MAX ? "93.184.216.34" : "93.184.216.35";
	struct name_answer told = answer(w, question(HOST, "host.example", 443), all, 1000, 0);
	assert_int_equal(told.len, LOOKUP_ADDRESSES_MAX);
	assert_false(permits(w, HOST, 443, "93.184.216.35", 0));
	all[SERVER_ADDRESSES_MAX - 1] = "127.0.0.1";
	told = answer(w, question(HOST, "host.example", 8443), all, 1000, 0);
	assert_int_equal(told.verdict, ADDRESS_NOT_GLOBAL);
}

static void takes_no_nonsense_from_the_resolver(void **state)
{
	struct world *w = *state;
	const struct name_question q = question(HOST, "host.example", 443);
	struct server_question out;
	struct name_answer told;
	assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	struct server_answer a = {.number = out.number, .len = 1};
	a.addresses[0] = address("93.184.216.34");
	static const struct {
		uint32_t further, failure, len;
	} nonsense[] = {
		{1, LOOKUP_FOUND, 1},
		{ANSWERED_MAX, LOOKUP_FOUND, 1},
		{0, LOOKUP_FOUND, SERVER_ADDRESSES_MAX + 1},
		{0, LOOKUP_FOUND, 0},
		{0, LOOKUP_NO_RULE, 1},
		{0, LOOKUP_NO_NAME, 1},
	};
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct server_answer bad = a;
		bad.number += nonsense[i].further;
		bad.failure = nonsense[i].failure;
		bad.len = nonsense[i].len;
		assert_false(takes(w, &bad, NULL));
	}
	a.life_ms = UINT32_MAX;
	assert_true(takes(w, &a, &told));
	assert_int_equal(told.life_ms, ANSWERED_LIFE_MAX_MS);
	assert_false(takes(w, &a, NULL)); /* once */
}

static void is_bounded(void **state)
{
	struct world *w = *state;
	static const char *const good[] = {"93.184.216.34", NULL};
	struct server_question out;
	const struct name_question q = question(WIDE, "a.wide.example", 443);
	for (int i = 0; i < LOOKUPS_MAX; i++)
		assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	assert_int_equal(ask(w, &q, &out), LOOKUP_TOO_MANY);
	for (uint32_t i = 0; i < LOOKUPS_MAX; i++) {
		const struct server_answer a = {.number = i, .failure = LOOKUP_NO_NAME};
		assert_true(takes(w, &a, NULL));
	}
	/* The oldest makes room, and nobody who is still asked for. */
	answer(w, question(HOST, "host.example", 443), good, 300000, 0);
	assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	const struct server_answer late = {.number = out.number, .failure = LOOKUP_NO_NAME};
	for (int i = LOOKUPS_MAX + 2; i < ANSWERED_MAX + LOOKUPS_MAX; i++) {
		assert_true(permits(w, HOST, 443, "93.184.216.34", 0));
		answer(w, q, good, 300000, 0);
	}
	answer(w, q, good, 300000, 0);
	assert_false(permits(w, HOST, 443, "93.184.216.34", 0));
	assert_true(permits(w, WIDE, 443, "93.184.216.34", 0));
	answer(w, q, good, 300000, 0);
	struct name_answer told;
	assert_true(takes(w, &late, &told));
	assert_int_equal(told.failure, LOOKUP_NO_NAME);
	assert_int_equal(w->t.pending, 0);
}

static void forgets(void **state)
{
	struct world *w = *state;
	const struct name_question q = question(HOST, "host.example", 443);
	struct server_question out;
	assert_int_equal(ask(w, &q, &out), LOOKUP_FOUND);
	answered_forget(&w->t, &out);
	assert_int_equal(w->t.pending, 0);
	const struct server_answer a = {.number = out.number, .failure = LOOKUP_NO_NAME};
	assert_false(takes(w, &a, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(asks_for_what_a_rule_decides, set_up, tear_down),
		cmocka_unit_test_setup_teardown(asks_for_nothing_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_no_byte_behind_the_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(opens_what_was_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_bad_address_closes_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(judges_more_than_it_tries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_no_nonsense_from_the_resolver, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forgets, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
