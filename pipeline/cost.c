#include "pipeline/cost.h"

#include <math.h>

/* What is taken for granted of noise before anything is seen: by how much one run differs from the
 * next, relative. It counts for as much as three more measurements would (docs/cost.md). */
static const double prior_noise[COST_QUANTITIES] = {
	[COST_WALL] = 0.05,
	[COST_CPU] = 0.05,
	[COST_MEMORY] = 0.03,
	[COST_SCRATCH] = 0.02,
};
enum { PRIOR_WEIGHT = 3 };

enum {
	HALVINGS = 60,	 /* of an interval: to the last bit of a double and then some */
	DOUBLINGS = 900, /* from 1 to beyond what is looked at */
	GRID = 40,	 /* exponents that are tried before the best is refined */
};

#define EXPONENT_LINEAR 1.0

/* Beyond this no bound is looked for. */
#define VALUE_MOST 1e270

const char *const cost_quantity_names[COST_QUANTITIES] = {
	[COST_WALL] = "wall_usec",
	[COST_CPU] = "cpu_usec",
	[COST_MEMORY] = "memory_bytes",
	[COST_SCRATCH] = "scratch_bytes",
};

const char *const cost_method_names[COST_METHODS] = {
	[COST_NOTHING] = "nothing",
	[COST_PROPORTIONAL] = "linear",
	[COST_AFFINE] = "affine",
	[COST_POWER] = "power",
};

const char *const cost_method_texts[COST_METHODS] = {
	[COST_NOTHING] = "it was not measured, so nothing is known",
	[COST_PROPORTIONAL] = "measured at one scale alone: taken to grow in proportion to the scale, "
			      "which nothing measured supports",
	[COST_AFFINE] = "measured at two scales: a constant and a linear part; the interval holds "
			"for anything up to quadratic growth",
	[COST_POWER] = "measured at three scales or more: a constant and a power of the scale, fitted",
};

/* What a clock, a counter of memory and a file system can tell apart: less than that is no difference. */
static const double resolution[COST_QUANTITIES] = {
	[COST_WALL] = 1000,
	[COST_CPU] = 1000,
	[COST_MEMORY] = 65536,
	[COST_SCRATCH] = 4096,
};

/* Student's t, 0.975, for 1 degree of freedom and so on; the last for all above. */
static const double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
				 2.262,	 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
				 2.110,	 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
				 2.060,	 2.056, 2.052, 2.048, 2.045, 2.042};

/* Measured values, each divided by itself, so that a residual is relative; scales as parts of the
 * full one, so that the law at the full scale is constant + power. */
struct sample {
	size_t len;
	double z[COST_POINTS_MAX]; /* the value, in units of itself (below the resolution: of that) */
	double u[COST_POINTS_MAX]; /* 1, in the same units */
	double v[COST_POINTS_MAX]; /* scale^exponent, in the same units; see with_exponent() */
	double x[COST_POINTS_MAX];
	double floor; /* the resolution */
	double prior; /* noise */
};

/* Of exponents. */
struct range {
	double least, most;
};

struct law {
	double constant, power, exponent;
	double squares; /* sum of the squared residuals */
};

static void with_exponent(struct sample *s, double exponent)
{
	for (size_t i = 0; i < s->len; i++)
		s->v[i] = pow(s->x[i], exponent) * s->u[i];
}

static double squares(const struct sample *s, double constant, double power)
{
	double sum = 0;
	for (size_t i = 0; i < s->len; i++) {
		const double r = s->z[i] - constant * s->u[i] - power * s->v[i];
		sum += r * r;
	}
	return sum;
}

static double dot(const double *a, const double *b, size_t len)
{
	double sum = 0;
	for (size_t i = 0; i < len; i++)
		sum += a[i] * b[i];
	return sum;
}

static double quotient(double a, double b)
{
	return b > 0 && a > 0 ? a / b : 0;
}

