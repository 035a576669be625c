/* What a run will cost, from smaller runs that were measured.
 *
 * Pure: numbers in, numbers out; no system call, the same result on every machine. One quantity
 *(wall time, cpu time, peak memory, scratch) is estimated at a time, as
 *
 *	y(s) = a + b * s^c,	a >= 0, b >= 0, c within bounds,
 *
 * where s is the scale that a configuration was given. Three or more distinct scales determine all
 * three; with two, c cannot be told from a and is taken to be 1 for the estimate and anything up to
 * COST_EXPONENT_TWO for the interval; with one, the quantity is taken to grow at most linearly.
 *Which of these was done is in the result. Growth beyond the bounds of c (exponential, say) is not
 * foreseen: what the interval promises, it promises for laws of this form.
 *
 * The interval is where the full run's own measurement is expected, COST_LEVEL of the time: what is
 * not known of the law and the noise of that one run are both in it. How it is computed, and why it
 * is conservative where little was measured, is derived in docs/cost.md. A point that lies far off
 * makes the interval wider; none is thrown away.
 */
#ifndef PINFOLD_PIPELINE_COST_H
#define PINFOLD_PIPELINE_COST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COST_POINTS_MAX = 64 };

/* Not measured, not known, or more than can be said. */
#define COST_UNKNOWN UINT64_MAX

/* Scales beyond these are refused: their ratios and powers stay finite numbers. */
#define COST_SCALE_LEAST 1e-12
#define COST_SCALE_MOST	 1e15

/* Bounds of the exponent with three or more distinct scales, and with two. */
#define COST_EXPONENT_LEAST 0.1
#define COST_EXPONENT_MOST  3.0
#define COST_EXPONENT_TWO   2.0

#define COST_LEVEL 0.95

enum cost_quantity { COST_WALL, COST_CPU, COST_MEMORY, COST_SCRATCH, COST_QUANTITIES };

/* "wall_usec", "cpu_usec", "memory_bytes", "scratch_bytes". */
extern const char *const cost_quantity_names[COST_QUANTITIES];

/* One run: its scale and what it took. */
struct cost_point {
	double scale;
	uint64_t measured[COST_QUANTITIES]; /* COST_UNKNOWN: the host could not say */
};

enum cost_method {
	COST_NOTHING,	   /* no point has this quantity: nothing is known */
	COST_PROPORTIONAL, /* one scale: at most linear, which nothing measured supports */
	COST_AFFINE,	   /* two scales: a + b*s, and an interval for exponents up to 2 */
	COST_POWER,	   /* three or more: a + b*s^c fitted */
	COST_METHODS,
};

/* "nothing", "linear", "affine", "power", and a sentence for people. */
extern const char *const cost_method_names[COST_METHODS];
extern const char *const cost_method_texts[COST_METHODS];

struct cost_estimate {
	enum cost_method method;
	/* COST_UNKNOWN, all three, where method is COST_NOTHING; high also where it cannot be said. */
	uint64_t estimate, low, high;
	/* The law that was fitted; scale in the units of the points. */
	double constant, factor, exponent;
	double noise; /* relative, of one run: what was seen and what was assumed, pooled */
	unsigned points, scales; /* that have this quantity; distinct ones */
};

struct cost_points {
	const struct cost_point *at;
	size_t len;
};

/* The quantity q at scale full. ERR_USAGE: a scale is out of bounds or not finite, or there are too
 * many points; *to is then untouched. */
int cost_estimate(struct cost_estimate *to, const struct cost_points *p, enum cost_quantity q,
		  double full, struct err *e);

/* Whether the upper end lies within most; most COST_UNKNOWN: nothing was approved of this quantity,
 * and nothing is asked of it. What is not known is within nothing else. */
bool cost_within(const struct cost_estimate *est, uint64_t most);

#endif
