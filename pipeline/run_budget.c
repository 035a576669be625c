/* The budget that a job shares with others: the full configuration's upper bounds are reserved
 * before it runs, and what it took is settled afterwards, however it ended. */
#include "pipeline/state.h"

#include <stdio.h>

/* What the estimate says at most: the budget has no word for scratch. */
static struct budget_amount upper_of(const struct job_cost_result *r)
{
	return budget_amount_of(r->estimates[COST_WALL].high, r->estimates[COST_CPU].high,
				r->estimates[COST_MEMORY].high, 1);
}

static void say_refusal(struct job_state *j, const struct budget_refusal *why)
{
	const char *file = j->job->cost.budget_file, *name = budget_option_names[why->quantity];
	char asked[BUDGET_TEXT_BYTES], used[BUDGET_TEXT_BYTES], limit[BUDGET_TEXT_BYTES];
	budget_say(why->quantity, why->asked, asked);
	budget_say(why->quantity, why->used, used);
	budget_say(why->quantity, why->limit, limit);
	if (why->asked == BUDGET_UNKNOWN)
		snprintf(j->r->message, sizeof(j->r->message),
			 "%s limits %s, of which no upper bound is known", file, name);
	else
		snprintf(j->r->message, sizeof(j->r->message),
			 "%s has too little left: %s %s asked, %s of %s used or reserved", file,
			 name, asked, used, limit);
}

int cost_reserve(struct job_state *j, struct budget *b, struct err *e)
{
	const struct job_cost *c = &j->job->cost;
	struct job_cost_result *r = &j->r->cost;
	struct budget_refusal why;
	if (!c->budget_file)
		return 1;
	r->reserved = upper_of(r);
	const int reserved = budget_reserve(b, &r->reserved, &why, e);
	if (reserved == 0) {
		say_refusal(j, &why);
		r->over[r->over_len++] = "budget-file";
	}
	r->has_reserved = reserved == 1;
	return reserved;
}

/* What ran of it took so much: a stage that came out of the cache took nothing. */
static struct budget_amount taken(const struct job_state *j, size_t configuration)
{
	struct budget_amount sum = {{[BUDGET_RUNS] = 1}};
	for (size_t i = 0; i < j->job->stages_len; i++) {
		uint64_t m[COST_QUANTITIES];
		const struct stage_run *run = j->job->stages[i].varies
						      ? j->by_stage[i][configuration]
						      : NULL;
		if (!run || run->state != RUN_RAN)
			continue;
		cost_measure_stage(run, m);
		const struct budget_amount one = budget_amount_of(m[COST_WALL], m[COST_CPU],
								  m[COST_MEMORY], 1);
		/* One that left no result: nobody knows, and it counts as it was reserved. */
		for (int q = 0; q < BUDGET_RUNS; q++)
			if (one.of[q] == BUDGET_UNKNOWN || sum.of[q] == BUDGET_UNKNOWN ||
			    __builtin_add_overflow(sum.of[q], one.of[q], &sum.of[q]))
				sum.of[q] = BUDGET_UNKNOWN;
	}
	return sum;
}

void cost_settle(struct job_state *j, struct budget *b, size_t configuration)
{
	struct job_cost_result *r = &j->r->cost;
	struct err e = ERR_INIT;
	if (!r->has_reserved)
		return;
	r->settled = taken(j, configuration);
	r->has_settled = budget_settle(b, &r->settled, &e) == 0;
	if (!r->has_settled)
		job_warn(j->r, "%s; what was reserved counts as spent", e.msg);
}
