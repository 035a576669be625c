/* JSON from strangers, within bounds. Internal to the reading of images.
 *
 * jansson decides what is JSON. Before it is asked: how long, how deep, how many values, so that a
 * small text cannot become a large tree. Duplicate keys are refused, and so is a key that differs
 * from the one that is wanted in case only: readers in Go take the one for the other, and what two
 * readers understand differently is an attack.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_JSON_H
#define PINFOLD_ROOTFS_IMAGE_JSON_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JSON_BYTES_MAX = 4 << 20,
	JSON_DEPTH_MAX = 32,
	JSON_VALUES_MAX = 100000,
	JSON_TEXTS_MAX = 4096, /* in one array */
};

struct json_bytes {
	const char *text;
	size_t len;
};

static inline void json_drop(json_t **root)
{
	json_decref(*root);
}
#define autojson __attribute__((cleanup(json_drop))) json_t

/* The document, an object, or NULL and ERR_USAGE "NAME:LINE:COLUMN: ...". name is ours. */
json_t *json_read(const char *name, struct json_bytes bytes, struct err *e);

/* A member by its key: NULL if it is absent or null. Another type than wanted is ERR_USAGE. */
int json_member(json_t *object, const char *key, json_type type, json_t **value, struct err *e);

/* The same for a text, which is borrowed from the tree, and for a whole number from 0 on. The
 * number must be there. */
int json_member_text(json_t *object, const char *key, const char **text, struct err *e);
int json_member_size(json_t *object, const char *key, uint64_t *size, struct err *e);

/* An array of texts, copied into the arena with a NULL behind the last. Absent: list is NULL. */
struct json_texts {
	const char **list;
	size_t len;
};
int json_member_texts(json_t *object, const char *key, struct arena *a, struct json_texts *texts,
		      struct err *e);

#endif
