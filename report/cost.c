/* What a job was expected to take, what was approved, and what it took. */
#include "report/page.h"
#include "report/parts.h"

static const struct quantity {
	const char *title, *over;
	bool time;
} quantities[COST_ROWS] = {
	[COST_WALL] = {"Wall time", "wall", true},
	[COST_CPU] = {"Processor time", "cpu-time", true},
	[COST_MEMORY] = {"Memory, at most", "memory", false},
	[COST_SCRATCH] = {"Scratch", "scratch", false},
};

static void put_amount(struct html *h, const struct quantity *q, int64_t amount)
{
	put_known(h, q->time ? say_time(amount) : say_size(amount), amount);
}

static bool is_over(const struct cost_told *c, const char *name)
{
	for (size_t i = 0; i < c->over_len; i++)
		if (bytes_are(c->over[i], name))
			return true;
	return false;
}

/* Whether what was measured is what was expected, or, before that, whether it may be tried. */
static void put_judgement(struct html *h, const struct cost_told *c, int i)
{
	const struct estimate_told *e = &c->estimate[i];
	if (is_over(c, quantities[i].over))
		put_tag(h, "bad", bytes_of("more than approved"));
	else if (!c->has_measured && c->has_approved && c->approved[i] != NUM_UNKNOWN)
		put_tag(h, "good", bytes_of("approved"));
	else if (!c->has_measured || c->measured[i] == NUM_UNKNOWN || e->high == NUM_UNKNOWN ||
		 e->low == NUM_UNKNOWN)
		put_text(h, (struct bytes){NULL, 0});
	else if (c->measured[i] > e->high)
		put_tag(h, "warn", bytes_of("more than expected"));
	else if (c->measured[i] < e->low)
		put_tag(h, "good", bytes_of("less than expected"));
	else
		put_tag(h, "good", bytes_of("as expected"));
}

static void put_estimate_row(struct table *t, const struct cost_told *c, int i)
{
	static const struct meaning methods[] = {{"nothing", "it was not measured"},
						 {"linear", "in proportion to the scale"},
						 {"affine", "a fixed part, and one in proportion"},
						 {"power", "a power of the scale"}};
	const struct quantity *q = &quantities[i];
	const struct estimate_told *e = &c->estimate[i];
	const char *method = words_for(e->method, methods, 4);
	table_row(t);
	html_words(table_cell(t), q->title);
	put_amount(table_cell(t), q, c->estimated ? e->value : NUM_UNKNOWN);
	struct html *h = table_cell(t);
	if (c->estimated && e->low != NUM_UNKNOWN && e->high != NUM_UNKNOWN) {
		put_amount(h, q, e->low);
		html_markup(h, " to ");
		put_amount(h, q, e->high);
	} else {
		put_text(h, (struct bytes){NULL, 0});
	}
	put_amount(table_cell(t), q, c->has_approved ? c->approved[i] : NUM_UNKNOWN);
	put_amount(table_cell(t), q, c->has_measured ? c->measured[i] : NUM_UNKNOWN);
	put_judgement(table_cell(t), c, i);
	table_cell(t);
	if (method)
		html_words(h, method);
	else
		put_text(h, e->method);
}

static void put_estimate(const struct part *p, const struct cost_told *c)
{
	static const struct column columns[] = {{"Quantity", false},	   {"Estimate", true},
						{"Interval", true},	   {"Approved", true},
						{"Measured", true},	   {"Which is", false},
						{"Extrapolated as", false}};
	struct table t;
	table_begin(&t, p->h, "The full configuration: estimate beside measurement", columns, 7);
	for (int i = 0; i < COST_ROWS; i++)
		put_estimate_row(&t, c, i);
	table_end(&t);
}

static void put_points(const struct part *p, const struct cost_told *c)
{
	static const struct column columns[] = {{"Configuration", false}, {"Scale", true},
						{"Wall time", true},	  {"Processor time", true},
						{"Memory", true},	  {"Scratch", true}};
	struct table t;
	if (c->points_len == 0)
		return;
	table_begin(&t, p->h, "The small configurations that it rests on", columns, 6);
	for (size_t i = 0; i < c->points_len; i++) {
		const struct point_told *point = &c->points[i];
		table_row(&t);
		put_text(table_cell(&t), point->configuration);
		put_said(table_cell(&t), say_real(point->scale));
		for (int q = 0; q < COST_ROWS; q++)
			put_amount(table_cell(&t), &quantities[q], point->measured[q]);
	}
	table_end(&t);
}

static struct said say_shared(int quantity, int64_t amount)
{
	if (quantity == SHARED_MEMORY)
		return say_real((struct real_told){true, (double)amount / 1e6});
	return quantity == SHARED_RUNS ? say_count(amount) : say_time(amount);
}

/* Of the budget that jobs share. */
static void put_shared(const struct part *p, const struct cost_told *c)
{
	static const char *const titles[SHARED_ROWS] = {"Processor time", "Wall time",
							"Memory over time, MiB s", "Runs"};
	static const struct column columns[] = {{"Quantity", false},
						{"Reserved", true},
						{"Settled", true}};
	struct table t;
	if (!c->has_reserved && !c->has_settled)
		return;
	table_begin(&t, p->h, "What was set aside in the shared budget, and what it became",
		    columns, 3);
	for (int i = 0; i < SHARED_ROWS; i++) {
		const int64_t both[] = {c->has_reserved ? c->reserved[i] : NUM_UNKNOWN,
					c->has_settled ? c->settled[i] : NUM_UNKNOWN};
		table_row(&t);
		html_words(table_cell(&t), titles[i]);
		for (int k = 0; k < 2; k++)
			put_known(table_cell(&t), say_shared(i, both[k]), both[k]);
	}
	table_end(&t);
}

static void put_decision(const struct part *p, const struct job_told *job)
{
	const struct cost_told *c = &job->cost;
	static const struct meaning by[] = {{"document", "The job's own document approved it."},
					    {"flag", "It was approved on the command line."}};
	const char *who = words_for(c->by, by, 2);
	html_markup(p->h, "<p class=\"message\">");
	if (bytes_are(job->status, "needs-approval"))
		html_words(p->h,
			   c->has_approved
				   ? is_over(c, "budget-file")
					     ? "The shared budget has no room for the upper end of the estimate, so the "
					       "full configuration was not begun."
					     : "The upper end of the estimate is above what was approved, so the full "
					       "configuration was not begun."
				   : "Nothing was approved, so the full configuration was not begun.");
	else if (c->has_measured)
		html_words(p->h,
			   "The upper end of the estimate was within what was approved, and the full "
			   "configuration ran.");
	else
		html_words(p->h, "The full configuration was not begun, or not finished.");
	if (who) {
		html_markup(p->h, " ");
		html_words(p->h, bytes_are(job->status, "needs-approval") && c->has_approved
					 ? bytes_are(c->by, "flag")
						   ? "What was approved stood on the command line."
						   : "What was approved stood in the job's own document."
					 : who);
	}
	html_markup(p->h, "</p>\n");
}

void page_cost(const struct part *p, const struct job_told *job)
{
	const struct cost_told *c = &job->cost;
	if (!c->there)
		return;
	part_begin(p, "cost", "Cost");
	put_decision(p, job);
	if (c->estimated || c->has_measured)
		put_estimate(p, c);
	else
		part_note(p,
			  "There is no estimate: the small configurations did not all get to their end.");
	put_points(p, c);
	put_shared(p, c);
	part_end(p);
}
