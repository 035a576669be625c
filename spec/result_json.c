/* The result and the events as JSON: the documents of docs/result.schema.json and
 * docs/event.schema.json. */
#include "spec/result.h"

#include "spec/writer.h"

#include <stdio.h>
#include <string.h>

static void number(struct json_writer *w, const char *key, int64_t n)
{
	if (n == NUM_UNKNOWN)
		json_null_value(w, key);
	else
		json_number(w, key, n);
}

/* "" is null. */
static void text(struct json_writer *w, const char *key, const char *s)
{
	if (*s)
		json_text(w, key, s);
	else
		json_null_value(w, key);
}

/* The items of a comma separated list. */
static void items(struct json_writer *w, const char *key, const char *list)
{
	json_begin(w, key, '[');
	while (*list) {
		char item[sizeof(((struct guarantee *)0)->not_covered)];
		size_t len = strcspn(list, ",");
		snprintf(item, sizeof(item), "%.*s", (int)len, list);
		json_text(w, NULL, item);
		list += len;
		list += strspn(list, ", ");
	}
	json_end(w, '[');
}

static void write_exit(struct json_writer *w, const struct result *r)
{
	json_begin(w, "exit", '{');
	number(w, "code", r->exit_code);
	number(w, "signal", r->signal);
	json_end(w, '{');
}

static void write_cause(struct json_writer *w, const struct result *r)
{
	json_begin(w, "cause", '{');
	text(w, "limit", r->cause.limit);
	text(w, "stage", r->cause.stage);
	text(w, "message", r->cause.message);
	json_begin(w, "evidence", '{');
	for (size_t i = 0; i < r->cause.evidence_len; i++) {
		const struct evidence *ev = &r->cause.evidence[i];
		if (*ev->text)
			json_text(w, ev->key, ev->text);
		else
			number(w, ev->key, ev->number);
	}
	json_end(w, '{');
	json_end(w, '{');
}

static void write_io(struct json_writer *w, const struct result *r)
{
	json_begin(w, "io", '{');
	for (size_t i = 0; i < r->usage.io_len; i++) {
		const struct io_result *io = &r->usage.io[i];
		json_begin(w, io->device, '{');
		number(w, "rbytes", io->rbytes);
		number(w, "wbytes", io->wbytes);
		number(w, "rios", io->rios);
		number(w, "wios", io->wios);
		json_end(w, '{');
	}
	json_end(w, '{');
}

static void write_pressure(struct json_writer *w, const char *key, const struct pressure_result *p)
{
	json_begin(w, key, '{');
	number(w, "some_usec", p->some_usec);
	number(w, "full_usec", p->full_usec);
	json_end(w, '{');
}

static void write_usage(struct json_writer *w, const struct result *r)
{
	json_begin(w, "usage", '{');
	number(w, "wall_usec", r->usage.wall_usec);
	number(w, "cpu_user_usec", r->usage.cpu_user_usec);
	number(w, "cpu_system_usec", r->usage.cpu_system_usec);
	number(w, "memory_peak_bytes", r->usage.memory_peak_bytes);
	json_begin(w, "memory_at_end", '{');
	number(w, "anon", r->usage.anon_bytes);
	number(w, "file", r->usage.file_bytes);
	number(w, "shmem", r->usage.shmem_bytes);
	json_end(w, '{');
	number(w, "pids_peak", r->usage.pids_peak);
	number(w, "scratch_bytes", r->usage.scratch_bytes);
	number(w, "scratch_inodes", r->usage.scratch_inodes);
	write_io(w, r);
	json_begin(w, "pressure", '{');
	write_pressure(w, "cpu", &r->usage.cpu_pressure);
	write_pressure(w, "memory", &r->usage.memory_pressure);
	write_pressure(w, "io", &r->usage.io_pressure);
	json_end(w, '{');
	json_end(w, '{');
}

