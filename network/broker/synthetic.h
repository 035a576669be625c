/* Names and the addresses that stand for them inside: 198.18.1.0 and on, one each.
 *
 * A name keeps its address for the whole run. Pure but for its memory, which grows with the names
 * that are asked for, up to a bound.
 */
#ifndef PINFOLD_NETWORK_BROKER_SYNTHETIC_H
#define PINFOLD_NETWORK_BROKER_SYNTHETIC_H

#include "network/broker/protocol.h"
#include "spec/address.h"
#include "spec/name.h"

#include <stddef.h>
#include <stdint.h>

enum { SYNTHETIC_BUCKETS = 1024 };

struct synthetic_name {
	const struct name *name;
	struct name *own; /* NULL: it is another's */
	int32_t next; /* in its bucket, -1 none */
};

struct synthetic {
	struct synthetic_name *all;
	size_t len, room, max;
	int32_t buckets[SYNTHETIC_BUCKETS];
};

/* max: of names in all. */
void synthetic_init(struct synthetic *s, size_t max);
void synthetic_close(struct synthetic *s);

/* An address for a name that outlasts s, of which no copy is made. False: as below. */
bool synthetic_keep(struct synthetic *s, const struct name *n);

/* The name's address; a new one the first time. False: there are max already, or memory is out. */
bool synthetic_address(struct synthetic *s, const struct name *n, unsigned char address[4]);

/* The name behind an address; NULL: none is. The pointer stays good. */
const struct name *synthetic_name(const struct synthetic *s, const struct address *a);

#endif
