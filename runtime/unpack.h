/* The unpackers of a run's inputs: one pinfold-unpack for each archive, our children, so that none
 * outlives the run. See docs/in-and-out.md. */
#ifndef PINFOLD_RUNTIME_UNPACK_H
#define PINFOLD_RUNTIME_UNPACK_H

#include "base/err.h"
#include "spec/transfer.h"

#include <stddef.h>
#include <sys/types.h>

struct run;

/* Where pinfold-unpack looks for its two descriptors. Its arguments are the ids that it is to have
 * (0: a user namespace instead), and who it is to die with. */
enum { UNPACK_ARCHIVE_FD = 3, UNPACK_STREAM_FD = 4 };

struct unpackers {
	size_t len;
	pid_t pids[UNPACKS_MAX];
	int streams[UNPACKS_MAX]; /* what they write, for the sender to read; -1 once it has them */
};

/* That pinfold-unpack is there, if an input needs it. */
int unpack_check(const struct input_list *list, const char *libexec, struct err *e);

/* One for each archive, in the order of the list. */
int unpackers_start(struct unpackers *u, const struct run *run, struct err *e);
/* In the supervisor, when the sender has them. */
void unpackers_let_go(struct unpackers *u);
/* Kill and reap. */
void unpackers_close(struct unpackers *u);

#endif
