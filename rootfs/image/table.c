#include "rootfs/image/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_SIZE = 1024 };

int table_key_init(struct table_key *k, struct err *e)
{
	if (getrandom(k->half, sizeof(k->half), 0) != (ssize_t)sizeof(k->half))
		return err_sys(e, "getrandom");
	return 0;
}

static uint64_t turn(uint64_t x, unsigned by)
{
	return (x << by) | (x >> (64 - by));
}

static void round_once(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = turn(v[1], 13) ^ v[0];
	v[0] = turn(v[0], 32);
	v[2] += v[3];
	v[3] = turn(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = turn(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = turn(v[1], 17) ^ v[2];
	v[2] = turn(v[2], 32);
}

uint64_t table_hash(const struct table_key *k, const char *path, size_t len)
{
	uint64_t v[4] = {k->half[0] ^ 0x736f6d6570736575, k->half[1] ^ 0x646f72616e646f6d,
			 k->half[0] ^ 0x6c7967656e657261, k->half[1] ^ 0x7465646279746573};
	uint64_t last = (uint64_t)len << 56;
	for (; len >= 8; path += 8, len -= 8) {
		uint64_t word;
		memcpy(&word, path, 8);
		v[3] ^= word;
		round_once(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)(unsigned char)path[i] << (8 * i);
	v[3] ^= last;
	round_once(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		round_once(v);
	const uint64_t hash = v[0] ^ v[1] ^ v[2] ^ v[3];
	return hash ? hash : 1;
}

static size_t size_of(unsigned level)
{
	return (size_t)FIRST_SIZE << level;
}

/* Where hash is in a level, or where it belongs. */
static size_t probe(const struct table_level *l, uint64_t hash)
{
	const uint64_t *keys = l->keys;
	const size_t mask = size_of(l->level) - 1;
	size_t at = hash & mask;
	while (keys[at] && keys[at] != hash)
		at = (at + 1) & mask;
	return at;
}

/* The last level, with room in it; NULL without memory. */
static struct table_level *last_level(struct table *t, struct err *e)
{
	struct table_level *l = t->levels_len ? &t->levels[t->levels_len - 1] : NULL;
	if (l && l->used * 8 < size_of(l->level) * 7)
		return l;
	if (t->levels_len == TABLE_LEVELS) {
		err_host(e, "too many names in an image");
		return NULL;
	}
	l = &t->levels[t->levels_len];
	*l = (struct table_level){.level = t->levels_len};
	l->keys = calloc(size_of(l->level), sizeof(uint64_t));
	l->values = t->has_values ? calloc(size_of(l->level), sizeof(uint64_t)) : NULL;
	t->levels_len++; /* table_free() takes what there is */
	if (!l->keys || (t->has_values && !l->values)) {
		table_free(t);
		err_sys(e, "memory for the names of an image");
		return NULL;
	}
	return l;
}

int table_add(struct table *t, uint64_t hash, uint64_t **value, struct err *e)
{
	if (table_find(t, hash, value))
		return 0;
	struct table_level *last = last_level(t, e);
	if (!last)
		return -1;
	const size_t at = probe(last, hash);
	last->keys[at] = hash;
	last->used++;
	if (value)
		*value = last->values ? &last->values[at] : NULL;
	return 0;
}

bool table_find(const struct table *t, uint64_t hash, uint64_t **value)
{
	/* The last level has most of them. */
	for (unsigned level = t->levels_len; level-- > 0;) {
		const struct table_level *l = &t->levels[level];
		const size_t at = probe(l, hash);
		if (!l->keys[at])
			continue;
		if (value)
			*value = l->values ? &l->values[at] : NULL;
		return true;
	}
	return false;
}

void table_free(struct table *t)
{
	while (t->levels_len > 0) {
		struct table_level *l = &t->levels[--t->levels_len];
		free(l->keys);
		free(l->values);
	}
}
