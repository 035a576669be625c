#include "spec/writer.h"

#include "spec/base64.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 16 * 1024 };

/* Room for more bytes at the end; NULL: memory is out, now or before. */
static char *reserve(struct json_writer *w, size_t more)
{
	if (w->broken)
		return NULL;
	if (w->room - w->len < more) {
		size_t room = w->room * 2 > w->len + more ? w->room * 2 : w->len + more;
		char *buf = realloc(w->buf, room);
		if (!buf) {
			w->broken = true;
			return NULL;
		}
		w->buf = buf;
		w->room = room;
	}
	return w->buf + w->len;
}

static void put(struct json_writer *w, const char *text, size_t len)
{
	char *to = reserve(w, len);
	if (!to)
		return;
	memcpy(to, text, len);
	w->len += len;
}

static void put_char(struct json_writer *w, char c)
{
	put(w, &c, 1);
}

size_t utf8_next(const unsigned char *s, uint32_t *character)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;
	uint32_t c = len <= 1 ? s[0] : s[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fU);
	}
	if (len > 1 && (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff))
		return 0;
	*character = c;
	return len;
}

static bool utf8_valid(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;
	while (*s) {
		size_t len = *s < 0x80 ? 1 : utf8_next(s, &c);
		if (len == 0)
			return false;
		s += len;
	}
	return true;
}

static void put_escape(struct json_writer *w, uint32_t c)
{
	char text[16];
	int n;
	if (c == '"' || c == '\\')
		n = snprintf(text, sizeof(text), "\\%c", (int)c);
	else if (c == '\n')
		n = snprintf(text, sizeof(text), "\\n");
	else if (c == '\t')
		n = snprintf(text, sizeof(text), "\\t");
	else if (c < 0x10000)
		n = snprintf(text, sizeof(text), "\\u%04x", c);
	else
		n = snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
			     0xdc00 + (c & 0x3ff));
	put(w, text, (size_t)n);
}

static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(struct json_writer *w, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	put_char(w, '"');
	while (*s) {
		size_t run = 0;
		while (plain(s[run]))
			run++;
		put(w, (const char *)s, run);
		s += run;
		if (!*s)
			break;
		uint32_t c = 0xfffd;
		size_t len = utf8_next(s, &c);
		put_escape(w, c);
		s += len ? len : 1;
	}
	put_char(w, '"');
}

static void new_line(struct json_writer *w)
{
	char *to = w->indent ? reserve(w, 1 + 2 * (size_t)w->depth) : NULL;
	if (!to)
		return;
	to[0] = '\n';
	memset(to + 1, ' ', 2 * (size_t)w->depth);
	w->len += 1 + 2 * (size_t)w->depth;
}

/* What stands before a value: comma, line, name. */
static void lead(struct json_writer *w, const char *key)
{
	if (w->comma)
		put_char(w, ',');
	if (w->depth > 0)
		new_line(w);
	if (key) {
		put_string(w, key);
		put(w, ": ", w->indent ? 2 : 1);
	}
	w->comma = true;
}

void json_open(struct json_writer *w, bool indent)
{
	*w = (struct json_writer){.buf = malloc(ROOM_FIRST), .room = ROOM_FIRST, .indent = indent};
	w->broken = !w->buf;
}

void json_begin(struct json_writer *w, const char *key, char bracket)
{
	lead(w, key);
	put_char(w, bracket);
	w->depth++;
	w->comma = false;
}

void json_end(struct json_writer *w, char bracket)
{
	w->depth--;
	if (w->comma)
		new_line(w);
	put_char(w, bracket == '{' ? '}' : ']');
	w->comma = true;
}

void json_number(struct json_writer *w, const char *key, int64_t number)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%lld", (long long)number);
	lead(w, key);
	put(w, text, (size_t)len);
}

void json_double(struct json_writer *w, const char *key, double number)
{
	char text[40];
	int digits = 1;
	if (!isfinite(number)) {
		json_null_value(w, key);
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*g", digits, number);
	while (strtod(text, NULL) != number && digits++ < 17);
	lead(w, key);
	put(w, text, strlen(text));
}

void json_raw(struct json_writer *w, const char *key, const char *text)
{
	lead(w, key);
	put(w, text, strlen(text));
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
	lead(w, key);
	put(w, value ? "true" : "false", value ? 4 : 5);
}

void json_null_value(struct json_writer *w, const char *key)
{
	lead(w, key);
	put(w, "null", 4);
}

static void put_base64(struct json_writer *w, const char *text)
{
	size_t len = strlen(text);
	put_char(w, '"');
	char *to = reserve(w, BASE64_BYTES(len));
	if (to)
		w->len += base64_encode(text, len, to);
	put_char(w, '"');
}

void json_text(struct json_writer *w, const char *key, const char *text)
{
	if (utf8_valid(text)) {
		lead(w, key);
		put_string(w, text);
		return;
	}
	json_begin(w, key, '{');
	lead(w, "data");
	put_base64(w, text);
	json_text(w, "encoding", "base64");
	json_end(w, '{');
}

char *json_finish(struct json_writer *w, bool newline)
{
	put(w, "\n", newline ? 2 : 0);
	if (!newline)
		put(w, "", 1);
	if (!w->broken)
		return w->buf;
	free(w->buf);
	return NULL;
}
