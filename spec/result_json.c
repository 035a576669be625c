/* The result and the events as JSON: the documents of docs/result.schema.json and
 * docs/event.schema.json. Everything outside ASCII is escaped, so that neither bytes of the
 * sandbox nor control characters beyond ASCII reach the terminal of who prints a document. */
#include "spec/result.h"

#include "spec/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One object or array under construction. Where memory is out, a value is NULL, jansson
 * refuses it, and `whole` turns false: the document is dropped rather than written with a gap. */
struct builder {
	json_t *json;
	bool whole;
};

static struct builder object(void)
{
	return (struct builder){json_object(), true};
}

static struct builder array(void)
{
	return (struct builder){json_array(), true};
}

/* Takes value. Keys are literals and row names, all ASCII. */
static void set(struct builder *b, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(b->json, key, value) < 0)
		b->whole = false;
}

static void append(struct builder *b, json_t *value)
{
	if (json_array_append_new(b->json, value) < 0)
		b->whole = false;
}

static json_t *done(struct builder *b)
{
	if (b->whole)
		return b->json;
	json_decref(b->json);
	return NULL;
}

static json_t *number(int64_t n)
{
	return n == NUM_UNKNOWN ? json_null() : json_integer(n);
}

/* "" is null. */
static json_t *text(const char *s)
{
	return *s ? json_bytes(s) : json_null();
}

/* The items of a comma separated list. */
static json_t *items(const char *list)
{
	struct builder b = array();
	while (*list) {
		size_t len = strcspn(list, ",");
		char item[sizeof(((struct guarantee *)0)->not_covered)];
		snprintf(item, sizeof(item), "%.*s", (int)len, list);
		append(&b, json_bytes(item));
		list += len;
		list += strspn(list, ", ");
	}
	return done(&b);
}

static json_t *exit_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "code", number(r->exit_code));
	set(&b, "signal", number(r->signal));
	return done(&b);
}

static json_t *evidence_json(const struct result *r)
{
	struct builder b = object();
	for (size_t i = 0; i < r->cause.evidence_len; i++) {
		const struct evidence *ev = &r->cause.evidence[i];
		if (json_object_set_new(b.json, ev->key, *ev->text ? text(ev->text) : number(ev->number)) < 0)
			b.whole = false;
	}
	return done(&b);
}

static json_t *cause_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "limit", text(r->cause.limit));
	set(&b, "stage", text(r->cause.stage));
	set(&b, "message", text(r->cause.message));
	set(&b, "evidence", evidence_json(r));
	return done(&b);
}

static json_t *io_json(const struct result *r)
{
	struct builder b = object();
	for (size_t i = 0; i < r->usage.io_len; i++) {
		const struct io_result *io = &r->usage.io[i];
		struct builder row = object();
		set(&row, "rbytes", number(io->rbytes));
		set(&row, "wbytes", number(io->wbytes));
		set(&row, "rios", number(io->rios));
		set(&row, "wios", number(io->wios));
		set(&b, io->device, done(&row));
	}
	return done(&b);
}

static json_t *pressure_row(const struct pressure_result *p)
{
	struct builder b = object();
	set(&b, "some_usec", number(p->some_usec));
	set(&b, "full_usec", number(p->full_usec));
	return done(&b);
}

static json_t *pressure_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "cpu", pressure_row(&r->usage.cpu_pressure));
	set(&b, "memory", pressure_row(&r->usage.memory_pressure));
	set(&b, "io", pressure_row(&r->usage.io_pressure));
	return done(&b);
}

static json_t *memory_at_end_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "anon", number(r->usage.anon_bytes));
	set(&b, "file", number(r->usage.file_bytes));
	set(&b, "shmem", number(r->usage.shmem_bytes));
	return done(&b);
}

static json_t *usage_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "wall_usec", number(r->usage.wall_usec));
	set(&b, "cpu_user_usec", number(r->usage.cpu_user_usec));
	set(&b, "cpu_system_usec", number(r->usage.cpu_system_usec));
	set(&b, "memory_peak_bytes", number(r->usage.memory_peak_bytes));
	set(&b, "memory_at_end", memory_at_end_json(r));
	set(&b, "pids_peak", number(r->usage.pids_peak));
	set(&b, "scratch_bytes", number(r->usage.scratch_bytes));
	set(&b, "scratch_inodes", number(r->usage.scratch_inodes));
	set(&b, "io", io_json(r));
	set(&b, "pressure", pressure_json(r));
	return done(&b);
}

static json_t *guarantee_json(enum guarantee_id id, const struct guarantee *g)
{
	struct builder b = object();
	set(&b, "name", json_string_nocheck(guarantee_name(id)));
	set(&b, "requested", text(g->requested));
	set(&b, "state", json_string_nocheck(guarantee_state_name(g->state)));
	set(&b, "by", text(g->by));
	set(&b, "value", text(g->value));
	if (g->state != G_ENFORCED)
		set(&b, "not_covered", items(g->not_covered));
	return done(&b);
}

