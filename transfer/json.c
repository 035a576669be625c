#include "transfer/json.h"

#include "transfer/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct tree *t;
	size_t at;
	unsigned depth;
	uint32_t *keys; /* of the object that ended last, and as many again to sort them with */
	size_t keys_room;
};

int tree_complain(const struct tree *t, size_t at, const char *what, struct err *e)
{
	size_t line = 1, begin = 0;
	for (size_t i = 0; i < at && i < t->len; i++) {
		if (t->text[i] == '\n') {
			line++;
			begin = i + 1;
		}
	}
	return err_usage(e, "line %zu, column %zu: %s", line, at - begin + 1, what);
}

static int complain(const struct reader *r, const char *what, struct err *e)
{
	return tree_complain(r->t, r->at, what, e);
}

static int peek(const struct reader *r)
{
	return r->at < r->t->len ? (unsigned char)r->t->text[r->at] : -1;
}

static void skip_space(struct reader *r)
{
	for (int c = peek(r); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(r))
		r->at++;
}

/* The index of a new node; 0 is the first and never means failure: -1 does. */
static int64_t add_node(struct reader *r, enum tree_kind kind, struct err *e)
{
	struct tree *t = r->t;
	if (t->used == TREE_NODES_MAX)
		return complain(r, "more values than 2,000,000", e);
	if (t->used == t->room) {
		const uint32_t room = t->room ? t->room * 2 : 256;
		struct tree_node *more = realloc(t->nodes, room * sizeof(*more));
		if (!more)
			return err_host(e, "out of memory");
		t->nodes = more;
		t->room = room;
	}
	t->nodes[t->used] = (struct tree_node){.at = (uint32_t)r->at, .kind = kind};
	return t->used++;
}

/* It ends there, and with it all that was added since. */
static void finish(const struct reader *r, int64_t node, size_t end)
{
	struct tree_node *n = r->t->nodes ? &r->t->nodes[node] : NULL;
	if (!n)
		return;
	n->end = (uint32_t)end;
	n->next = r->t->used;
}

static void count(const struct reader *r, int64_t node)
{
	if (r->t->nodes)
		r->t->nodes[node].count++;
}

/* ---- characters of a string that was found to be right ---- */

static uint32_t hex4(const char *p)
{
	char digits[5] = {p[0], p[1], p[2], p[3], '\0'};
	return (uint32_t)strtoul(digits, NULL, 16);
}

static uint32_t escaped(const char *text, uint32_t *at)
{
	static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
	const char c = text[*at + 1];
	const char *found = strchr(names, c);
	if (c != 'u') {
		*at += 2;
		return found ? (uint32_t)values[found - names] : (uint32_t)(unsigned char)c;
	}
	uint32_t value = hex4(text + *at + 2);
	*at += 6;
	if (value >= 0xd800 && value < 0xdc00) {
		value = 0x10000 + ((value - 0xd800) << 10) + (hex4(text + *at + 2) - 0xdc00);
		*at += 6;
	}
	return value;
}

static uint32_t next_char(const struct tree *t, const struct tree_node *n, uint32_t *at)
{
	uint32_t c = 0;
	if (t->text[*at] == '\\')
		return escaped(t->text, at);
	*at += (uint32_t)utf8_decode((const unsigned char *)t->text + *at, n->end - *at, &c);
	return c;
}

static bool same_string(const struct tree *a, const struct tree_node *x, const struct tree *b,
			const struct tree_node *y)
{
	uint32_t i = x->at, j = y->at;
	while (i < x->end && j < y->end)
		if (next_char(a, x, &i) != next_char(b, y, &j))
			return false;
	return i == x->end && j == y->end;
}

/* ---- keys, each once ---- */

/* By characters, whichever way they are written. */
static int compare_strings(const struct tree *t, const struct tree_node *x, const struct tree_node *y)
{
	uint32_t i = x->at, j = y->at;
	while (i < x->end && j < y->end) {
		const uint32_t c = next_char(t, x, &i), d = next_char(t, y, &j);
		if (c != d)
			return c < d ? -1 : 1;
	}
	return (i < x->end) - (j < y->end);
}

