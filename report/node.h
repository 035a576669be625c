/* A value of a JSON document, and the way to it: jansson keeps no places, so that where
 * something is wrong is found by walking once more. */
#ifndef PINFOLD_REPORT_NODE_H
#define PINFOLD_REPORT_NODE_H

#include "base/arena.h"
#include "base/err.h"
#include "report/model.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the reading of one document shares. bad: the first thing that was wrong is in *e. */
struct reading {
	const char *name, *text;
	size_t len;
	struct arena *arena;
	struct err *e;
	bool bad;
	size_t rows; /* of all its arrays and objects so far */
};

struct node {
	const json_t *value; /* NULL: it is not there */
	const struct node *up;
	const char *key; /* in an object; else */
	size_t index;	 /* in an array */
};

/* The document's root; NULL and *e. The caller drops it. */
json_t *node_parse(struct reading *r, struct err *e);

struct node node_root(const json_t *root);
struct node node_member(const struct node *up, const char *key);
struct node node_element(const struct node *up, size_t index);

/* Whether it says that it is of that schema. */
bool node_is_of(const struct node *n, const char *schema);

/* Wrong at that place, with a sentence; the first one stays. */
void node_refuse(struct reading *r, const struct node *n, const char *why);

/* Missing and null tell nothing; a wrong type is refused. */
struct bytes node_text(struct reading *r, const struct node *up, const char *key);
struct bytes node_text_itself(struct reading *r, const struct node *n);
int64_t node_number(struct reading *r, const struct node *up, const char *key);
/* One that need not be a whole one, and is finite; from 0 on. */
struct real_told node_real(struct reading *r, const struct node *up, const char *key);
bool node_flag(struct reading *r, const struct node *up, const char *key);
/* An object: one that is missing has no members. */
struct node node_object(struct reading *r, const struct node *up, const char *key);
struct node node_array(struct reading *r, const struct node *up, const char *key, size_t *len);

#endif
