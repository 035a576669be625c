/* What looks like a header of tar gets its checksum put right, or few inputs would come past it. */
#ifndef PINFOLD_TESTS_FUZZ_TAR_H
#define PINFOLD_TESTS_FUZZ_TAR_H

#include <stddef.h>
#include <string.h>

static inline void put_checksums_right(char *bytes, size_t size)
{
	enum { BLOCK = 512, SUM_AT = 148, SUM_LEN = 8, MAGIC_AT = 257 };
	for (size_t at = 0; at + BLOCK <= size; at += BLOCK) {
		char *h = bytes + at;
		unsigned sum = 0;
		if (memcmp(h + MAGIC_AT, "ustar", 5) != 0)
			continue;
		memset(h + SUM_AT, ' ', SUM_LEN);
		for (size_t i = 0; i < BLOCK; i++)
			sum += (unsigned char)h[i];
		h[SUM_AT + 6] = '\0';
		for (int i = 5; i >= 0; i--, sum >>= 3)
			h[SUM_AT + i] = (char)('0' + (sum & 7));
	}
}

#endif
