#include "report/read.h"

#include "report/node.h"

#include <string.h>

#define RESULT_SCHEMA "pinfold.result/1"
#define JOB_SCHEMA    "pinfold.job-result/1"
#define BOTH_SCHEMAS  RESULT_SCHEMA " and " JOB_SCHEMA

static void read_cause(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node exit = node_object(r, root, "exit");
	const struct node cause = node_object(r, root, "cause");
	const struct node evidence = node_object(r, &cause, "evidence");
	run->code = node_number(r, &exit, "code");
	run->signal = node_number(r, &exit, "signal");
	run->limit = node_text(r, &cause, "limit");
	run->stage = node_text(r, &cause, "stage");
	run->message = node_text(r, &cause, "message");
	run->evidence = ROWS(r, struct fact_told, json_object_size(evidence.value));
	for (void *at = json_object_iter((json_t *)evidence.value); at;
	     at = json_object_iter_next((json_t *)evidence.value, at)) {
		struct fact_told *fact = &run->evidence[run->evidence_len++];
		const char *key = json_object_iter_key(at);
		const bool text = !json_is_number(json_object_iter_value(at));
		*fact = (struct fact_told){.name = bytes_of(arena_strdup(r->arena, key))};
		fact->number = text ? NUM_UNKNOWN : node_number(r, &evidence, key);
		if (text)
			fact->text = node_text(r, &evidence, key);
	}
}

static struct pressure_told read_pressure(struct reading *r, const struct node *up, const char *key)
{
	const struct node n = node_object(r, up, key);
	return (struct pressure_told){node_number(r, &n, "some_usec"),
				      node_number(r, &n, "full_usec")};
}

static void read_io(struct run_told *run, struct reading *r, const struct node *usage)
{
	const struct node io = node_object(r, usage, "io");
	run->io = ROWS(r, struct fact_told, json_object_size(io.value));
	for (void *at = json_object_iter((json_t *)io.value); at;
	     at = json_object_iter_next((json_t *)io.value, at)) {
		const char *key = json_object_iter_key(at);
		const struct node n = node_object(r, &io, key);
		run->io[run->io_len++] = (struct fact_told){
			.name = bytes_of(arena_strdup(r->arena, key)),
			.number = node_number(r, &n, "rbytes"),
			.more = {node_number(r, &n, "wbytes"), node_number(r, &n, "rios"),
				 node_number(r, &n, "wios")},
		};
	}
}

static void read_usage(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node usage = node_object(r, root, "usage");
	const struct node end = node_object(r, &usage, "memory_at_end");
	const struct node pressure = node_object(r, &usage, "pressure");
	run->wall_usec = node_number(r, &usage, "wall_usec");
	run->user_usec = node_number(r, &usage, "cpu_user_usec");
	run->system_usec = node_number(r, &usage, "cpu_system_usec");
	run->memory_peak = node_number(r, &usage, "memory_peak_bytes");
	run->anon = node_number(r, &end, "anon");
	run->file = node_number(r, &end, "file");
	run->shmem = node_number(r, &end, "shmem");
	run->pids_peak = node_number(r, &usage, "pids_peak");
	run->scratch_bytes = node_number(r, &usage, "scratch_bytes");
	run->scratch_inodes = node_number(r, &usage, "scratch_inodes");
	run->pressure_cpu = read_pressure(r, &pressure, "cpu");
	run->pressure_memory = read_pressure(r, &pressure, "memory");
	run->pressure_io = read_pressure(r, &pressure, "io");
	read_io(run, r, &usage);
}

struct bytes *read_texts(struct reading *r, const struct node *up, const char *key, size_t *len)
{
	const struct node list = node_array(r, up, key, len);
	struct bytes *texts = ROWS(r, struct bytes, *len);
	for (size_t i = 0; i < *len; i++) {
		const struct node n = node_element(&list, i);
		texts[i] = node_text_itself(r, &n);
	}
	return texts;
}

static void read_guarantees(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node list = node_array(r, root, "guarantees", &run->guarantees_len);
	run->guarantees = ROWS(r, struct guarantee_told, run->guarantees_len);
	for (size_t i = 0; i < run->guarantees_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		struct guarantee_told *g = &run->guarantees[i];
		g->name = node_text(r, &n, "name");
		g->requested = node_text(r, &n, "requested");
		g->state = node_text(r, &n, "state");
		g->by = node_text(r, &n, "by");
		g->value = node_text(r, &n, "value");
		g->not_covered = read_texts(r, &n, "not_covered", &g->not_covered_len);
	}
}

static struct stream_told read_stream(struct reading *r, const struct node *up, const char *key)
{
	const struct node n = node_object(r, up, key);
	return (struct stream_told){.there = n.value,
				    .bytes = node_number(r, &n, "bytes"),
				    .truncated = node_flag(r, &n, "truncated"),
				    .sha256 = node_text(r, &n, "sha256")};
}

