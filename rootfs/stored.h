/* A stored image, as a run needs it: found by name, held by a lock, its few facts read.
 *
 * Knows of the store what the run path must: where names and trees are (rootfs/image/store.h knows
 * the rest, and docs/images.md tells it all). Whoever holds the lock of a tree keeps `pinfold image
 * remove` and gc from it; the kernel lets go of it with the last process that has it.
 */
#ifndef PINFOLD_ROOTFS_STORED_H
#define PINFOLD_ROOTFS_STORED_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/image.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	STORED_ID_BYTES = 72,	 /* "sha256:" and 64 digits */
	STORED_NAME_BYTES = 256, /* a file name */
};

struct stored {
	int lock;	  /* flock(2), shared */
	int root;	  /* O_PATH: the tree's top */
	const char *path; /* the same, by name; the arena's */
	struct image_facts facts;
};

#define STORED_INIT {.lock = -1, .root = -1}

/* How a name is called in names/: what is no letter, digit or one of "._-:@" is %XX, and :latest is
 * added where there is neither tag nor digest. -1: it is empty or too long for a file name. */
int stored_escape(const char *name, char escaped[STORED_NAME_BYTES]);

/* The id that name stands for, or that it is ("sha256:..."). 1; 0: nothing of that name is stored;
 * -1 and *e. store: path of the store, which need not be there. */
int stored_find(const char *store, const char *name, char id[STORED_ID_BYTES], struct err *e);

/* Whether the store is none of this user's: it cannot be entered, or belongs to somebody else, as
 * where HOME is another user's. Then *e says so, with the way out; else it is left alone. Something
 * that is not there is no such store. */
bool stored_is_shut(const char *store, struct err *e);

/* What the store must be, since whoever may write to it chooses what a run's root file system is:
 * folder is the caller's, and writable by nobody else. ERR_HOST; the message does not name it. */
int stored_check_owner(int folder, struct err *e);

/* A file of the store, for reading: regular, by no link, and without waiting for whoever holds the
 * other end of a FIFO of that name. e->sys is ENOENT where there is none. */
int stored_open_file(int dir, const char *name, struct err *e);
/* The same, and its text into buf; its length. ERR_HOST where it does not fit. */
ssize_t stored_read_file(int dir, const char *name, char *buf, size_t size, struct err *e);

/* Take the lock and read the facts. ERR_HOST: it is being removed, or is damaged. */
int stored_open(struct stored *s, const char *store, const char *id, struct arena *a, struct err *e);
void stored_close(struct stored *s);
#define autostored __attribute__((cleanup(stored_close)))

/* Who the image's User is: NAME|UID[:GROUP|GID], names looked up in the image's own /etc/passwd and
 * /etc/group, by openat2(2) below root, of regular files alone. As Docker: what is all digits is
 * the id, whatever account has it for a name; without a group it is the user's in /etc/passwd (of
 * the account with that id, for a number), else 0. ERR_USAGE: a name that is not there, an id above 65535. */
struct stored_user {
	uint32_t uid, gid;
	const char *name; /* NULL: /etc/passwd has none; the arena's */
};
int stored_user(int root, const char *user, struct stored_user *found, struct arena *a,
		struct err *e);

#endif
