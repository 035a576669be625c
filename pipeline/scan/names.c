#include "pipeline/scan/names.h"

#include "pipeline/scan/macro.h"
#include "pipeline/scan/spelled.h"

#include <ctype.h>
#include <string.h>

enum {
	SLOTS = 4096,
	DEEP = 256, /* how deep an expression is followed */
};

/* ---- looking up ---- */

static uint32_t slot_of(const char *name, size_t len)
{
	uint32_t h = 2166136261U;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619U;
	return h % SLOTS;
}

static uint32_t find(const struct names *n, uint32_t from, const char *name, size_t len)
{
	for (uint32_t i = from; i != NAMES_NONE; i = n->at[i].next)
		if (strncmp(n->at[i].name, name, len) == 0 && n->at[i].name[len] == '\0')
			return i;
	return NAMES_NONE;
}

uint32_t names_first(const struct names *n, const char *name, size_t len)
{
	return find(n, n->slots[slot_of(name, len)], name, len);
}

uint32_t names_next(const struct names *n, uint32_t at, const char *name, size_t len)
{
	return find(n, n->at[at].next, name, len);
}

/* ---- spelling ---- */

static struct span text_of(const struct names *n, TSNode node)
{
	const uint32_t from = ts_node_start_byte(node), end = ts_node_end_byte(node);
	return (struct span){n->text + from, end - from};
}

static const struct form *form_of(const struct names *n, TSNode node)
{
	const char *type = ts_node_type(node);
	for (const struct form *f = languages[n->language].forms; f->type; f++)
		if (strcmp(f->type, type) == 0)
			return f;
	return NULL;
}

static TSNode field_of(TSNode node, const char *name)
{
	return ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}

static bool spell(const struct names *n, TSNode node, struct spelled *s, int depth);

static bool put_literal(const struct names *n, TSNode node, struct spelled *s)
{
	char text[SPELLED_MAX];
	return names_literal(n, node, text, sizeof(text)) && spelled_put(s, text, strlen(text));
}

/* One of the words, or what the file has given its name to ("r = require"). */
static bool is_known(const struct names *n, const char *words, const struct spelled *called)
{
	const char *name = called->to + (*called->to == '=');
	const size_t len = strlen(name);
	if (!words || language_lists(words, name, len))
		return words;
	for (uint32_t i = names_first(n, name, len); i != NAMES_NONE;
	     i = names_next(n, i, name, len)) {
		const char *target = n->at[i].target;
		target += *target == '=';
		if (language_lists(words, target, strlen(target)))
			return true;
	}
	return false;
}

/* require("x"), __import__("x"), getattr(x, "y"), partial(x): 1 done, 0 it is none of them, -1 not to be spelled. */
static int spell_known_call(const struct names *n, TSNode node, const struct spelled *called,
			    struct spelled *s, int depth)
{
	const struct language_row *l = &languages[n->language];
	const bool module = is_known(n, l->module_calls, called);
	const bool member = is_known(n, l->member_calls, called);
	const bool same = is_known(n, l->same_calls, called);
	if (!module && !member && !same)
		return 0;
	const TSNode words = field_of(node, "arguments");
	if (ts_node_is_null(words) || ts_node_named_child_count(words) < (member ? 2U : 1U))
		return 0;
	const TSNode first = ts_node_named_child(words, 0);
	char text[SPELLED_MAX];
	if (same)
		return spell(n, first, s, depth) ? 1 : -1;
	if (member)
		return spell(n, first, s, depth) && spelled_put(s, ".", 1) &&
				       put_literal(n, ts_node_named_child(words, 1), s)
			       ? 1
			       : -1;
	if (s->used > 0 || !names_literal(n, first, text, sizeof(text)))
		return 0;
	const char *found = strncmp(text, "node:", 5) == 0 ? text + 5 : text;
	return spelled_put(s, "=", 1) && spelled_put(s, found, strlen(found)) ? 1 : -1;
}

/* What is called is spelled once: twice at each level would be a million times at the twentieth. */
static bool spell_call(const struct names *n, TSNode node, struct spelled *s, int depth)
{
	char to[SPELLED_MAX] = "";
	struct spelled called = {.to = to, .size = sizeof(to)};
	if (!spell(n, field_of(node, "function"), &called, depth))
		return false;
	const int known = spell_known_call(n, node, &called, s, depth);
	if (known != 0)
		return known > 0;
	if (macro_name(n, (struct macro_text){.at = text_of(n, node)}, to, sizeof(to)))
		return spelled_put(s, to, strlen(to));
	return spelled_put(s, called.to, called.used) && spelled_put(s, "()", 2);
}