static json_t *guarantees_json(const struct result *r)
{
	struct builder b = array();
	for (int i = 0; i < G_COUNT; i++)
		append(&b, guarantee_json((enum guarantee_id)i, &r->guarantees[i]));
	return done(&b);
}

/* null: there was no such stream. */
static json_t *stream_json(const struct stream_result *s)
{
	if (!s->relayed)
		return json_null();
	struct builder b = object();
	set(&b, "bytes", number(s->bytes));
	set(&b, "truncated", json_boolean(s->truncated));
	set(&b, "sha256", text(s->sha256));
	return done(&b);
}

static json_t *output_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "stdout", stream_json(&r->out));
	set(&b, "stderr", stream_json(&r->err));
	return done(&b);
}

static json_t *denied_json(const struct result *r)
{
	struct builder rows = array();
	for (size_t i = 0; i < r->denied_len; i++) {
		struct builder row = object();
		set(&row, "name", text(r->denied[i].name));
		set(&row, "count", number(r->denied[i].count));
		append(&rows, done(&row));
	}
	struct builder b = object();
	set(&b, "syscalls", done(&rows));
	set(&b, "more", number(r->denied_more));
	set(&b, "complete", json_boolean(r->denied_complete));
	return done(&b);
}

static json_t *image_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "digest", text(r->image_digest));
	return done(&b);
}

static json_t *host_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "kernel", text(r->kernel));
	set(&b, "pinfold", json_string_nocheck(PINFOLD_VERSION));
	return done(&b);
}

static json_t *warnings_json(const struct result *r)
{
	struct builder b = array();
	for (size_t i = 0; i < r->warnings_len; i++)
		append(&b, json_bytes(r->warnings[i]));
	return done(&b);
}

static json_t *result_json(const struct result *r)
{
	struct builder b = object();
	set(&b, "schema", json_string_nocheck("pinfold.result/1"));
	set(&b, "id", text(r->id));
	set(&b, "status", json_string_nocheck(run_status_name(r->status)));
	set(&b, "ok", json_boolean(result_ok(r)));
	set(&b, "exit", exit_json(r));
	set(&b, "cause", cause_json(r));
	set(&b, "usage", usage_json(r));
	set(&b, "guarantees", guarantees_json(r));
	set(&b, "output", output_json(r));
	set(&b, "artifacts", json_array());
	set(&b, "egress", json_array());
	set(&b, "denied", denied_json(r));
	set(&b, "image", image_json(r));
	set(&b, "spec_sha256", text(r->spec_sha256));
	set(&b, "host", host_json(r));
	set(&b, "warnings", warnings_json(r));
	return done(&b);
}

/* One document and its final newline; takes json. */
static char *dump(json_t *json, size_t flags)
{
	size_t len = json ? json_dumpb(json, NULL, 0, flags) : 0;
	char *to = len ? malloc(len + 2) : NULL;
	if (to) {
		json_dumpb(json, to, len, flags);
		memcpy(to + len, "\n", 2);
	}
	json_decref(json);
	return to;
}

char *result_write_json(const struct result *r)
{
	return dump(result_json(r), JSON_INDENT(2) | JSON_ENSURE_ASCII);
}

/* ---- events ---- */

static void started(struct builder *b, const struct event *ev)
{
	set(b, "pid", number(ev->pid));
}

static void named(struct builder *b, const struct event *ev)
{
	set(b, "name", ev->name ? text(ev->name) : json_null());
}

static void usage(struct builder *b, const struct event *ev)
{
	set(b, "cpu_usec", number(ev->cpu_usec));
	set(b, "memory_bytes", number(ev->memory_bytes));
	set(b, "pids", number(ev->pids));
	set(b, "stdout_bytes", number(ev->out_bytes));
	set(b, "stderr_bytes", number(ev->err_bytes));
}

static void ended(struct builder *b, const struct event *ev)
{
	set(b, "result", ev->result ? result_json(ev->result) : json_null());
}

static const struct {
	const char *name;
	void (*fields)(struct builder *b, const struct event *ev);
} event_types[] = {
	[EVENT_STARTED] = {"started", started}, [EVENT_STAGE] = {"stage", named},
	[EVENT_USAGE] = {"usage", usage},	[EVENT_DENIED] = {"denied", named},
	[EVENT_LIMIT] = {"limit", named},	[EVENT_ENDED] = {"ended", ended},
};

char *event_write_json(const struct event *ev)
{
	struct builder b = object();
	set(&b, "schema", json_string_nocheck("pinfold.event/1"));
	set(&b, "event", json_string_nocheck(event_types[ev->type].name));
	set(&b, "id", ev->id ? text(ev->id) : json_null());
	set(&b, "at_usec", number(ev->at_usec));
	event_types[ev->type].fields(&b, ev);
	return dump(done(&b), JSON_COMPACT | JSON_ENSURE_ASCII);
}
