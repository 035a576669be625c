#include "network/broker/synthetic.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t first = 198U << 24 | 18U << 16 | 1U << 8;
enum { ROOM = 16, MAPPED = 12 };

void synthetic_init(struct synthetic *s, size_t max)
{
	*s = (struct synthetic){.max = max};
	for (size_t i = 0; i < SYNTHETIC_BUCKETS; i++)
		s->buckets[i] = -1;
}

void synthetic_close(struct synthetic *s)
{
	for (size_t i = 0; i < s->len; i++)
		free(s->all[i].own);
	free(s->all);
	synthetic_init(s, s->max);
}

/* FNV-1a. Whoever makes names collide walks at most max of them. */
static uint32_t bucket_of(const struct name *n)
{
	uint32_t hash = 2166136261U;
	for (size_t i = 0; i < n->len; i++)
		hash = (hash ^ (unsigned char)n->text[i]) * 16777619U;
	return hash % SYNTHETIC_BUCKETS;
}

static bool grow(struct synthetic *s)
{
	const size_t room = s->room ? 2 * s->room : ROOM;
	struct synthetic_name *all = realloc(s->all, room * sizeof(*all));
	if (!all)
		return false;
	s->all = all;
	s->room = room;
	return true;
}

static int32_t find(const struct synthetic *s, const struct name *n, uint32_t bucket)
{
	int32_t i = s->buckets[bucket];
	while (i >= 0 && !name_equal(s->all[i].name, n))
		i = s->all[i].next;
	return i;
}

/* own: n itself, if it is to be freed with s. */
static int32_t add(struct synthetic *s, const struct name *n, struct name *own, uint32_t bucket)
{
	if (s->len == s->max || (s->len == s->room && !grow(s)))
		return -1;
	const int32_t i = (int32_t)s->len++;
	s->all[i] = (struct synthetic_name){.name = n, .own = own, .next = s->buckets[bucket]};
	return s->buckets[bucket] = i;
}

static int32_t add_copy(struct synthetic *s, const struct name *n, uint32_t bucket)
{
	struct name *copy = malloc(sizeof(*copy));
	if (!copy)
		return -1;
	*copy = *n;
	const int32_t i = add(s, copy, copy, bucket);
	if (i < 0)
		free(copy);
	return i;
}

bool synthetic_keep(struct synthetic *s, const struct name *n)
{
	const uint32_t bucket = bucket_of(n);
	return find(s, n, bucket) >= 0 || add(s, n, NULL, bucket) >= 0;
}

bool synthetic_address(struct synthetic *s, const struct name *n, unsigned char address[4])
{
	const uint32_t bucket = bucket_of(n);
	int32_t i = find(s, n, bucket);
	if (i < 0)
		i = add_copy(s, n, bucket);
	if (i < 0)
		return false;
	const uint32_t number = first + (uint32_t)i;
	for (int at = 0; at < 4; at++)
		address[at] = (unsigned char)(number >> (24 - 8 * at));
	return true;
}

const struct name *synthetic_name(const struct synthetic *s, const struct address *a)
{
	uint32_t number = 0;
	if (!address_is_ipv4(a))
		return NULL;
	for (int at = 0; at < 4; at++)
		number = number << 8 | a->bytes[MAPPED + at];
	const uint32_t i = number - first;
	return i < s->len ? s->all[i].name : NULL;
}
