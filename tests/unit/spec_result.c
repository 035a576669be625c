/* Results: what is unknown, what is null, exit codes, the document, the events. */
#include "spec/result.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static json_t *document(const struct result *r)
{
	char *text = result_write_json(r);
	assert_non_null(text);
	assert_int_equal(text[strlen(text) - 1], '\n');
	for (const char *c = text; *c; c++)
		assert_true((*c >= 0x20 && *c < 0x7f) || *c == '\n');
	json_error_t je;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &je);
	if (!root)
		fail_msg("%s at %d:%d", je.text, je.line, je.column);
	free(text);
	return root;
}

/* "a.b.0.c" */
static json_t *at(json_t *root, const char *path)
{
	char copy[128];
	snprintf(copy, sizeof(copy), "%s", path);
	char *rest = copy;
	for (char *part; root && (part = strsep(&rest, "."));)
		root = json_is_array(root) ? json_array_get(root, (size_t)atoi(part))
					   : json_object_get(root, part);
	if (!root)
		fail_msg("no %s", path);
	return root;
}

static void fresh_is_unknown(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	json_t *root = document(&r);
	static const char *const null[] = {
		"id",
		"exit.code",
		"exit.signal",
		"cause.limit",
		"cause.stage",
		"cause.message",
		"usage.wall_usec",
		"usage.cpu_user_usec",
		"usage.cpu_system_usec",
		"usage.memory_peak_bytes",
		"usage.memory_at_end.anon",
		"usage.memory_at_end.file",
		"usage.memory_at_end.shmem",
		"usage.pids_peak",
		"usage.scratch_bytes",
		"usage.scratch_inodes",
		"usage.pressure.cpu.some_usec",
		"usage.pressure.memory.full_usec",
		"usage.pressure.io.some_usec",
		"output.stdout",
		"output.stderr",
		"image.digest",
		"spec_sha256",
		"host.kernel",
		"guarantees.0.requested",
		"guarantees.31.by",
		"guarantees.5.value",
	};
	for (size_t i = 0; i < LENGTH(null); i++) {
		if (!json_is_null(at(root, null[i])))
			fail_msg("%s is not null", null[i]);
	}
	assert_string_equal(json_string_value(at(root, "status")), "lost");
	assert_true(json_is_false(at(root, "ok")));
	assert_string_equal(json_string_value(at(root, "schema")), "pinfold.result/1");
	assert_int_equal(json_array_size(at(root, "guarantees")), G_COUNT);
	assert_string_equal(json_string_value(at(root, "guarantees.7.state")), "absent");
	assert_int_equal(json_object_size(at(root, "usage.io")), 0);
	assert_int_equal(json_array_size(at(root, "artifacts")), 0);
	assert_true(json_is_false(at(root, "denied.complete")));
	assert_int_equal(json_integer_value(at(root, "denied.more")), 0);
	json_decref(root);
	assert_int_equal(result_exit_code(&r), 125);
}

