/* Where a document goes: a file that appears complete or not at all, or an fd of the caller's ("fd:N"). */
#ifndef PINFOLD_COMMANDS_SINK_H
#define PINFOLD_COMMANDS_SINK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct sink {
	int fd;		  /* -1: none wanted */
	int dir;	  /* folder of the file, -1 for fd:N */
	const char *name; /* in dir; borrowed from where */
	bool in_memory;	  /* the file system has no O_TMPFILE: fd is a memfd until the end */
};
#define SINK_INIT {.fd = -1, .dir = -1}

/* Open before the start, so that a place that cannot be written refuses the run. where may be NULL. A file that
 * exists is replaced at the end if it is a regular one; anything else there is refused. */
int sink_open(struct sink *k, const char *where, struct err *e);

/* The folder is opened once; a link planted there later is replaced, never followed. */
int sink_commit(struct sink *k, const char *text, size_t len, struct err *e);
void sink_close(struct sink *k);

/* "fd:N" or a file for lines as they come (created, truncated). -1 none wanted or failed (*e set). */
int sink_open_lines(const char *where, struct err *e);

#endif
