#include "report/node.h"
#include "report/read.h"

#include <string.h>

/* Half of them go: of two neighbours the one with less memory. */
static void thin_out(struct run_told *run)
{
	size_t kept = 0;
	for (size_t i = 0; i + 1 < run->samples_len; i += 2) {
		const struct sample *one = &run->samples[i], *two = one + 1;
		run->samples[kept++] = one->use[USE_MEMORY] > two->use[USE_MEMORY] ? *one : *two;
	}
	run->samples_len = kept;
}

static void take_sample(struct run_told *run, struct reading *r, const struct node *line, int64_t at)
{
	static const char *const keys[USE_COUNT] = {"cpu_usec", "memory_bytes", "pids",
						    "stdout_bytes", "stderr_bytes"};
	if (run->samples_len == SAMPLES_MAX)
		thin_out(run);
	struct sample s = {.at_usec = at};
	for (int i = 0; i < USE_COUNT; i++)
		s.use[i] = node_number(r, line, keys[i]);
	/* Time goes on, or it is no line of a run. */
	if (run->samples_len > 0 && run->samples[run->samples_len - 1].at_usec > at)
		node_refuse(r, line, "time that goes back");
	if (!r->bad)
		run->samples[run->samples_len++] = s;
}

static void take_moment(struct run_told *run, struct reading *r, const struct node *line, int64_t at)
{
	const struct moment m = {at, node_text(r, line, "event"), node_text(r, line, "name")};
	if (r->bad)
		return;
	if (bytes_are(m.event, "started"))
		run->started_usec = at;
	if (run->moments_len == MOMENTS_MAX)
		run->lines_passed++;
	else
		run->moments[run->moments_len++] = m;
}

/* Of no other run than the result is. */
static int check_run(const struct run_told *run, const struct reading *r, const struct node *line,
		     struct err *e)
{
	const char *id = json_string_value(json_object_get(line->value, "id"));
	if (!id || !run->id.at || bytes_are(run->id, id))
		return 0;
	return err_usage(e, "%s is of another run than the result is; --events takes that run's own",
			 r->name);
}

/* Rows of their own in the result: nothing that this page would not have. */
static bool is_row(const char *event)
{
	return strcmp(event, "denied") == 0 || strcmp(event, "egress") == 0 ||
	       strcmp(event, "artifact") == 0;
}

/* event: of pinfold.event/1, wherever it stands. */
static int take_event(struct run_told *run, struct reading *r, const struct node *event,
		      struct err *e)
{
	const char *name = json_string_value(json_object_get(event->value, "event"));
	const int64_t at = node_number(r, event, "at_usec");
	if (!node_is_of(event, "pinfold.event/1") || !name || at == NUM_UNKNOWN) {
		run->lines_bad++;
		return 0;
	}
	if (check_run(run, r, event, e) < 0)
		return -1;
	if (strcmp(name, "usage") == 0)
		take_sample(run, r, event, at);
	else if (!is_row(name))
		take_moment(run, r, event, at);
	run->lines_bad += r->bad;
	return 0;
}

/* What the lines are held against. */
struct of {
	struct report *report;
	struct job_told *job; /* NULL: of a run */
	struct arena *arena;
	struct stage_told *last; /* whose event came last: the next is most likely its own too */
	size_t runs;		 /* that have events */
};

static void make_room(struct run_told *run, struct arena *a)
{
	run->has_events = true;
	run->samples = arena_alloc(a, SAMPLES_MAX * sizeof(*run->samples));
	run->moments = arena_alloc(a, MOMENTS_MAX * sizeof(*run->moments));
}

/* An id is a run's own: what came out of the cache has that of another job's run. */
static bool is_of(const struct stage_told *s, const char *id)
{
	return s->has_run && bytes_are(s->run.id, id) && !bytes_are(s->state, "cached");
}

static struct stage_told *stage_of(struct of *o, const char *id)
{
	struct report *report = o->report;
	if (o->last && is_of(o->last, id))
		return o->last;
	for (size_t i = 0; i < report->stages_len; i++)
		if (is_of(&report->stages[i], id))
			return o->last = &report->stages[i];
	return NULL;
}

static bool is_known(const char *what)
{
	static const char *const known[] = {"begun",  "started",  "ended",
					    "cached", "analysed", "finished"};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i], what) == 0)
			return true;
	return false;
}

/* A line of a job's: around the event of a run, or its own, which the document tells as well. */
static int take_job_event(struct of *o, struct reading *r, const struct node *line, struct err *e)
{
	const struct node event = node_object(r, line, "event");
	const char *what = json_string_value(json_object_get(line->value, "what"));
	const char *job = json_string_value(json_object_get(line->value, "job"));
	const char *id = json_string_value(json_object_get(event.value, "id"));
	if (node_is_of(line, "pinfold.job-event/1") && job && o->job->id.at &&
	    !bytes_are(o->job->id, job))
		return err_usage(e,
				 "%s is of another job than the result is; --events takes that job's own",
				 r->name);
	struct stage_told *s = id ? stage_of(o, id) : NULL;
	if (!node_is_of(line, "pinfold.job-event/1") || !what || r->bad || (!s && !is_known(what))) {
		o->job->lines_bad++;
		return 0;
	}
	if (!s || (!s->run.has_events && o->runs == EVENTS_RUNS_MAX))
		return 0;
	if (!s->run.has_events) {
		make_room(&s->run, o->arena);
		o->runs++;
	}
	return take_event(&s->run, r, &event, e);
}

/* jansson's memory is the line's, gone with it; what is kept is a few words. */
static int take_line(struct of *o, const struct named_text *line, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct reading r = {line->name, line->at, line->len, o->arena, &ignored, false, 0};
	json_t *parsed = line->len > EVENT_LINE_MAX ? NULL : node_parse(&r, &ignored);
	if (!parsed) {
		if (o->job)
			o->job->lines_bad++;
		else
			o->report->stages->run.lines_bad++;
		return 0;
	}
	const struct node root = node_root(parsed);
	const int done = o->job ? take_job_event(o, &r, &root, e)
				: take_event(&o->report->stages->run, &r, &root, e);
	json_decref(parsed);
	return done;
}

int read_events(struct report *report, const struct named_text *text, struct arena *a, struct err *e)
{
	struct of o = {report, report->job, a, NULL, 0};
	if (o.job)
		o.job->has_events = true;
	else
		make_room(&report->stages->run, a);
	for (size_t at = 0; at < text->len;) {
		const char *begin = text->at + at, *end = memchr(begin, '\n', text->len - at);
		const size_t len = end ? (size_t)(end - begin) : text->len - at;
		const struct named_text line = {text->name, begin, len};
		if (len > 0 && take_line(&o, &line, e) < 0)
			return -1;
		at += len + 1;
	}
	return 0;
}
