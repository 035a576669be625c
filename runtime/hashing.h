/* SHA-256 of artifacts, in a thread of its own: one processor hashes what the other writes, of one
 * file or of the next ones. The thread is idle, and holds nothing, while all that was begun is
 * done: then a child may be forked.
 */
#ifndef PINFOLD_RUNTIME_HASHING_H
#define PINFOLD_RUNTIME_HASHING_H

#include "transfer/hash.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASHING_BLOCK = 256 << 10, HASHING_BLOCKS = 8, HASHING_FILES = 4 };

struct hashing {
	pthread_t thread;
	bool started; /* the thread is there */
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t given, done; /* of blocks, ever */
	bool closing;
	struct hashing_block {
		char *bytes;
		size_t len;
		uint64_t at, size;
		bool begins, ends; /* a file; size is its size then */
	} blocks[HASHING_BLOCKS];
	struct hash sha; /* who hashes alone has it, and at */
	uint64_t at;
	bool fresh;	     /* the next block begins a file */
	bool alone;	     /* who gives the blocks of this file hashes them */
	size_t ready, taken; /* of files, ever */
	char digests[HASHING_FILES][65];
};

/* false: out of memory. */
bool hashing_open(struct hashing *h);
void hashing_close(struct hashing *h);

/* The next file; HASHING_FILES are there at most that nobody took the digest of. Without a thread,
 * if there is none to be had, all is done at once. */
void hashing_begin(struct hashing *h, uint64_t size);
/* The same for one whose digest is taken before the next file begins: nothing waits, and one that
 * is sooner hashed than handed over is hashed by who gives it. */
void hashing_begin_awaited(struct hashing *h, uint64_t size);
/* A block to be filled. It stays as it is until HASHING_BLOCKS later. */
char *hashing_room(struct hashing *h);
/* So much of it, which stands there in the file, in order and with holes between. */
void hashing_add(struct hashing *h, size_t len, uint64_t at);
/* That was all of a file of that size. */
void hashing_end(struct hashing *h, uint64_t size);

/* When all that was given is done. */
void hashing_idle(struct hashing *h);
/* The digest of the oldest, once it is there. */
void hashing_take(struct hashing *h, char digest[65]);

#endif
