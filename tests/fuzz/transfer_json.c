/* Any bytes as JSON. What our reader takes jansson takes too, and the other way round, but for what
 * the two say of numbers that are out of range or very long, of depth and of a NUL in a key; and
 * what jansson writes of it is the same value for our reader. Behind a NUL the rest is a document
 * for the first part as a schema. What is refused is refused in words that a terminal may see. */
#include "transfer/json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* jansson.h has types of the same names as none of ours, but its words would be hard to tell apart. */
#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Each node lies in the text and in its parent, and the walk meets every one. */
static void check_tree(const struct tree *t)
{
	for (uint32_t i = 0; i < t->used; i++) {
		const struct tree_node *n = &t->nodes[i];
		must(n->at <= n->end && n->end <= t->len && n->next > i && n->next <= t->used);
		if (n->kind == TREE_NUMBER)
			tree_value(t, n);
		if (n->kind == TREE_STRING)
			must(tree_length(t, n) <= n->end - n->at);
	}
	must(t->nodes[0].next == t->used);
}

static void check_words(const struct err *e)
{
	must(e->kind == ERR_USAGE && e->msg[0]);
	for (const char *c = e->msg; *c; c++)
		must(*c >= 0x20 && *c < 0x7f);
}

/* Members are looked for one by one, so only what has few of them is compared. */
static void check_value(const struct tree *ours, const json_t *theirs)
{
	enum { FEW = 2000 };
	struct tree t;
	struct err e = ERR_INIT;
	if (ours->used > FEW)
		return;
	char *text = json_dumps(theirs, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	must(text && tree_read(&t, text, strlen(text), &e) == 0);
	must(t.used == ours->used && tree_equal(ours, ours->nodes, &t, t.nodes) &&
	     tree_equal(&t, t.nodes, ours, ours->nodes));
	tree_close(&t);
	free(text);
}

/* ours: NULL where it was refused. */
static void compare(const char *text, size_t len, const struct tree *ours, const struct err *e)
{
	json_error_t je;
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
	json_t *theirs = json_loadb(text, len, flags, &je);
	/* RFC 8259, 7 has a NUL in any string; jansson's keys are C's strings. */
	const bool range = !theirs && (json_error_code(&je) == json_error_numeric_overflow ||
				       json_error_code(&je) == json_error_null_byte_in_key);
	const bool deep = !ours && strstr(e->msg, "nested deeper");
	const bool digits = !ours && strstr(e->msg, "a number longer");
	if (!range && !deep && !digits)
		must((ours != NULL) == (theirs != NULL));
	if (ours && theirs)
		check_value(ours, theirs);
	json_decref(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tree s, d;
	struct err e = ERR_INIT;
	const char *text = (const char *)data;
	const char *cut = size ? memchr(text, 0, size) : NULL;
	const size_t len = cut ? (size_t)(cut - text) : size;
	const bool first = tree_read(&s, text, len, &e) == 0;
	compare(text, len, first ? &s : NULL, &e);
	if (!first) {
		check_words(&e);
		return 0;
	}
	check_tree(&s);
	const bool schema = schema_check(&s, &e) == 0;
	if (!schema)
		check_words(&e);
	if (cut && tree_read(&d, cut + 1, size - len - 1, &e) == 0) {
		check_tree(&d);
		if (schema && schema_holds(&s, &d, &e) < 0)
			check_words(&e);
		tree_close(&d);
	}
	tree_close(&s);
	return 0;
}
