#include "pipeline/scan/macro.h"

#include "pipeline/scan/spelled.h"

#include <ctype.h>
#include <string.h>

enum {
	STEPS = 16,	/* from macro to macro */
	ARGUMENTS = 16, /* what is behind is not told apart */
};

/* Macros that are defined more than once are looked at as one or as another. */
struct view {
	const struct names *names;
	unsigned which;
};

/* An invocation, cut into its words. */
struct call {
	struct span parameters[ARGUMENTS], arguments[ARGUMENTS];
	size_t parameters_len, arguments_len;
	bool pasted;
};

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct span trim(struct span t)
{
	while (t.len > 0 && isspace((unsigned char)t.at[0]))
		t = (struct span){t.at + 1, t.len - 1};
	while (t.len > 0 && isspace((unsigned char)t.at[t.len - 1]))
		t.len--;
	return t;
}

static size_t name_length(struct span t)
{
	size_t len = 0;
	while (len < t.len && in_name(t.at[len]))
		len++;
	return len;
}

/* Bytes of the text or character at t.at[0], which is its quote; its end where it has none. */
static size_t quoted_length(struct span t)
{
	size_t len = 1;
	while (len < t.len && t.at[len] != t.at[0])
		len += t.at[len] == '\\' ? 2 : 1;
	return len < t.len ? len + 1 : t.len;
}

/* "(a, b)" at t.at[0]: what is between its commas. The bytes of it, 0: it has no end. */
static size_t cut(struct span t, struct span to[ARGUMENTS], size_t *count)
{
	size_t from = 1, depth = 0;
	*count = 0;
	for (size_t i = 0; i < t.len; i++) {
		const char c = t.at[i];
		if (c == '"' || c == '\'') {
			i += quoted_length((struct span){t.at + i, t.len - i}) - 1;
			continue;
		}
		depth += c == '(';
		const bool end = c == ')' && depth == 1;
		if (end || (c == ',' && depth == 1 && *count < ARGUMENTS - 1)) {
			to[(*count)++] = trim((struct span){t.at + from, i - from});
			from = i + 1;
		}
		if (end)
			return i + 1;
		depth -= c == ')';
	}
	return 0;
}

/* Whether "##" is in front of it, or behind its end. */
static bool is_pasted(struct span body, size_t from, size_t end)
{
	while (from > 0 && isspace((unsigned char)body.at[from - 1]))
		from--;
	while (end < body.len && isspace((unsigned char)body.at[end]))
		end++;
	return (from >= 2 && memcmp(body.at + from - 2, "##", 2) == 0) ||
	       (body.len - end >= 2 && memcmp(body.at + end, "##", 2) == 0);
}

/* An argument that is not pasted is expanded first; that matters where it is a name for another. */
static struct span plain(const struct view *v, struct span argument)
{
	for (int i = 0; i < STEPS; i++) {
		const char *macro = names_macro(v->names, argument, v->which);
		if (!macro || *macro != ' ')
			break;
		argument = trim((struct span){macro, strlen(macro)});
	}
	return argument;
}

/* What the parameter stands for; false: the name is none. */
static bool argument_of(const struct call *c, struct span name, struct span *to)
{
	for (size_t i = 0; i < c->parameters_len; i++) {
		const struct span p = c->parameters[i];
		const bool rest = p.len >= 3 && memcmp(p.at, "...", 3) == 0;
		const struct span word = rest ? (struct span){"__VA_ARGS__", 11} : p;
		if (word.len != name.len || memcmp(word.at, name.at, name.len) != 0)
			continue;
		*to = i < c->arguments_len ? c->arguments[i] : (struct span){"", 0};
		if (rest && i < c->arguments_len) {
			const struct span last = c->arguments[c->arguments_len - 1];
			to->len = (size_t)(last.at + last.len - to->at);
		}
		return true;
	}
	return false;
}