static void read_artifacts(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node list = node_array(r, root, "artifacts", &run->artifacts_len);
	run->artifacts = ROWS(r, struct artifact_told, run->artifacts_len);
	run->artifacts_more = node_number(r, root, "artifacts_more");
	for (size_t i = 0; i < run->artifacts_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		run->artifacts[i] = (struct artifact_told){
			.path = node_text(r, &n, "path"),
			.status = node_text(r, &n, "status"),
			.reason = node_text(r, &n, "reason"),
			.type = node_text(r, &n, "type"),
			.sha256 = node_text(r, &n, "sha256"),
			.file = node_text(r, &n, "file"),
			.size = node_number(r, &n, "size"),
			.required = node_flag(r, &n, "required"),
		};
	}
}

static void read_egress(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node list = node_array(r, root, "egress", &run->egress_len);
	run->egress = ROWS(r, struct egress_told, run->egress_len);
	for (size_t i = 0; i < run->egress_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		run->egress[i] = (struct egress_told){
			.name = node_text(r, &n, "name"),
			.rule = node_text(r, &n, "rule"),
			.transport = node_text(r, &n, "transport"),
			.address = node_text(r, &n, "address"),
			.verdict = node_text(r, &n, "verdict"),
			.reason = node_text(r, &n, "reason"),
			.error = node_text(r, &n, "errno"),
			.port = node_number(r, &n, "port"),
			.count = node_number(r, &n, "count"),
			.sent = node_number(r, &n, "sent_bytes"),
			.received = node_number(r, &n, "received_bytes"),
			.duration_usec = node_number(r, &n, "duration_usec"),
		};
	}
}

static void read_denied(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node denied = node_object(r, root, "denied");
	const struct node list = node_array(r, &denied, "syscalls", &run->denied_len);
	run->denied = ROWS(r, struct denied_told, run->denied_len);
	run->denied_more = node_number(r, &denied, "more");
	run->denied_complete = node_flag(r, &denied, "complete");
	for (size_t i = 0; i < run->denied_len && !r->bad; i++) {
		const struct node n = node_element(&list, i);
		run->denied[i].name = node_text(r, &n, "name");
		run->denied[i].count = node_number(r, &n, "count");
	}
}

static void read_origin(struct run_told *run, struct reading *r, const struct node *root)
{
	const struct node image = node_object(r, root, "image"), host = node_object(r, root, "host");
	run->digest = node_text(r, &image, "digest");
	run->spec_sha256 = node_text(r, root, "spec_sha256");
	run->kernel = node_text(r, &host, "kernel");
	run->version = node_text(r, &host, "pinfold");
	run->warnings = read_texts(r, root, "warnings", &run->warnings_len);
}

/* whose: the schemas that may stand here. */
static void check_schema(struct reading *r, const struct node *n, const char *whose, bool job)
{
	const struct node schema = node_member(n, "schema");
	const struct node status = node_member(n, "status");
	const char *told = json_string_value(schema.value);
	if (!told || strncmp(told, "pinfold.", strlen("pinfold.")) != 0)
		node_refuse(r, schema.value ? &schema : n, whose);
	else if (!node_is_of(n, RESULT_SCHEMA) && !(job && node_is_of(n, JOB_SCHEMA)))
		node_refuse(r, &schema,
			    "a document that this version has no page for; it knows " BOTH_SCHEMAS);
	else if (!json_is_string(status.value))
		node_refuse(r, status.value ? &status : n, "a status belongs in it");
}

static void read_members(struct run_told *run, struct reading *r, const struct node *n)
{
	const struct node output = node_object(r, n, "output");
	*run = (struct run_told){.started_usec = NUM_UNKNOWN};
	run->id = node_text(r, n, "id");
	run->status = node_text(r, n, "status");
	run->ok = node_flag(r, n, "ok");
	read_cause(run, r, n);
	read_usage(run, r, n);
	read_guarantees(run, r, n);
	run->out = read_stream(r, &output, "stdout");
	run->err = read_stream(r, &output, "stderr");
	read_artifacts(run, r, n);
	read_egress(run, r, n);
	read_denied(run, r, n);
	read_origin(run, r, n);
}

void read_run(struct run_told *run, struct reading *r, const struct node *n)
{
	check_schema(r, n, "no result of a run: its schema is not " RESULT_SCHEMA, false);
	if (!r->bad)
		read_members(run, r, n);
}

int read_report(struct report *report, const struct named_text *text, struct arena *a, struct err *e)
{
	struct reading r = {text->name, text->at, text->len, a, e, false, 0};
	json_t *parsed = node_parse(&r, e);
	if (!parsed)
		return -1;
	const struct node root = node_root(parsed);
	struct report read = {.job = NULL};
	check_schema(&r, &root, "no document of Pinfold's: its schema is none of " BOTH_SCHEMAS,
		     true);
	if (!r.bad && node_is_of(&root, JOB_SCHEMA)) {
		read_job(&read, &r, &root);
	} else if (!r.bad) {
		read.stages = ROWS(&r, struct stage_told, 1);
		read.stages_len = 1;
		read.stages->has_run = true;
		read_members(&read.stages->run, &r, &root);
	}
	json_decref(parsed);
	if (r.bad)
		return -1;
	*report = read;
	return 0;
}
