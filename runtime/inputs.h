/* The sender of a run's inputs, as the supervisor sees it. See docs/in-and-out.md. */
#ifndef PINFOLD_RUNTIME_INPUTS_H
#define PINFOLD_RUNTIME_INPUTS_H

#include "base/err.h"
#include "runtime/unpack.h"

#include <sys/types.h>

struct run;

struct input_link {
	pid_t sender; /* -1: none, or reaped */
	int status;   /* what went wrong there comes out of it; -1 */
	struct unpackers unpackers;
};
#define INPUT_LINK_INIT {.sender = -1, .status = -1}

/* Before pid 1 is cloned: the pipe. Nothing without inputs, and for a rehearsal. */
int inputs_open(struct run *run, struct err *e);
/* After it: the sender begins. */
int inputs_start(struct run *run, struct err *e);
/* Pid 1 failed at them, at the number'th from 1, with *why, or the sender did, which then says
 * more: the run is refused or fails by it, and the input is on record. */
void inputs_fail(struct run *run, int64_t number, const struct err *why);
/* By its name, in the result and the audit. */
void inputs_name(struct run *run, const char *source);
/* How long their way may take, for the deadline of the set-up. */
int64_t inputs_patience_ms(const struct run *run);
void inputs_close(struct run *run);

#endif
