/* Prints documents of every kind, for a validator that is no relation of ours, as objects
 * {"of": SCHEMA, "label": ..., "document": ...}. For the test that holds schema and manual pages
 * against the key table: "table" prints that instead, and "check" reads specs, one a line, and says
 * of each "ok" or what is wrong. */
#include "spec/keys.h"
#include "spec/parse.h"
#include "spec/result.h"
#include "spec/writer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void print(const char *of, const char *label, char *document)
{
	if (!document)
		abort();
	printf("{\"of\": \"%s\", \"label\": \"%s\", \"document\": %s}\n", of, label, document);
	free(document);
}

static const char digest[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/* One row of each kind. */
static struct egress_row rows[] = {
	{.verdict = EGRESS_ALLOWED,
	 .route = EGRESS_BY_TCP,
	 .name = "packages.example",
	 .rule = "packages.example:443",
	 .has_address = true,
	 .address = {{[10] = 0xff, [11] = 0xff, 93, 184, 216, 10}},
	 .port = 443,
	 .count = 2,
	 .sent_bytes = 700,
	 .received_bytes = INT64_MAX,
	 .duration_usec = 1},
	{.verdict = EGRESS_DENIED,
	 .route = EGRESS_BY_DNS,
	 .name = "evil.example",
	 .reason = "no rule names it",
	 .count = 1},
	{.verdict = EGRESS_BROKEN,
	 .route = EGRESS_BY_UDP,
	 .rule = "udp:[2001:db8::/32]:123",
	 .has_address = true,
	 .address = {{0x20, 0x01, 0x0d, 0xb8}},
	 .port = 123,
	 .reason = "no connection",
	 .sys = ENETUNREACH,
	 .count = 1},
	{.verdict = EGRESS_DENIED, .route = EGRESS_BY_TCP, .others = true, .count = 3},
};

/* What every run that got as far as the program has. */
static void filled(struct result *r)
{
	result_init(r);
	snprintf(r->id, sizeof(r->id), "run-1");
	snprintf(r->kernel, sizeof(r->kernel), "6.1.0");
	snprintf(r->spec_sha256, sizeof(r->spec_sha256), "%s", digest);
	for (int i = 0; i < G_COUNT; i++)
		guarantee_enforced(&r->guarantees[i], "mechanism", i % 2 ? "1" : "");
	guarantee_degraded(&r->guarantees[G_MEMORY], "watch", "", "page tables, pipes", "mend");
	snprintf(r->guarantees[G_MEMORY].requested, sizeof(r->guarantees[0].requested), "512M");
	guarantee_absent(&r->guarantees[G_IO], "everything", "mend");
	r->out = (struct stream_result){.bytes = 5, .relayed = true};
	snprintf(r->out.sha256, sizeof(r->out.sha256), "%s", digest);
	r->usage.wall_usec = 1000;
	r->usage.io[0] = (struct io_result){"8:0", 1, 2, 3, NUM_UNKNOWN};
	r->usage.io_len = 1;
	r->usage.cpu_pressure = (struct pressure_result){1, 2};
	r->denied[0] = (struct denied_syscall){"mount", 3};
	r->denied_len = 1;
	r->denied_complete = true;
	static struct artifact_row artifacts[] = {
		{.status = ARTIFACT_KEPT,
		 .path = "out/a.json",
		 .type = ARTIFACT_JSON,
		 .required = true,
		 .size = 2,
		 .file = "out+a.json",
		 .sha256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		{.status = ARTIFACT_REJECTED,
		 .path = "\xff\x1b",
		 .reason = "it is a FIFO\x1b",
		 .size = NUM_UNKNOWN},
		{.status = ARTIFACT_PARTIAL, .path = "x", .reason = "r", .size = 0, .file = "%2Dx"},
	};
	r->artifacts = artifacts;
	r->artifacts_len = LENGTH(artifacts);
	r->artifacts_more = 1;
	r->egress = rows;
	r->egress_len = LENGTH(rows);
}

/* The status, and what must come with it. */
static const struct {
	int64_t code, signal;
	enum run_status status;
	int sys;
	const char *limit;
} ends[] = {
	{0, NUM_UNKNOWN, RUN_EXITED, 0, ""},
	{255, NUM_UNKNOWN, RUN_EXITED, 0, ""},
	{NUM_UNKNOWN, SIGSEGV, RUN_SIGNALED, 0, ""},
	{NUM_UNKNOWN, SIGKILL, RUN_WALL_TIMEOUT, 0, "wall"},
	{NUM_UNKNOWN, NUM_UNKNOWN, RUN_CPU_TIMEOUT, 0, "cpu-time"},
	{NUM_UNKNOWN, SIGKILL, RUN_IDLE_TIMEOUT, 0, "idle"},
	{NUM_UNKNOWN, SIGKILL, RUN_OOM, 0, "memory"},
	{0, NUM_UNKNOWN, RUN_OUTPUT_LIMIT, 0, "output"},
	{NUM_UNKNOWN, SIGKILL, RUN_EGRESS_LIMIT, 0, "egress"},
	{NUM_UNKNOWN, SIGKILL, RUN_FOREIGN_ABI, 0, ""},
	{0, NUM_UNKNOWN, RUN_CANCELLED, 0, ""},
	{NUM_UNKNOWN, NUM_UNKNOWN, RUN_EXEC_FAILED, ENOENT, ""},
	{NUM_UNKNOWN, NUM_UNKNOWN, RUN_SETUP_FAILED, EPERM, ""},
	{NUM_UNKNOWN, NUM_UNKNOWN, RUN_REFUSED, 0, ""},
	{NUM_UNKNOWN, NUM_UNKNOWN, RUN_LOST, 0, ""},
};

static void results(void)
{
	struct err e = {.kind = ERR_HOST, .msg = "why it ended"};
	struct result r;
	for (size_t i = 0; i < LENGTH(ends); i++) {
		filled(&r);
		e.sys = ends[i].sys;
		if (ends[i].status != RUN_EXITED && ends[i].status != RUN_SIGNALED)
			result_fail(&r, ends[i].status, "stage", &e);
		r.status = ends[i].status;
		r.exit_code = ends[i].code;
		r.signal = ends[i].signal;
		snprintf(r.cause.limit, sizeof(r.cause.limit), "%s", ends[i].limit);
		result_evidence_number(&r, "memory.events.oom", 1);
		result_evidence_text(&r, "signal", "TERM");
		print("result", run_status_name(r.status), result_write_json(&r));
	}
}

/* Bad usage: nothing is known but that. */
static void refused(void)
{
	struct err e = {.kind = ERR_USAGE, .msg = "unknown option"};
	struct result r;
	result_init(&r);
	result_fail(&r, RUN_REFUSED, "spec", &e);
	print("result", "bad usage", result_write_json(&r));
}

static void hostile(void)
{
	struct err e = {.kind = ERR_HOST, .msg = "\xff\x1b[2J\"\\\n"};
	struct result r;
	filled(&r);
	result_fail(&r, RUN_LOST, "\xfe", &e);
	result_evidence_text(&r, "\xff\"", "\xff");
	result_warn(&r, "\x80");
	result_warn(&r, "\xc2\x9b");
	snprintf(r.denied[0].name, sizeof(r.denied[0].name), "syscall_%d", -1);
	struct egress_row row = {.name = "\xff\x1b[31m", .reason = "\"\n", .count = 1};
	r.egress = &row;
	r.egress_len = 1;
	print("result", "hostile bytes", result_write_json(&r));
}

static void events(void)
{
	static const char *const labels[] = {"queued", "started",  "stage", "usage", "denied",
					     "egress", "artifact", "limit", "ended"};
	struct result r;
	filled(&r);
	r.status = RUN_EXITED;
	r.exit_code = 0;
	for (size_t i = 0; i < LENGTH(labels); i++) {
		struct event ev = {.type = (enum event_type)i,
				   .at_usec = 12,
				   .id = "run-1",
				   .name = "name",
				   .pid = 42,
				   .cpu_usec = NUM_UNKNOWN,
				   .memory_bytes = 1,
				   .pids = 2,
				   .out_bytes = 3,
				   .err_bytes = 4,
				   .position = 5,
				   .egress = &rows[i % LENGTH(rows)],
				   .artifact = &r.artifacts[i % r.artifacts_len],
				   .result = &r};
		print("event", labels[i], event_write_json(&ev));
	}
}

/* Every key, as far from its default as it goes. */
static const char *const everything[][2] = {
	{"memory", "none"},
	{"cpus", "0.25"},
	{"pids", "none"},
	{"wall", "none"},
	{"cpu-time", "1500ms"},
	{"idle", "1h"},
	{"scratch", "none"},
	{"scratch-inodes", "none"},
	{"output", "0"},
	{"nofile", "64"},
	{"read-bps", "1M"},
	{"write-bps", "2"},
	{"read-iops", "5"},
	{"write-iops", "6"},
	{"priority", "low"},
	{"allow", "*.files.example:80,443"},
	{"allow", "private:tcp:[fd00::/8]:5432-5440"},
	{"egress-bytes", "1G"},
	{"egress-connections", "256"},
	{"egress-connect-timeout", "1.5s"},
	{"egress-idle", "1h"},
	{"input", "/a:b/c"},
	{"input-ro", "\xff:."},
	{"artifact", "out/*.json:type=json:max=1.5K:schema=s.json:required"},
	{"artifacts-dir", "out"},
	{"audit", "syslog"},
	{"slots", "512:ci-1"},
	{"slots-memory", "1T"},
	{"queue", "0s"},
	{"ids", "single"},
	{"proc", "outer"},
	{"env", "A=\xff"},
	{"env", "B="},
	{"workdir", "/\xff"},
	{"uid", "0"},
	{"hostname", "a.b"},
	{"stdin", "-"},
	{"stdout", "o\xff"},
	{"stderr", "e"},
	{"tty", "false"},
	{"result", "fd:3"},
	{"events", "e.json"},
	{"id", "x"},
	{"seccomp", "f"},
	{"require", "all"},
	{"accept", "memory,kill"},
	{"on-exit", "wait"},
	{"grace", "0s"},
	{"cgroup-parent", "/sys/fs/cgroup/x"},
};

static void spec_with(const char *label, size_t sets)
{
	autoarena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec s;
	const char *const words[] = {"python3", "-c", "\xff\x01"};
	bool bad = spec_init(&s, &a, &e) < 0 || spec_set_image(&s, "./rootfs", &e) < 0 ||
		   spec_set_command(&s, words, LENGTH(words), &e) < 0;
	for (size_t i = 0; i < sets; i++)
		bad |= spec_set(&s, everything[i][0], everything[i][1], &e) < 0;
	if (bad) {
		fprintf(stderr, "%s\n", e.msg);
		abort();
	}
	print("spec", label, spec_write_json(&s));
}

static void specs(void)
{
	spec_with("defaults", 0);
	spec_with("everything", LENGTH(everything));
}

static void bound(struct json_writer *w, const char *key, const struct key *k, uint64_t value)
{
	char text[PARSE_TEXT_BYTES];
	switch (k->type) {
	case KEY_TIME:
		spec_format_time(value, text);
		break;
	case KEY_CPUS:
		spec_format_cpus(value, text);
		break;
	default:
		spec_format_count(value, text);
	}
	json_text(w, key, text);
}

static void table_row(struct json_writer *w, const struct key *k)
{
	static const char *const types[KEY_TYPE_COUNT] = {
		[KEY_SIZE] = "size",	     [KEY_RATE] = "size",	  [KEY_TIME] = "time",
		[KEY_COUNT] = "count",	     [KEY_CPUS] = "cpus",	  [KEY_UID] = "count",
		[KEY_ENUM] = "enum",	     [KEY_BOOL] = "bool",	  [KEY_ID] = "id",
		[KEY_HOSTNAME] = "hostname", [KEY_WORKDIR] = "workdir",	  [KEY_PATH] = "path",
		[KEY_SINK] = "sink",	     [KEY_STDIN] = "stdin",	  [KEY_ENV] = "env",
		[KEY_REQUIRE] = "require",   [KEY_ALLOW] = "allow",	  [KEY_INPUT] = "input",
		[KEY_INPUT_RO] = "input",    [KEY_ARTIFACT] = "artifact", [KEY_SLOTS] = "slots",
	};
	json_begin(w, NULL, '{');
	json_text(w, "name", k->name);
	json_text(w, "object", k->object ? k->object : "");
	json_text(w, "member", key_member(k));
	json_text(w, "type", types[k->type]);
	if (k->initial)
		json_text(w, "default", k->initial);
	else
		json_null_value(w, "default");
	bound(w, "min", k, k->min);
	bound(w, "max", k, k->max);
	json_bool(w, "none", !k->no_none);
	json_begin(w, "words", '[');
	for (size_t i = 0; k->words && k->words[i]; i++)
		json_text(w, NULL, k->words[i]);
	json_end(w, '[');
	json_text(w, "placeholder", k->placeholder ? k->placeholder : "");
	json_end(w, '{');
}

static void table(void)
{
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_begin(&w, "keys", '[');
	for (size_t i = 0; i < spec_keys_len; i++)
		table_row(&w, &spec_keys[i]);
	json_end(&w, '[');
	json_begin(&w, "statuses", '[');
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		json_text(&w, NULL, run_status_name((enum run_status)i));
	json_end(&w, '[');
	json_begin(&w, "guarantees", '[');
	for (int i = 0; i < G_COUNT; i++)
		json_text(&w, NULL, guarantee_name((enum guarantee_id)i));
	json_end(&w, '[');
	json_end(&w, '{');
	char *text = json_finish(&w, true);
	if (!text)
		abort();
	fputs(text, stdout);
	free(text);
}

static int check(void)
{
	char *line = NULL;
	size_t room = 0;
	for (ssize_t len; (len = getline(&line, &room, stdin)) > 0;) {
		autoarena a = ARENA_INIT;
		struct err e = ERR_INIT;
		struct spec s;
		bool good = spec_init(&s, &a, &e) == 0 &&
			    spec_read_json(&s, "-", line, (size_t)len, &e) == 0;
		puts(good ? "ok" : e.msg);
	}
	free(line);
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "check") == 0)
		return check();
	if (argc == 2 && strcmp(argv[1], "table") == 0) {
		table();
		return fflush(stdout) != 0;
	}
	results();
	refused();
	hostile();
	events();
	specs();
	return fflush(stdout) != 0;
}
