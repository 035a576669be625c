/* What must never go into a sandbox as an input, because whoever names it did so by mistake.
 *
 * Judged by what was opened and not by the string: device and inode of the source, of every folder
 * above it and of every folder in it, against those of the sensitive places as they are now; and by
 * the type of the file system. So a link, a bind mount or another spelling changes nothing.
 */
#ifndef PINFOLD_TRANSFER_VET_H
#define PINFOLD_TRANSFER_VET_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { VET_BASES = 3 }; /* the host's, the user's and the caller's */

struct vet_options {
	const char *home;	      /* the caller's, NULL: /etc/passwd alone tells */
	const char *bases[VET_BASES]; /* sources must lie in each (or be it); NULL: nothing more is asked */
	const char *kept; /* where this user's jobs keep what stages hand on: what lies in it lies
			     in the bases, too; NULL: nowhere */
	const char *const *sensitive;  /* the caller's own list, NULL-terminated; NULL: none */
	const char *const *configured; /* that of the configuration files, the same */
};

struct vet_place {
	uint64_t dev, ino;
	const char *path, *reason;
	bool tree; /* nothing in it either; else only itself and what holds it */
};

/* Sorted by device and inode, each once; all the arena's. */
struct vet {
	struct vet_place *places;
	size_t len, room;
	struct arena *arena;
	struct vet_place bases[VET_BASES];
	size_t bases_len;
	struct vet_place kept;	      /* path NULL: there is none */
	struct vet_seconds **seconds; /* see second.h; the arena's */
};

/* The places that are there and that the caller can reach. ERR_USAGE where a base or one of the
 * caller's own cannot be found. */
int vet_open(struct vet *v, struct arena *a, const struct vet_options *o, struct err *e);

/* Of a source that was opened (O_PATH is enough): itself, and what it lies in. shown: its name in messages. */
int vet_source(const struct vet *v, int fd, const char *shown, struct err *e);

/* A folder that was met in a source. */
int vet_folder(const struct vet *v, const struct stat *st, const char *shown, struct err *e);

/* What messages call it: the source, and where in it; "it": the source itself. */
struct vet_words {
	const char *shown, *inner;
};

/* A file with more than one name: another may be one of the places, or lie in one. */
int vet_file(const struct vet *v, const struct stat *st, const struct vet_words *w, struct err *e);

/* A mount that was entered, at a folder or a file: its file system, and what of it lies where
 * without being seen to. */
int vet_mount(const struct vet *v, int fd, const struct vet_words *w, struct err *e);

#endif
