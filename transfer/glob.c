#include "transfer/glob.h"

#include <string.h>

bool glob_is_pattern(const char *component, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (component[i] == '*' || component[i] == '?' || component[i] == '[')
			return true;
	return false;
}

/* [abc], [a-z], [!a], with ] first in it as itself. The length of the bracket; 0: it does not end, and is a plain [. */
static size_t bracket(const char *p, size_t len, unsigned char c, bool *hit)
{
	size_t at = 1;
	const bool negate = at < len && (p[at] == '!' || p[at] == '^');
	bool found = false;
	at += negate;
	for (const size_t first = at; at < len && (p[at] != ']' || at == first); at++) {
		const unsigned char low = (unsigned char)p[at];
		unsigned char high = low;
		if (at + 2 < len && p[at + 1] == '-' && p[at + 2] != ']') {
			high = (unsigned char)p[at + 2];
			at += 2;
		}
		found |= c >= low && c <= high;
	}
	*hit = found != negate;
	return at < len ? at + 1 : 0;
}

/* How much of the pattern one character takes; 0: it does not match. */
static size_t one(const char *p, size_t len, unsigned char c)
{
	bool hit = false;
	if (p[0] == '?')
		return 1;
	const size_t size = p[0] == '[' ? bracket(p, len, c, &hit) : 0;
	if (size > 0)
		return hit ? size : 0;
	return (unsigned char)p[0] == c;
}

bool glob_match(const char *pattern, size_t len, const char *name)
{
	const char *end = pattern + len, *star = NULL, *from = NULL;
	if (name[0] == '.' && (len == 0 || pattern[0] != '.'))
		return false;
	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			from = name;
			continue;
		}
		const size_t size = pattern < end ? one(pattern, (size_t)(end - pattern),
							(unsigned char)*name)
						  : 0;
		if (size > 0) {
			pattern += size;
			name++;
		} else if (star) { /* the last star takes one more */
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}