static void write_guarantees(struct json_writer *w, const struct result *r)
{
	json_begin(w, "guarantees", '[');
	for (int i = 0; i < G_COUNT; i++) {
		const struct guarantee *g = &r->guarantees[i];
		json_begin(w, NULL, '{');
		json_text(w, "name", guarantee_name((enum guarantee_id)i));
		text(w, "requested", g->requested);
		json_text(w, "state", guarantee_state_name(g->state));
		text(w, "by", g->by);
		text(w, "value", g->value);
		if (g->state != G_ENFORCED)
			items(w, "not_covered", g->not_covered);
		json_end(w, '{');
	}
	json_end(w, '[');
}

/* null: there was no such stream. */
static void write_stream(struct json_writer *w, const char *key, const struct stream_result *s)
{
	if (!s->relayed) {
		json_null_value(w, key);
		return;
	}
	json_begin(w, key, '{');
	number(w, "bytes", s->bytes);
	json_bool(w, "truncated", s->truncated);
	text(w, "sha256", s->sha256);
	json_end(w, '{');
}

static void write_denied(struct json_writer *w, const struct result *r)
{
	json_begin(w, "denied", '{');
	json_begin(w, "syscalls", '[');
	for (size_t i = 0; i < r->denied_len; i++) {
		json_begin(w, NULL, '{');
		json_text(w, "name", r->denied[i].name);
		number(w, "count", r->denied[i].count);
		json_end(w, '{');
	}
	json_end(w, '[');
	number(w, "more", r->denied_more);
	json_bool(w, "complete", r->denied_complete);
	json_end(w, '{');
}

static const char *const artifact_statuses[ARTIFACT_STATUS_COUNT] =
	{[ARTIFACT_KEPT] = "kept", [ARTIFACT_REJECTED] = "rejected", [ARTIFACT_PARTIAL] = "partial"};

static void write_artifact(struct json_writer *w, const char *key, const struct artifact_row *row)
{
	json_begin(w, key, '{');
	json_text(w, "path", row->path);
	json_text(w, "status", artifact_statuses[row->status]);
	text(w, "reason", row->reason);
	json_text(w, "type", artifact_type_name(row->type));
	json_bool(w, "required", row->required);
	number(w, "size", row->size);
	text(w, "sha256", row->sha256);
	text(w, "file", row->file);
	json_end(w, '{');
}

static void write_artifacts(struct json_writer *w, const struct result *r)
{
	json_begin(w, "artifacts", '[');
	for (size_t i = 0; i < r->artifacts_len; i++)
		write_artifact(w, NULL, &r->artifacts[i]);
	json_end(w, '[');
	number(w, "artifacts_more", r->artifacts_more);
}

static const char *const verdict_names[EGRESS_VERDICT_COUNT] =
	{[EGRESS_ALLOWED] = "allowed", [EGRESS_DENIED] = "denied", [EGRESS_BROKEN] = "failed"};
static const char *const route_names[EGRESS_ROUTE_COUNT] =
	{[EGRESS_BY_TCP] = "tcp", [EGRESS_BY_UDP] = "udp", [EGRESS_BY_DNS] = "dns"};

static const char others_reason[] = "and others that have no row of their own";

static void write_egress_row(struct json_writer *w, const char *key, const struct egress_row *row)
{
	char address[ADDRESS_TEXT_BYTES] = "";
	const char *name = row->sys ? strerrorname_np(row->sys) : NULL;
	if (row->has_address)
		address_format(&row->address, address);
	json_begin(w, key, '{');
	text(w, "name", row->name);
	text(w, "rule", row->rule ? row->rule : "");
	json_text(w, "transport", route_names[row->route]);
	text(w, "address", address);
	number(w, "port", row->port ? row->port : NUM_UNKNOWN);
	json_text(w, "verdict", verdict_names[row->verdict]);
	text(w, "reason", row->others ? others_reason : row->reason);
	text(w, "errno", name ? name : "");
	number(w, "count", row->count);
	number(w, "sent_bytes", row->sent_bytes);
	number(w, "received_bytes", row->received_bytes);
	number(w, "duration_usec", row->duration_usec);
	json_end(w, '{');
}

