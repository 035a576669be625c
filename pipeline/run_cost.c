/* Cost before commitment: the small configurations run, the full one is estimated, and runs if that
 * is within what was approved. It never escalates by itself. */
#include "pipeline/state.h"

#include "spec/result.h"

#include <stdio.h>
#include <string.h>

static uint64_t number_of(const json_t *usage, const char *name)
{
	const json_t *v = json_object_get(usage, name);
	return json_is_integer(v) && json_integer_value(v) >= 0 ? (uint64_t)json_integer_value(v)
								: COST_UNKNOWN;
}

static void add(uint64_t *sum, uint64_t one)
{
	if (*sum == COST_UNKNOWN || one == COST_UNKNOWN || __builtin_add_overflow(*sum, one, sum))
		*sum = COST_UNKNOWN;
}

static void most(uint64_t *sum, uint64_t one)
{
	*sum = *sum == COST_UNKNOWN || one == COST_UNKNOWN ? COST_UNKNOWN : *sum > one ? *sum : one;
}

void cost_measure_stage(const struct stage_run *run, uint64_t measured[COST_QUANTITIES])
{
	const json_t *usage = json_object_get(run->result, "usage");
	measured[COST_WALL] = number_of(usage, "wall_usec");
	measured[COST_CPU] = number_of(usage, "cpu_user_usec");
	add(&measured[COST_CPU], number_of(usage, "cpu_system_usec"));
	measured[COST_MEMORY] = number_of(usage, "memory_peak_bytes");
	measured[COST_SCRATCH] = number_of(usage, "scratch_bytes");
}

void cost_measure(const struct job_state *j, size_t configuration, uint64_t measured[COST_QUANTITIES])
{
	memset(measured, 0, COST_QUANTITIES * sizeof(*measured));
	for (size_t i = 0; i < j->job->stages_len; i++) {
		uint64_t one[COST_QUANTITIES];
		if (!j->job->stages[i].varies)
			continue;
		cost_measure_stage(j->by_stage[i][configuration], one);
		/* One after the other: times add up, memory and scratch are had again. */
		add(&measured[COST_WALL], one[COST_WALL]);
		add(&measured[COST_CPU], one[COST_CPU]);
		most(&measured[COST_MEMORY], one[COST_MEMORY]);
		most(&measured[COST_SCRATCH], one[COST_SCRATCH]);
	}
}

static int estimate(struct job_state *j, struct err *e)
{
	const struct job_cost *c = &j->job->cost;
	struct job_cost_result *r = &j->r->cost;
	for (size_t i = 0; i < c->minimal_len; i++) {
		r->points[i].scale = c->minimal[i].scale;
		cost_measure(j, i, r->points[i].measured);
	}
	const struct cost_points points = {r->points, c->minimal_len};
	for (int q = 0; q < COST_QUANTITIES; q++)
		if (cost_estimate(&r->estimates[q], &points, (enum cost_quantity)q, c->full.scale,
				  e) < 0)
			return -1;
	r->estimated = true;
	return 0;
}

void cost_approved(const struct job_budget *b, uint64_t approved[COST_QUANTITIES])
{
	approved[COST_WALL] = b->wall_ns == LIMIT_NONE ? COST_UNKNOWN : b->wall_ns / 1000;
	approved[COST_CPU] = b->cpu_time_ns == LIMIT_NONE ? COST_UNKNOWN : b->cpu_time_ns / 1000;
	approved[COST_MEMORY] = b->memory_bytes;
	approved[COST_SCRATCH] = b->scratch_bytes;
}

/* Three digits of it, in the largest unit of which there is one at least. */
static void say_in_units(char *to, size_t size, double value, double step, const char *const *units)
{
	while (units[1] && value >= step) {
		value /= step;
		units++;
	}
	snprintf(to, size, value < 100 ? "%.3g %s" : "%.0f %s", value, *units);
}

/* A bound as people say it; what is not known is none. */
static void say_bound(char *to, size_t size, int q, uint64_t value)
{
	static const char *const times[] = {"us", "ms", "s", NULL};
	static const char *const sizes[] = {"bytes", "KiB", "MiB", "GiB", NULL};
	if (value == COST_UNKNOWN)
		snprintf(to, size, "nobody knows how much");
	else if (q == COST_WALL || q == COST_CPU)
		say_in_units(to, size, (double)value, 1000, times);
	else
		say_in_units(to, size, (double)value, 1024, sizes);
}

/* "wall 48.6 s (approved 2.0 s)" behind what the message says already. */
static void say_over(struct job_result *r, int q, const char *name, uint64_t approved)
{
	char most[32], least[32];
	const size_t had = strlen(r->message);
	say_bound(most, sizeof(most), q, r->cost.estimates[q].high);
	say_bound(least, sizeof(least), q, approved);
	snprintf(r->message + had, sizeof(r->message) - had, "%s %s %s (approved %s)",
		 r->cost.over_len ? "," : "the full configuration may take", name, most, least);
	r->cost.over[r->cost.over_len++] = name;
}

/* What stands in the way; false: nothing. */
static bool needs_approval(struct job_state *j)
{
	static const char *const names[COST_QUANTITIES] =
		{[COST_WALL] = "wall", [COST_CPU] = "cpu-time", [COST_MEMORY] = "memory", [COST_SCRATCH] = "scratch"};
	const struct job_cost *c = &j->job->cost;
	struct job_result *r = j->r;
	uint64_t approved[COST_QUANTITIES];
	if (!c->has_approved) {
		snprintf(r->message, sizeof(r->message),
			 "nothing was approved for the full configuration: budget in the document, or "
			 "--approve");
		return true;
	}
	cost_approved(&c->approved, approved);
	r->message[0] = '\0';
	for (int q = 0; q < COST_QUANTITIES; q++)
		if (!cost_within(&r->cost.estimates[q], approved[q]))
			say_over(r, q, names[q], approved[q]);
	return r->cost.over_len > 0;
}

/* The stages that vary, with these values; the others too, the first time. */
static bool run_configuration(struct job_state *j, size_t configuration)
{
	bool good = true;
	for (size_t i = 0; i < j->job->stages_len && good && !j->watch.cancelled; i++)
		if (configuration == 0 || j->job->stages[i].varies)
			good = job_run_configured(j, i, configuration);
	return good;
}

enum job_status cost_run(struct job_state *j)
{
	const struct job_cost *c = &j->job->cost;
	struct err e = ERR_INIT;
	for (size_t i = 0; i < c->minimal_len; i++)
		if (!run_configuration(j, i))
			return JOB_FAILED;
	if (estimate(j, &e) < 0) {
		snprintf(j->r->message, sizeof(j->r->message), "%s", e.msg);
		return JOB_FAILED;
	}
	if (needs_approval(j))
		return JOB_NEEDS_APPROVAL;
	const int reserved = cost_reserve(j, &j->budget, &e);
	if (reserved <= 0) {
		if (reserved < 0)
			snprintf(j->r->message, sizeof(j->r->message), "%s", e.msg);
		return reserved < 0 ? JOB_FAILED : JOB_NEEDS_APPROVAL;
	}
	const bool good = run_configuration(j, c->minimal_len);
	cost_settle(j, &j->budget, c->minimal_len);
	j->r->cost.measured_full = good;
	if (good)
		cost_measure(j, c->minimal_len, j->r->cost.measured);
	return good ? JOB_SUCCEEDED : JOB_FAILED;
}
