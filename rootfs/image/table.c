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

/* Where hash is, or where it belongs. */
static size_t probe(const struct table *t, uint64_t hash)
{
	size_t at = hash & (t->size - 1);
	while (t->keys[at] && t->keys[at] != hash)
		at = (at + 1) & (t->size - 1);
	return at;
}

static int grow(struct table *t, struct err *e)
{
	struct table more = {.size = t->size ? t->size * 2 : FIRST_SIZE,
			     .used = t->used,
			     .has_values = t->has_values};
	more.keys = calloc(more.size, sizeof(uint64_t));
	more.values = t->has_values ? calloc(more.size, sizeof(uint64_t)) : NULL;
	if (!more.keys || (t->has_values && !more.values)) {
		table_free(&more);
		return err_sys(e, "memory for the names of a layer");
	}
	for (size_t i = 0; i < t->size; i++) {
		if (!t->keys[i])
			continue;
		const size_t at = probe(&more, t->keys[i]);
		more.keys[at] = t->keys[i];
		if (t->has_values)
			more.values[at] = t->values[i];
	}
	table_free(t);
	*t = more;
	return 0;
}

int table_add(struct table *t, uint64_t hash, size_t *at, struct err *e)
{
	if (t->used * 8 >= t->size * 7 && grow(t, e) < 0)
		return -1;
	*at = probe(t, hash);
	if (!t->keys[*at]) {
		t->keys[*at] = hash;
		t->used++;
	}
	return 0;
}

bool table_find(const struct table *t, uint64_t hash, size_t *at)
{
	if (!t->size)
		return false;
	*at = probe(t, hash);
	return t->keys[*at] != 0;
}

void table_free(struct table *t)
{
	free(t->keys);
	free(t->values);
	*t = (struct table){.has_values = t->has_values};
}
