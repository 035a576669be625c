/* The store of images on disk: content-addressed, shared by processes that know nothing of each other.
 *
 *   blobs/sha256/HEX   manifest, config and layers as they came
 *   partial/HEX        a download that can go on; flock(2) while somebody is at it
 *   trees/HEX/         HEX: the id (digest of the config); rootfs/, record, image.json, lock
 *   names/ESCAPED      what a name stands for; see struct stored_name
 *   tmp/               work that nobody sees yet; each folder is locked by whoever works in it
 *
 * All or nothing: what is in blobs, trees or names came there by rename(2), after it was on the disk.
 * Three locks, all of them the kernel's, so that a killed process leaves none behind: the store's own
 * folder (shared by whoever publishes, exclusive for gc), tmp/claim-HEX (who unpacks that image), and a
 * tree's lock (shared by runs, exclusive for its removal). They are taken in that order.
 *
 * Knows no document and no archive. docs/images.md tells the same to people.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_STORE_H
#define PINFOLD_ROOTFS_IMAGE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "rootfs/image/manifest.h"

#include <stdbool.h>
#include <stdint.h>

struct store {
	int dir, blobs, partial, trees, names, tmp;
};

#define STORE_INIT {.dir = -1, .blobs = -1, .partial = -1, .trees = -1, .names = -1, .tmp = -1}

/* Open the store at path (absolute), and make what is missing, 0700. ERR_HOST: it is another
 * user's, or others may write to it. */
int store_open(struct store *s, const char *path, struct err *e);
void store_close(struct store *s);
#define autostore __attribute__((cleanup(store_close))) struct store

/* Nobody collects garbage from here until store_unshare(); waits for who does. */
int store_share(const struct store *s, struct err *e);
void store_unshare(const struct store *s);

/* ---- work.c: folders and claims below tmp/, and partial downloads ---- */

struct work {
	int tmp; /* the store's; borrowed */
	int dir; /* 0700, ours alone, locked */
	char name[32];
};

#define WORK_INIT {.tmp = -1, .dir = -1}

int work_open(struct work *w, const struct store *s, struct err *e);
/* With all that is in it; what cannot be removed is left for gc. */
void work_close(struct work *w);
#define autowork __attribute__((cleanup(work_close))) struct work

/* Hold the right to unpack the image of that id; waits for who has it. The fd is the claim: whoever
 * dies lets go of it. */
int store_claim(const struct store *s, const struct digest *id, struct err *e);
void store_unclaim(const struct store *s, const struct digest *id, int *claim);

/* Folders of tmp/ that nobody works in any more. Returns how many were removed. */
int store_sweep(const struct store *s, struct err *e);

/* ---- blobs ---- */

/* Whether its bytes have the digest and the size that they should: ERR_USAGE if not. */
int store_check_blob(int fd, const struct descriptor *d, struct err *e);
/* Whether it is there, whole: its bytes are read. A disk may have changed them since they came. */
bool store_holds_blob(const struct store *s, const struct descriptor *d);
/* For reading; ERR_HOST: it is not there. */
int store_open_blob(const struct store *s, const struct digest *d, struct err *e);
/* Take the regular file (dir, name) into the store, if its bytes have that digest and size:
 * ERR_USAGE, and it is gone, if not. One that is there already and whole stays. What was written is
 * on the disk first. */
int store_put_blob(const struct store *s, int dir, const char *name, const struct descriptor *d,
		   struct err *e);
/* The same for a copy of what the regular file from holds, from its beginning: read once, into a
 * file in dir that is gone afterwards. The offset of from moves along. */
int store_copy_blob(const struct store *s, int dir, int from, const struct descriptor *d,
		    struct err *e);
/* The same for bytes that have been held against it already. */
int store_keep_blob(const struct store *s, int dir, const char *name, const struct digest *d,
		    struct err *e);

/* partial/HEX, to be read and written, locked; waits for who has it. Whoever takes several takes
 * them in the order of their digests. */
int store_open_partial(const struct store *s, const struct digest *d, struct err *e);

/* ---- trees ---- */

bool store_has_tree(const struct store *s, const struct digest *id);
/* The finished folder w/name becomes trees/HEX: lock is made, all is written to the disk, renamed.
 * One that is there already stays. */
int store_put_tree(const struct store *s, const struct work *w, const char *name,
		   const struct digest *id, struct err *e);
int store_open_tree(const struct store *s, const struct digest *id, struct err *e);
/* No run may take it from here on, until *lock is closed. -1 in *lock: there is no tree. ERR_USAGE:
 * a run holds it. */
int store_lock_tree(const struct store *s, const struct digest *id, int *lock, struct err *e);
/* One that is locked. */
int store_remove_tree(const struct store *s, const struct digest *id, struct err *e);

/* ---- names.c ---- */

struct stored_name {
	const char *name;	    /* as it was given, with its tag */
	struct digest id;	    /* of the config */
	struct manifest manifest;   /* config and layers, digests and sizes */
	struct descriptor document; /* the manifest's own */
	uint64_t bytes, entries;    /* of the tree: contents of regular files, and how many paths */
	int64_t created;	    /* when it came into the store; seconds since 1970 */
};

/* Replaces what the name stood for. */
int store_put_name(const struct store *s, const struct stored_name *n, struct err *e);
/* 1, 0: no such name, -1. The strings are the arena's. text may be an id, if a name has it. */
int store_get_name(const struct store *s, const char *text, struct stored_name *n, struct arena *a,
		   struct err *e);
int store_remove_name(const struct store *s, const char *name, struct err *e);

/* What is in the store and is none of ours, or damaged: told, counted and left as it is, so that it
 * stands in the way of nothing else. */
struct debris {
	void (*tell)(const struct err *what); /* NULL: to nobody */
	unsigned count;
	bool name; /* some of it was a name: what that led to is not known */
};
void debris_add(struct debris *d, const struct err *what);

struct stored_list {
	struct stored_name *names; /* the arena's */
	size_t len;
};
/* Every name, in their order. */
int store_list(const struct store *s, struct stored_list *list, struct debris *d, struct arena *a,
	       struct err *e);

/* ---- gc.c ---- */

struct gc_report {
	unsigned work, partials, blobs, trees; /* removed */
	uint64_t blob_bytes;
	unsigned held;	      /* trees that no name has and a run holds */
	bool busy;	      /* somebody publishes: blobs and trees were left alone */
	struct debris debris; /* tell is the caller's; name: blobs and trees were left alone, too */
};

/* Whatever no name leads to. Of *r debris.tell is read. */
int store_gc(const struct store *s, struct gc_report *r, struct err *e);

/* ---- erase.c ---- */

/* (dir, name) with all that is in it, however deep, whatever its modes: by descriptor, no link followed. */
int erase_tree(int dir, const char *name, struct err *e);

#endif
