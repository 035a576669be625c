#include "spec/locate.h"

#include <string.h>

static bool one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static size_t skip_space(const struct json_text *j, size_t at)
{
	while (at < j->len && one_of(j->text[at], " \t\r\n"))
		at++;
	return at;
}

/* text[at] is a quote; returns the place behind the closing one. */
static size_t skip_string(const struct json_text *j, size_t at)
{
	for (at++; at < j->len && j->text[at] != '"'; at++) {
		if (j->text[at] == '\\')
			at++;
	}
	return at < j->len ? at + 1 : j->len;
}

static size_t skip_nested(const struct json_text *j, size_t at)
{
	size_t depth = 0;
	while (at < j->len) {
		char c = j->text[at];
		at = c == '"' ? skip_string(j, at) : at + 1;
		if (one_of(c, "[{"))
			depth++;
		if (one_of(c, "]}") && --depth == 0)
			break;
	}
	return at;
}

static size_t skip_value(const struct json_text *j, size_t at)
{
	if (at >= j->len)
		return j->len;
	if (j->text[at] == '"')
		return skip_string(j, at);
	if (one_of(j->text[at], "[{"))
		return skip_nested(j, at);
	while (at < j->len && !one_of(j->text[at], ",:]} \t\r\n"))
		at++;
	return at;
}

bool locate_next(const struct json_text *j, size_t *at, struct member *m)
{
	*at = skip_space(j, *at);
	if (*at >= j->len || !one_of(j->text[*at], "[{,"))
		return false;
	size_t first = skip_space(j, *at + 1);
	size_t first_end = skip_value(j, first);
	size_t behind = skip_space(j, first_end);
	if (first == first_end)
		return false;
	*m = (struct member){.key = {first, first}, .value = {first, first_end}};
	if (behind < j->len && j->text[behind] == ':') {
		size_t value = skip_space(j, behind + 1);
		m->key = m->value;
		m->value = (struct slice){value, skip_value(j, value)};
	}
	*at = m->value.end;
	return true;
}

size_t locate_start(const struct json_text *j)
{
	return skip_space(j, 0);
}

void locate_position(const struct json_text *j, size_t at, size_t *line, size_t *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < at && i < j->len; i++) {
		unsigned char c = (unsigned char)j->text[i];
		if (c == '\n') {
			++*line;
			*column = 1;
		} else if ((c & 0xc0) != 0x80) { /* not inside a character of UTF-8 */
			++*column;
		}
	}
}

size_t locate_too_deep(const struct json_text *j, unsigned int max)
{
	unsigned int depth = 0;
	for (size_t at = 0; at < j->len;) {
		char c = j->text[at];
		if (one_of(c, "[{") && ++depth > max)
			return at;
		if (one_of(c, "]}") && depth > 0)
			depth--;
		at = c == '"' ? skip_string(j, at) : at + 1;
	}
	return j->len;
}