static bool spell_members(const struct names *n, TSNode node, struct spelled *s, int depth)
{
	const struct form *f = form_of(n, node);
	const TSNode a = field_of(node, f->a), b = field_of(node, f->b);
	if (!ts_node_is_null(a) && (!spell(n, a, s, depth) || !spelled_put(s, ".", 1)))
		return false;
	if (f->how == SPELL_INDEX)
		return put_literal(n, b, s);
	const struct form *generic = form_of(n, b);
	const bool named = generic && generic->how == SPELL_INSIDE;
	if (!(named ? spell(n, b, s, depth) : spelled_put_name(s, text_of(n, b))))
		return false;
	return f->how != SPELL_METHOD || spelled_put(s, "()", 2);
}

static bool spell_inside(const struct names *n, TSNode node, const char *field, struct spelled *s,
			 int depth)
{
	const TSNode inside = field ? field_of(node, field) : ts_node_named_child(node, 0);
	return spell(n, inside, s, depth);
}

static TSNode last_child(TSNode node)
{
	const uint32_t len = ts_node_named_child_count(node);
	return len > 0 ? ts_node_named_child(node, len - 1) : (TSNode){.id = NULL};
}

static bool spell(const struct names *n, TSNode node, struct spelled *s, int depth)
{
	const struct form *f = ts_node_is_null(node) || depth >= DEEP ? NULL : form_of(n, node);
	if (!f)
		return false;
	switch (f->how) {
	case SPELL_NAME:
		return spelled_put_name(s, text_of(n, node));
	case SPELL_WORD:
		return spelled_put_word(s, text_of(n, node));
	case SPELL_VARIABLE:
		return spelled_put(s, "$", 1) && spelled_put_word(s, text_of(n, node));
	case SPELL_MEMBER:
	case SPELL_INDEX:
	case SPELL_METHOD:
		return spell_members(n, node, s, depth + 1);
	case SPELL_CALL:
		return spell_call(n, node, s, depth + 1);
	case SPELL_INSIDE:
		return spell_inside(n, node, f->a, s, depth + 1);
	case SPELL_LAST:
		return spell(n, last_child(node), s, depth + 1);
	case SPELL_NEW:
		return spell_inside(n, node, f->a, s, depth + 1) && spelled_put(s, "{}", 2);
	case SPELL_LITERAL:
		return false;
	}
	return false;
}

bool names_spell(const struct names *n, TSNode node, char to[SPELLED_MAX])
{
	struct spelled s = {.to = to, .size = SPELLED_MAX};
	to[0] = '\0';
	return spell(n, node, &s, 0) && s.used > 0;
}

/* ---- the table ---- */

void names_init(struct names *n, enum language l, const char *text, struct arena *a)
{
	*n = (struct names){.arena = a, .language = l, .text = text};
	n->crowded = arena_alloc(a, sizeof(*n->crowded));
	n->at = arena_alloc(a, NAMES_MAX * sizeof(*n->at));
	n->slots = arena_alloc(a, SLOTS * sizeof(*n->slots));
	n->len = 1; /* 0 is the end of a list */
}

static void bind(struct names *n, const char *name, const char *target, uint32_t from)
{
	const size_t len = strlen(name);
	/* A name for itself, with what hangs on it, leads nowhere. */
	if (len == 0 || strcmp(name, target) == 0)
		return;
	uint32_t *slot = &n->slots[slot_of(name, len)];
	for (uint32_t i = *slot; i != NAMES_NONE; i = n->at[i].next)
		if (strcmp(n->at[i].name, name) == 0 && strcmp(n->at[i].target, target) == 0)
			return;
	if (n->len == NAMES_MAX) {
		n->full = true;
		return;
	}
	n->at[n->len] = (struct binding){.name = arena_strdup(n->arena, name),
					 .target = arena_strdup(n->arena, target),
					 .from = from,
					 .next = *slot};
	*slot = n->len++;
}

enum capture {
	AT_MODULE,
	AT_FROM,
	AT_OF,
	AT_NAME,
	AT_AS,
	AT_VALUE,
	AT_STAR,
	AT_DEFINED,
	AT_MEMBER,
	AT_MACRO,
	AT_PARAMETERS,
	AT_BODY,
	CAPTURES
};
static const char *const captures[CAPTURES] = {"module", "from",  "of",		"name",
					       "as",	 "value", "star",	"defined",
					       "member", "macro", "parameters", "body"};

