#include "report/page.h"

#include <stdbool.h>
#include <string.h>

/* All that page_body() makes, and nothing that runs, loads, navigates or styles. */
static const char *const elements[] = {
	"article", "bdi",     "br",	    "caption", "circle",  "code", "dd",	   "details", "div",
	"dl",	   "dt",      "figcaption", "figure",  "footer",  "h1",	  "h2",	   "h3",      "h4",
	"h5",	   "header",  "img",	    "li",      "line",	  "main", "p",	   "path",    "pre",
	"rect",	   "section", "span",	    "strong",  "summary", "svg",  "table", "tbody",   "td",
	"text",	   "th",      "thead",	    "tr",      "ul",	  NULL,
};
static const char *const attributes[] = {
	"alt",
	"aria-hidden",
	"aria-label",
	"aria-labelledby",
	"class",
	"cx",
	"cy",
	"d",
	"data-of",
	"height",
	"id",
	"open",
	"preserveAspectRatio",
	"r",
	"role",
	"scope",
	"src",
	"tabindex",
	"viewBox",
	"width",
	"x",
	"x1",
	"x2",
	"y",
	"y1",
	"y2",
	NULL,
};

struct scan {
	const char *at, *end;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* The name there is in the list; the scan is behind it. */
static bool take_name(struct scan *s, const char *const *list)
{
	const char *begin = s->at;
	while (s->at < s->end && is_letter(*s->at))
		s->at++;
	const size_t len = (size_t)(s->at - begin);
	for (; *list; list++)
		if (strlen(*list) == len && memcmp(*list, begin, len) == 0)
			return true;
	return false;
}

static bool take(struct scan *s, const char *literal)
{
	const size_t len = strlen(literal);
	if ((size_t)(s->end - s->at) < len || memcmp(s->at, literal, len) != 0)
		return false;
	s->at += len;
	return true;
}

/* ="VALUE", with nothing in it that could end it or mean markup. */
static bool take_value(struct scan *s, bool image)
{
	if (!take(s, "=\""))
		return false;
	if (image && !take(s, "data:image/png;base64,"))
		return false;
	while (s->at < s->end && *s->at != '"') {
		const char c = *s->at++;
		if (c == '<' || c == '>' || c == '\0' ||
		    (image && !is_letter(c) && c != '+' && c != '/' && c != '='))
			return false;
	}
	return take(s, "\"");
}

static bool take_attribute(struct scan *s)
{
	const char *begin = s->at;
	if (!take_name(s, attributes))
		return false;
	return take_value(s, s->at - begin == 3 && memcmp(begin, "src", 3) == 0);
}

/* Behind its "<". */
static bool take_tag(struct scan *s)
{
	const bool closes = take(s, "/");
	if (!take_name(s, elements))
		return false;
	while (!closes && take(s, " "))
		if (!take_attribute(s))
			return false;
	if (!closes)
		take(s, "/");
	return take(s, ">");
}

int page_check(struct bytes body, struct err *e)
{
	struct scan s = {body.at, body.at + body.len};
	while (s.at < s.end) {
		const char c = *s.at++;
		const size_t at = (size_t)(s.at - body.at);
		if (c == '<' ? !take_tag(&s) : c == '>' || c == '\0')
			return err_bug(e, "the jail says what is no page of ours (at byte %zu)", at);
	}
	return 0;
}
