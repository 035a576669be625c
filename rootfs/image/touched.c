/* What a layer did to the paths of the tree: whiteouts hide what is in lower layers only, and may come
 * before or behind what their own layer has. Keys are hashes whose lowest bit is the answer's. */
#include "rootfs/image/unpack.h"

enum { BELOW_BIT = 1 };

static uint64_t key_of(const struct unpack *u, const char *path, size_t len)
{
	const uint64_t hash = table_hash(&u->key, path, len) & ~(uint64_t)BELOW_BIT;
	return hash ? hash : 2;
}

enum touched touched_get(const struct unpack *u, const char *path, size_t len)
{
	const uint64_t key = key_of(u, path, len);
	if (table_find(&u->touched, key, NULL))
		return TOUCHED;
	return table_find(&u->touched, key | BELOW_BIT, NULL) ? TOUCHED_BELOW : UNTOUCHED;
}

int touched_set(struct unpack *u, const struct path *path, enum touched how, struct err *e)
{
	if (u->layer == 0)
		return 0;
	return table_add(&u->touched,
			 key_of(u, path->text, path->len) | (how == TOUCHED ? 0 : BELOW_BIT), NULL,
			 e);
}

int touch_parents(struct unpack *u, const struct path *path, struct err *e)
{
	if (u->layer == 0)
		return 0;
	struct path parent = *path;
	while (parent.len > 0) {
		parent.len = path_parent(&parent);
		parent.text[parent.len] = '\0';
		/* Whoever is touched has parents that are. */
		if (touched_get(u, parent.text, parent.len) != UNTOUCHED)
			return 0;
		if (touched_set(u, &parent, TOUCHED_BELOW, e) < 0)
			return -1;
	}
	return 0;
}
