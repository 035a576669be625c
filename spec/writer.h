/* JSON out: a text that grows, and calls that add to it.
 *
 * Ours rather than jansson's, because every run writes two documents with it: no tree, no hash
 * tables that want random seeds, one buffer; a cold result costs a tenth. What it writes is ASCII:
 * every other character is \uXXXX, so that neither the sandbox's control characters nor
 * those beyond ASCII reach the terminal of who prints a document. It cannot write invalid JSON as
 * long as begin and end are balanced. When memory is out, json_finish() returns NULL.
 */
#ifndef PINFOLD_SPEC_WRITER_H
#define PINFOLD_SPEC_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer {
	char *buf;
	size_t len, room;
	unsigned int depth;
	bool indent; /* by two, one member a line */
	bool comma;  /* an element stands before */
	bool broken; /* memory is out */
};

void json_open(struct json_writer *w, bool indent);

/* In an object key is the member's name, in an array and at the top NULL. Keys may be any bytes;
 * what is not UTF-8 in them becomes U+FFFD. bracket is '{' or '['; end closes the same. */
void json_begin(struct json_writer *w, const char *key, char bracket);
void json_end(struct json_writer *w, char bracket);

void json_number(struct json_writer *w, const char *key, int64_t number);
/* The shortest decimal that reads back as number; null where it is none. */
void json_double(struct json_writer *w, const char *key, double number);
void json_bool(struct json_writer *w, const char *key, bool value);
void json_null_value(struct json_writer *w, const char *key);

/* A string if text is valid UTF-8, else {"encoding":"base64","data":"..."}, which is lossless. */
void json_text(struct json_writer *w, const char *key, const char *text);

/* Text that is one JSON value already, as it is. */
void json_raw(struct json_writer *w, const char *key, const char *text);

/* The character at s: its length in bytes and its number; 0: not valid UTF-8 (RFC 3629: no
 * overlong forms, no surrogates, nothing beyond U+10FFFF). s is NUL-terminated. */
size_t utf8_next(const unsigned char *s, uint32_t *character);

/* The document, malloc'ed; newline: with one at its end. NULL when memory is out. */
char *json_finish(struct json_writer *w, bool newline);

#endif
