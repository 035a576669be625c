/* Any bytes as JSON. What our reader takes jansson takes too, and the other way round, but for what
 * the two say of numbers that are out of range and of depth. Behind a NUL the rest is a document
 * for the first part as a schema. */
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
	must(tree_equal(t, t->nodes, t, t->nodes) || t->used > 1 || t->nodes[0].kind == TREE_NUMBER);
}

static void compare(const char *text, size_t len, bool ours, const struct err *e)
{
	json_error_t je;
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
	json_t *theirs = json_loadb(text, len, flags, &je);
	const bool range = !theirs && json_error_code(&je) == json_error_numeric_overflow;
	const bool deep = !ours && strstr(e->msg, "nested deeper");
	if (!range && !deep)
		must(ours == (theirs != NULL));
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
	compare(text, len, first, &e);
	if (!first)
		return 0;
	check_tree(&s);
	const bool schema = schema_check(&s, &e) == 0;
	if (cut && tree_read(&d, cut + 1, size - len - 1, &e) == 0) {
		check_tree(&d);
		if (schema)
			schema_holds(&s, &d, &e);
		tree_close(&d);
	}
	tree_close(&s);
	return 0;
}
