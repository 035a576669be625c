/* SHA-256 of much: by the processor's own instructions where it has them, else libmd's. See FIPS 180-4. */
#ifndef PINFOLD_TRANSFER_HASH_H
#define PINFOLD_TRANSFER_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sha2.h>

struct hash {
	bool fast;
	SHA2_CTX md; /* else */
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64]; /* what does not make a whole one yet */
};

/* portable: libmd's in any case, for tests. */
void hash_begin(struct hash *h, bool portable);
void hash_add(struct hash *h, const void *bytes, size_t len);
void hash_end(struct hash *h, char digest[65]);

#endif
