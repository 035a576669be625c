/* Where things stand in a JSON text: jansson keeps no positions.
 *
 * A walk over text that jansson has accepted; it finds members, elements and their
 * bytes, and judges nothing. It never leaves the text, valid or not.
 */
#ifndef PINFOLD_SPEC_LOCATE_H
#define PINFOLD_SPEC_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

struct json_text {
	const char *text;
	size_t len;
};

/* Bytes [at, end) of the text. */
struct slice {
	size_t at, end;
};

struct member {
	struct slice key; /* with its quotes; empty for an element of an array */
	struct slice value;
};

/* The next member of the object or array; *at starts as the place of its bracket, and is moved. */
bool locate_next(const struct json_text *j, size_t *at, struct member *m);

/* The place of the first value. */
size_t locate_start(const struct json_text *j);

/* Line and column, both from 1; columns count characters. */
void locate_position(const struct json_text *j, size_t at, size_t *line, size_t *column);

/* The place of the bracket that nests deeper than max; j->len if none does. Any text will do. */
size_t locate_too_deep(const struct json_text *j, unsigned int max);

#endif
