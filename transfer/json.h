/* JSON of a stranger's, read into a table of nodes within bounds (RFC 8259), and held against a schema.
 *
 * Stricter than the grammar where readers differ: UTF-8 throughout, no lone surrogate, no key twice in
 * one object, no byte order mark, no number of thousands of digits. No system call but memory.
 */
#ifndef PINFOLD_TRANSFER_JSON_H
#define PINFOLD_TRANSFER_JSON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TREE_BYTES_MAX = 64 << 20,
	TREE_DEPTH_MAX = 64,
	TREE_NODES_MAX = 2000000,
	TREE_NUMBER_BYTES_MAX = 4096,
};

enum tree_kind {
	TREE_NULL,
	TREE_FALSE,
	TREE_TRUE,
	TREE_NUMBER,
	TREE_STRING,
	TREE_ARRAY,
	TREE_OBJECT,
};

/* Children follow their parent; of an object a key and its value by turns. */
struct tree_node {
	uint32_t at, end; /* in the text; of a string without its quotes */
	uint32_t next;	  /* the node behind this one and all in it */
	uint32_t count;	  /* elements or members */
	enum tree_kind kind;
};

struct tree {
	const char *text;
	size_t len;
	struct tree_node *nodes; /* the first is the document */
	uint32_t used, room;
};

/* text is borrowed for as long as the tree lives. ERR_USAGE: "line 3, column 7: ...". */
int tree_read(struct tree *t, const char *text, size_t len, struct err *e);
void tree_close(struct tree *t);

/* The value of that member; NULL: there is none, or node is no object. name: plain text. */
const struct tree_node *tree_member(const struct tree *t, const struct tree_node *node,
				    const char *name);
static inline const struct tree_node *tree_first(const struct tree_node *n)
{
	return n + 1;
}
static inline const struct tree_node *tree_next(const struct tree *t, const struct tree_node *n)
{
	return t->nodes + n->next;
}
bool tree_is_text(const struct tree *t, const struct tree_node *string, const char *text);
double tree_value(const struct tree *t, const struct tree_node *number);
/* Characters, not bytes. */
size_t tree_length(const struct tree *t, const struct tree_node *string);
/* As JSON Schema has it: 1 and 1.0 are equal, the order of members does not count. */
bool tree_equal(const struct tree *a, const struct tree_node *x, const struct tree *b,
		const struct tree_node *y);
int tree_complain(const struct tree *t, size_t at, const char *what, struct err *e);

/* Whether a schema is one that schema_holds() can hold a document against: a useful part of JSON
 * Schema 2020-12. ERR_USAGE names the first keyword that is not supported. See pinfold-spec(5). */
int schema_check(const struct tree *schema, struct err *e);
/* ERR_USAGE: where the document does not fit, and to which keyword. */
int schema_holds(const struct tree *schema, const struct tree *doc, struct err *e);

#endif
