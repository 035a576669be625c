#include "pipeline/scan/predicate.h"

#include "pipeline/scan/literal.h"
#include "pipeline/scan/spelled.h"
#include "spec/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MAX = 256,  /* of one predicate */
	MATCH_MAX = 4096, /* bytes that an expression is held against */
};

enum verb {
	VERB_EQ,
	VERB_ANY_OF,
	VERB_MATCH,
	VERB_RESOLVES,
	VERB_OUTSIDE,
	VERB_BLOB,
	VERB_LONGER,
	VERB_LITERAL,
	VERBS
};

static const struct {
	const char *name;
	size_t least, most; /* words behind the capture */
} verbs[VERBS] = {
	[VERB_EQ] = {"eq?", 1, 1},	     [VERB_ANY_OF] = {"any-of?", 1, WORDS_MAX},
	[VERB_MATCH] = {"match?", 1, 1},     [VERB_RESOLVES] = {"resolves?", 1, WORDS_MAX},
	[VERB_OUTSIDE] = {"outside?", 0, 0}, [VERB_BLOB] = {"blob?", 0, 0},
	[VERB_LONGER] = {"longer?", 1, 1},   [VERB_LITERAL] = {"literal?", 0, 0},
};

struct test {
	enum verb verb;
	bool not;
	uint32_t capture;
	int other; /* eq?: another capture; -1 */
	const char **words;
	size_t words_len;
	regex_t *expression;
	size_t number;
};

/* ---- compiling ---- */

static bool find_verb(const char *name, struct test *t)
{
	t->not = strncmp(name, "not-", 4) == 0;
	for (int i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, name + (t->not? 4 : 0)) == 0) {
			t->verb = (enum verb)i;
			return true;
		}
	return false;
}

static const char *string_of(const TSQuery *q, uint32_t id)
{
	uint32_t len;
	return ts_query_string_value_for_id(q, id, &len);
}

static int take_expression(struct test *t, struct arena *a, struct err *e)
{
	char why[128];
	t->expression = arena_alloc(a, sizeof(*t->expression));
	const int wrong = regcomp(t->expression, t->words[0], REG_EXTENDED | REG_NOSUB);
	if (wrong == 0)
		return 0;
	regerror(wrong, t->expression, why, sizeof(why));
	t->expression = NULL;
	return err_usage(e, "%s: %s", show(t->words[0]).text, why);
}

static int take_words(struct test *t, struct arena *a, struct err *e)
{
	const size_t given = t->words_len + (t->other >= 0);
	if (given < verbs[t->verb].least || given > verbs[t->verb].most)
		return err_usage(e, "#%s takes another number of words", verbs[t->verb].name);
	if (t->other >= 0 && t->verb != VERB_EQ)
		return err_usage(e, "#%s takes texts, no captures", verbs[t->verb].name);
	if (t->verb == VERB_MATCH)
		return take_expression(t, a, e);
	if (t->verb == VERB_LONGER) {
		char *end;
		t->number = strtoul(t->words[0], &end, 10);
		if (*end || t->number == 0)
			return err_usage(e, "#longer? takes a number of bytes");
	}
	return 0;
}

/* The first is the name; the one that says "done" is not among them. */
struct steps {
	const TSQueryPredicateStep *at;
	size_t len;
};

static void compile_one(const TSQuery *q, const struct steps *s, struct test *t, struct arena *a)
{
	t->other = -1;
	t->words = arena_alloc(a, s->len * sizeof(*t->words));
	for (size_t i = 2; i < s->len; i++) {
		if (s->at[i].type == TSQueryPredicateStepTypeCapture)
			t->other = (int)s->at[i].value_id;
		else
			t->words[t->words_len++] = string_of(q, s->at[i].value_id);
	}
	t->capture = s->at[1].value_id;
}

static int take_predicate(const TSQuery *q, const struct steps *s, struct pattern *to,
			  struct arena *a, struct err *e)
{
	struct test *t = &to->tests[to->tests_len];
	if (s->len == 0 || s->at[0].type != TSQueryPredicateStepTypeString)
		return err_usage(e, "a predicate without a name");
	const char *name = string_of(q, s->at[0].value_id);
	if (!find_verb(name, t))
		return err_usage(e, "there is no predicate %s", show(name).text);
	if (s->len < 2 || s->at[1].type != TSQueryPredicateStepTypeCapture)
		return err_usage(e, "#%s: the first word is to be a capture", verbs[t->verb].name);
	to->tests_len++;
	compile_one(q, s, t, a);
	return take_words(t, a, e);
}

int predicates_compile(const TSQuery *q, uint32_t pattern, struct pattern *to, struct arena *a,
		       struct err *e)
{
	uint32_t len, count = 0;
	const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(q, pattern, &len);
	for (uint32_t i = 0; i < len; i++)
		count += steps[i].type == TSQueryPredicateStepTypeDone;
	to->tests = arena_alloc(a, (count + 1) * sizeof(*to->tests));
	to->tests_len = 0;
	for (uint32_t i = 0, from = 0; i < len; i++) {
		if (steps[i].type != TSQueryPredicateStepTypeDone)
			continue;
		const struct steps one = {steps + from, i - from};
		if (take_predicate(q, &one, to, a, e) < 0)
			return -1;
		from = i + 1;
	}
	return 0;
}

