/* The bytes of a layer: read from a descriptor, decompressed, counted and hashed, in two threads
 * where they may be had, so that one processor decompresses while others hash and write files.
 *
 * libarchive's filters decompress; what they make is bounded in relation to what they were given.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_SOURCE_H
#define PINFOLD_ROOTFS_IMAGE_SOURCE_H

#include "rootfs/image/digest.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum source_filters {
	SOURCE_LAYER, /* none, gzip, zstd: what the image specification has */
	SOURCE_ANY,   /* and what else libarchive decompresses itself */
};

struct source_options {
	enum source_filters filters;
	uint32_t ratio; /* bytes out for one in at most, once there are many of them */
};

struct source;

/* *s borrows stream until source_close(), which takes NULL. */
int source_open(struct source **s, int stream, const struct source_options *o, struct err *e);
/* The next bytes, which live until the next call: their number, 0 at the end, -1 and *e. */
ssize_t source_next(struct source *s, const void **bytes, struct err *e);
/* After the end: the digest of all that came, which is a layer's diff_id. */
void source_digest(const struct source *s, struct digest *d);
/* What it is packed with: an enum media_compression, -1 for what no layer may be. */
int source_compression(const struct source *s);
void source_close(struct source **s);

#endif