/* A module as it is written there: a literal or a name. "using static X" and such are the query's business. */
static bool module_text(const struct names *n, TSNode node, char to[SPELLED_MAX])
{
	if (ts_node_is_null(node))
		return false;
	if (names_literal(n, node, to, SPELLED_MAX)) {
		if (strncmp(to, "node:", 5) == 0)
			memmove(to, to + 5, strlen(to) - 4);
		return true;
	}
	return names_spell(n, node, to);
}

static void bind_value(struct names *n, const char *as, TSNode node)
{
	char value[SPELLED_MAX], target[SPELLED_MAX + 1] = "\"";
	if (names_literal(n, node, target + 1, SPELLED_MAX))
		bind(n, as, target, 0);
	else if (names_spell(n, node, value))
		bind(n, as, value, 0);
}

static void bind_module(struct names *n, const char *as, const char *module)
{
	char target[SPELLED_MAX + 1] = "=";
	const char *dot = strrchr(module, '.');
	if (!*as && !dot)
		return;
	memcpy(target + 1, module, strlen(module) + 1);
	bind(n, *as ? as : dot + 1, target, 0);
}

static void bind_member(struct names *n, const char *as, const char *module, const char *name)
{
	char target[2 * SPELLED_MAX + 2] = "";
	struct spelled s = {.to = target, .size = SPELLED_MAX};
	const bool dotted = *module && module[strlen(module) - 1] == '.';
	if (spelled_put(&s, "=", 1) && spelled_put(&s, module, strlen(module)) &&
	    spelled_put(&s, ".", dotted ? 0 : 1) && spelled_put(&s, name, strlen(name)))
		bind(n, *as ? as : name, target, 0);
}

/* "{ exec: as } = value": what the member of value is. */
static void bind_part(struct names *n, const char *as, TSNode value, const char *name)
{
	char target[SPELLED_MAX] = "";
	struct spelled s = {.to = target, .size = sizeof(target)};
	if (names_spell(n, value, target)) {
		s.used = strlen(target);
		if (spelled_put(&s, ".", 1) && spelled_put(&s, name, strlen(name)))
			bind(n, *as ? as : name, target, 0);
	}
}

/* "cp = x" in a class is what "self.cp" is. */
static void bind_own_member(struct names *n, TSNode member, TSNode value)
{
	char name[SPELLED_MAX] = "", as[SPELLED_MAX] = "";
	const char *self = languages[n->language].self;
	struct spelled s = {.to = as, .size = sizeof(as)};
	if (self && names_spell(n, member, name) && spelled_put(&s, self, strlen(self)) &&
	    spelled_put(&s, ".", 1) && spelled_put(&s, name, strlen(name)))
		bind_value(n, as, value);
}

/* Macros are bound as "#NAME", which no name is. */
static void bind_macro(struct names *n, TSNode macro, TSNode parameters, TSNode body)
{
	char as[SPELLED_MAX] = "", text[SPELLED_MAX] = "";
	const struct span none = {"", 0};
	struct spelled key = {.to = as, .size = sizeof(as)};
	struct spelled whole = {.to = text, .size = sizeof(text)};
	const struct span p = ts_node_is_null(parameters) ? none : text_of(n, parameters);
	const struct span b = text_of(n, body), name = text_of(n, macro);
	if (spelled_put(&key, "#", 1) && spelled_put(&key, name.at, name.len) &&
	    spelled_put(&whole, p.at, p.len) && spelled_put(&whole, " ", 1) &&
	    spelled_put(&whole, b.at, b.len))
		bind(n, as, text, 0);
}

