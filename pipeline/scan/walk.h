/* A stranger's tree, file by file, by descriptor: no link is followed, no other file system
 * entered, nothing opened that is no file. In the caller, who has the right to read it. */
#ifndef PINFOLD_PIPELINE_SCAN_WALK_H
#define PINFOLD_PIPELINE_SCAN_WALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WALK_DEPTH_MAX = 64,
	WALK_ENTRIES_MAX = 200000,
	WALK_FOLDER_MAX = 50000, /* entries of one folder */
	WALK_PATH_MAX = 3072,
};

struct walk_file {
	const char *path; /* below the root */
	const char *name, *folder;
	int fd; /* borrowed; for reading, at its beginning */
	uint64_t size;
};

struct walk_visitor {
	/* -1 ends the walk. */
	int (*file)(void *arg, const struct walk_file *f, struct err *e);
	/* A link that leads out of the tree; what it says. */
	void (*link)(void *arg, const char *path, const char *target);
	/* It is not looked at, and why: errno, or 0 for a bound that it is beyond. */
	void (*passed)(void *arg, const char *path, int error);
	void *arg;
};

/* A path, or a link's text, leads out: it is absolute, or has more ".." than depth folders and
 * those that it goes into itself. */
bool walk_leads_out(const char *path, int depth);

/* Everything below the folder, in the order of the alphabet. */
int walk_tree(int folder, const struct walk_visitor *v, struct err *e);

#endif