void predicates_free(struct pattern *p)
{
	for (size_t i = 0; i < p->tests_len; i++)
		if (p->tests[i].expression)
			regfree(p->tests[i].expression);
	p->tests_len = 0;
}

int predicates_capture(const TSQuery *q, const char *name)
{
	for (uint32_t i = 0; i < ts_query_capture_count(q); i++) {
		uint32_t len;
		if (strcmp(ts_query_capture_name_for_id(q, i, &len), name) == 0)
			return (int)i;
	}
	return -1;
}

/* ---- holding ---- */

static bool find_node(const TSQueryMatch *m, uint32_t capture, TSNode *node)
{
	for (uint16_t i = 0; i < m->capture_count; i++)
		if (m->captures[i].index == capture) {
			*node = m->captures[i].node;
			return true;
		}
	return false;
}

static struct span text_of(const struct subject *s, TSNode node)
{
	const uint32_t from = ts_node_start_byte(node), end = ts_node_end_byte(node);
	return (struct span){s->text + from, end - from};
}

static bool is_word(struct span t, const char *word)
{
	return strlen(word) == t.len && memcmp(word, t.at, t.len) == 0;
}

static bool any_word(const struct test *t, struct span text)
{
	for (size_t i = 0; i < t->words_len; i++)
		if (is_word(text, t->words[i]))
			return true;
	return false;
}

static bool matches(const struct test *t, struct span text)
{
	char buf[MATCH_MAX];
	const size_t len = text.len < sizeof(buf) ? text.len : sizeof(buf) - 1;
	for (size_t i = 0; i < len; i++)
		buf[i] = text.at[i] ? text.at[i] : ' ';
	buf[len] = '\0';
	return regexec(t->expression, buf, 0, NULL, 0) == 0;
}

struct wanted {
	const struct test *test;
	char *detail;
};

static bool is_wanted(const char *name, void *arg)
{
	const struct wanted *w = arg;
	for (size_t i = 0; i < w->test->words_len; i++)
		if (spelled_match(w->test->words[i], name)) {
			snprintf(w->detail, SPELLED_MAX, "%s", name);
			return true;
		}
	return false;
}

static bool resolves(const struct test *t, const struct subject *s, TSNode node, char *detail)
{
	return names_any(s->names, node, is_wanted, &(struct wanted){t, detail});
}

static TSNode field_of(TSNode node, const char *name)
{
	return ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}

static bool ends_with(struct span t, const char *end)
{
	const size_t len = strlen(end);
	return t.len >= len && memcmp(t.at + t.len - len, end, len) == 0;
}

/* A path in C++ begins with what stands furthest to the left: string("/root/") + name. */
static TSNode leftmost(const struct subject *s, TSNode node)
{
	for (int deep = 0; deep < 64; deep++) {
		const TSNode made = field_of(node, "function"), words = field_of(node, "arguments");
		TSNode next = field_of(node, "left");
		if (!ts_node_is_null(made) && !ts_node_is_null(words) &&
		    (ends_with(text_of(s, made), "path") || ends_with(text_of(s, made), "string")))
			next = ts_node_named_child(words, 0);
		if (ts_node_is_null(next))
			break;
		node = next;
	}
	return node;
}

static bool outside(const struct subject *s, TSNode node, char *detail)
{
	char path[SPELLED_MAX];
	if (s->names->language == LANGUAGE_CPP)
		node = leftmost(s, node);
	if (!names_literal(s->names, node, path, sizeof(path)))
		literal_read(text_of(s, node), path, sizeof(path));
	if (!literal_outside(path))
		return false;
	snprintf(detail, SPELLED_MAX, "%s", path);
	return true;
}

static bool equal(const struct test *t, const TSQueryMatch *m, const struct subject *s, TSNode node)
{
	TSNode other;
	const struct span text = text_of(s, node);
	if (t->other < 0)
		return is_word(text, t->words[0]);
	if (!find_node(m, (uint32_t)t->other, &other))
		return false;
	const struct span o = text_of(s, other);
	return o.len == text.len && memcmp(o.at, text.at, o.len) == 0;
}

static bool holds(const struct test *t, const TSQueryMatch *m, const struct subject *s, char *detail)
{
	TSNode node;
	char text[SPELLED_MAX];
	if (!find_node(m, t->capture, &node))
		return true;
	switch (t->verb) {
	case VERB_EQ:
		return equal(t, m, s, node) != t->not;
	case VERB_ANY_OF:
		return any_word(t, text_of(s, node)) != t->not;
	case VERB_MATCH:
		return matches(t, text_of(s, node)) != t->not;
	case VERB_RESOLVES:
		return resolves(t, s, node, t->not? text : detail) != t->not;
	case VERB_OUTSIDE:
		return outside(s, node, t->not? text : detail) != t->not;
	case VERB_BLOB:
		return literal_blob(text_of(s, node)) != t->not;
	case VERB_LONGER:
		return (text_of(s, node).len > t->number) != t->not;
	case VERB_LITERAL:
		return names_literal(s->names, node, text, sizeof(text)) != t->not;
	case VERBS:
		break;
	}
	return false;
}

bool rules_hold(const struct language_rules *lr, const TSQueryMatch *m, const struct subject *s,
		char *detail)
{
	const struct pattern *p = &lr->patterns[m->pattern_index];
	detail[0] = '\0';
	for (size_t i = 0; i < p->tests_len; i++)
		if (!holds(&p->tests[i], m, s, detail))
			return false;
	return true;
}
