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

enum { TABLE_LEVELS = 24 };

/* Each level has twice the room of the one before and is made when that is full, so that nothing is
 * ever copied into a larger table, for which both would have to be in memory. */
struct table {
	struct table_level {
		uint64_t *keys, *values;
		size_t used;
		unsigned level;
	} levels[TABLE_LEVELS];
	unsigned levels_len;
	bool has_values;
};

struct table_key {
	uint64_t half[2];
};

/* From the kernel's generator. */
int table_key_init(struct table_key *k, struct err *e);

/* SipHash-1-3 of a path under k, never 0. */
uint64_t table_hash(const struct table_key *k, const char *path, size_t len);

/* Find hash or add it; *value is where its value is, which is 0 at first, if the table has some;
 * value may be NULL. -1 without memory. */
int table_add(struct table *t, uint64_t hash, uint64_t **value, struct err *e);
bool table_find(const struct table *t, uint64_t hash, uint64_t **value);
void table_free(struct table *t);

#endif
