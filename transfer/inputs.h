/* Inputs: measured by the parent, read by the sender, written by pid 1 of the sandbox.
 *
 * Over one pipe: records of fixed size (stream.h), each followed by what it announces. See
 * docs/in-and-out.md.
 */
#ifndef PINFOLD_TRANSFER_INPUTS_H
#define PINFOLD_TRANSFER_INPUTS_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/spec.h"
#include "transfer/vet.h"

#include <stdbool.h>
#include <stdint.h>

/* What archives may take, whose sizes nobody knows before. */
struct input_budget {
	uint64_t bytes, inodes;
	uint64_t bytes_first, inodes_first; /* before any of it was spent */
};

struct sources {
	int fds[INPUTS_MAX]; /* O_PATH, in the order of the list */
	size_t len;
	uint64_t bytes, inodes;	  /* what they will take of the scratch, archives apart */
	struct input_budget left; /* for archives */
	uint64_t packed;	  /* bytes of the archives as they are */
	struct vet vet;
	const char *refused; /* the source that was, by its name in the spec; NULL: none, or all by their sum */
};

/* Parent. Opens, judges and measures every source, and holds the sum against the limits. On failure
 * (ERR_USAGE with the figures, as a rule) nothing stays open, and s->refused is set. */
int sources_open(struct sources *s, const struct spec *spec, const struct vet_options *o,
		 struct err *e);
void sources_close(struct sources *s);

struct sending {
	const struct input_list *list;
	const int *unpackers; /* of each archive in turn: where its unpacker's words come out */
	int to;		      /* a pipe, blocking */
	size_t number;	      /* of the input that is being sent, from 1 */
};

/* The sender: all sources. Each is judged and held against the limits as it is read. */
int sources_send(const struct sources *all, struct sending *s, struct err *e);

/* Pid 1, with the program's ids as file system ids and umask 0: all that comes out of from, into
 * folders of the tmpfs whose root scratch is; *begun counts the inputs. ERR_USAGE where it does not
 * fit, or where the stream ends too early. */
int inputs_receive(int from, int scratch, int64_t *begun, struct err *e);

#endif
