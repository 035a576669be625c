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

static int take_event(struct run_told *run, struct reading *r, const struct node *line, struct err *e)
{
	const char *schema = json_string_value(json_object_get(line->value, "schema"));
	const char *event = json_string_value(json_object_get(line->value, "event"));
	const int64_t at = node_number(r, line, "at_usec");
	if (!schema || strcmp(schema, "pinfold.event/1") != 0 || !event || at == NUM_UNKNOWN) {
		run->lines_bad++;
		return 0;
	}
	if (check_run(run, r, line, e) < 0)
		return -1;
	if (strcmp(event, "usage") == 0)
		take_sample(run, r, line, at);
	else if (!is_row(event))
		take_moment(run, r, line, at);
	run->lines_bad += r->bad;
	return 0;
}

/* jansson's memory is the line's, gone with it; what is kept is a few words. */
static int take_line(struct run_told *run, const struct named_text *line, struct arena *a,
		     struct err *e)
{
	struct err ignored = ERR_INIT;
	struct reading r = {line->name, line->at, line->len, a, &ignored, false};
	json_t *parsed = line->len > EVENT_LINE_MAX ? NULL : node_parse(&r, &ignored);
	if (!parsed) {
		run->lines_bad++;
		return 0;
	}
	const struct node root = node_root(parsed);
	const int done = take_event(run, &r, &root, e);
	json_decref(parsed);
	return done;
}

int read_events(struct run_told *run, const struct named_text *text, struct arena *a, struct err *e)
{
	run->has_events = true;
	run->samples = arena_alloc(a, SAMPLES_MAX * sizeof(*run->samples));
	run->moments = arena_alloc(a, MOMENTS_MAX * sizeof(*run->moments));
	for (size_t at = 0; at < text->len;) {
		const char *begin = text->at + at, *end = memchr(begin, '\n', text->len - at);
		const size_t len = end ? (size_t)(end - begin) : text->len - at;
		const struct named_text line = {text->name, begin, len};
		if (len > 0 && take_line(run, &line, a, e) < 0)
			return -1;
		at += len + 1;
	}
	return 0;
}