/* The better of two laws at the edge, where one part is 0. */
static void fit_edge(const struct sample *s, struct law *l)
{
	const double power = quotient(dot(s->v, s->z, s->len), dot(s->v, s->v, s->len));
	const double constant = quotient(dot(s->u, s->z, s->len), dot(s->u, s->u, s->len));
	const double with_power = squares(s, 0, power), with_constant = squares(s, constant, 0);
	const bool grows = with_power < with_constant;
	l->constant = grows ? 0 : constant;
	l->power = grows ? power : 0;
	l->squares = grows ? with_power : with_constant;
}

/* Least squares with both parts >= 0, for the exponent that v is for: the normal equations, or the edge. */
static struct law fit(const struct sample *s, double exponent)
{
	const double uu = dot(s->u, s->u, s->len), uv = dot(s->u, s->v, s->len);
	const double vv = dot(s->v, s->v, s->len), uz = dot(s->u, s->z, s->len);
	const double vz = dot(s->v, s->z, s->len);
	const double det = uu * vv - uv * uv;
	struct law l = {.exponent = exponent};
	fit_edge(s, &l);
	/* Nearly parallel: the edge is as good as what rounding would give. */
	if (!(det > 1e-13 * uu * vv))
		return l;
	const double constant = (uz * vv - vz * uv) / det, power = (vz * uu - uz * uv) / det;
	if (constant < 0 || power < 0)
		return l;
	const double sum = squares(s, constant, power);
	if (sum <= l.squares)
		l = (struct law){constant, power, exponent, sum};
	return l;
}

/* The same where the law has this value at the full scale. The free part is looked for from both sides: as what
 * the other leaves of value, a part that is far smaller than it would be lost in rounding. */
static double squares_through(const struct sample *s, double value)
{
	double constant = 0, power = 0, below = 0;
	for (size_t i = 0; i < s->len; i++) {
		const double w = s->u[i] - s->v[i];
		constant += (s->z[i] - value * s->v[i]) * w;
		power -= (s->z[i] - value * s->u[i]) * w;
		below += w * w;
	}
	constant = fmin(quotient(constant, below), value);
	power = fmin(quotient(power, below), value);
	return fmin(squares(s, constant, value - constant), squares(s, value - power, power));
}

/* ---- the interval: see docs/cost.md ---- */

struct search {
	struct sample *s;
	double least;	 /* squares of the best law */
	double exponent; /* of that */
	double room;	 /* by how much a law, and the run to come, may be worse than that */
	bool upper;	 /* which end */
};

static double excess(const struct search *q, double value)
{
	const double more = squares_through(q->s, value) - q->least;
	return more > 0 ? more : 0;
}

/* The end of what a run may measure where the law has this value; what is left of the room is its own noise. */
static double end_of(const struct search *q, double value)
{
	const double left = q->room - excess(q, value);
	const double noise = left > 0 ? sqrt(left) : 0;
	if (!q->upper)
		return value / (1 + noise);
	return value + (value > q->s->floor ? value : q->s->floor) * noise;
}

