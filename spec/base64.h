/* RFC 4648 base64, with padding, strict when it reads. */
#ifndef PINFOLD_SPEC_BASE64_H
#define PINFOLD_SPEC_BASE64_H

#include <stddef.h>

/* Characters that len bytes take, without a NUL. */
#define BASE64_BYTES(len) (((len) + 2) / 3 * 4)

/* Write BASE64_BYTES(len) characters, no NUL; returns how many. */
size_t base64_encode(const char *in, size_t len, char *out);

/* Whole groups, padding at the end only, no bits left over. out has room for len / 4 * 3; returns
 * the bytes, or (size_t)-1 if it is not that. */
size_t base64_decode(const char *in, size_t len, char *out);

#endif