static void exit_codes(void **state)
{
	(void)state;
	static const struct {
		enum run_status status;
		int64_t code, signal;
		int sys;
		int want;
	} rows[] = {
		{RUN_EXITED, 0, NUM_UNKNOWN, 0, 0},
		{RUN_EXITED, 1, NUM_UNKNOWN, 0, 1},
		{RUN_EXITED, 125, NUM_UNKNOWN, 0, 125},
		{RUN_EXITED, 255, NUM_UNKNOWN, 0, 255},
		{RUN_EXITED, NUM_UNKNOWN, NUM_UNKNOWN, 0, 125},
		{RUN_SIGNALED, NUM_UNKNOWN, 11, 0, 139},
		{RUN_SIGNALED, NUM_UNKNOWN, 9, 0, 137},
		{RUN_WALL_TIMEOUT, NUM_UNKNOWN, 9, 0, 124},
		{RUN_CPU_TIMEOUT, NUM_UNKNOWN, 9, 0, 124},
		{RUN_IDLE_TIMEOUT, NUM_UNKNOWN, 9, 0, 124},
		{RUN_OUTPUT_LIMIT, NUM_UNKNOWN, 9, 0, 124},
		{RUN_OUTPUT_LIMIT, 0, NUM_UNKNOWN, 0, 124},
		{RUN_EGRESS_LIMIT, NUM_UNKNOWN, 9, 0, 124},
		{RUN_OOM, NUM_UNKNOWN, 9, 0, 137},
		{RUN_FOREIGN_ABI, NUM_UNKNOWN, 31, 0, 159},
		{RUN_FOREIGN_ABI, NUM_UNKNOWN, NUM_UNKNOWN, 0, 159},
		{RUN_CANCELLED, NUM_UNKNOWN, 2, 0, 130},
		{RUN_CANCELLED, 0, NUM_UNKNOWN, 0, 143},
		{RUN_EXEC_FAILED, NUM_UNKNOWN, NUM_UNKNOWN, ENOENT, 127},
		{RUN_EXEC_FAILED, NUM_UNKNOWN, NUM_UNKNOWN, EACCES, 126},
		{RUN_EXEC_FAILED, NUM_UNKNOWN, NUM_UNKNOWN, ENOEXEC, 126},
		{RUN_SETUP_FAILED, NUM_UNKNOWN, NUM_UNKNOWN, ENOENT, 125},
		{RUN_REFUSED, NUM_UNKNOWN, NUM_UNKNOWN, 0, 125},
		{RUN_LOST, NUM_UNKNOWN, 9, 0, 125},
		{RUN_LOST, 0, NUM_UNKNOWN, 0, 125},
	};
	bool seen[RUN_STATUS_COUNT] = {false};
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct result r;
		result_init(&r);
		r.status = rows[i].status;
		r.exit_code = rows[i].code;
		r.signal = rows[i].signal;
		r.cause.sys = rows[i].sys;
		if (result_exit_code(&r) != rows[i].want)
			fail_msg("row %zu: %d, not %d", i, result_exit_code(&r), rows[i].want);
		assert_true(result_ok(&r) == (i == 0));
		seen[rows[i].status] = true;
	}
	for (int i = 0; i < RUN_STATUS_COUNT; i++) {
		assert_true(seen[i]);
		assert_non_null(run_status_name((enum run_status)i));
	}
}

static void evidence(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	result_evidence_number(&r, "memory.events.oom", 1);
	result_evidence_text(&r, "signal", "TERM");
	result_evidence_number(&r, "unknown", NUM_UNKNOWN);
	result_evidence_number(&r, "memory.events.oom", 2);
	result_evidence_number(&r, "zero", 0);
	json_t *root = document(&r);
	json_t *ev = at(root, "cause.evidence");
	assert_int_equal(json_object_size(ev), 4);
	assert_int_equal(json_integer_value(json_object_get(ev, "memory.events.oom")), 2);
	assert_string_equal(json_string_value(json_object_get(ev, "signal")), "TERM");
	assert_true(json_is_null(json_object_get(ev, "unknown")));
	assert_true(json_is_integer(json_object_get(ev, "zero")));
	json_decref(root);
	for (int i = 0; i < 2 * EVIDENCE_MAX; i++) {
		char key[200];
		snprintf(key, sizeof(key), "%d-%0150d", i, 0);
		result_evidence_number(&r, key, i);
	}
	assert_int_equal(r.cause.evidence_len, EVIDENCE_MAX);
	json_decref(document(&r));
}

static void failures(void **state)
{
	(void)state;
	struct result r;
	struct err e = ERR_INIT;
	result_init(&r);
	errno = EACCES;
	err_sys(&e, "mount %s", "/proc");
	result_fail(&r, RUN_SETUP_FAILED, "mounts", &e);
	json_t *root = document(&r);
	assert_string_equal(json_string_value(at(root, "status")), "setup-failed");
	assert_string_equal(json_string_value(at(root, "cause.stage")), "mounts");
	assert_string_equal(json_string_value(at(root, "cause.message")),
			    "mount /proc: Permission denied");
	assert_string_equal(json_string_value(at(root, "cause.evidence.errno")), "EACCES");
	json_decref(root);
}

static void guarantees(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	snprintf(r.guarantees[G_MEMORY].requested, sizeof(r.guarantees[G_MEMORY].requested), "512M");
	guarantee_degraded(&r.guarantees[G_MEMORY], "watch", "", "page tables, sockets,pipes",
			   "doctor");
	guarantee_enforced(&r.guarantees[G_PIDS], "pids.max", "257");
	guarantee_absent(&r.guarantees[G_SWAP], "", "");
	json_t *root = document(&r);
	json_t *memory = at(root, "guarantees.0");
	assert_string_equal(json_string_value(at(memory, "name")), "memory");
	assert_string_equal(json_string_value(at(memory, "requested")), "512M");
	assert_string_equal(json_string_value(at(memory, "state")), "degraded");
	assert_true(json_is_null(at(memory, "value")));
	assert_int_equal(json_array_size(at(memory, "not_covered")), 3);
	assert_string_equal(json_string_value(at(memory, "not_covered.0")), "page tables");
	assert_string_equal(json_string_value(at(memory, "not_covered.2")), "pipes");
	assert_int_equal(json_array_size(at(root, "guarantees.1.not_covered")), 0);
	assert_null(json_object_get(at(root, "guarantees.2"), "not_covered"));
	assert_string_equal(json_string_value(at(root, "guarantees.2.value")), "257");
	json_decref(root);
	/* Texts that are too long are cut, and an enforced row forgets what was not covered. */
	char longer[400];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	guarantee_degraded(&r.guarantees[G_MEMORY], longer, longer, longer, longer);
	assert_int_equal(strlen(r.guarantees[G_MEMORY].not_covered),
			 sizeof(r.guarantees[0].not_covered) - 1);
	guarantee_enforced(&r.guarantees[G_MEMORY], "a", "b");
	assert_string_equal(r.guarantees[G_MEMORY].not_covered, "");
	assert_string_equal(r.guarantees[G_MEMORY].requested, "512M");
}

