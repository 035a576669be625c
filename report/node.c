#include "report/node.h"

#include "report/read.h"
#include "spec/base64.h"
#include "spec/locate.h"
#include "spec/syntax.h"

#include <math.h>
#include <string.h>

/* Rows of anything: no result of Pinfold's has as many. */
enum { DEPTH_MAX = 16, ROWS_MAX = 65536, ROWS_SUM_MAX = 1 << 19 };

#define TOO_MANY "more of them than any result has"

static int refuse_at(const struct reading *r, size_t at, const char *why, struct err *e)
{
	const struct json_text j = {r->text, r->len};
	size_t line, column;
	locate_position(&j, at, &line, &column);
	return err_usage(e, "%s:%zu:%zu: %s", r->name, line, column, why);
}

json_t *node_parse(struct reading *r, struct err *e)
{
	const struct json_text j = {r->text, r->len};
	const size_t deep = locate_too_deep(&j, DEPTH_MAX);
	json_error_t found;
	if (deep < r->len) {
		refuse_at(r, deep, "nested too deep", e);
		return NULL;
	}
	json_t *root = json_loadb(r->text, r->len, JSON_REJECT_DUPLICATES, &found);
	if (!root && !found.text[0]) {
		err_usage(e, "%s:1:1: it takes more memory than its reader may have", r->name);
	} else if (!root) {
		syntax_refuse(r->name, &j, &found, e);
	} else if (!json_is_object(root)) {
		refuse_at(r, locate_start(&j), "an object belongs here, in braces", e);
		json_decref(root);
		root = NULL;
	}
	return root;
}

struct node node_root(const json_t *root)
{
	return (struct node){.value = root};
}

struct node node_member(const struct node *up, const char *key)
{
	return (struct node){json_object_get(up->value, key), up, key, 0};
}

struct node node_element(const struct node *up, size_t index)
{
	return (struct node){json_array_get(up->value, index), up, NULL, index};
}

bool node_is_of(const struct node *n, const char *schema)
{
	const char *told = json_string_value(json_object_get(n->value, "schema"));
	return told && strcmp(told, schema) == 0;
}

static bool is_key(const struct json_text *j, struct slice key, const char *name)
{
	const size_t len = strlen(name);
	return key.end - key.at == len + 2 && memcmp(j->text + key.at + 1, name, len) == 0;
}

/* The place of its value; of what has none, or a key that is spelled with escapes, what it is in. */
static size_t place_of(const struct json_text *j, const struct node *n)
{
	if (!n->up)
		return locate_start(j);
	const size_t up = place_of(j, n->up);
	size_t at = up;
	struct member m;
	for (size_t i = 0; locate_next(j, &at, &m); i++)
		if (n->key ? is_key(j, m.key, n->key) : i == n->index)
			return m.value.at;
	return up;
}

void node_refuse(struct reading *r, const struct node *n, const char *why)
{
	const struct json_text j = {r->text, r->len};
	if (r->bad)
		return;
	r->bad = true;
	size_t line, column;
	locate_position(&j, place_of(&j, n), &line, &column);
	err_usage(r->e, "%s:%zu:%zu: %s%s%s", r->name, line, column, n->key ? n->key : "",
		  n->key ? ": " : "", why);
}

/* {"encoding": "base64", "data": ...} */
static struct bytes decode(struct reading *r, const struct node *n)
{
	const char *encoding = json_string_value(json_object_get(n->value, "encoding"));
	const json_t *data = json_object_get(n->value, "data");
	const size_t len = json_string_length(data);
	if (!encoding || strcmp(encoding, "base64") != 0 || !json_is_string(data)) {
		node_refuse(r, n,
			    "a string belongs here, or {\"encoding\": \"base64\", \"data\": ...}");
		return (struct bytes){NULL, 0};
	}
	char *to = arena_alloc(r->arena, len + 1);
	const size_t got = base64_decode(json_string_value(data), len, to);
	if (got == (size_t)-1) {
		node_refuse(r, n, "the data are not base64");
		return (struct bytes){NULL, 0};
	}
	return (struct bytes){to, got};
}

struct bytes node_text_itself(struct reading *r, const struct node *n)
{
	if (!n->value || json_is_null(n->value))
		return (struct bytes){NULL, 0};
	if (!json_is_string(n->value))
		return decode(r, n);
	const size_t len = json_string_length(n->value);
	return (struct bytes){arena_strndup(r->arena, json_string_value(n->value), len), len};
}

struct bytes node_text(struct reading *r, const struct node *up, const char *key)
{
	const struct node n = node_member(up, key);
	return node_text_itself(r, &n);
}

int64_t node_number(struct reading *r, const struct node *up, const char *key)
{
	const struct node n = node_member(up, key);
	if (!n.value || json_is_null(n.value))
		return NUM_UNKNOWN;
	if (json_is_integer(n.value) && json_integer_value(n.value) >= 0)
		return json_integer_value(n.value);
	node_refuse(r, &n, "a whole number from 0 on, or null, belongs here");
	return NUM_UNKNOWN;
}

struct real_told node_real(struct reading *r, const struct node *up, const char *key)
{
	const struct node n = node_member(up, key);
	if (!n.value || json_is_null(n.value))
		return (struct real_told){false, 0};
	const double value = json_number_value(n.value);
	if (json_is_number(n.value) && isfinite(value) && value >= 0)
		return (struct real_told){true, value};
	node_refuse(r, &n, "a number from 0 on, or null, belongs here");
	return (struct real_told){false, 0};
}

bool node_flag(struct reading *r, const struct node *up, const char *key)
{
	const struct node n = node_member(up, key);
	if (n.value && !json_is_boolean(n.value) && !json_is_null(n.value))
		node_refuse(r, &n, "true or false belongs here");
	return json_is_true(n.value);
}

/* What a row becomes takes more room than what is written of it. */
static void bound_rows(struct reading *r, struct node *n, size_t len)
{
	if (len <= ROWS_MAX && len <= ROWS_SUM_MAX - r->rows) {
		r->rows += len;
		return;
	}
	node_refuse(r, n, TOO_MANY);
	n->value = NULL;
}

struct node node_object(struct reading *r, const struct node *up, const char *key)
{
	struct node n = node_member(up, key);
	if (n.value && !json_is_object(n.value)) {
		if (!json_is_null(n.value))
			node_refuse(r, &n, "an object belongs here");
		n.value = NULL;
	}
	bound_rows(r, &n, json_object_size(n.value));
	return n;
}

struct node node_array(struct reading *r, const struct node *up, const char *key, size_t *len)
{
	struct node n = node_member(up, key);
	if (n.value && !json_is_array(n.value)) {
		if (!json_is_null(n.value))
			node_refuse(r, &n, "an array belongs here");
		n.value = NULL;
	}
	bound_rows(r, &n, json_array_size(n.value));
	*len = json_array_size(n.value);
	return n;
}