static void write_egress(struct json_writer *w, const struct result *r)
{
	int64_t more = 0;
	json_begin(w, "egress", '[');
	for (size_t i = 0; i < r->egress_len; i++) {
		write_egress_row(w, NULL, &r->egress[i]);
		more += r->egress[i].others ? r->egress[i].count : 0;
	}
	json_end(w, '[');
	number(w, "egress_more", more);
}

static void write_origin(struct json_writer *w, const struct result *r)
{
	json_begin(w, "image", '{');
	text(w, "digest", r->image_digest);
	json_end(w, '{');
	text(w, "spec_sha256", r->spec_sha256);
	json_begin(w, "host", '{');
	text(w, "kernel", r->kernel);
	json_text(w, "pinfold", PINFOLD_VERSION);
	json_end(w, '{');
}

static void write_result(struct json_writer *w, const char *key, const struct result *r)
{
	json_begin(w, key, '{');
	json_text(w, "schema", "pinfold.result/1");
	text(w, "id", r->id);
	json_text(w, "status", run_status_name(r->status));
	json_bool(w, "ok", result_ok(r));
	write_exit(w, r);
	write_cause(w, r);
	write_usage(w, r);
	write_guarantees(w, r);
	json_begin(w, "output", '{');
	write_stream(w, "stdout", &r->out);
	write_stream(w, "stderr", &r->err);
	json_end(w, '{');
	write_artifacts(w, r);
	write_egress(w, r);
	write_denied(w, r);
	write_origin(w, r);
	json_begin(w, "warnings", '[');
	for (size_t i = 0; i < r->warnings_len; i++)
		json_text(w, NULL, r->warnings[i]);
	json_end(w, '[');
	json_end(w, '{');
}

char *result_write_json(const struct result *r)
{
	struct json_writer w;
	json_open(&w, true);
	write_result(&w, NULL, r);
	return json_finish(&w, true);
}

/* ---- events ---- */

static void queued(struct json_writer *w, const struct event *ev)
{
	number(w, "position", ev->position);
}

static void started(struct json_writer *w, const struct event *ev)
{
	number(w, "pid", ev->pid);
}

static void named(struct json_writer *w, const struct event *ev)
{
	text(w, "name", ev->name ? ev->name : "");
}

static void usage(struct json_writer *w, const struct event *ev)
{
	number(w, "cpu_usec", ev->cpu_usec);
	number(w, "memory_bytes", ev->memory_bytes);
	number(w, "pids", ev->pids);
	number(w, "stdout_bytes", ev->out_bytes);
	number(w, "stderr_bytes", ev->err_bytes);
}

static void egress(struct json_writer *w, const struct event *ev)
{
	write_egress_row(w, "egress", ev->egress);
}

static void artifact(struct json_writer *w, const struct event *ev)
{
	write_artifact(w, "artifact", ev->artifact);
}

static void ended(struct json_writer *w, const struct event *ev)
{
	if (ev->result)
		write_result(w, "result", ev->result);
	else
		json_null_value(w, "result");
}

static const struct {
	const char *name;
	void (*fields)(struct json_writer *w, const struct event *ev);
} event_types[] = {
	[EVENT_QUEUED] = {"queued", queued},	   [EVENT_STARTED] = {"started", started},
	[EVENT_STAGE] = {"stage", named},	   [EVENT_USAGE] = {"usage", usage},
	[EVENT_DENIED] = {"denied", named},	   [EVENT_EGRESS] = {"egress", egress},
	[EVENT_ARTIFACT] = {"artifact", artifact}, [EVENT_LIMIT] = {"limit", named},
	[EVENT_ENDED] = {"ended", ended},
};

char *event_write_json(const struct event *ev)
{
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "schema", "pinfold.event/1");
	json_text(&w, "event", event_types[ev->type].name);
	text(&w, "id", ev->id ? ev->id : "");
	number(&w, "at_usec", ev->at_usec);
	event_types[ev->type].fields(&w, ev);
	json_end(&w, '{');
	return json_finish(&w, true);
}
