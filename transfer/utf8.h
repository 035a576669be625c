/* UTF-8 in a buffer that need not end with a NUL (RFC 3629). */
#ifndef PINFOLD_TRANSFER_UTF8_H
#define PINFOLD_TRANSFER_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The character at p, of left bytes: its length and number; 0: not valid. */
static inline size_t utf8_decode(const unsigned char *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (left == 0)
		return 0;
	if (p[0] < 0x80) {
		*c = p[0];
		return 1;
	}
	const size_t len = p[0] >= 0xf0 && p[0] < 0xf5	 ? 4
			   : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
			   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
							 : 0;
	if (len == 0 || len > left)
		return 0;
	uint32_t value = p[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (p[i] & 0x3f);
	}
	if (value < least[len] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*c = value;
	return len;
}

#endif
