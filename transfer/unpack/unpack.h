/* One archive of strangers, read in a jail, as records of a stream (transfer/stream.h).
 *
 * Linked into pinfold-unpack alone, for libarchive's sake. What is read is hostile; what is written
 * is held against its range by relay.h, and pid 1 of the sandbox does with it what it does with
 * every input. An archive has its entries in any order, so that folders are made first and get
 * their modes and times at the end.
 *
 * tar (all that libarchive knows of it) without compression or in what libarchive decompresses
 * itself, and zip. Refused: a name that is absolute or climbs, a device, a FIFO, a socket, what is
 * encrypted, damaged or packed too tightly, and what is neither.
 */
#ifndef PINFOLD_TRANSFER_UNPACK_UNPACK_H
#define PINFOLD_TRANSFER_UNPACK_UNPACK_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Before the jail: what libc would open files for later. */
int unpack_prepare(int archive, struct err *e);

/* archive: a file that can seek. All that it holds, then END or REFUSED, into the pipe to. -1:
 * nobody reads it any more. */
int unpack_run(int archive, int to);

/* REFUSED alone. */
int unpack_refuse(int to, const struct err *why);

/* ---- folders.c ---- */

struct unpack_folder {
	char *path; /* from the archive's own on, clean */
	uint32_t mode, nsec;
	int64_t sec;
};

struct unpack_folders {
	void *tree; /* of tsearch(3) */
};

/* The folder of that path; NULL: there is none. */
struct unpack_folder *folders_find(const struct unpack_folders *t, const char *path);
/* A new one; NULL: out of memory. */
struct unpack_folder *folders_add(struct unpack_folders *t, const char *path);
/* Each, with what is in it right behind it. */
void folders_walk(const struct unpack_folders *t,
		  void (*visit)(const struct unpack_folder *, void *), void *arg);

void folders_free(struct unpack_folders *t);

/* ---- names.c ---- */

/* name as components joined by single slashes; "" is the archive's own folder. False: it is
 * absolute, climbs, or is too long. */
bool unpack_clean(char clean[PATH_MAX], const char *name);

#endif
