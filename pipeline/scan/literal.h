/* Texts in a program: what a literal says, and what is to be thought of it. Pure; any bytes. */
#ifndef PINFOLD_PIPELINE_SCAN_LITERAL_H
#define PINFOLD_PIPELINE_SCAN_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *at;
	size_t len;
};

/* What the literal says, without quotes and prefixes, \xNN, \uNNNN and octal escapes of ASCII read.
 * Cut to size - 1 bytes and ended by a NUL; the length. */
size_t literal_read(struct span text, char *to, size_t size);

/* The number of an escape at t.at[i] == '\\' that stands for a character of ASCII, and how long the
 * escape is; 0: it is left as it stands. */
size_t literal_escape(struct span t, size_t i, int *value);

/* It is a path that leads out of the work folder: absolute (but no /tmp, /scratch, /dev/null, ...),
 * "~", or with enough ".." in it. */
bool literal_outside(const char *path);

/* A host that is written in text: of a URL, or text as a whole where it has the form of one with a
 * dot in it (whole). The first one; false: none. */
bool literal_host(struct span text, bool whole, char *to, size_t size);

/* 200 bytes and more, without a blank, that a program rather than a person wrote: base64,
 * hexadecimal digits, escapes. */
bool literal_blob(struct span text);

#endif
