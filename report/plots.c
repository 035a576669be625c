#include "report/page.h"
#include "report/parts.h"
#include "report/plot.h"
#include "spec/parse.h"
#include "spec/spec.h"

#include <string.h>

/* What the plots of a run have in common. */
struct plotting {
	const struct run_told *run;
	struct arena *arena;
	int64_t begun, until; /* until: since then */
};

static struct point *make_points(struct plotting *g)
{
	return arena_alloc(g->arena, (g->run->samples_len + 2) * sizeof(struct point));
}

static int64_t since(const struct plotting *g, int64_t at)
{
	return at > g->begun ? at - g->begun : 0;
}

/* As it was seen. counts: it is a sum that begins with 0, and ended as total. */
static struct series plain_series(struct plotting *g, const char *name, int use, bool counts,
				  int64_t total)
{
	const struct run_told *run = g->run;
	struct point *points = make_points(g);
	struct series s = {.name = name, .points = points};
	if (counts)
		points[s.len++] = (struct point){0, 0};
	for (size_t i = 0; i < run->samples_len; i++)
		points[s.len++] = (struct point){since(g, run->samples[i].at_usec),
						 run->samples[i].use[use]};
	if (counts && total != NUM_UNKNOWN && g->run->wall_usec != NUM_UNKNOWN)
		points[s.len++] = (struct point){run->wall_usec, total};
	return s;
}

/* Thousandths of a processor between two looks. */
static int64_t rate_of(const struct point *from, const struct point *to)
{
	if (from->value == NUM_UNKNOWN || to->value == NUM_UNKNOWN || to->value < from->value ||
	    to->at_usec <= from->at_usec)
		return NUM_UNKNOWN;
	return (int64_t)((double)(to->value - from->value) / (double)(to->at_usec - from->at_usec) *
			 1000);
}

static struct series rate_series(struct plotting *g, int64_t total)
{
	const struct series sums = plain_series(g, NULL, USE_CPU_USEC, true, total);
	struct point *points = make_points(g);
	struct series s = {.points = points, .stepped = true};
	for (size_t i = 1; i < sums.len; i++) {
		const int64_t rate = rate_of(&sums.points[i - 1], &sums.points[i]);
		if (s.len == 0)
			points[s.len++] = (struct point){sums.points[0].at_usec, rate};
		points[s.len++] = (struct point){sums.points[i].at_usec, rate};
	}
	return s;
}

static uint64_t requested(const struct run_told *run, const char *name,
			  int (*parse)(const char *, uint64_t *, struct err *))
{
	const struct guarantee_told *g = guarantee_told_of(run, name);
	struct err ignored = ERR_INIT;
	uint64_t most = LIMIT_NONE;
	if (!g || !g->requested.at || strlen(g->requested.at) != g->requested.len ||
	    parse(g->requested.at, &most, &ignored) < 0)
		return LIMIT_NONE;
	return most;
}

static int64_t limit_of(uint64_t most)
{
	return most > INT64_MAX ? NUM_UNKNOWN : (int64_t)most;
}

static void put_plots(struct html *h, struct plotting *g)
{
	const struct run_told *run = g->run;
	const int64_t cpu = run->user_usec == NUM_UNKNOWN || run->system_usec == NUM_UNKNOWN ||
					    run->user_usec > INT64_MAX - run->system_usec
				    ? NUM_UNKNOWN
				    : run->user_usec + run->system_usec;
	const struct plot plots[] = {
		{"Memory",
		 "in use",
		 PLOT_SIZE,
		 {plain_series(g, NULL, USE_MEMORY, false, 0)},
		 1,
		 g->until,
		 limit_of(requested(run, "memory", spec_parse_size))},
		{"Processors",
		 "in use",
		 PLOT_MILLI,
		 {rate_series(g, cpu)},
		 1,
		 g->until,
		 limit_of(requested(run, "cpus", spec_parse_cpus))},
		{"Processes and threads",
		 "alive",
		 PLOT_COUNT,
		 {plain_series(g, NULL, USE_PIDS, false, 0)},
		 1,
		 g->until,
		 limit_of(requested(run, "pids", spec_parse_count))},
		{"Output",
		 "so far",
		 PLOT_SIZE,
		 {plain_series(g, "stdout", USE_STDOUT, true,
			       run->out.there ? run->out.bytes : NUM_UNKNOWN),
		  plain_series(g, "stderr", USE_STDERR, true,
			       run->err.there ? run->err.bytes : NUM_UNKNOWN)},
		 2,
		 g->until,
		 limit_of(requested(run, "output", spec_parse_size))},
	};
	html_markup(h, "<div class=\"plots\">\n");
	for (size_t i = 0; i < sizeof(plots) / sizeof(*plots); i++)
		plot_put(h, &plots[i]);
	html_markup(h, "</div>\n");
}

static void put_moments(struct html *h, const struct run_told *run)
{
	static const struct column columns[] = {{"At", false}, {"Event", false}, {"What", false}};
	struct table t;
	if (run->moments_len == 0)
		return;
	table_begin(&t, h, "What happened when, since pinfold started", columns, 3);
	for (size_t i = 0; i < run->moments_len; i++) {
		table_row(&t);
		put_said(table_cell(&t), say_time(run->moments[i].at_usec));
		put_text(table_cell(&t), run->moments[i].event);
		put_text(table_cell(&t), run->moments[i].name);
	}
	table_end(&t);
}

static void put_bad_lines(const struct part *p, const struct run_told *run)
{
	if (run->lines_bad == 0)
		return;
	html_markup(p->h, "<p class=\"note\">");
	html_printf(p->h, "%zu line%s of the events %s none of this schema, and %s left out.",
		    run->lines_bad, run->lines_bad == 1 ? "" : "s",
		    run->lines_bad == 1 ? "is" : "are", run->lines_bad == 1 ? "is" : "are");
	html_markup(p->h, "</p>\n");
}

void page_plots(const struct part *p, const struct run_told *run, struct arena *a)
{
	part_begin(p, "time", "Over time");
	if (!run->has_events) {
		part_note(p, "No events were given: `pinfold run --events FILE` writes them, `pinfold "
			     "report --events FILE` plots them.");
		return part_end(p);
	}
	struct plotting g = {.run = run, .arena = a};
	g.begun = run->started_usec == NUM_UNKNOWN ? 0 : run->started_usec;
	g.until = run->wall_usec == NUM_UNKNOWN ? 0 : run->wall_usec;
	if (run->samples_len > 0 && since(&g, run->samples[run->samples_len - 1].at_usec) > g.until)
		g.until = since(&g, run->samples[run->samples_len - 1].at_usec);
	if (run->samples_len > 0)
		put_plots(p->h, &g);
	else
		part_note(p, "No figures: the run was over before the first look at it, which is after a "
			     "second.");
	put_bad_lines(p, run);
	put_moments(p->h, run);
	part_end(p);
}
