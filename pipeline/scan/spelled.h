/* How a name is written in a program, and how it is meant: escapes, letters that stand for others,
 * a shell's quotes. Pure; any bytes. */
#ifndef PINFOLD_PIPELINE_SCAN_SPELLED_H
#define PINFOLD_PIPELINE_SCAN_SPELLED_H

#include "pipeline/scan/literal.h"

#include <stdbool.h>
#include <stddef.h>

/* A spelled name that grows; one that does not fit is none. */
struct spelled {
	char *to;
	size_t used, size;
};

/* False: it does not fit. */
bool spelled_put(struct spelled *s, const char *text, size_t len);
/* Without blanks; "a::b" and "a->b" are "a.b"; letters as they are meant. */
bool spelled_put_name(struct spelled *s, struct span t);
/* A shell's word: without quotes, braces and backslashes; $'\x65' is read as a shell reads it. */
bool spelled_put_word(struct spelled *s, struct span t);
/* "os.__dict__.system" and "os.system.__call__" are "os.system", which Python finds by a longer way. */
void spelled_straighten(char *name);
/* '*' in the pattern is any number of bytes without a call in it. */
bool spelled_match(const char *pattern, const char *name);

#endif
