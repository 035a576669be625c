/* A text in a field of fixed size, cut so that it shows. */
#ifndef PINFOLD_BASE_TEXT_H
#define PINFOLD_BASE_TEXT_H

#include <stddef.h>

/* Copy text into the field to, of size bytes (16 at least). Where it does not fit it loses its
 * middle, and
 * "..." stands there: what is long is the name of an object, in front, and what is wrong with it is
 * said at the end. No character of UTF-8 is cut in two. to and text may not overlap. */
void text_fit(char *to, size_t size, const char *text);

#endif