/* How far from inside, where a law is good enough, towards outside, where none is, it stays so. */
static double edge(const struct search *q, double inside, double outside)
{
	for (int i = 0; i < HALVINGS; i++) {
		const double middle = inside + (outside - inside) / 2;
		if (excess(q, middle) <= q->room)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static double highest(const struct search *q, double from)
{
	double outside = from > q->s->floor ? from : q->s->floor;
	for (int i = 0; i < DOUBLINGS && outside < VALUE_MOST; i++) {
		outside *= 2;
		if (excess(q, outside) > q->room)
			return edge(q, from, outside);
	}
	return VALUE_MOST;
}

/* The largest end_of() between two values, which rises and then falls: log(value) and log(1 + noise) are concave. */
static double upper_between(const struct search *q, double low, double high)
{
	for (int i = 0; i < 2 * HALVINGS; i++) {
		const double a = low + (high - low) / 3, b = high - (high - low) / 3;
		if (end_of(q, a) < end_of(q, b))
			low = a;
		else
			high = b;
	}
	return end_of(q, low + (high - low) / 2);
}

/* The least has no such shape: it is looked for at equal steps. */
static double lower_between(const struct search *q, double low, double high)
{
	double best = end_of(q, low);
	for (int i = 1; i <= HALVINGS; i++) {
		const double here = end_of(q, low + (high - low) * i / HALVINGS);
		best = here < best ? here : best;
	}
	return best;
}

/* The end for one exponent; false: no law with it is good enough. */
static bool end_for(const struct search *q, double exponent, double *end)
{
	with_exponent(q->s, exponent);
	const struct law l = fit(q->s, exponent);
	if (l.squares - q->least > q->room)
		return false;
	const double value = l.constant + l.power;
	const double low = excess(q, 0) <= q->room ? 0 : edge(q, value, 0);
	const double high = highest(q, value);
	*end = q->upper ? upper_between(q, low, high) : lower_between(q, low, high);
	return true;
}

static double on_grid(const struct range *c, int i)
{
	return c->least + (c->most - c->least) * i / GRID;
}

/* The best end on a grid of exponents, which is kept in *at and *best. */
static void scan(const struct search *q, const struct range *c, double *at, double *best)
{
	for (int i = 0; i <= GRID; i++) {
		double end;
		if (end_for(q, on_grid(c, i), &end) && (q->upper ? end > *best : end < *best)) {
			*best = end;
			*at = on_grid(c, i);
		}
	}
}

static bool is_good(const struct search *q, double exponent)
{
	with_exponent(q->s, exponent);
	return fit(q->s, exponent).squares - q->least <= q->room;
}

/* From the best exponent outwards, as far as laws are good enough: that may be less than a step of the grid. */
static double last_good(const struct search *q, double outside)
{
	double inside = q->exponent;
	if (is_good(q, outside))
		return outside;
	for (int i = 0; i < HALVINGS; i++) {
		const double middle = inside + (outside - inside) / 2;
		if (is_good(q, middle))
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* Over all exponents: on a grid, on one of those around the best law's, then between the neighbours of the best. */
static double end_over(const struct search *q, const struct range *c)
{
	const struct range band = {last_good(q, c->least), last_good(q, c->most)};
	double best = q->upper ? 0 : VALUE_MOST, at = q->exponent;
	scan(q, c, &at, &best);
	scan(q, &band, &at, &best);
	const double step = (band.most - band.least) / GRID;
	const struct range near = {fmax(at - step, c->least), fmin(at + step, c->most)};
	scan(q, &near, &at, &best);
	return best;
}

/* ---- the law ---- */

static struct law fit_exponent(struct sample *s, double exponent)
{
	with_exponent(s, exponent);
	return fit(s, exponent);
}

static struct law fit_over(struct sample *s, const struct range *c)
{
	struct law best = fit_exponent(s, EXPONENT_LINEAR);
	const struct law linear = best;
	int at = -1;
	for (int i = 0; i <= GRID; i++) {
		const struct law l = fit_exponent(s, on_grid(c, i));
		if (l.squares < best.squares) {
			best = l;
			at = i;
		}
	}
	const double width = (c->most - c->least) / GRID;
	double low = best.exponent - width, high = best.exponent + width;
	for (int i = 0; at >= 0 && i < 2 * HALVINGS; i++) {
		const double a = low + (high - low) / 3, b = high - (high - low) / 3;
		const bool left = fit_exponent(s, a).squares < fit_exponent(s, b).squares;
		low = left ? low : a;
		high = left ? b : high;
	}
	const double middle = fmin(fmax(low + (high - low) / 2, c->least), c->most);
	const struct law refined = fit_exponent(s, middle);
	if (refined.squares < best.squares)
		best = refined;
	/* Where nothing tells exponents apart, the plain one. */
	return linear.squares <= best.squares + 1e-12 ? linear : best;
}

/* One scale: all of it in proportion, as much as a law of this form can grow. */
static struct law fit_proportional(struct sample *s)
{
	struct law l = {.exponent = EXPONENT_LINEAR};
	with_exponent(s, EXPONENT_LINEAR);
	l.power = quotient(dot(s->v, s->z, s->len), dot(s->v, s->v, s->len));
	l.squares = squares(s, 0, l.power);
	return l;
}

/* ---- in and out ---- */

static int check(const struct cost_points *p, double full, struct err *e)
{
	if (p->len > COST_POINTS_MAX)
		return err_usage(e, "cost: more than %d measured points", COST_POINTS_MAX);
	for (size_t i = 0; i <= p->len; i++) {
		const double scale = i < p->len ? p->at[i].scale : full;
		if (!(scale >= COST_SCALE_LEAST && scale <= COST_SCALE_MOST))
			return err_usage(e, "cost: the scale %g is not between %g and %g", scale,
					 COST_SCALE_LEAST, COST_SCALE_MOST);
	}
	return 0;
}

static unsigned load(struct sample *s, const struct cost_points *p, enum cost_quantity q, double full)
{
	unsigned scales = 0;
	s->floor = resolution[q];
	s->prior = prior_noise[q];
	for (size_t i = 0; i < p->len; i++) {
		if (p->at[i].measured[q] == COST_UNKNOWN)
			continue;
		const double value = (double)p->at[i].measured[q];
		const double unit = value > s->floor ? value : s->floor;
		const double x = p->at[i].scale / full;
		bool seen = false;
		for (size_t k = 0; k < s->len; k++)
			seen |= s->x[k] == x;
		scales += !seen;
		s->x[s->len] = x;
		s->u[s->len] = 1 / unit;
		s->z[s->len++] = value / unit;
	}
	return scales;
}

/* Half a unit may be lost, never gained. */
static uint64_t whole(double value)
{
	return value < 0x1p63 ? (uint64_t)value : COST_UNKNOWN;
}

static void measure_noise(struct cost_estimate *est, const struct law *l, double prior, double *room)
{
	const unsigned parts = est->scales < 3 ? est->scales : 3;
	const unsigned freedom = PRIOR_WEIGHT + est->points - parts;
	const size_t rows = sizeof(student) / sizeof(*student);
	const double t = student[(freedom < rows ? freedom : rows) - 1];
	const double variance = (PRIOR_WEIGHT * prior * prior + l->squares) / freedom;
	est->noise = sqrt(variance);
	*room = t * t * variance;
}

static void estimate(struct cost_estimate *est, struct sample *s, double full)
{
	static const struct range ranges[COST_METHODS] = {
		[COST_PROPORTIONAL] = {EXPONENT_LINEAR, EXPONENT_LINEAR},
		[COST_AFFINE] = {COST_EXPONENT_LEAST, COST_EXPONENT_TWO},
		[COST_POWER] = {COST_EXPONENT_LEAST, COST_EXPONENT_MOST},
	};
	static const struct range linear = {EXPONENT_LINEAR, EXPONENT_LINEAR};
	const struct range *c = &ranges[est->method];
	const struct law l = est->method == COST_PROPORTIONAL
				     ? fit_proportional(s)
				     : fit_over(s, est->method == COST_POWER ? c : &linear);
	/* The interval is around the best law of all that it is taken over. */
	const struct law best = fit_over(s, c);
	struct search q = {.s = s, .least = best.squares, .exponent = best.exponent};
	measure_noise(est, &l, s->prior, &q.room);
	const double low = end_over(&q, c);
	q.upper = true;
	const double high = end_over(&q, c);
	est->constant = l.constant;
	est->exponent = l.exponent;
	est->factor = l.power / pow(full, l.exponent);
	est->estimate = whole(l.constant + l.power + 0.5);
	/* Bisection ends somewhere, and units are whole: neither may put the estimate outside. */
	est->low = whole(fmin(low, l.constant + l.power));
	est->high = whole(ceil(fmax(high, l.constant + l.power)));
}

int cost_estimate(struct cost_estimate *to, const struct cost_points *p, enum cost_quantity q,
		  double full, struct err *e)
{
	if (check(p, full, e) < 0)
		return -1;
	struct sample s = {0};
	struct cost_estimate est = {.estimate = COST_UNKNOWN,
				    .low = COST_UNKNOWN,
				    .high = COST_UNKNOWN};
	est.scales = load(&s, p, q, full);
	est.points = (unsigned)s.len;
	est.method = est.scales < 3 ? (enum cost_method)est.scales : COST_POWER;
	if (est.method != COST_NOTHING)
		estimate(&est, &s, full);
	*to = est;
	return 0;
}

bool cost_within(const struct cost_estimate *est, uint64_t most)
{
	return most == COST_UNKNOWN || (est->high != COST_UNKNOWN && est->high <= most);
}
