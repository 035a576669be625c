#include "report/html.h"

#include "spec/base64.h"
#include "spec/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes bytes_of(const char *text)
{
	return (struct bytes){text, text ? strlen(text) : 0};
}

bool bytes_are(struct bytes b, const char *text)
{
	return b.at && b.len == strlen(text) && memcmp(b.at, text, b.len) == 0;
}

void html_open(struct html *h, size_t most)
{
	*h = (struct html){.most = most};
}

void html_drop(struct html *h)
{
	free(h->buf);
	*h = (struct html){.broken = true};
}

/* Room for len bytes and a NUL. */
static bool make_room(struct html *h, size_t len)
{
	if (h->broken || len > h->most || h->len > h->most - len) {
		h->broken = true;
		return false;
	}
	if (h->len + len < h->room)
		return true;
	const size_t room = (h->len + len + 1) * 2;
	char *grown = realloc(h->buf, room);
	if (!grown) {
		h->broken = true;
		return false;
	}
	h->buf = grown;
	h->room = room;
	return true;
}

void html_literal(struct html *h, const char *literal, size_t len)
{
	if (!make_room(h, len))
		return;
	memcpy(h->buf + h->len, literal, len);
	h->len += len;
	h->buf[h->len] = '\0';
}

char *html_finish(struct html *h)
{
	char *page = NULL;
	if (!h->broken && make_room(h, 0)) {
		page = h->buf;
		page[h->len] = '\0';
		h->buf = NULL;
	}
	html_drop(h);
	return page;
}

/* ---- text ---- */

/* What cannot be seen, or makes others be seen elsewhere: C0, DEL, C1, soft hyphen, the marks and
 * overrides of bidirectional text, what has no width, fillers, tags, private use and
 * what is no character. A tab and a newline are text. */
static bool is_hidden(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x08},	    {0x0b, 0x1f},	 {0x7f, 0x9f},	   {0xad, 0xad},
		{0x34f, 0x34f},	    {0x61c, 0x61c},	 {0x115f, 0x1160}, {0x17b4, 0x17b5},
		{0x180b, 0x180f},   {0x200b, 0x200f},	 {0x2028, 0x202e}, {0x2060, 0x206f},
		{0x2800, 0x2800},   {0x3164, 0x3164},	 {0xd800, 0xf8ff}, {0xfe00, 0xfe0f},
		{0xfeff, 0xfeff},   {0xffa0, 0xffa0},	 {0xfff0, 0xfffb}, {0xfffe, 0xffff},
		{0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
	};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* The character at p of len bytes, as utf8_next() has it; a NUL is one of a byte. */
static size_t next_character(const unsigned char *p, size_t len, uint32_t *c)
{
	unsigned char copy[5] = {0};
	memcpy(copy, p, len < 4 ? len : 4);
	if (!copy[0]) {
		*c = 0;
		return 1;
	}
	return utf8_next(copy, c);
}

static void put_character(struct html *h, const unsigned char *p, size_t len, uint32_t c)
{
	char shown[16];
	if (len == 0 || (is_hidden(c) && c < 0x80))
		snprintf(shown, sizeof(shown), "\\x%02x", *p);
	else if (is_hidden(c))
		snprintf(shown, sizeof(shown), "\\u{%x}", c);
	else if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' || c == '`' || c == '=')
		snprintf(shown, sizeof(shown), "&#%u;", c);
	else
		return html_literal(h, (const char *)p, len);
	html_literal(h, shown, strlen(shown));
}

/* Marks that stand on the letter before: more than a few of them climb out of their line. */
static bool is_mark(uint32_t c)
{
	return (c >= 0x300 && c <= 0x36f) || (c >= 0x483 && c <= 0x489) ||
	       (c >= 0x1ab0 && c <= 0x1aff) || (c >= 0x1dc0 && c <= 0x1dff) ||
	       (c >= 0x20d0 && c <= 0x20ff) || (c >= 0xfe20 && c <= 0xfe2f);
}

void html_plain(struct html *h, struct bytes text, size_t most)
{
	enum { MARKS_MAX = 3 };
	const unsigned char *p = (const unsigned char *)text.at;
	const size_t shown = text.len < most ? text.len : most;
	unsigned int marks = 0;
	size_t at = 0;
	while (p && at < shown && !h->broken) {
		uint32_t c = 0;
		const size_t len = next_character(p + at, text.len - at, &c);
		marks = len > 0 && is_mark(c) ? marks + 1 : 0;
		if (marks <= MARKS_MAX)
			put_character(h, p + at, len, c);
		at += len ? len : 1;
	}
	if (at < text.len)
		html_printf(h, " \xe2\x80\xa6 (%zu bytes)", text.len);
}

void html_text(struct html *h, struct bytes text, size_t most)
{
	html_markup(h, "<bdi>");
	html_plain(h, text, most);
	html_markup(h, "</bdi>");
}

void html_words(struct html *h, const char *words)
{
	html_plain(h, bytes_of(words), SIZE_MAX);
}

void html_printf(struct html *h, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	html_words(h, text);
}

void html_milli(struct html *h, int64_t milli)
{
	char text[32];
	const char *sign = milli < 0 ? "-" : "";
	const uint64_t part = (uint64_t)(milli < 0 ? -milli : milli);
	int len = snprintf(text, sizeof(text), "%s%llu.%02llu", sign,
			   (unsigned long long)(part / 1000), (unsigned long long)(part % 1000 / 10));
	while (text[len - 1] == '0')
		len--;
	if (text[len - 1] == '.')
		len--;
	html_literal(h, text, (size_t)len);
}

void html_base64(struct html *h, struct bytes data)
{
	const size_t len = BASE64_BYTES(data.len);
	if (!make_room(h, len))
		return;
	h->len += base64_encode(data.at, data.len, h->buf + h->len);
	h->buf[h->len] = '\0';
}