static void guarantee_names(void **state)
{
	(void)state;
	uint64_t all = 0;
	for (int i = 0; i < G_COUNT; i++) {
		uint64_t set = guarantee_set(guarantee_name((enum guarantee_id)i));
		assert_true(set == 1ULL << i);
		all |= set;
	}
	assert_true(guarantee_set("all") == all);
	assert_true(guarantee_set("cgroup") ==
		    (1ULL << G_MEMORY | 1ULL << G_SWAP | 1ULL << G_PIDS | 1ULL << G_CPUS |
		     1ULL << G_IO | 1ULL << G_CPU_TIME | 1ULL << G_KILL));
	assert_true(guarantee_set("") == 0 && guarantee_set("MEMORY") == 0 &&
		    guarantee_set("mem") == 0);
	assert_string_equal(guarantee_state_name(G_ABSENT), "absent");
	assert_string_equal(guarantee_state_name(G_DEGRADED), "degraded");
	assert_string_equal(guarantee_state_name(G_ENFORCED), "enforced");
}

/* Every text field full of bytes that no JSON may hold as they are. */
static void hostile_bytes(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	static const char *const texts[] = {"\xff\xfe\x1b[2J", "\"},{\"x\":\"\\", "\xc2\x9b\x31m\n",
					    "\x01\x02\x03"};
	for (size_t i = 0; i < LENGTH(texts); i++) {
		const char *t = texts[i];
		snprintf(r.id, sizeof(r.id), "%s", t);
		snprintf(r.cause.limit, sizeof(r.cause.limit), "%s", t);
		snprintf(r.cause.stage, sizeof(r.cause.stage), "%s", t);
		snprintf(r.cause.message, sizeof(r.cause.message), "%s", t);
		snprintf(r.kernel, sizeof(r.kernel), "%s", t);
		snprintf(r.image_digest, sizeof(r.image_digest), "%s", t);
		snprintf(r.denied[0].name, sizeof(r.denied[0].name), "%s", t);
		snprintf(r.usage.io[0].device, sizeof(r.usage.io[0].device), "%s", t);
		r.usage.io_len = r.denied_len = 1;
		result_evidence_text(&r, t, t);
		result_warn(&r, "%s", t);
		guarantee_degraded(&r.guarantees[i], t, t, t, t);
		json_t *root = document(&r);
		json_t *message = at(root, "cause.message");
		if (i == 0)
			assert_string_equal(json_string_value(at(message, "data")), "//4bWzJK");
		else
			assert_string_equal(json_string_value(message), t);
		json_decref(root);
	}
}

static void numbers(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	r.status = RUN_EXITED;
	r.exit_code = 0;
	r.usage.wall_usec = INT64_MAX;
	r.usage.anon_bytes = 0;
	r.usage.io_len = 2;
	r.usage.io[0] = (struct io_result){"8:0", 1, 2, 3, NUM_UNKNOWN};
	r.usage.io[1] = (struct io_result){"8:16", 5, 6, 7, 8};
	r.usage.cpu_pressure = (struct pressure_result){10, NUM_UNKNOWN};
	r.out = (struct stream_result){5, true, true, "ab"};
	r.denied_len = 1;
	r.denied[0] = (struct denied_syscall){"mount", 3};
	r.denied_more = 4;
	r.denied_complete = true;
	for (int i = 0; i < WARNINGS_MAX + 3; i++)
		result_warn(&r, "warning %d %0400d", i, 0);
	json_t *root = document(&r);
	assert_true(json_is_true(at(root, "ok")));
	assert_int_equal(json_integer_value(at(root, "usage.wall_usec")), INT64_MAX);
	assert_true(json_is_integer(at(root, "usage.memory_at_end.anon")));
	assert_int_equal(json_integer_value(at(root, "usage.io.8:0.wbytes")), 2);
	assert_true(json_is_null(at(root, "usage.io.8:0.wios")));
	assert_int_equal(json_integer_value(at(root, "usage.io.8:16.wios")), 8);
	assert_int_equal(json_integer_value(at(root, "usage.pressure.cpu.some_usec")), 10);
	assert_true(json_is_null(at(root, "usage.pressure.cpu.full_usec")));
	assert_int_equal(json_integer_value(at(root, "output.stdout.bytes")), 5);
	assert_true(json_is_true(at(root, "output.stdout.truncated")));
	assert_string_equal(json_string_value(at(root, "denied.syscalls.0.name")), "mount");
	assert_int_equal(json_integer_value(at(root, "denied.syscalls.0.count")), 3);
	assert_int_equal(json_integer_value(at(root, "denied.more")), 4);
	assert_int_equal(json_array_size(at(root, "warnings")), WARNINGS_MAX);
	json_decref(root);
}

