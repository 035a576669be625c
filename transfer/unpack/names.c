#include "transfer/unpack/unpack.h"

#include <string.h>

bool unpack_clean(char clean[PATH_MAX], const char *name)
{
	size_t used = 0;
	if (*name == '/')
		return false;
	for (const char *at = name; *at;) {
		const size_t len = strcspn(at, "/");
		const bool here = len == 0 || (len == 1 && *at == '.');
		if (len > NAME_MAX || (len == 2 && at[0] == '.' && at[1] == '.') ||
		    used + 1 + len >= PATH_MAX)
			return false;
		if (!here) {
			if (used > 0)
				clean[used++] = '/';
			memcpy(clean + used, at, len);
			used += len;
		}
		at += len;
		at += *at == '/';
	}
	clean[used] = '\0';
	return true;
}