static void merge_keys(const struct tree *t, const uint32_t *from, uint32_t *to, size_t mid,
		       size_t end)
{
	size_t i = 0, j = mid;
	for (size_t k = 0; k < end; k++) {
		const bool left = i < mid && (j >= end || compare_strings(t, &t->nodes[from[i]],
									  &t->nodes[from[j]]) <= 0);
		to[k] = left ? from[i++] : from[j++];
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Merged bottom-up: who chooses the keys must not choose the time, as with a table of hashes. Equal
 * ones stay in their order. */
static const uint32_t *sort_keys(const struct tree *t, uint32_t *keys, uint32_t *other, size_t len)
{
	for (size_t width = 1; width < len; width *= 2) {
		for (size_t at = 0; at < len; at += 2 * width) {
			const size_t left = len - at;
			merge_keys(t, keys + at, other + at, least(width, left),
				   least(2 * width, left));
		}
		uint32_t *sorted = other;
		other = keys;
		keys = sorted;
	}
	return keys;
}

static bool keys_fit(struct reader *r, size_t len)
{
	if (2 * len <= r->keys_room)
		return true;
	uint32_t *more = reallocarray(r->keys, 4 * len, sizeof(*more));
	if (!more)
		return false;
	r->keys = more;
	r->keys_room = 4 * len;
	return true;
}

/* Of an object that is complete. */
static int check_keys(struct reader *r, int64_t object, struct err *e)
{
	const struct tree *t = r->t;
	const size_t len = t->nodes ? t->nodes[object].count : 0;
	uint32_t twice = 0;
	if (len < 2)
		return 0;
	if (!keys_fit(r, len))
		return err_host(e, "out of memory");
	uint32_t key = (uint32_t)object + 1;
	for (size_t i = 0; i < len; i++) {
		r->keys[i] = key;
		key = t->nodes[t->nodes[key].next].next;
	}
	const uint32_t *sorted = sort_keys(t, r->keys, r->keys + len, len);
	for (size_t i = 1; i < len; i++)
		if ((twice == 0 || sorted[i] < twice) &&
		    compare_strings(t, &t->nodes[sorted[i - 1]], &t->nodes[sorted[i]]) == 0)
			twice = sorted[i];
	return twice ? tree_complain(t, t->nodes[twice].at - 1, "this key is there already", e) : 0;
}

/* ---- values ---- */

static int read_value(struct reader *r, struct err *e);

static bool is_hex4(const struct reader *r, size_t at)
{
	for (size_t i = 0; i < 4; i++)
		if (at + i >= r->t->len || !isxdigit((unsigned char)r->t->text[at + i]))
			return false;
	return true;
}

/* Behind the backslash. */
static int skip_escape(struct reader *r, struct err *e)
{
	const char *text = r->t->text;
	const int c = peek(r);
	if (c < 0 || !strchr("\"\\/bfnrtu", c) || c == 0)
		return complain(r, "no such escape", e);
	r->at++;
	if (c != 'u')
		return 0;
	if (!is_hex4(r, r->at))
		return complain(r, "\\u wants four hexadecimal digits", e);
	const uint32_t value = hex4(text + r->at);
	r->at += 4;
	if (value < 0xd800 || value > 0xdfff)
		return 0;
	if (value < 0xdc00 && r->at + 1 < r->t->len && text[r->at] == '\\' &&
	    text[r->at + 1] == 'u' && is_hex4(r, r->at + 2)) {
		const uint32_t low = hex4(text + r->at + 2);
		r->at += 6;
		if (low >= 0xdc00 && low < 0xe000)
			return 0;
	}
	return complain(r, "half of a surrogate pair", e);
}

static int64_t read_string(struct reader *r, struct err *e)
{
	if (peek(r) != '"')
		return complain(r, "a string belongs here", e);
	r->at++;
	const int64_t node = add_node(r, TREE_STRING, e);
	while (node >= 0) {
		const int c = peek(r);
		uint32_t value;
		if (c == '"')
			break;
		if (c < 0x20)
			return complain(r,
					c < 0 ? "a string does not end"
					      : "a control character in a string",
					e);
		if (c == '\\') {
			r->at++;
			if (skip_escape(r, e) < 0)
				return -1;
			continue;
		}
		const size_t len = utf8_decode((const unsigned char *)r->t->text + r->at,
					       r->t->len - r->at, &value);
		if (len == 0)
			return complain(r, "not UTF-8", e);
		r->at += len;
	}
	if (node < 0)
		return -1;
	finish(r, node, r->at++);
	return node;
}

static bool skip_digits(struct reader *r)
{
	const size_t begin = r->at;
	while (r->at < r->t->len && r->t->text[r->at] >= '0' && r->t->text[r->at] <= '9')
		r->at++;
	return r->at > begin;
}

/* RFC 8259, 6: [ minus ] int [ frac ] [ exp ], without a leading zero. */
static bool skip_number(struct reader *r)
{
	if (peek(r) == '-')
		r->at++;
	if (peek(r) == '0')
		r->at++;
	else if (!skip_digits(r))
		return false;
	if (peek(r) == '.') {
		r->at++;
		if (!skip_digits(r))
			return false;
	}
	if (peek(r) == 'e' || peek(r) == 'E') {
		r->at++;
		if (peek(r) == '+' || peek(r) == '-')
			r->at++;
		return skip_digits(r);
	}
	return true;
}

static int read_scalar(struct reader *r, struct err *e)
{
	static const struct {
		const char *word;
		enum tree_kind kind;
	} words[] = {{"null", TREE_NULL}, {"true", TREE_TRUE}, {"false", TREE_FALSE}};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const size_t len = strlen(words[i].word);
		if (r->t->len - r->at < len || memcmp(r->t->text + r->at, words[i].word, len) != 0)
			continue;
		const int64_t node = add_node(r, words[i].kind, e);
		r->at += len;
		if (node < 0)
			return -1;
		finish(r, node, r->at);
		return 0;
	}
	const int64_t node = add_node(r, TREE_NUMBER, e);
	if (node < 0)
		return -1;
	const size_t begin = r->at;
	if (!skip_number(r))
		return complain(r, "a value belongs here", e);
	if (r->at - begin > TREE_NUMBER_BYTES_MAX)
		return tree_complain(r->t, begin, "a number longer than 4096 bytes", e);
	finish(r, node, r->at);
	return 0;
}

static int read_key(struct reader *r, struct err *e)
{
	if (read_string(r, e) < 0)
		return -1;
	skip_space(r);
	if (peek(r) != ':')
		return complain(r, "a colon belongs here", e);
	r->at++;
	skip_space(r);
	return 0;
}

static int read_container(struct reader *r, bool object, struct err *e)
{
	const int close = object ? '}' : ']';
	if (++r->depth > TREE_DEPTH_MAX)
		return complain(r, "nested deeper than 64", e);
	const int64_t node = add_node(r, object ? TREE_OBJECT : TREE_ARRAY, e);
	if (node < 0)
		return -1;
	r->at++;
	skip_space(r);
	for (bool first = true; peek(r) != close || !first; first = false) {
		if (!first) {
			if (peek(r) == close)
				break;
			if (peek(r) != ',')
				return complain(r, "a comma or the end belongs here", e);
			r->at++;
			skip_space(r);
		}
		if (object && read_key(r, e) < 0)
			return -1;
		if (read_value(r, e) < 0)
			return -1;
		count(r, node);
		skip_space(r);
	}
	r->at++;
	r->depth--;
	finish(r, node, r->at);
	return object ? check_keys(r, node, e) : 0;
}

/* At most TREE_DEPTH_MAX in each other. */
static int read_value(struct reader *r, struct err *e)
{
	const int c = peek(r);
	if (c == '{' || c == '[')
		return read_container(r, c == '{', e);
	if (c == '"')
		return read_string(r, e) < 0 ? -1 : 0;
	return read_scalar(r, e);
}

int tree_read(struct tree *t, const char *text, size_t len, struct err *e)
{
	*t = (struct tree){.text = text, .len = len};
	struct reader r = {.t = t};
	if (len > TREE_BYTES_MAX)
		return err_usage(e, "more than 64 MiB of JSON are not looked at");
	skip_space(&r);
	int rc = read_value(&r, e);
	skip_space(&r);
	if (rc == 0 && r.at < len)
		rc = complain(&r, "something stands behind the document", e);
	free(r.keys);
	if (rc < 0)
		tree_close(t);
	return rc;
}

void tree_close(struct tree *t)
{
	free(t->nodes);
	t->nodes = NULL;
	t->used = t->room = 0;
}

/* ---- what a schema asks for ---- */

bool tree_is_text(const struct tree *t, const struct tree_node *string, const char *text)
{
	uint32_t at = string->at;
	while (at < string->end && *text)
		if (next_char(t, string, &at) != (uint32_t)(unsigned char)*text++)
			return false;
	return at == string->end && !*text;
}

const struct tree_node *tree_member(const struct tree *t, const struct tree_node *node,
				    const char *name)
{
	const struct tree_node *at = tree_first(node);
	for (uint32_t i = 0; node->kind == TREE_OBJECT && i < node->count; i++) {
		const struct tree_node *value = tree_next(t, at);
		if (tree_is_text(t, at, name))
			return value;
		at = tree_next(t, value);
	}
	return NULL;
}

double tree_value(const struct tree *t, const struct tree_node *number)
{
	char digits[TREE_NUMBER_BYTES_MAX + 1];
	const size_t len = number->end - number->at;
	memcpy(digits, t->text + number->at, len);
	digits[len] = '\0';
	return strtod(digits, NULL);
}

size_t tree_length(const struct tree *t, const struct tree_node *string)
{
	size_t count = 0;
	for (uint32_t at = string->at; at < string->end; count++)
		next_char(t, string, &at);
	return count;
}

static bool same_members(const struct tree *a, const struct tree_node *x, const struct tree *b,
			 const struct tree_node *y)
{
	const struct tree_node *key = tree_first(x);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct tree_node *other = tree_first(y), *value = tree_next(a, key);
		uint32_t j = 0;
		while (j < y->count && !same_string(a, key, b, other)) {
			other = tree_next(b, tree_next(b, other));
			j++;
		}
		if (j == y->count || !tree_equal(a, value, b, tree_next(b, other)))
			return false;
		key = tree_next(a, value);
	}
	return true;
}

bool tree_equal(const struct tree *a, const struct tree_node *x, const struct tree *b,
		const struct tree_node *y)
{
	if (x->kind != y->kind || x->count != y->count)
		return false;
	if (x->kind == TREE_NUMBER)
		return tree_value(a, x) == tree_value(b, y);
	if (x->kind == TREE_STRING)
		return same_string(a, x, b, y);
	if (x->kind == TREE_OBJECT)
		return same_members(a, x, b, y);
	const struct tree_node *i = tree_first(x), *j = tree_first(y);
	for (uint32_t n = 0; n < x->count; n++) {
		if (!tree_equal(a, i, b, j))
			return false;
		i = tree_next(a, i);
		j = tree_next(b, j);
	}
	return true;
}
