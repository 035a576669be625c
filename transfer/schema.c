/* A part of JSON Schema 2020-12: what needs no reference, no regular expression and no network. Whatever else
 * stands in a schema is refused when it is read, so that nothing is taken for checked that was not. */
#include "transfer/json.h"

#include <stdio.h>
#include <string.h>

struct place {
	const struct tree *schema, *doc;
	const struct tree_node *s, *d; /* the schema and the value that it is about */
	bool quiet; /* what does not fit need not be said, nor its place be counted */
};

static int fits(const struct place *p, struct err *e);

/* ---- keywords: whether w, its value in the schema, is well formed ---- */

typedef int form_fn(const struct tree *t, const struct tree_node *w, struct err *e);

static int check_one(const struct tree *t, const struct tree_node *s, struct err *e);

static int refuse(const struct tree *t, const struct tree_node *w, const char *what, struct err *e)
{
	return tree_complain(t, w->at, what, e);
}

static int form_any(const struct tree *t, const struct tree_node *w, struct err *e)
{
	(void)t, (void)w, (void)e;
	return 0;
}

static const char *const type_names[] = {"null",   "boolean", "number", "integer",
					 "string", "array",   "object"};
enum { TYPES = sizeof(type_names) / sizeof(*type_names) };

static int form_type(const struct tree *t, const struct tree_node *w, struct err *e)
{
	const bool list = w->kind == TREE_ARRAY;
	const struct tree_node *at = list ? tree_first(w) : w;
	for (uint32_t i = 0; i < (list ? w->count : 1); i++) {
		size_t n = 0;
		while (n < TYPES && !(at->kind == TREE_STRING && tree_is_text(t, at, type_names[n])))
			n++;
		if (n == TYPES)
			return refuse(t, at, "no name of a type", e);
		at = list ? tree_next(t, at) : at;
	}
	return 0;
}

static int form_list(const struct tree *t, const struct tree_node *w, struct err *e)
{
	return w->kind == TREE_ARRAY ? 0 : refuse(t, w, "an array belongs here", e);
}

static int form_names(const struct tree *t, const struct tree_node *w, struct err *e)
{
	const struct tree_node *at = tree_first(w);
	if (w->kind != TREE_ARRAY)
		return refuse(t, w, "an array of names belongs here", e);
	for (uint32_t i = 0; i < w->count; i++, at = tree_next(t, at))
		if (at->kind != TREE_STRING)
			return refuse(t, at, "a name belongs here", e);
	return 0;
}

static int form_number(const struct tree *t, const struct tree_node *w, struct err *e)
{
	return w->kind == TREE_NUMBER ? 0 : refuse(t, w, "a number belongs here", e);
}

/* Beyond 2^53 a double has no fraction. Not floor(3): a library for one call. */
static bool is_whole(double v)
{
	const double all_whole = 9007199254740992.0;
	return v >= all_whole || v <= -all_whole || v == (double)(int64_t)v;
}

static int form_count(const struct tree *t, const struct tree_node *w, struct err *e)
{
	if (w->kind == TREE_NUMBER && tree_value(t, w) >= 0 && is_whole(tree_value(t, w)))
		return 0;
	return refuse(t, w, "a whole number belongs here", e);
}

static int form_bool(const struct tree *t, const struct tree_node *w, struct err *e)
{
	return w->kind == TREE_TRUE || w->kind == TREE_FALSE
		       ? 0
		       : refuse(t, w, "true or false belongs here", e);
}

static int form_schemas(const struct tree *t, const struct tree_node *w, struct err *e)
{
	const struct tree_node *at = tree_first(w);
	if (w->kind != TREE_OBJECT)
		return refuse(t, w, "an object of schemas belongs here", e);
	for (uint32_t i = 0; i < w->count; i++) {
		at = tree_next(t, at);
		if (check_one(t, at, e) < 0)
			return -1;
		at = tree_next(t, at);
	}
	return 0;
}

static int form_schema_list(const struct tree *t, const struct tree_node *w, struct err *e)
{
	const struct tree_node *at = tree_first(w);
	if (w->kind != TREE_ARRAY || w->count == 0)
		return refuse(t, w, "an array of schemas belongs here", e);
	for (uint32_t i = 0; i < w->count; i++, at = tree_next(t, at))
		if (check_one(t, at, e) < 0)
			return -1;
	return 0;
}

/* ---- keywords: whether p->d satisfies w ---- */

typedef bool test_fn(const struct place *p, const struct tree_node *w);