static void take_match(struct names *n, const TSNode at[CAPTURES])
{
	char as[SPELLED_MAX] = "", text[SPELLED_MAX], name[SPELLED_MAX];
	if (!ts_node_is_null(at[AT_AS]) && !names_spell(n, at[AT_AS], as))
		return;
	if (module_text(n, at[AT_MODULE], text))
		bind_module(n, as, text);
	if (module_text(n, at[AT_FROM], text) && !ts_node_is_null(at[AT_NAME]) &&
	    module_text(n, at[AT_NAME], name))
		bind_member(n, as, text, name);
	if (!ts_node_is_null(at[AT_OF]) && module_text(n, at[AT_NAME], name))
		bind_part(n, as, at[AT_OF], name);
	if (module_text(n, at[AT_STAR], text) && n->stars_len < STARS_MAX)
		n->stars[n->stars_len++] = arena_strdup(n->arena, text);
	if (*as && !ts_node_is_null(at[AT_VALUE]))
		bind_value(n, as, at[AT_VALUE]);
	if (!ts_node_is_null(at[AT_MEMBER]) && !ts_node_is_null(at[AT_VALUE]))
		bind_own_member(n, at[AT_MEMBER], at[AT_VALUE]);
	if (!ts_node_is_null(at[AT_MACRO]) && !ts_node_is_null(at[AT_BODY]))
		bind_macro(n, at[AT_MACRO], at[AT_PARAMETERS], at[AT_BODY]);
	if (!ts_node_is_null(at[AT_DEFINED]) && names_spell(n, at[AT_DEFINED], name))
		bind(n, name, "=(own)", ts_node_start_byte(at[AT_DEFINED]));
}

void names_read(struct names *n, const TSQuery *query, TSNode root)
{
	TSQueryMatch m;
	if (!query)
		return;
	TSQueryCursor *cursor = ts_query_cursor_new();
	ts_query_cursor_exec(cursor, query, root);
	while (ts_query_cursor_next_match(cursor, &m)) {
		TSNode at[CAPTURES] = {0};
		for (uint16_t i = 0; i < m.capture_count; i++) {
			uint32_t len;
			const char *name = ts_query_capture_name_for_id(query, m.captures[i].index,
									&len);
			for (int c = 0; c < CAPTURES; c++)
				if (strcmp(name, captures[c]) == 0)
					at[c] = m.captures[i].node;
		}
		take_match(n, at);
	}
	ts_query_cursor_delete(cursor);
}

const char *names_macro(const struct names *n, struct span name, unsigned which)
{
	char key[SPELLED_MAX] = "";
	struct spelled s = {.to = key, .size = sizeof(key)};
	if (!spelled_put(&s, "#", 1) || !spelled_put(&s, name.at, name.len))
		return NULL;
	const uint32_t first = names_first(n, key, s.used);
	uint32_t i = first;
	while (which-- > 0 && i != NAMES_NONE)
		i = names_next(n, i, key, s.used);
	i = i == NAMES_NONE ? first : i;
	return i == NAMES_NONE ? NULL : n->at[i].target;
}

/* ---- literals ---- */

static bool is_sum(TSNode node)
{
	const char *type = ts_node_type(node);
	return strcmp(type, "binary_operator") == 0 || strcmp(type, "binary_expression") == 0;
}

static bool read_constant(const struct names *n, TSNode node, char *to, size_t size)
{
	const struct span t = text_of(n, node);
	for (uint32_t i = names_first(n, t.at, t.len); i != NAMES_NONE;
	     i = names_next(n, i, t.at, t.len)) {
		const size_t len = strlen(n->at[i].target);
		if (n->at[i].target[0] != '"' || len > size)
			continue;
		memcpy(to, n->at[i].target + 1, len);
		return true;
	}
	return false;
}

static bool read_literal(const struct names *n, TSNode node, struct spelled *s, int depth)
{
	if (ts_node_is_null(node) || depth >= DEEP)
		return false;
	const struct form *f = form_of(n, node);
	const size_t room = s->size - s->used;
	if (is_sum(node))
		return read_literal(n, field_of(node, "left"), s, depth + 1) &&
		       read_literal(n, field_of(node, "right"), s, depth + 1);
	if (f && f->how == SPELL_INSIDE && !f->a)
		return read_literal(n, ts_node_named_child(node, 0), s, depth + 1);
	if (f && f->how == SPELL_NAME && read_constant(n, node, s->to + s->used, room)) {
		s->used += strlen(s->to + s->used);
		return true;
	}
	if (!f || f->how != SPELL_LITERAL)
		return false;
	if (strcmp(f->type, "concatenated_string") != 0) {
		s->used += literal_read(text_of(n, node), s->to + s->used, room);
		return true;
	}
	for (uint32_t i = 0; i < ts_node_named_child_count(node); i++)
		if (!read_literal(n, ts_node_named_child(node, i), s, depth + 1))
			return false;
	return true;
}

bool names_literal(const struct names *n, TSNode node, char *to, size_t size)
{
	struct spelled s = {.to = to, .size = size};
	to[0] = '\0';
	return read_literal(n, node, &s, 0);
}
