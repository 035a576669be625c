/* One source, walked by descriptors: no link is followed, and nothing but files, folders and links passes. */
#ifndef PINFOLD_TRANSFER_WALK_H
#define PINFOLD_TRANSFER_WALK_H

#include "base/err.h"
#include "transfer/vet.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { WALK_DEPTH_MAX = 256 };

enum visit_kind { VISIT_FOLDER, VISIT_LEAVE, VISIT_FILE, VISIT_LINK };

struct visit {
	enum visit_kind kind;
	int dir;	  /* folder that it is in; of LEAVE and FOLDER the folder itself */
	const char *name; /* in dir; "" for a source that is a file: dir is the file then (O_PATH) */
	const struct stat *st; /* NULL for a file where lazy */
	const char *path;      /* from the name on that the source has inside, for hard links */
	const char *inner;     /* from the source on, for messages; "it": the source itself */
	size_t depth;	       /* 0: the source itself */
};

struct walk {
	const struct vet *vet;
	const char *shown; /* the source in messages */
	const char *top;   /* what its own name is to be */
	bool lazy;	   /* files are not stat'ed: whoever opens them does */
	/* -1 ends the walk. */
	int (*visit)(void *arg, const struct visit *v, struct err *e);
	void *arg;
};

/* fd: the source, O_PATH. Sockets, FIFOs and devices are ERR_USAGE, and what vet.h refuses. */
int walk_source(const struct walk *w, int fd, struct err *e);

/* What is refused, by its mode: "a socket"; NULL: a file, folder or link. */
const char *special_name(mode_t mode);

/* Hard links: the first path of each file that has more than one name. */
struct link_table {
	struct link_entry {
		uint64_t dev, ino;
		char *path;
	} *entries;
	size_t len, room;
};
/* NULL: it was not known, and is now, under a copy of path. *out_of_memory is set where it is. */
const char *links_first(struct link_table *t, const struct stat *st, const char *path,
			bool *out_of_memory);
void links_free(struct link_table *t);

#endif
