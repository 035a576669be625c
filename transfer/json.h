/* JSON of a stranger's, read into a table of nodes within bounds (RFC 8259), and held against a schema.
 *
 * Stricter than the grammar where readers differ: UTF-8 throughout, no lone surrogate, no key twice in
 * one object, no byte order mark. No system call but memory.
 */
#ifndef PINFOLD_TRANSFER_JSON_H
#define PINFOLD_TRANSFER_JSON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_BYTES_MAX = 64 << 20, JSON_DEPTH_MAX = 64, JSON_NODES_MAX = 2000000 };

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Children follow their parent; of an object a key and its value by turns. */
struct json_node {
	uint32_t at, end; /* in the text; of a string without its quotes */
	uint32_t next;	  /* the node behind this one and all in it */
	uint32_t count;	  /* elements or members */
	enum json_kind kind;
};

struct json_tree {
	const char *text;
	size_t len;
	struct json_node *nodes; /* the first is the document */
	uint32_t used, room;
};

/* text is borrowed for as long as the tree lives. ERR_USAGE: "line 3, column 7: ...". */
int json_read(struct json_tree *t, const char *text, size_t len, struct err *e);
void json_close(struct json_tree *t);

/* The value of that member; NULL: there is none, or node is no object. name: plain text. */
const struct json_node *json_member(const struct json_tree *t, const struct json_node *node,
				    const char *name);
static inline const struct json_node *json_first(const struct json_node *n)
{
	return n + 1;
}
static inline const struct json_node *json_next(const struct json_tree *t, const struct json_node *n)
{
	return t->nodes + n->next;
}
bool json_is_text(const struct json_tree *t, const struct json_node *string, const char *text);
double json_value(const struct json_tree *t, const struct json_node *number);
/* Characters, not bytes. */
size_t json_length(const struct json_tree *t, const struct json_node *string);
/* As JSON Schema has it: 1 and 1.0 are equal, the order of members does not count. */
bool json_equal(const struct json_tree *a, const struct json_node *x, const struct json_tree *b,
		const struct json_node *y);
int json_complain(const struct json_tree *t, size_t at, const char *what, struct err *e);

/* Whether a schema is one that schema_holds() can hold a document against: a useful part of JSON
 * Schema 2020-12. ERR_USAGE names the first keyword that is not supported. See pinfold-spec(5). */
int schema_check(const struct json_tree *schema, struct err *e);
/* ERR_USAGE: where the document does not fit, and to which keyword. */
int schema_holds(const struct json_tree *schema, const struct json_tree *doc, struct err *e);

#endif
