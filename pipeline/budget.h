/* A budget that several jobs share: reserve an upper bound, then settle to what was measured.
 *
 * The budget is a file of this user's, JSON, 0600, which a person may write and read; beside it
 * lies FILE.lock, whose bytes are locked. Every step is made under the lock of byte 0: read,
 * compute, write another file, flush it, rename. So a reader sees the state before a step or after
 * it, whatever is killed when.
 *
 * A reservation is counted in full from the moment it is made. Its holder keeps the lock of a byte
 * of its own, which the kernel frees when it ends, however it ends; a reservation without that lock
 * was abandoned: whoever makes the next step counts it as spent at its upper bound, since nobody
 * can say that it was less.
 *
 * Amounts are whole numbers below 2^63, every sum is checked, and nothing is ever rounded down.
 * docs/budget.md says what is promised.
 */
#ifndef PINFOLD_PIPELINE_BUDGET_H
#define PINFOLD_PIPELINE_BUDGET_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	BUDGET_HOLDS_MAX = 256,
	BUDGET_BYTES_MAX = 1 << 20, /* of the file */
};

/* What is counted. Memory is what was reserved of it for how long: mebibytes times microseconds.
 * Money is millionths of whatever unit the prices are in. */
enum budget_quantity {
	BUDGET_CPU,
	BUDGET_WALL,
	BUDGET_MEMORY,
	BUDGET_RUNS,
	BUDGET_MONEY,
	BUDGET_QUANTITIES
};

/* "cpu_usec", "wall_usec", "memory_mib_usec", "runs", "money_micro". */
extern const char *const budget_quantity_names[BUDGET_QUANTITIES];
/* "cpu-time", "wall", "memory-hours", "runs", "money": what people call them. */
extern const char *const budget_option_names[BUDGET_QUANTITIES];

/* Millionths of the unit of money for: an hour of one processor, an hour that passes, an hour of a gibibyte, a run. */
enum budget_price {
	PRICE_CPU_HOUR,
	PRICE_WALL_HOUR,
	PRICE_MEMORY_GIB_HOUR,
	PRICE_RUN,
	BUDGET_PRICES
};
extern const char *const budget_price_names[BUDGET_PRICES];

/* Of a limit: none. Of an amount: not known. */
#define BUDGET_NONE    UINT64_MAX
#define BUDGET_UNKNOWN UINT64_MAX
#define BUDGET_MOST    ((uint64_t)INT64_MAX)

struct budget_amount {
	uint64_t of[BUDGET_QUANTITIES];
};

/* What runs take in all, each wall_usec and cpu_usec long with memory_bytes; money is left to the
 * budget. BUDGET_UNKNOWN where a part is, or where it is too much to be said. */
struct budget_amount budget_amount_of(uint64_t wall_usec, uint64_t cpu_usec, uint64_t memory_bytes,
				      uint64_t runs);

struct budget_hold {
	uint64_t id;
	uint32_t entry; /* the byte of FILE.lock that its holder has locked, from 1 */
	int32_t pid;	/* of the holder, and since when, in seconds of Unix time: for people */
	uint64_t since;
	struct budget_amount amount;
};

struct budget_state {
	uint64_t limit[BUDGET_QUANTITIES]; /* BUDGET_NONE: not limited */
	uint64_t price[BUDGET_PRICES];
	struct budget_amount spent;
	uint64_t settled, abandoned; /* how many reservations became what is spent */
	struct budget_hold holds[BUDGET_HOLDS_MAX];
	size_t holds_len;
};

/* ---- pure ---- */

/* The document; any bytes. ERR_USAGE with line and column where it is none; *to is then untouched. name is for messages. */
int budget_parse(struct budget_state *to, const char *name, const char *bytes, size_t len,
		 struct err *e);
/* Its text, malloc'ed; NULL: memory is out. */
char *budget_format(const struct budget_state *s);
/* All that is spent and reserved of q; BUDGET_UNKNOWN: more than can be said. */
uint64_t budget_used(const struct budget_state *s, enum budget_quantity q);
/* The price of the rest; BUDGET_UNKNOWN where it depends on what is not known, or is too much. */
uint64_t budget_money(const struct budget_state *s, const struct budget_amount *a);

/* An amount as people write it: "2h", "1.5s", "512M" (for an hour), "0.04"; "-" for BUDGET_UNKNOWN.
 * Memory alone is rounded, up. */
enum { BUDGET_TEXT_BYTES = 40 };
void budget_say(enum budget_quantity q, uint64_t amount, char text[BUDGET_TEXT_BYTES]);

/* Why there was no reservation. */
struct budget_refusal {
	enum budget_quantity quantity;
	uint64_t asked, used, limit; /* asked: BUDGET_UNKNOWN where no upper bound is known */
};

/* ---- the file ---- */

/* A place to reserve from; one reservation at a time. */
struct budget {
	int folder; /* -1: not open */
	int lock;
	char name[NAME_MAX + 1];
	uint64_t id; /* of the reservation; 0: none */
	uint32_t entry;
	struct budget_amount reserved; /* by it */
};
#define BUDGET_INIT {.folder = -1, .lock = -1}

/* A new file with these limits and prices, nothing spent. One that is there is refused. */
int budget_create(const char *path, const uint64_t limit[BUDGET_QUANTITIES],
		  const uint64_t price[BUDGET_PRICES], struct err *e);

/* Open it: a regular file of this user's alone, without other names, in a folder where nobody else
 * can replace it. ERR_USAGE or ERR_HOST. */
int budget_open(struct budget *b, const char *path, struct err *e);

/* What is in it, with those whose holder died counted as spent; changes nothing. */
int budget_look(struct budget *b, struct budget_state *to, struct err *e);

/* Reserve upper: 1 when it is on the disk, 0 and *why when it would exceed a limit (or is not known
 * of something that is limited), -1 and *e. What is not known and not limited counts as nothing. */
int budget_reserve(struct budget *b, const struct budget_amount *upper, struct budget_refusal *why,
		   struct err *e);

/* The reservation becomes what was measured, even if that is more; what is not known of it counts
 * as it was reserved. On failure it is still held, and may be settled again. */
int budget_settle(struct budget *b, const struct budget_amount *measured, struct err *e);

/* Let go of it all. A reservation that was not settled is abandoned. */
void budget_close(struct budget *b);
#define autobudget __attribute__((cleanup(budget_close))) struct budget

#endif