static bool is_type(const struct place *p, const struct tree_node *name)
{
	static const enum tree_kind kinds[TYPES] = {TREE_NULL,	 TREE_TRUE,   TREE_NUMBER,
						    TREE_NUMBER, TREE_STRING, TREE_ARRAY,
						    TREE_OBJECT};
	const enum tree_kind kind = p->d->kind == TREE_FALSE ? TREE_TRUE : p->d->kind;
	for (size_t n = 0; n < TYPES; n++) {
		if (!tree_is_text(p->schema, name, type_names[n]))
			continue;
		if (kind != kinds[n])
			return false;
		const double v = n == 3 ? tree_value(p->doc, p->d) : 0;
		return is_whole(v);
	}
	return false;
}

static bool test_type(const struct place *p, const struct tree_node *w)
{
	if (w->kind == TREE_STRING)
		return is_type(p, w);
	const struct tree_node *at = tree_first(w);
	for (uint32_t i = 0; i < w->count; i++, at = tree_next(p->schema, at))
		if (is_type(p, at))
			return true;
	return false;
}

static bool test_const(const struct place *p, const struct tree_node *w)
{
	return tree_equal(p->schema, w, p->doc, p->d);
}

static bool test_enum(const struct place *p, const struct tree_node *w)
{
	const struct tree_node *at = tree_first(w);
	for (uint32_t i = 0; i < w->count; i++, at = tree_next(p->schema, at))
		if (tree_equal(p->schema, at, p->doc, p->d))
			return true;
	return false;
}

/* of a kind alone; what is of another is not the keyword's business */
#define BOUND(name, KIND, value, relation)                                                       \
	static bool name(const struct place *p, const struct tree_node *w)                       \
	{                                                                                        \
		return p->d->kind != (KIND) || (double)(value)relation tree_value(p->schema, w); \
	}
BOUND(test_minimum, TREE_NUMBER, tree_value(p->doc, p->d), >=)
BOUND(test_maximum, TREE_NUMBER, tree_value(p->doc, p->d), <=)
BOUND(test_above, TREE_NUMBER, tree_value(p->doc, p->d), >)
BOUND(test_below, TREE_NUMBER, tree_value(p->doc, p->d), <)
BOUND(test_min_length, TREE_STRING, tree_length(p->doc, p->d), >=)
BOUND(test_max_length, TREE_STRING, tree_length(p->doc, p->d), <=)
BOUND(test_min_items, TREE_ARRAY, p->d->count, >=)
BOUND(test_max_items, TREE_ARRAY, p->d->count, <=)
BOUND(test_min_members, TREE_OBJECT, p->d->count, >=)
BOUND(test_max_members, TREE_OBJECT, p->d->count, <=)

static const struct tree_node *member_like(const struct tree *in, const struct tree_node *object,
					   const struct tree *t, const struct tree_node *key)
{
	const struct tree_node *at = tree_first(object);
	for (uint32_t i = 0; i < object->count; i++) {
		if (tree_equal(in, at, t, key))
			return tree_next(in, at);
		at = tree_next(in, tree_next(in, at));
	}
	return NULL;
}

static bool test_required(const struct place *p, const struct tree_node *w)
{
	const struct tree_node *at = tree_first(w);
	for (uint32_t i = 0; p->d->kind == TREE_OBJECT && i < w->count;
	     i++, at = tree_next(p->schema, at))
		if (!member_like(p->doc, p->d, p->schema, at))
			return false;
	return true;
}

static const struct {
	const char *name;
	form_fn *form;
	test_fn *test; /* NULL: says nothing, or is looked at with the structure */
} keywords[] = {
	{"$schema", form_any, NULL},
	{"$id", form_any, NULL},
	{"$comment", form_any, NULL},
	{"title", form_any, NULL},
	{"description", form_any, NULL},
	{"default", form_any, NULL},
	{"examples", form_any, NULL},
	{"deprecated", form_any, NULL},
	{"type", form_type, test_type},
	{"enum", form_list, test_enum},
	{"const", form_any, test_const},
	{"minimum", form_number, test_minimum},
	{"maximum", form_number, test_maximum},
	{"exclusiveMinimum", form_number, test_above},
	{"exclusiveMaximum", form_number, test_below},
	{"minLength", form_count, test_min_length},
	{"maxLength", form_count, test_max_length},
	{"minItems", form_count, test_min_items},
	{"maxItems", form_count, test_max_items},
	{"minProperties", form_count, test_min_members},
	{"maxProperties", form_count, test_max_members},
	{"required", form_names, test_required},
	{"properties", form_schemas, NULL},
	{"additionalProperties", check_one, NULL},
	{"items", check_one, NULL},
	{"anyOf", form_schema_list, NULL},
	{"allOf", form_schema_list, NULL},
};
enum { KEYWORDS = sizeof(keywords) / sizeof(*keywords) };

