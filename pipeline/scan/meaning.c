/* What a name may mean: a search through the table of names.c. */
#include "pipeline/scan/macro.h"
#include "pipeline/scan/names.h"
#include "pipeline/scan/spelled.h"

#include <ctype.h>
#include <string.h>

enum {
	HOPS = 32,	   /* from name to name */
	SEARCH_MAX = 5000, /* meanings that are looked at for one name */
};

static struct span text_of(const struct names *n, TSNode node)
{
	const uint32_t from = ts_node_start_byte(node), end = ts_node_end_byte(node);
	return (struct span){n->text + from, end - from};
}

static TSNode field_of(TSNode node, const char *name)
{
	return ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}

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

/* "window.eval" is "eval", "sys.modules.os.system" is "os.system"; NULL: it hangs on nothing like that. */
static const char *behind_around(const struct names *n, const char *name)
{
	for (const char *words = languages[n->language].around; words && *words;) {
		const size_t len = strcspn(words, " ");
		if (strncmp(name, words, len) == 0 && name[len] == '.' && name[len + 1])
			return name + len + 1;
		words += len + (words[len] == ' ');
	}
	return NULL;
}

static void give(struct search *s, const char *head, const char *dot, const char *rest)
{
	char whole[SPELLED_MAX];
	struct spelled to = {.to = whole, .size = sizeof(whole)};
	if (s->taken || !spelled_put(&to, head, strlen(head)) ||
	    !spelled_put(&to, dot, strlen(dot)) || !spelled_put(&to, rest, strlen(rest)))
		return;
	if (s->n->language == LANGUAGE_PYTHON)
		spelled_straighten(whole);
	s->taken = s->take(whole, s->arg);
	for (const char *inside = whole; !s->taken && (inside = behind_around(s->n, inside));)
		s->taken = s->take(inside, s->arg);
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
	for (uint32_t i = names_first(n, text, len); i != NAMES_NONE;
	     i = names_next(n, i, text, len)) {
		const size_t head = strlen(n->at[i].target), rest = strlen(text + len);
		if (n->at[i].from > s->at || head + rest >= SPELLED_MAX ||
		    (n->at[i].target[0] == '"' && rest > 0))
			continue;
		memcpy(next, n->at[i].target, head);
		memcpy(next + head, text + len, rest + 1);
		bound = true;
		expand(s, next);
	}
	s->way[--s->hops] = (struct span){NULL, 0}; /* text may be gone before s is */
	if (!bound)
		give_implicit(s, text);
}

/* "$a$b": what each of them may be for the first time. */
static bool join_variables(const struct names *n, const char *text, char to[SPELLED_MAX])
{
	struct spelled s = {.to = to, .size = SPELLED_MAX};
	bool joined = false, ok = true;
	for (size_t len; *text && ok; text += len) {
		len = 1;
		while (*text == '$' && (isalnum((unsigned char)text[len]) || text[len] == '_'))
			len++;
		const uint32_t i = len > 1 ? names_first(n, text, len) : NAMES_NONE;
		const char *value = i == NAMES_NONE ? NULL : n->at[i].target;
		joined = joined || value;
		value = value && *value == '"' ? value + 1 : value;
		ok = spelled_put(&s, value ? value : text, value ? strlen(value) : len);
	}
	return joined && ok;
}

/* What a macro of that name pastes together, of what it may be defined as. */
static void expand_macro(struct search *s, TSNode node, const char *text)
{
	char other[SPELLED_MAX];
	const TSNode around = ts_node_parent(node);
	struct macro_text m = {.at = text_of(s->n, node)};
	if (strcmp(ts_node_type(around), "call_expression") == 0 &&
	    ts_node_eq(field_of(around, "function"), node))
		m = (struct macro_text){.at = text_of(s->n, around), .call = true};
	for (; m.which < MACRO_FORMS && !s->taken; m.which++)
		if (macro_name(s->n, m, other, sizeof(other)) && strcmp(other, text) != 0)
			expand(s, other);
}

/* The name by another way than those of the table: in a shell a word that is put together, in C a macro. */
static void expand_otherwise(struct search *s, TSNode node, const char *text)
{
	char joined[SPELLED_MAX] = "";
	if (s->n->language == LANGUAGE_SHELL && strchr(text, '$') &&
	    join_variables(s->n, text, joined))
		expand(s, joined);
	else if (names_macro(s->n, (struct span){text, strlen(text)}, 0))
		expand_macro(s, node, text);
}

/* Whether a macro around the node only pastes it, or makes a text of it: nothing of that name is there. */
static bool is_swallowed(const struct names *n, TSNode node)
{
	enum { UP = 16 };
	const struct span word = text_of(n, node);
	TSNode around = node;
	if (n->language != LANGUAGE_C && n->language != LANGUAGE_CPP)
		return false;
	for (int i = 0; i < UP && !ts_node_is_null(around); i++) {
		if (strcmp(ts_node_type(around), "argument_list") == 0 &&
		    macro_swallows(n, text_of(n, ts_node_parent(around)), word))
			return true;
		around = ts_node_parent(around);
	}
	return false;
}

bool names_any(const struct names *n, TSNode node, names_take *take, void *arg)
{
	char text[SPELLED_MAX];
	struct search s = {.n = n,
			   .at = ts_node_start_byte(node),
			   .take = take,
			   .arg = arg,
			   .left = SEARCH_MAX};
	if (names_spell(n, node, text)) {
		expand(&s, text);
		if (!s.taken)
			expand_otherwise(&s, node, text);
		s.taken = s.taken && !is_swallowed(n, node);
	} else if (names_literal(n, node, text, sizeof(text))) {
		give(&s, text, "", "");
	}
	if (s.left == 0 && !s.taken)
		*n->crowded = true;
	return s.taken;
}
