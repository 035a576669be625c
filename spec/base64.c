#include "spec/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(const char *in, size_t len, char *out)
{
	const unsigned char *from = (const unsigned char *)in;
	char *to = out;
	for (size_t left = len; left > 0; from += 3, left = left > 3 ? left - 3 : 0) {
		unsigned int v = (unsigned int)from[0] << 16;
		v |= left > 1 ? (unsigned int)from[1] << 8 : 0;
		v |= left > 2 ? from[2] : 0;
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = left > 1 ? digits[v >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[v & 63] : '=';
	}
	return (size_t)(to - out);
}

/* The value of a digit; -1: none. */
static int digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* How many '=' end the text: 0 to 2. */
static size_t padding(const char *in, size_t len)
{
	if (len == 0 || in[len - 1] != '=')
		return 0;
	return in[len - 2] == '=' ? 2 : 1;
}

size_t base64_decode(const char *in, size_t len, char *out)
{
	if (len % 4)
		return (size_t)-1;
	size_t pad = padding(in, len);
	size_t n = 0;
	unsigned int v = 0;
	for (size_t i = 0; i < len; i++) {
		int d = i >= len - pad ? 0 : digit(in[i]);
		if (d < 0)
			return (size_t)-1;
		v = (v << 6 | (unsigned int)d) & 0xffffff;
		if (i % 4 == 3) {
			out[n++] = (char)(v >> 16);
			out[n++] = (char)(v >> 8 & 0xff);
			out[n++] = (char)(v & 0xff);
		}
	}
	if (pad && v & (pad == 1 ? 0xffU : 0xffffU))
		return (size_t)-1;
	return n - pad;
}
