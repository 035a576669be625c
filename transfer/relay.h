/* What an unpacker says about one archive, on its way to pid 1.
 *
 * An unpacker reads hostile bytes and may have been taken over by them, so the sender holds every
 * record against its range: one that was taken over can say what an archive could have said, and no
 * more. It cannot name a path, leave its folder, begin another input or end the stream, and it
 * cannot pass the limits, which are counted here. See docs/in-and-out.md.
 */
#ifndef PINFOLD_TRANSFER_RELAY_H
#define PINFOLD_TRANSFER_RELAY_H

#include "base/err.h"
#include "transfer/inputs.h"

#include <stddef.h>
#include <stdint.h>

struct relay {
	int from, to;
	const struct input *input;
	struct input_budget *left; /* of all inputs; spent from */
	char *in, *out;		   /* STREAM_BUFFER each */
};

/* All of one archive, from its INPUT on: its folder, what is in it, up to the unpacker's END.
 * ERR_USAGE: what it was refused for, with the figures where it was a limit. */
int relay_archive(const struct relay *relay, struct err *e);

#endif
