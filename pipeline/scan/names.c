#include "pipeline/scan/names.h"

#include "pipeline/scan/literal.h"

#include <ctype.h>
#include <string.h>

enum {
	SLOTS = 4096,
	DEEP = 256,	   /* how deep an expression is followed */
	HOPS = 32,	   /* from name to name */
	SEARCH_MAX = 5000, /* meanings that are looked at for one name */
	NONE = 0,
};

/* ---- spelling ---- */

/* A spelled name that grows; one that does not fit is none. */
struct spelled {
	char *to;
	size_t used, size;
};

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

static bool put(struct spelled *s, const char *text, size_t len)
{
	if (len >= s->size - s->used)
		return false;
	memcpy(s->to + s->used, text, len);
	s->used += len;
	s->to[s->used] = '\0';
	return true;
}

/* "\\u0065" and "\\u{65}" in a name are letters (ECMAScript, C#, Java). 0: it is none, of ASCII. */
static size_t escaped_letter(struct span t, char *to)
{
	unsigned number = 0, len = 2;
	const bool braces = t.len > 3 && t.at[2] == '{';
	if (t.len < 4 || t.at[0] != '\\' || t.at[1] != 'u')
		return 0;
	for (len += braces; len < t.len && len < 10 && isxdigit((unsigned char)t.at[len]); len++) {
		const char c = t.at[len];
		if (!braces && len == 6)
			break;
		number = number * 16 +
			 (unsigned)(isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	*to = (char)number;
	return isalnum((int)number & 0xff) && number < 128 ? len + braces : 0;
}

/* Letters that Python takes for those of ASCII (NFKC): fullwidth ones, and mathematical ones, which
 * are thirteen alphabets of 52. */
static size_t folded_letter(struct span t, char *to)
{
	const unsigned char *c = (const unsigned char *)t.at;
	if (t.len >= 3 && c[0] == 0xef && (c[1] == 0xbc || c[1] == 0xbd)) {
		const unsigned number = (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
		*to = (char)(number - 0xf01 + 0x21);
		return number >= 0xf01 && number <= 0xf5e && isalnum(*to) ? 3 : 0;
	}
	if (t.len >= 4 && c[0] == 0xf0 && c[1] == 0x9d && c[2] >= 0x90) {
		const unsigned number = ((c[2] & 0x3fU) << 6 | (c[3] & 0x3fU)) - 0x400;
		const unsigned letter = number % 52;
		*to = (char)(letter < 26 ? 'A' + letter : 'a' + letter - 26);
		return number < 13 * 52 ? 4 : 0;
	}
	return 0;
}

/* Without blanks; "a::b" and "a->b" are "a.b"; letters as they are meant. */
static bool put_name(struct spelled *s, struct span t)
{
	static const char top[] = "global::";
	bool ok = true;
	if (t.len > sizeof(top) && memcmp(t.at, top, sizeof(top) - 1) == 0)
		t = (struct span){t.at + sizeof(top) - 1, t.len - (sizeof(top) - 1)};
	for (size_t step = 1; t.len > 0 && ok; t = (struct span){t.at + step, t.len - step}) {
		char letter;
		size_t other = escaped_letter(t, &letter);
		other = other ? other : folded_letter(t, &letter);
		const bool two = t.len > 1 &&
				 (memcmp(t.at, "::", 2) == 0 || memcmp(t.at, "->", 2) == 0);
		step = other ? other : 1 + (size_t)two;
		if (other)
			ok = put(s, &letter, 1);
		else if (two)
			ok = s->used == 0 || put(s, ".", 1);
		else if (!strchr(" \t\r\n\\", *t.at) || !*t.at)
			ok = put(s, t.at, 1);
	}
	return ok;
}

/* Without quotes, braces and backslashes; $'x' and $"x" are quoted too. */
static bool put_word(struct spelled *s, struct span t)
{
	bool ok = true;
	for (size_t i = 0; i < t.len && ok; i++) {
		const char next = i + 1 < t.len ? t.at[i + 1] : '\0';
		const bool quote = t.at[i] == '$' && (next == '\'' || next == '"');
		if (!quote && (!strchr("\"'\\{}", t.at[i]) || !t.at[i]))
			ok = put(s, t.at + i, 1);
	}
	return ok;
}

static bool spell(const struct names *n, TSNode node, struct spelled *s, int depth);

static bool put_literal(const struct names *n, TSNode node, struct spelled *s)
{
	char text[SPELLED_MAX];
	return names_literal(n, node, text, sizeof(text)) && put(s, text, strlen(text));
}

/* require("x"), __import__("x"), getattr(x, "y"): 1 done, 0 it is none of them, -1 not to be spelled. */
static int spell_known_call(const struct names *n, TSNode node, const struct spelled *called,
			    struct spelled *s, int depth)
{
	const struct language_row *l = &languages[n->language];
	const bool module = language_lists(l->module_calls, called->to, called->used);
	const bool member = language_lists(l->member_calls, called->to, called->used);
	if (!module && !member)
		return 0;
	const TSNode words = field_of(node, "arguments");
	if (ts_node_is_null(words) || ts_node_named_child_count(words) < (module ? 1U : 2U))
		return 0;
	const TSNode first = ts_node_named_child(words, 0);
	char text[SPELLED_MAX];
	if (!module)
		return spell(n, first, s, depth) && put(s, ".", 1) &&
				       put_literal(n, ts_node_named_child(words, 1), s)
			       ? 1
			       : -1;
	if (s->used > 0 || !names_literal(n, first, text, sizeof(text)))
		return 0;
	const char *found = strncmp(text, "node:", 5) == 0 ? text + 5 : text;
	return put(s, "=", 1) && put(s, found, strlen(found)) ? 1 : -1;
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
	return put(s, called.to, called.used) && put(s, "()", 2);
}

static bool spell_members(const struct names *n, TSNode node, struct spelled *s, int depth)
{
	const struct form *f = form_of(n, node);
	const TSNode a = field_of(node, f->a), b = field_of(node, f->b);
	if (!ts_node_is_null(a) && (!spell(n, a, s, depth) || !put(s, ".", 1)))
		return false;
	if (f->how == SPELL_INDEX)
		return put_literal(n, b, s);
	const struct form *generic = form_of(n, b);
	const bool named = generic && generic->how == SPELL_INSIDE;
	if (!(named ? spell(n, b, s, depth) : put_name(s, text_of(n, b))))
		return false;
	return f->how != SPELL_METHOD || put(s, "()", 2);
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
		return put_name(s, text_of(n, node));
	case SPELL_WORD:
		return put_word(s, text_of(n, node));
	case SPELL_VARIABLE:
		return put(s, "$", 1) && put_word(s, text_of(n, node));
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
		return spell_inside(n, node, f->a, s, depth + 1) && put(s, "{}", 2);
	case SPELL_LITERAL:
		return false;
	}
	return false;
}

static bool spell_node(const struct names *n, TSNode node, char to[SPELLED_MAX])
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

static uint32_t slot_of(const char *name, size_t len)
{
	uint32_t h = 2166136261U;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619U;
	return h % SLOTS;
}

static void bind(struct names *n, const char *name, const char *target, uint32_t from)
{
	const size_t len = strlen(name);
	/* A name for itself, with what hangs on it, leads nowhere. */
	if (len == 0 || strcmp(name, target) == 0)
		return;
	uint32_t *slot = &n->slots[slot_of(name, len)];
	for (uint32_t i = *slot; i != NONE; i = n->at[i].next)
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

static uint32_t find(const struct names *n, uint32_t from, const char *name, size_t len)
{
	for (uint32_t i = from; i != NONE; i = n->at[i].next)
		if (strncmp(n->at[i].name, name, len) == 0 && n->at[i].name[len] == '\0')
			return i;
	return NONE;
}

enum capture {
	AT_MODULE,
	AT_FROM,
	AT_NAME,
	AT_AS,
	AT_VALUE,
	AT_STAR,
	AT_DEFINED,
	AT_MEMBER,
	CAPTURES
};
static const char *const captures[CAPTURES] = {"module", "from", "name",    "as",
					       "value",	 "star", "defined", "member"};

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
	return spell_node(n, node, to);
}

static void bind_value(struct names *n, const char *as, TSNode node)
{
	char value[SPELLED_MAX], target[SPELLED_MAX + 1] = "\"";
	if (names_literal(n, node, target + 1, SPELLED_MAX))
		bind(n, as, target, 0);
	else if (spell_node(n, node, value))
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
	if (put(&s, "=", 1) && put(&s, module, strlen(module)) && put(&s, ".", dotted ? 0 : 1) &&
	    put(&s, name, strlen(name)))
		bind(n, *as ? as : name, target, 0);
}

/* "cp = x" in a class is what "self.cp" is. */
static void bind_own_member(struct names *n, TSNode member, TSNode value)
{
	char name[SPELLED_MAX] = "", as[SPELLED_MAX] = "";
	const char *self = languages[n->language].self;
	struct spelled s = {.to = as, .size = sizeof(as)};
	if (self && spell_node(n, member, name) && put(&s, self, strlen(self)) && put(&s, ".", 1) &&
	    put(&s, name, strlen(name)))
		bind_value(n, as, value);
}

static void take_match(struct names *n, const TSNode at[CAPTURES])
{
	char as[SPELLED_MAX] = "", text[SPELLED_MAX], name[SPELLED_MAX];
	if (!ts_node_is_null(at[AT_AS]) && !spell_node(n, at[AT_AS], as))
		return;
	if (module_text(n, at[AT_MODULE], text))
		bind_module(n, as, text);
	if (module_text(n, at[AT_FROM], text) && !ts_node_is_null(at[AT_NAME]) &&
	    spell_node(n, at[AT_NAME], name))
		bind_member(n, as, text, name);
	if (module_text(n, at[AT_STAR], text) && n->stars_len < STARS_MAX)
		n->stars[n->stars_len++] = arena_strdup(n->arena, text);
	if (*as && !ts_node_is_null(at[AT_VALUE]))
		bind_value(n, as, at[AT_VALUE]);
	if (!ts_node_is_null(at[AT_MEMBER]) && !ts_node_is_null(at[AT_VALUE]))
		bind_own_member(n, at[AT_MEMBER], at[AT_VALUE]);
	if (!ts_node_is_null(at[AT_DEFINED]) && spell_node(n, at[AT_DEFINED], name))
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

/* ---- meanings ---- */

/* One search through them. */
struct search {
	const struct names *n;
	uint32_t at; /* where the name stands; a definition further down does not hold yet */
	names_take *take;
	void *arg;
	bool taken;
	unsigned left;
	/* Roots on the way here. */
	struct span way[HOPS];
	size_t hops;
};

static void give(struct search *s, const char *head, const char *dot, const char *rest)
{
	char whole[SPELLED_MAX];
	struct spelled to = {.to = whole, .size = sizeof(whole)};
	if (s->taken || !put(&to, head, strlen(head)) || !put(&to, dot, strlen(dot)) ||
	    !put(&to, rest, strlen(rest)))
		return;
	s->taken = s->take(whole, s->arg);
}

/* How much of text is a name that may be bound: up to the first '.' or '('; "self.x" and "this.x" whole. */
static size_t root_length(const char *text)
{
	size_t len = strcspn(text, ".({");
	const bool own = (len == 4 && (!memcmp(text, "self", 4) || !memcmp(text, "this", 4)));
	if (own && text[len] == '.')
		len += 1 + strcspn(text + len + 1, ".({");
	return len;
}

static void give_implicit(struct search *s, const char *text)
{
	char module[64];
	const struct names *n = s->n;
	const char *words = languages[n->language].implicit;
	give(s, text, "", "");
	for (size_t i = 0; i < n->stars_len; i++)
		give(s, n->stars[i], ".", text);
	while (words && *words) {
		const size_t len = strcspn(words, " ");
		if (len < sizeof(module)) {
			memcpy(module, words, len);
			module[len] = '\0';
			give(s, module, ".", text);
		}
		words += len + (words[len] == ' ');
	}
}

/* "x = x.f()" leads from x to x: twice round is enough, and with many of them all there is time for. */
static bool goes_round(const struct search *s, const char *root, size_t len)
{
	int times = 0;
	for (size_t i = 0; i < s->hops; i++)
		times += s->way[i].len == len && memcmp(s->way[i].at, root, len) == 0;
	return times >= 2 || s->hops == HOPS;
}

static void expand(struct search *s, const char *text)
{
	char next[2 * SPELLED_MAX];
	const struct names *n = s->n;
	const size_t len = root_length(text);
	if (s->taken || s->left == 0)
		return;
	s->left--;
	if (text[0] == '=' || text[0] == '"' || goes_round(s, text, len)) {
		give(s, text + (text[0] == '=' || text[0] == '"'), "", "");
		return;
	}
	bool bound = false;
	s->way[s->hops++] = (struct span){text, len};
	for (uint32_t i = find(n, n->slots[slot_of(text, len)], text, len); i != NONE;
	     i = find(n, n->at[i].next, text, len)) {
		const size_t head = strlen(n->at[i].target), rest = strlen(text + len);
		if (n->at[i].from > s->at || head + rest >= SPELLED_MAX ||
		    (n->at[i].target[0] == '"' && rest > 0))
			continue;
		memcpy(next, n->at[i].target, head);
		memcpy(next + head, text + len, rest + 1);
		bound = true;
		expand(s, next);
	}
	s->hops--;
	if (!bound)
		give_implicit(s, text);
}

bool names_any(const struct names *n, TSNode node, names_take *take, void *arg)
{
	char text[SPELLED_MAX];
	struct search s = {.n = n,
			   .at = ts_node_start_byte(node),
			   .take = take,
			   .arg = arg,
			   .left = SEARCH_MAX};
	if (spell_node(n, node, text))
		expand(&s, text);
	else if (names_literal(n, node, text, sizeof(text)))
		give(&s, text, "", "");
	if (s.left == 0 && !s.taken)
		*n->crowded = true;
	return s.taken;
}

static bool is_sum(TSNode node)
{
	const char *type = ts_node_type(node);
	return strcmp(type, "binary_operator") == 0 || strcmp(type, "binary_expression") == 0;
}

static bool read_constant(const struct names *n, TSNode node, char *to, size_t size)
{
	const struct span t = text_of(n, node);
	for (uint32_t i = find(n, n->slots[slot_of(t.at, t.len)], t.at, t.len); i != NONE;
	     i = find(n, n->at[i].next, t.at, t.len)) {
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

bool names_match(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL;
	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			again = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star && *again != '(') {
			pattern = star + 1;
			name = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}
