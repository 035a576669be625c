#include "runtime/hashing.h"

#include <stdlib.h>
#include <string.h>

enum {
	STACK_BYTES = 64 << 10,
	ALONE_BYTES = 16 << 10, /* one file of so many is hashed before a thread is there */
	ZEROES = 64 << 10,
};

bool hashing_open(struct hashing *h)
{
	*h = (struct hashing){.started = false};
	char *all = malloc((size_t)HASHING_BLOCKS * HASHING_BLOCK);
	for (size_t i = 0; all && i < HASHING_BLOCKS; i++)
		h->blocks[i].bytes = all + i * HASHING_BLOCK;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->moved, NULL);
	return all;
}

/* ---- the work ---- */

static void hash_hole(struct hashing *h, uint64_t to)
{
	static const uint8_t zeroes[ZEROES];
	while (h->at < to) {
		const uint64_t left = to - h->at, len = left < ZEROES ? left : ZEROES;
		hash_add(&h->sha, zeroes, (size_t)len);
		h->at += len;
	}
}

static void hash_block(struct hashing *h, const struct hashing_block *b)
{
	if (b->begins) {
		hash_begin(&h->sha, false);
		h->at = 0;
	}
	if (b->len > 0) {
		hash_hole(h, b->at);
		hash_add(&h->sha, b->bytes, b->len);
		h->at += b->len;
	}
	if (b->ends) {
		hash_hole(h, b->size);
		hash_end(&h->sha, h->digests[h->ready % HASHING_FILES]);
	}
}

static void finish_block(struct hashing *h, const struct hashing_block *b)
{
	h->ready += b->ends;
	h->done++;
}

/* ---- the thread ---- */

/* The next block, or NULL when there are no more. */
static const struct hashing_block *next(struct hashing *h)
{
	pthread_mutex_lock(&h->lock);
	while (h->given == h->done && !h->closing)
		pthread_cond_wait(&h->moved, &h->lock);
	const bool more = h->given != h->done;
	pthread_mutex_unlock(&h->lock);
	return more ? &h->blocks[h->done % HASHING_BLOCKS] : NULL;
}

static void *work(void *arg)
{
	struct hashing *h = arg;
	const struct hashing_block *b;
	while ((b = next(h))) {
		hash_block(h, b);
		pthread_mutex_lock(&h->lock);
		finish_block(h, b);
		pthread_cond_signal(&h->moved);
		pthread_mutex_unlock(&h->lock);
	}
	return NULL;
}

/* Signals are blocked by then (the supervisor reads them), and stay so in the thread. */
static bool start(struct hashing *h)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	const int rc = pthread_create(&h->thread, &attr, work, h);
	pthread_attr_destroy(&attr);
	return rc == 0;
}

void hashing_close(struct hashing *h)
{
	if (h->started) {
		pthread_mutex_lock(&h->lock);
		h->closing = true;
		pthread_cond_signal(&h->moved);
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->thread, NULL);
	}
	free(h->blocks[0].bytes);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->moved);
}

/* ---- who gives it work ---- */

static struct hashing_block *free_block(struct hashing *h)
{
	if (h->started) {
		pthread_mutex_lock(&h->lock);
		while (h->given - h->done == HASHING_BLOCKS)
			pthread_cond_wait(&h->moved, &h->lock);
		pthread_mutex_unlock(&h->lock);
	}
	return &h->blocks[h->given % HASHING_BLOCKS];
}

/* With what it was given besides its bytes. */
static void give(struct hashing *h, struct hashing_block *b, struct hashing_block what)
{
	what.bytes = b->bytes;
	what.begins = h->fresh;
	h->fresh = false;
	*b = what;
	if (h->alone)
		hash_block(h, b); /* whatever was given before is done */
	pthread_mutex_lock(&h->lock);
	h->given++;
	if (h->alone)
		finish_block(h, b);
	pthread_cond_signal(&h->moved);
	pthread_mutex_unlock(&h->lock);
}

void hashing_begin(struct hashing *h, uint64_t size)
{
	if (!h->started && size >= ALONE_BYTES)
		h->started = start(h);
	h->fresh = true;
	h->alone = !h->started;
}

void hashing_begin_awaited(struct hashing *h, uint64_t size)
{
	hashing_begin(h, size);
	if (size >= ALONE_BYTES || h->alone)
		return;
	hashing_idle(h);
	h->alone = true;
}

char *hashing_room(struct hashing *h)
{
	return free_block(h)->bytes;
}

void hashing_add(struct hashing *h, size_t len, uint64_t at)
{
	give(h, free_block(h), (struct hashing_block){.len = len, .at = at});
}

void hashing_end(struct hashing *h, uint64_t size)
{
	give(h, free_block(h), (struct hashing_block){.ends = true, .size = size});
}

void hashing_idle(struct hashing *h)
{
	pthread_mutex_lock(&h->lock);
	while (h->given != h->done)
		pthread_cond_wait(&h->moved, &h->lock);
	pthread_mutex_unlock(&h->lock);
}

void hashing_take(struct hashing *h, char digest[65])
{
	pthread_mutex_lock(&h->lock);
	while (h->ready == h->taken)
		pthread_cond_wait(&h->moved, &h->lock);
	pthread_mutex_unlock(&h->lock);
	memcpy(digest, h->digests[h->taken++ % HASHING_FILES], 65);
}