static int refuse_keyword(const struct tree *t, const struct tree_node *key, struct err *e)
{
	enum { SHOWN = 40 };
	char what[SHOWN + 48];
	const int len = (int)(key->end - key->at);
	snprintf(what, sizeof(what), "the keyword \"%.*s%s\" is not supported",
		 len > SHOWN ? SHOWN : len, t->text + key->at, len > SHOWN ? "..." : "");
	return refuse(t, key, what, e);
}

static int check_one(const struct tree *t, const struct tree_node *s, struct err *e)
{
	if (s->kind != TREE_OBJECT)
		return form_bool(t, s, e) < 0 ? refuse(t, s, "a schema belongs here", e) : 0;
	const struct tree_node *key = tree_first(s);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct tree_node *value = tree_next(t, key);
		size_t n = 0;
		while (n < KEYWORDS && !tree_is_text(t, key, keywords[n].name))
			n++;
		if (n == KEYWORDS)
			return refuse_keyword(t, key, e);
		if (keywords[n].form(t, value, e) < 0)
			return -1;
		key = tree_next(t, value);
	}
	return 0;
}

int schema_check(const struct tree *schema, struct err *e)
{
	return check_one(schema, schema->nodes, e);
}

/* ---- the structure ---- */

static int misfit(const struct place *p, size_t at, const char *what, struct err *e)
{
	return p->quiet ? -1 : tree_complain(p->doc, at, what, e);
}

static int fits_members(const struct place *p, struct err *e)
{
	const struct tree_node *named = tree_member(p->schema, p->s, "properties");
	const struct tree_node *rest = tree_member(p->schema, p->s, "additionalProperties");
	const struct tree_node *key = tree_first(p->d);
	for (uint32_t i = 0; (named || rest) && i < p->d->count; i++) {
		const struct tree_node *value = tree_next(p->doc, key);
		const struct tree_node *s = named ? member_like(p->schema, named, p->doc, key) : NULL;
		const struct place in = {p->schema, p->doc, s ? s : rest, value, p->quiet};
		if (in.s && in.s->kind == TREE_FALSE)
			return misfit(p, key->at - 1, "the schema has no such member", e);
		if (in.s && fits(&in, e) < 0)
			return -1;
		key = tree_next(p->doc, value);
	}
	return 0;
}

static int fits_items(const struct place *p, struct err *e)
{
	struct place in = {p->schema, p->doc, tree_member(p->schema, p->s, "items"),
			   tree_first(p->d), p->quiet};
	for (uint32_t i = 0; in.s && i < p->d->count; i++, in.d = tree_next(p->doc, in.d))
		if (fits(&in, e) < 0)
			return -1;
	return 0;
}

static int fits_all(const struct place *p, const struct tree_node *list, bool any, struct err *e)
{
	struct place in = *p;
	in.quiet |= any;
	in.s = tree_first(list);
	for (uint32_t i = 0; i < list->count; i++, in.s = tree_next(p->schema, in.s)) {
		const int rc = fits(&in, e);
		if (any ? rc == 0 : rc < 0)
			return rc;
	}
	return any ? misfit(p, p->d->at, "the schema's anyOf does not hold", e) : 0;
}

static int fits_words(const struct place *p, struct err *e)
{
	const struct tree_node *key = tree_first(p->s);
	for (uint32_t i = 0; i < p->s->count; i++) {
		const struct tree_node *w = tree_next(p->schema, key);
		for (size_t n = 0; n < KEYWORDS; n++) {
			char what[64];
			if (!keywords[n].test || !tree_is_text(p->schema, key, keywords[n].name) ||
			    keywords[n].test(p, w))
				continue;
			snprintf(what, sizeof(what), "the schema's %s does not hold",
				 keywords[n].name);
			return misfit(p, p->d->at, what, e);
		}
		key = tree_next(p->schema, w);
	}
	return 0;
}

/* As deep as the schema is, which tree_read() bounds. */
static int fits(const struct place *p, struct err *e)
{
	if (p->s->kind == TREE_TRUE)
		return 0;
	if (p->s->kind == TREE_FALSE)
		return misfit(p, p->d->at, "the schema has nothing here", e);
	if (fits_words(p, e) < 0)
		return -1;
	const struct tree_node *any = tree_member(p->schema, p->s, "anyOf");
	const struct tree_node *all = tree_member(p->schema, p->s, "allOf");
	if ((any && fits_all(p, any, true, e) < 0) || (all && fits_all(p, all, false, e) < 0))
		return -1;
	if (p->d->kind == TREE_OBJECT)
		return fits_members(p, e);
	return p->d->kind == TREE_ARRAY ? fits_items(p, e) : 0;
}

int schema_holds(const struct tree *schema, const struct tree *doc, struct err *e)
{
	const struct place p = {schema, doc, schema->nodes, doc->nodes, false};
	return fits(&p, e);
}
