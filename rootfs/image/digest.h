/* Digests: the names of blobs, and how they are computed.
 *
 * Knows SHA-256 alone, in the one spelling that the registries' documents allow: "sha256:" and 64
 * lower-case hexadecimal digits. Whatever is none is refused before it becomes part of a file name.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_DIGEST_H
#define PINFOLD_ROOTFS_IMAGE_DIGEST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define DIGEST_PREFIX "sha256:"

enum { DIGEST_HEX = 64, DIGEST_TEXT = sizeof(DIGEST_PREFIX) + DIGEST_HEX, DIGEST_RAW = 32 };

/* A NUL-terminated text; all zero is no digest. */
struct digest {
	char text[DIGEST_TEXT];
};

/* -1 and *e (ERR_USAGE) for everything but the one spelling; another algorithm is named as such. */
int digest_parse(struct digest *d, const char *text, struct err *e);

/* The 64 digits, as they name files in the store. */
const char *digest_hex(const struct digest *d);

bool digest_same(const struct digest *a, const struct digest *b);

/* A running SHA-256. Make it before anything hostile can be opened by name: see hash_init(). */
struct hash {
	void *context; /* OpenSSL's */
};

#define HASH_INIT {.context = NULL}

/* Ready for the first byte. OpenSSL is told to read no configuration, which could name modules to
 * be loaded, out of an image if this process lives in one. *h is freed with hash_free(). */
int hash_init(struct hash *h, struct err *e);
/* Begin anew, for far less than hash_init() costs. */
void hash_restart(struct hash *h);
void hash_update(struct hash *h, const void *data, size_t len);
/* The digest of what came since the beginning; then hash_restart() before more. */
void hash_final(struct hash *h, struct digest *d);
void hash_free(struct hash *h);
#define autohash __attribute__((cleanup(hash_free))) struct hash

#endif
