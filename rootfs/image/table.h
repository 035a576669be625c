/* Sets and maps whose keys are paths, at eight bytes a key: only a keyed hash of the path is kept.
 *
 * The key is random, so that nobody can make an image whose paths collide; two of a million do by
 * chance once in 30 million images.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_TABLE_H
#define PINFOLD_ROOTFS_IMAGE_TABLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
	uint64_t *keys, *values;
	size_t size, used;
	bool has_values;
};

struct table_key {
	uint64_t half[2];
};

/* From the kernel's generator. */
int table_key_init(struct table_key *k, struct err *e);

/* SipHash-1-3 of a path under k, never 0. */
uint64_t table_hash(const struct table_key *k, const char *path, size_t len);

/* Add hash or find it: *at is its index until the next call. -1 without memory. */
int table_add(struct table *t, uint64_t hash, size_t *at, struct err *e);
bool table_find(const struct table *t, uint64_t hash, size_t *at);
void table_free(struct table *t);

#endif