/* The body, with arguments for parameters and without "##". */
static bool fill(const struct view *v, struct call *c, struct span body, struct spelled *to)
{
	bool ok = true;
	size_t len;
	for (size_t i = 0; i < body.len && ok; i += len) {
		const struct span rest = {body.at + i, body.len - i};
		struct span word;
		len = name_length(rest);
		if (rest.at[0] == '"' || rest.at[0] == '\'') {
			len = quoted_length(rest);
			ok = spelled_put(to, rest.at, len);
		} else if (len > 0) {
			const bool parameter = argument_of(c, (struct span){rest.at, len}, &word);
			if (parameter && !is_pasted(body, i, i + len))
				word = plain(v, word);
			ok = parameter ? spelled_put(to, word.at, word.len)
				       : spelled_put(to, rest.at, len);
		} else if (rest.len >= 2 && memcmp(rest.at, "##", 2) == 0) {
			c->pasted = true;
			while (to->used > 0 && isspace((unsigned char)to->to[to->used - 1]))
				to->used--;
			for (len = 2; len < rest.len && isspace((unsigned char)rest.at[len]);)
				len++;
		} else {
			len = 1;
			ok = spelled_put(to, rest.at, 1);
		}
	}
	return ok;
}

/* One step: the macro that text begins with becomes its body. 1 done, 0 there is none, -1 too long. */
static int step(const struct view *v, struct span text, bool *pasted, struct spelled *to)
{
	struct call c = {.pasted = false};
	size_t len = name_length(text), used = 0;
	const char *macro = names_macro(v->names, (struct span){text.at, len}, v->which);
	if (len == 0 || !macro)
		return 0;
	struct span body = {macro, strlen(macro)};
	if (*macro == '(') {
		used = cut(body, c.parameters, &c.parameters_len);
		body = (struct span){body.at + used, body.len - used};
		const struct span rest = trim((struct span){text.at + len, text.len - len});
		const size_t arguments = rest.len > 0 && *rest.at == '('
						 ? cut(rest, c.arguments, &c.arguments_len)
						 : 0;
		if (used == 0 || arguments == 0)
			return 0;
		len = (size_t)(rest.at - text.at) + arguments;
	}
	if (!fill(v, &c, trim(body), to) || !spelled_put(to, text.at + len, text.len - len))
		return -1;
	*pasted = *pasted || c.pasted;
	return 1;
}

struct followed {
	bool moved, pasted, whole;
};

/* What text comes to when its front is no macro any more; it lies in work. */
static struct span follow(const struct view *v, struct span text, char work[2][SPELLED_MAX],
			  struct followed *f)
{
	int moved = 1;
	/* A text that is too long for its end to be seen has its arguments in front. */
	struct span now = {text.at, text.len < SPELLED_MAX / 2 ? text.len : SPELLED_MAX / 2};
	*f = (struct followed){.moved = false};
	for (int i = 0; i < STEPS && moved > 0; i++) {
		struct spelled s = {.to = work[i % 2], .size = SPELLED_MAX};
		s.to[0] = '\0';
		moved = step(v, now, &f->pasted, &s);
		if (moved > 0)
			now = trim((struct span){s.to, s.used});
		f->moved = f->moved || moved > 0;
	}
	f->whole = moved == 0;
	return now;
}

static bool is_call(struct span t)
{
	t = trim((struct span){t.at + name_length(t), t.len - name_length(t)});
	return t.len > 0 && *t.at == '(';
}

bool macro_name(const struct names *n, struct macro_text text, char *to, size_t size)
{
	char work[2][SPELLED_MAX];
	struct followed f;
	const struct span now = follow(&(struct view){n, text.which}, text.at, work, &f);
	const size_t len = name_length(now);
	if (!f.whole || !f.pasted || len == 0 || len >= size || (text.call && !is_call(now)))
		return false;
	memcpy(to, now.at, len);
	to[len] = '\0';
	return true;
}

static bool has_word(struct span t, struct span word)
{
	for (size_t i = 0, len; i < t.len; i += len > 0 ? len : 1) {
		const struct span rest = {t.at + i, t.len - i};
		const bool quote = *rest.at == '"' || *rest.at == '\'';
		len = quote ? quoted_length(rest) : name_length(rest);
		if (len == word.len && memcmp(rest.at, word.at, len) == 0 &&
		    (i == 0 || t.at[i - 1] != '#'))
			return true;
	}
	return false;
}

bool macro_swallows(const struct names *n, struct span text, struct span word)
{
	char work[2][SPELLED_MAX];
	struct followed f;
	for (unsigned which = 0; which < MACRO_FORMS; which++) {
		const struct span now = follow(&(struct view){n, which}, text, work, &f);
		if (!f.moved || !f.whole || has_word(now, word))
			return false;
	}
	return true;
}
