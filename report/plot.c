#include "report/plot.h"

#include "report/parts.h"

#include <inttypes.h>
#include <stdio.h>

/* The drawing's own units, about a pixel where there is room for two plots beside each other. */
enum { WIDTH = 420, HEIGHT = 190, LEFT = 58, RIGHT = 10, TOP = 14, BOTTOM = 24, TICKS_MAX = 5 };

/* What is beyond is drawn at the edge: sums of a few of it fit. */
#define FAR (INT64_MAX / 8)

struct scale {
	int64_t top, step;	  /* of values */
	int64_t until, step_usec; /* of time */
};

static struct said say(enum plot_unit kind, int64_t value)
{
	struct said s;
	if (kind == PLOT_SIZE)
		return say_size(value);
	if (kind == PLOT_COUNT || value % 1000 == 0)
		return say_count(kind == PLOT_COUNT ? value : value / 1000);
	snprintf(s.text, sizeof(s.text), "%" PRId64 ".%02" PRId64, value / 1000, value % 1000 / 10);
	return s;
}

static void put_tick(struct html *h, struct said said)
{
	html_words(h, said.text);
}

/* The least of 1, 2, 5 times a power of ten (of two, for sizes) of which TICKS_MAX reach most. */
static int64_t nice_step(int64_t most, enum plot_unit kind, int64_t least)
{
	int64_t step = least;
	for (unsigned int i = 0; most / TICKS_MAX >= step && step < INT64_MAX / 10; i++)
		step = kind == PLOT_SIZE ? step * 2 : i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

/* Of times: as a clock has them where they are long. */
static int64_t nice_time(int64_t until)
{
	static const int64_t seconds[] = {30,	60,   120,  300,   600,	  1200,
					  1800, 3600, 7200, 21600, 43200, 86400};
	if (until < 100 * 1000000LL)
		return nice_step(until, PLOT_COUNT, 1000);
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		if (until / TICKS_MAX < seconds[i] * 1000000)
			return seconds[i] * 1000000;
	return nice_step(until, PLOT_COUNT, 86400 * 1000000LL);
}

static struct said say_at(int64_t usec, int64_t step)
{
	const int64_t seconds = usec / 1000000;
	struct said s = {"0 s"};
	if (usec == 0)
		return s;
	if (step < 30 * 1000000)
		return say_time(usec);
	if (step >= 3600 * 1000000LL)
		snprintf(s.text, sizeof(s.text), "%" PRId64 " h", seconds / 3600);
	else if (seconds % 60 == 0)
		snprintf(s.text, sizeof(s.text), "%" PRId64 " min", seconds / 60);
	else
		snprintf(s.text, sizeof(s.text), "%" PRId64 ":%02" PRId64 " min", seconds / 60,
			 seconds % 60);
	return s;
}

static int64_t most_of(const struct plot *p)
{
	int64_t most = 0;
	for (size_t s = 0; s < p->series_len; s++)
		for (size_t i = 0; i < p->series[s].len; i++)
			if (p->series[s].points[i].value > most)
				most = p->series[s].points[i].value;
	return most < FAR ? most : FAR;
}

/* A limit that is far off would press all else to the ground. */
static bool shows_limit(const struct plot *p, int64_t most)
{
	return p->limit != NUM_UNKNOWN && p->limit > 0 && most >= p->limit / 4;
}

static struct scale make_scale(const struct plot *p)
{
	/* From a tenth of a cpu and a tenth of a second on; 200, 500, 1000 follow it. */
	const int64_t least = p->kind == PLOT_SIZE ? 256 : p->kind == PLOT_MILLI ? 100 : 1;
	int64_t most = most_of(p);
	struct scale s = {.until = p->until_usec > FAR ? FAR
				   : p->until_usec > 0 ? p->until_usec
						       : 1};
	if (shows_limit(p, most) && p->limit > most)
		most = p->limit < FAR ? p->limit : FAR;
	s.step = nice_step(most, p->kind, least);
	s.top = (most / s.step + 1) * s.step;
	if (most > 0 && most % s.step == 0)
		s.top = most + s.step / 4;
	s.step_usec = nice_time(s.until);
	return s;
}

static int64_t x_of(const struct scale *s, int64_t usec)
{
	const double share = (double)usec / (double)s->until;
	return (int64_t)((LEFT + (WIDTH - LEFT - RIGHT) * (share < 0   ? 0
							   : share > 1 ? 1
								       : share)) *
			 1000);
}

static int64_t y_of(const struct scale *s, int64_t value)
{
	const double share = (double)value / (double)s->top;
	return (int64_t)((HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (share > 1 ? 1 : share)) * 1000);
}

/* ---- axes ---- */

static void put_line(struct html *h, const char *class, const int64_t ends[4])
{
	static const char names[4][3] = {"x1", "y1", "x2", "y2"};
	html_markup(h, "<line class=\"");
	html_words(h, class);
	html_markup(h, "\"");
	for (int i = 0; i < 4; i++) {
		html_markup(h, " ");
		html_words(h, names[i]);
		html_markup(h, "=\"");
		html_milli(h, ends[i]);
		html_markup(h, "\"");
	}
	html_markup(h, "/>");
}

static void put_label(struct html *h, const char *class, int64_t x, int64_t y)
{
	html_markup(h, "<text class=\"");
	html_words(h, class);
	html_markup(h, "\" x=\"");
	html_milli(h, x);
	html_markup(h, "\" y=\"");
	html_milli(h, y);
	html_markup(h, "\">");
}

static void put_axes(struct html *h, const struct plot *p, const struct scale *s)
{
	static const struct said zero = {"0"};
	const int64_t right = (WIDTH - RIGHT) * 1000, low = (HEIGHT - BOTTOM) * 1000;
	for (int64_t v = 0; v <= s->top; v += s->step) {
		const int64_t y = y_of(s, v);
		put_line(h, v == 0 ? "axis" : "grid", (int64_t[]){LEFT * 1000, y, right, y});
		put_label(h, "y", (LEFT - 6) * 1000, y + 3500);
		put_tick(h, v == 0 ? zero : say(p->kind, v));
		html_markup(h, "</text>");
	}
	for (int64_t t = 0; t <= s->until; t += s->step_usec) {
		const int64_t x = x_of(s, t);
		put_line(h, "axis", (int64_t[]){x, low, x, low + 4000});
		put_label(h, x > right - 12000 ? "x last" : "x", x, low + 17000);
		put_tick(h, say_at(t, s->step_usec));
		html_markup(h, "</text>");
	}
}

/* ---- data ---- */

static void put_pair(struct html *h, char command, int64_t x, int64_t y)
{
	html_printf(h, "%c", command);
	html_milli(h, x);
	html_markup(h, " ");
	html_milli(h, y);
}

/* The way along the points; a gap begins anew. area: down to the ground where it ends. */
static void put_way(struct html *h, const struct series *series, const struct scale *s, bool area)
{
	const int64_t ground = (HEIGHT - BOTTOM) * 1000;
	bool drawing = false;
	int64_t x = 0;
	for (size_t i = 0; i < series->len; i++) {
		const struct point *at = &series->points[i];
		const bool gap = at->value == NUM_UNKNOWN;
		if (area && drawing && gap)
			put_pair(h, 'L', x, ground);
		if (!gap) {
			const int64_t to_x = x_of(s, at->at_usec), to_y = y_of(s, at->value);
			if (!drawing && area)
				put_pair(h, 'M', to_x, ground);
			if (drawing && series->stepped)
				put_pair(h, 'L', x, to_y);
			put_pair(h, drawing || area ? 'L' : 'M', to_x, to_y);
			x = to_x;
		}
		drawing = !gap;
	}
	if (area && drawing)
		put_pair(h, 'L', x, ground);
}

static void put_series(struct html *h, const struct plot *p, const struct scale *s)
{
	for (size_t i = 0; i < p->series_len; i++) {
		if (p->series_len == 1) {
			html_markup(h, "<path class=\"area\" d=\"");
			put_way(h, &p->series[i], s, true);
			html_markup(h, "\"/>");
		}
		html_markup(h, "<path class=\"line c");
		html_printf(h, "%zu", i);
		html_markup(h, "\" d=\"");
		put_way(h, &p->series[i], s, false);
		html_markup(h, "\"/>");
		for (size_t k = 0; k < p->series[i].len && p->series[i].len <= 2; k++) {
			if (p->series[i].points[k].value == NUM_UNKNOWN)
				continue;
			html_markup(h, "<circle class=\"dot c");
			html_printf(h, "%zu", i);
			html_markup(h, "\" r=\"2.5\" cx=\"");
			html_milli(h, x_of(s, p->series[i].points[k].at_usec));
			html_markup(h, "\" cy=\"");
			html_milli(h, y_of(s, p->series[i].points[k].value));
			html_markup(h, "\"/>");
		}
	}
}

static void put_limit(struct html *h, const struct plot *p, const struct scale *s)
{
	const int64_t y = y_of(s, p->limit);
	put_line(h, "limit", (int64_t[]){LEFT * 1000, y, (WIDTH - RIGHT) * 1000, y});
	put_label(h, "limit", (LEFT + 6) * 1000, y - 4000 < 10000 ? y + 12000 : y - 4000);
	html_markup(h, "limit ");
	put_tick(h, say(p->kind, p->limit));
	html_markup(h, "</text>");
}

static void put_summary(struct html *h, const struct plot *p)
{
	for (size_t i = 0; i < p->series_len; i++) {
		int64_t most = NUM_UNKNOWN;
		for (size_t k = 0; k < p->series[i].len; k++)
			if (p->series[i].points[k].value > most)
				most = p->series[i].points[k].value;
		html_words(h, i > 0 ? ", " : "");
		html_words(h, p->series[i].name ? p->series[i].name : "");
		html_words(h, p->series[i].name ? " " : "");
		html_words(h, "at most ");
		put_tick(h, say(p->kind, most));
	}
}

static void put_key(struct html *h, const struct plot *p)
{
	html_markup(h, "<span class=\"peak\">");
	for (size_t i = 0; i < p->series_len; i++) {
		if (!p->series[i].name)
			continue;
		html_markup(h,
			    "<svg class=\"key\" viewBox=\"0 0 14 8\" aria-hidden=\"true\"><line class=\"line c");
		html_printf(h, "%zu", i);
		html_markup(h, "\" x1=\"0\" y1=\"4\" x2=\"14\" y2=\"4\"/></svg> ");
		html_words(h, p->series[i].name);
		html_markup(h, "&#160; ");
	}
	if (p->limit != NUM_UNKNOWN && !shows_limit(p, most_of(p))) {
		html_markup(h, "limit ");
		put_tick(h, say(p->kind, p->limit));
	}
	html_markup(h, "</span>");
}

static bool has_points(const struct plot *p)
{
	for (size_t s = 0; s < p->series_len; s++)
		for (size_t i = 0; i < p->series[s].len; i++)
			if (p->series[s].points[i].value != NUM_UNKNOWN)
				return true;
	return false;
}

void plot_put(struct html *h, const struct plot *p)
{
	html_markup(h, "<figure class=\"plot\">\n<figcaption><strong>");
	html_words(h, p->title);
	html_markup(h, "</strong> <span class=\"unit\">");
	html_words(h, p->unit);
	html_markup(h, "</span>");
	if (!has_points(p)) {
		html_markup(h, "</figcaption>\n<p class=\"note\">No figures: this host could not tell them, "
			       "or the run was too short.</p></figure>\n");
		return;
	}
	const struct scale s = make_scale(p);
	put_key(h, p);
	html_markup(h, "</figcaption>\n<svg viewBox=\"0 0 420 190\" role=\"img\" aria-label=\"");
	html_words(h, p->title);
	html_markup(h, " over time: ");
	put_summary(h, p);
	html_markup(h, "\">");
	put_axes(h, p, &s);
	put_series(h, p, &s);
	if (shows_limit(p, most_of(p)))
		put_limit(h, p, &s);
	html_markup(h, "</svg></figure>\n");
}
