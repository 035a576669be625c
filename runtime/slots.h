/* Slots that independent runs of one user share, without a daemon: see docs/slots.md.
 *
 * Knows the file, its locks and who is next in it; not how one waits (queue.c). A place counts only
 * while the kernel says that a living process has the lock of its entry, so nothing that a killed
 * run left behind counts. The locks are a process's own (F_SETLK): children do not have them.
 */
#ifndef PINFOLD_RUNTIME_SLOTS_H
#define PINFOLD_RUNTIME_SLOTS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SLOTS_ENTRIES = 4096, /* who holds and who waits, together */
	SLOTS_MAX = 512,      /* who holds: each is watched by a descriptor */
};

struct slots_table;

/* A place in the file: in the line, or held. */
struct lease {
	int file; /* -1: none */
	struct slots_table *table;
	uint64_t ticket; /* 0: none yet */
	unsigned entry;
	bool held;
};
#define LEASE_INIT {.file = -1}

struct slots_wish {
	uint64_t count;	      /* how many may hold, 1 to SLOTS_MAX */
	uint64_t memory;      /* the run's own limit, LIMIT_NONE none */
	uint64_t memory_most; /* of all that hold, LIMIT_NONE: not bounded */
	bool told;	      /* wants to be woken when its position changes */
};

/* What a look found: taken, or whose end or step to wait for. */
struct slots_view {
	bool taken;
	unsigned position;   /* 1 is the first in line */
	int ends[SLOTS_MAX]; /* pidfds, the caller's to close */
	size_t ends_len;
};

/* Make or open slots-NAME in the folder pinfold of the user's own folder base. ERR_HOST or ERR_USAGE. */
int slots_open(struct lease *l, const char *base, const char *name, struct err *e);

/* Try to take the lock that every step is made under. 1: have it, 0: another has it, -1 and *e. */
int slots_try_lock(struct lease *l, struct err *e);
void slots_unlock(struct lease *l);

/* ---- under the lock ---- */
/* Take the next number. */
int slots_enter(struct lease *l, const struct slots_wish *w, struct err *e);
/* Take a place if it is our turn and one is free, else say whom to wait for. */
int slots_look(struct lease *l, const struct slots_wish *w, struct slots_view *v, struct err *e);

/* ---- with it or without ---- */
/* Wake the next one in line, or the next one that wants to be told (curious). */
void slots_tell(const struct lease *l, bool curious);

/* Let go of all: the place, and the file. */
void lease_close(struct lease *l);

#endif
