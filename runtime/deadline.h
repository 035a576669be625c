/* Deadlines on one timerfd of CLOCK_BOOTTIME: the timer is set for the moment, nothing polls. */
#ifndef PINFOLD_RUNTIME_DEADLINE_H
#define PINFOLD_RUNTIME_DEADLINE_H

#include "base/err.h"

#include <stdint.h>

enum deadline_id {
	DEADLINE_SETUP, /* the sandbox must be up */
	DEADLINE_WALL,
	DEADLINE_IDLE,
	DEADLINE_CPU,	 /* next look at the cpu time */
	DEADLINE_WATCH,	 /* next look at the memory, without a controller */
	DEADLINE_USAGE,	 /* next usage event */
	DEADLINE_COOL,	 /* this is no short run: give pages back */
	DEADLINE_GRACE,	 /* a signalled program must be gone */
	DEADLINE_DEATH,	 /* a killed sandbox must be gone */
	DEADLINE_EGRESS, /* a broker that was told to end must be gone */
	DEADLINE_DRAIN,	 /* a caller that does not read has had its time */
	DEADLINE_COUNT,
};

struct deadlines {
	int fd;
	int64_t at_ns[DEADLINE_COUNT]; /* absolute, CLOCK_BOOTTIME; INT64_MAX: not set */
	int64_t armed_ns;
};
#define DEADLINES_INIT {.fd = -1}

int64_t now_ns(void);

/* from + ns; a limit that is LIMIT_NONE, or too far to be expressed, is never (INT64_MAX). */
int64_t deadline_after(int64_t from, uint64_t ns);

int deadlines_open(struct deadlines *d, struct err *e);
void deadlines_close(struct deadlines *d);
/* INT64_MAX is never. */
void deadline_set(struct deadlines *d, enum deadline_id id, int64_t at_ns);
void deadline_clear(struct deadlines *d, enum deadline_id id);
/* Arm the timer for the earliest, if that changed. */
int deadlines_arm(struct deadlines *d, struct err *e);
/* The lowest id that is due at now, cleared; -1 if none. */
int deadline_due(struct deadlines *d, int64_t now);

#endif
