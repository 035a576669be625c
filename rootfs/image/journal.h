/* The journal of an unpacking: what happened to which path, in order, in a file; and the same again
 * sorted by path. Memory does not grow with it. */
#ifndef PINFOLD_ROOTFS_IMAGE_JOURNAL_H
#define PINFOLD_ROOTFS_IMAGE_JOURNAL_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum journal_op {
	JOURNAL_ENTRY, /* path is now this: the fields of a record's line */
	JOURNAL_LINK,  /* path is now the same inode as another path: that path */
	JOURNAL_GONE,  /* path is gone, and all below it */
};

struct journal_item {
	uint64_t sequence; /* where in the journal it is; never 0 */
	uint64_t group;	   /* only sorted ones */
	enum journal_op op;
	const char *path, *rest; /* no strings */
	size_t path_len, rest_len;
};

enum {
	JOURNAL_ITEM_BYTES = 160 << 10, /* no item is longer */
	JOURNAL_BUFFER_BYTES = 256 << 10,
};

struct journal {
	int fd; /* borrowed */
	uint64_t size;
	size_t used;
	char *buffer;
};

int journal_begin(struct journal *j, int fd, struct err *e);
/* item->sequence is set. A journal of more than 512 MiB is refused. */
int journal_add(struct journal *j, struct journal_item *item, struct err *e);
int journal_flush(struct journal *j, struct err *e);
/* The item in bytes, of which len are there: its length in the file, 0 if that is not all of it. */
size_t journal_decode(const char *bytes, size_t len, struct journal_item *item);
/* The one item at sequence, into bytes of JOURNAL_ITEM_BYTES, which it points into. Flushed ones only. */
int journal_at(const struct journal *j, uint64_t sequence, char *bytes, struct journal_item *item,
	       struct err *e);
void journal_end(struct journal *j);

/* ---- sorted: sort.c ---- */

/* Called for each item in the journal's order; may change its op, group and rest. */
typedef int journal_change(void *arg, struct journal_item *item, struct err *e);

struct sorter;

/* Sort all of j into the file sorted (empty, borrowed): by path, '/' before all other bytes, and by
 * sequence within a path. */
int sort_begin(struct sorter **s, const struct journal *j, int sorted, struct err *e);
int sort_run(struct sorter *s, journal_change *change, void *arg, struct err *e);
/* The next: 1 and an item that lives until the next call, 0 at the end, -1. */
int sort_next(struct sorter *s, struct journal_item *item, struct err *e);
void sort_end(struct sorter **s);

#endif
