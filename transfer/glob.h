/* One component of a pattern against one name: fnmatch(3) with FNM_PERIOD, without locales and without recursion. */
#ifndef PINFOLD_TRANSFER_GLOB_H
#define PINFOLD_TRANSFER_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is something to match in it: * ? or [. */
bool glob_is_pattern(const char *component, size_t len);
/* In time of the product of the lengths at most. Bytes, not characters. */
bool glob_match(const char *pattern, size_t len, const char *name);

#endif
