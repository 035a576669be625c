/* A tree that comes entry by entry gets to be a folder (or a file) on the disk, whole or not at
 * all.
 *
 * Whoever calls need not be believed: names are single components that ascend in each folder, links
 * stay in the tree, depth is bounded. The tree is made beside its name with access for its owner
 * alone to the folder that holds it all, and gets its name last. Entries have the modes they are
 * said to have, and their owner may in any case read them (and search and write folders), so that a
 * tree can be read and removed again.
 *
 * The digest is SHA-256 over one line for each entry in the order of a walk, each ended by a NUL:
 * "d MODE NAME", "f MODE SIZE SHA256 NAME", "l NAME" and then the target, "u" where a folder ends;
 * MODE in octal. The root's own name is not part of it.
 */
#ifndef PINFOLD_TRANSFER_TREE_STORE_H
#define PINFOLD_TRANSFER_TREE_STORE_H

#include "base/err.h"
#include "transfer/collect.h"
#include "transfer/hash.h"
#include "transfer/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct tree_level {
	int fd;
	mode_t mode;
	char last[COLLECT_NAME_MAX + 1]; /* the name that came last */
};

struct tree_store {
	int dir;		    /* where the tree is to be; borrowed */
	char temp[PART_NAME_BYTES]; /* its name until it is complete; "": there is nothing */
	int part;		    /* its root, which has the lock; -1: none */
	struct tree_level *levels;  /* COLLECT_DEPTH_MAX of them */
	size_t depth;
	bool folder; /* the root is one */
	struct hash listing;
	struct store_file file; /* that is being written */
	uint64_t file_at;	/* written so far */
	mode_t file_mode;
	char file_name[COLLECT_NAME_MAX + 1];
	uint64_t bytes, entries;
};
#define TREE_STORE_INIT {.dir = -1, .part = -1, .file = STORE_FILE_INIT}

/* mode: with S_IFDIR or S_IFREG. number: no other of this process has it. Of a file
 * tree_store_data() and tree_store_file_end() follow, of a folder its entries. */
int tree_store_begin(struct tree_store *t, int dir, unsigned number, mode_t mode, struct err *e);
int tree_store_folder(struct tree_store *t, const char *name, mode_t mode, struct err *e);
int tree_store_leave(struct tree_store *t, struct err *e);
int tree_store_link(struct tree_store *t, const char *name, const char *target, struct err *e);
int tree_store_file(struct tree_store *t, const char *name, mode_t mode, struct err *e);
/* In order, holes between them. */
int tree_store_data(struct tree_store *t, const void *bytes, size_t len, uint64_t offset,
		    struct err *e);
/* digest: SHA-256 of all of it, holes and all. */
int tree_store_file_end(struct tree_store *t, uint64_t size, const char digest[65], struct err *e);
/* Under its name, if that is free. The tree is complete then, and what it is made of closed. Nothing is flushed. */
int tree_store_publish(struct tree_store *t, const char *name, char digest[65], struct err *e);
/* What was not published goes. Also half begun, and twice. */
void tree_store_drop(struct tree_store *t);

/* name in dir with all that is in it, which is this user's. 0, or -1 with errno. */
int tree_remove(int dir, const char *name);

#endif