static json_t *event(const struct event *ev)
{
	char *text = event_write_json(ev);
	assert_non_null(text);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

/* They say that they are it, and are added up. */
static void egress_others(void **state)
{
	(void)state;
	struct egress_row rows[] = {
		{.verdict = EGRESS_ALLOWED, .route = EGRESS_BY_TCP, .others = true, .count = 3},
		{.verdict = EGRESS_DENIED, .route = EGRESS_BY_DNS, .name = "a.example", .count = 9},
		{.verdict = EGRESS_DENIED, .route = EGRESS_BY_DNS, .others = true, .count = 4},
	};
	struct result r;
	result_init(&r);
	r.egress = rows;
	r.egress_len = LENGTH(rows);
	json_t *root = document(&r);
	assert_string_equal(json_string_value(at(root, "egress.0.reason")),
			    "and others that have no row of their own");
	assert_true(json_is_null(at(root, "egress.0.name")) &&
		    json_is_null(at(root, "egress.0.address")) &&
		    json_is_null(at(root, "egress.0.port")) &&
		    json_is_null(at(root, "egress.0.rule")));
	assert_true(json_is_null(at(root, "egress.1.reason")));
	assert_int_equal(json_integer_value(at(root, "egress_more")), 7);
	json_decref(root);
}

static void egress_rows(void **state)
{
	(void)state;
	struct egress_row rows[] = {
		{.verdict = EGRESS_ALLOWED,
		 .route = EGRESS_BY_TCP,
		 .name = "a.example",
		 .rule = "a.example:443",
		 .has_address = true,
		 .address = {{[10] = 0xff, [11] = 0xff, 93, 184, 216, 34}},
		 .port = 443,
		 .count = 2,
		 .sent_bytes = 10,
		 .received_bytes = 20,
		 .duration_usec = 30},
		{.verdict = EGRESS_BROKEN,
		 .route = EGRESS_BY_UDP,
		 .rule = "udp:[2001:db8::/32]:53",
		 .has_address = true,
		 .address = {{0x20, 0x01, 0x0d, 0xb8}},
		 .port = 53,
		 .reason = "no connection",
		 .sys = ENETUNREACH,
		 .count = 1},
		{.verdict = EGRESS_DENIED,
		 .route = EGRESS_BY_DNS,
		 .name = "evil\x1b\xff",
		 .reason = "no rule names it",
		 .count = 1},
	};
	struct result r;
	result_init(&r);
	json_t *root = document(&r);
	assert_int_equal(json_array_size(at(root, "egress")), 0);
	assert_int_equal(json_integer_value(at(root, "egress_more")), 0);
	json_decref(root);
	r.egress = rows;
	r.egress_len = LENGTH(rows);
	root = document(&r);
	assert_int_equal(json_array_size(at(root, "egress")), LENGTH(rows));
	assert_string_equal(json_string_value(at(root, "egress.0.address")), "93.184.216.34");
	assert_string_equal(json_string_value(at(root, "egress.0.transport")), "tcp");
	assert_string_equal(json_string_value(at(root, "egress.0.verdict")), "allowed");
	assert_int_equal(json_integer_value(at(root, "egress.0.received_bytes")), 20);
	assert_true(json_is_null(at(root, "egress.0.reason")) &&
		    json_is_null(at(root, "egress.0.errno")));
	assert_string_equal(json_string_value(at(root, "egress.1.address")), "2001:db8::");
	assert_string_equal(json_string_value(at(root, "egress.1.errno")), "ENETUNREACH");
	assert_string_equal(json_string_value(at(root, "egress.1.verdict")), "failed");
	assert_true(json_is_null(at(root, "egress.1.name")));
	assert_true(json_is_object(at(root, "egress.2.name"))); /* no text: as bytes */
	assert_true(json_is_null(at(root, "egress.2.port")) &&
		    json_is_null(at(root, "egress.2.address")) &&
		    json_is_null(at(root, "egress.2.rule")));
	assert_int_equal(json_integer_value(at(root, "egress_more")), 0);
	json_decref(root);
	root = event(&(struct event){.type = EVENT_EGRESS, .at_usec = 1, .egress = &rows[0]});
	assert_string_equal(json_string_value(at(root, "event")), "egress");
	assert_string_equal(json_string_value(at(root, "egress.name")), "a.example");
	json_decref(root);
}

/* A message that is cut, which shows, stays text; bytes that are none stay bytes. */
static void cut_texts(void **state)
{
	(void)state;
	static const char *const characters[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	for (size_t i = 0; i < LENGTH(characters); i++) {
		for (int shift = 0; shift < 4; shift++) {
			struct result r;
			struct err e = ERR_INIT;
			char text[900] = "";
			memset(text, 'x', (size_t)shift);
			while (strlen(text) < 850)
				strcat(text, characters[i]);
			result_init(&r);
			err_host(&e, "%s", text);
			result_fail(&r, RUN_LOST, "stage", &e);
			result_warn(&r, "%s", text);
			result_evidence_text(&r, "key", text);
			json_t *root = document(&r);
			const char *message = json_string_value(at(root, "cause.message"));
			assert_non_null(message);
			const size_t head = strcspn(message, "."), tail = head + strlen("...");
			assert_true(strlen(message) > sizeof(e.msg) - 9);
			assert_memory_equal(message, text, head);
			assert_memory_equal(message + head, "...", 3);
			assert_non_null(strstr(text, message + tail));
			assert_true(json_is_string(at(root, "warnings.0")));
			assert_true(json_is_string(at(root, "cause.evidence.key")));
			json_decref(root);
		}
	}
	struct result r;
	struct err e = ERR_INIT;
	result_init(&r);
	err_host(&e, "short\xc3");
	result_fail(&r, RUN_LOST, "stage", &e);
	json_t *root = document(&r);
	assert_string_equal(json_string_value(at(root, "cause.message.data")), "c2hvcnTD");
	json_decref(root);
}

static void events(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	result_warn(&r, "two\nlines");
	struct event ev = {.type = EVENT_STARTED,
			   .at_usec = 7,
			   .id = "x",
			   .pid = 42,
			   .cpu_usec = NUM_UNKNOWN,
			   .memory_bytes = 9,
			   .pids = 2,
			   .out_bytes = 0,
			   .err_bytes = 1,
			   .result = &r};
	json_t *root = event(&ev);
	assert_string_equal(json_string_value(at(root, "event")), "started");
	assert_int_equal(json_integer_value(at(root, "pid")), 42);
	assert_int_equal(json_object_size(root), 5);
	json_decref(root);
	ev.type = EVENT_USAGE;
	root = event(&ev);
	assert_true(json_is_null(at(root, "cpu_usec")));
	assert_int_equal(json_integer_value(at(root, "memory_bytes")), 9);
	assert_int_equal(json_integer_value(at(root, "stderr_bytes")), 1);
	json_decref(root);
	static const enum event_type named[] = {EVENT_STAGE, EVENT_DENIED, EVENT_LIMIT};
	for (size_t i = 0; i < LENGTH(named); i++) {
		ev.type = named[i];
		ev.name = i ? "na\xffme" : NULL;
		root = event(&ev);
		assert_true(i ? json_is_object(at(root, "name")) : json_is_null(at(root, "name")));
		json_decref(root);
	}
	ev.type = EVENT_ENDED;
	root = event(&ev);
	assert_string_equal(json_string_value(at(root, "result.schema")), "pinfold.result/1");
	assert_string_equal(json_string_value(at(root, "result.warnings.0")), "two\nlines");
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fresh_is_unknown), cmocka_unit_test(exit_codes),
		cmocka_unit_test(evidence),	    cmocka_unit_test(failures),
		cmocka_unit_test(guarantees),	    cmocka_unit_test(guarantee_names),
		cmocka_unit_test(hostile_bytes),    cmocka_unit_test(numbers),
		cmocka_unit_test(egress_rows),	    cmocka_unit_test(egress_others),
		cmocka_unit_test(cut_texts),	    cmocka_unit_test(events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
