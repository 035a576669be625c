/* HTML out, by one writer that cannot emit a text as markup.
 *
 * Markup is a literal of the source: html_markup() takes nothing else, the compiler sees to that.
 * Whatever comes from a document goes through html_text() and its like, where nothing is special:
 * the five characters that mean something are entities, in text and in quoted attributes alike;
 * controls, characters that reorder or hide text, and bytes that are no UTF-8 are shown by their
 * number. What is too long is cut, visibly. The page is bounded: html_finish() says so.
 */
#ifndef PINFOLD_REPORT_HTML_H
#define PINFOLD_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Any bytes; at NULL: the document does not tell. */
struct bytes {
	const char *at;
	size_t len;
};

struct html {
	char *buf;
	size_t len, room, most;
	bool broken; /* memory is out, or it would be larger than most */
};

void html_open(struct html *h, size_t most);
/* The page, malloc'ed and NUL-terminated; NULL: it broke. */
char *html_finish(struct html *h);
void html_drop(struct html *h);

#define html_markup(h, literal) html_literal((h), "" literal "", sizeof(literal) - 1)
void html_literal(struct html *h, const char *literal, size_t len);

/* At most most bytes of it. Text between elements is set apart, so that right-to-left letters move
 * nothing else (bdi). */
enum { HTML_SHORT = 512, HTML_LONG = 4096 };
void html_text(struct html *h, struct bytes text, size_t most);
/* The same without an element around it: for an attribute, a title, the inside of a pre. */
void html_plain(struct html *h, struct bytes text, size_t most);
/* Words of our own; escaped all the same. */
void html_words(struct html *h, const char *words);
void html_printf(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A coordinate: thousandths, with at most two digits behind the point. */
void html_milli(struct html *h, int64_t milli);
void html_base64(struct html *h, struct bytes data);

/* Bytes of a NUL-terminated string, at NULL for NULL. */
struct bytes bytes_of(const char *text);
bool bytes_are(struct bytes b, const char *text);

#endif
