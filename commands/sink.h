/* Where a document goes: a file that appears complete or not at all, or an fd of the caller's
 * ("fd:N"). One file cannot be replaced, and is what a container gives for this purpose: one that
 * is a mount of its own. It is written in place, at the end. */
#ifndef PINFOLD_COMMANDS_SINK_H
#define PINFOLD_COMMANDS_SINK_H

#include "base/err.h"

enum sink_form {
	SINK_DESCRIPTOR, /* fd:N */
	SINK_UNNAMED,	 /* O_TMPFILE: fd gets its name at the end */
	SINK_MEMORY, /* the file system has none of these: fd is a memfd, which only says that a sink is open */
	SINK_IN_PLACE, /* a mount of its own: fd is the file */
};

struct sink {
	int fd;	 /* -1: none wanted */
	int dir; /* folder of the file, -1 for fd:N */
	enum sink_form form;
	const char *where; /* as the caller named it; borrowed */
	const char *name;  /* in dir; borrowed from where */
};
#define SINK_INIT {.fd = -1, .dir = -1}

/* Open before the start, so that a place that cannot be written refuses the run. where may be NULL.
 * A file that exists is replaced at the end if it is a regular one and the kernel will let it go;
 * anything else there is refused. */
int sink_open(struct sink *k, const char *where, struct err *e);

/* The folder is opened once; a link planted there later is replaced, never followed. What cannot
 * come to its place after all is left beside it as NAME.pinfold-ID (id may be ""), and *e names its
 * path; only where nothing can be written there either is it lost. */
int sink_commit(struct sink *k, const char *text, const char *id, struct err *e);
void sink_close(struct sink *k);

/* "fd:N" or a file for lines as they come (created, truncated). -1 none wanted or failed (*e set). */
int sink_open_lines(const char *where, struct err *e);

#endif
