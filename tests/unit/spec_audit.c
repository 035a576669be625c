/* Records of the audit: what each says, and that no text makes one too long. */
#include "spec/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES_MAX = 8192 }; /* what docs/audit.md promises */

static struct audit_record record(enum audit_event event, const struct result *r)
{
	return (struct audit_record){.event = event,
				     .time = "2026-11-30T17:35:27.540897Z",
				     .who = {1000, 100, NUM_UNKNOWN, 42, 41},
				     .result = r,
				     .image = "img",
				     .kind = AUDIT_EGRESS,
				     .name = "wall",
				     .reason = "no rule names it",
				     .result_sha256 = "00"};
}

/* The start is all there is to say of it; members and their order are the schema's. */
static void start(void **state)
{
	(void)state;
	struct result r;
	result_init(&r);
	strcpy(r.id, "x");
	strcpy(r.spec_sha256, "ab");
	const struct audit_record a = record(AUDIT_START, &r);
	char *text = audit_write_json(&a);
	assert_string_equal(text,
			    "{\"schema\":\"pinfold.audit/1\",\"event\":\"start\",\"time\":\"2026-11-30T17:35:27.540897Z\","
			    "\"id\":\"x\",\"who\":{\"uid\":1000,\"gid\":100,\"login_uid\":null,\"pid\":42,\"caller_pid\":41},"
			    "\"image\":{\"name\":\"img\",\"digest\":null},\"spec_sha256\":\"ab\"}\n");
	free(text);
}

static void denied(void **state)
{
	(void)state;
	static const char *const kinds[] = {"syscall", "input", "artifact", "egress"};
	struct result r;
	result_init(&r);
	for (int kind = 0; kind < AUDIT_KIND_COUNT; kind++) {
		struct audit_record a = record(AUDIT_DENIED, &r);
		a.kind = (enum audit_kind)kind;
		char *text = audit_write_json(&a);
		json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		assert_string_equal(json_string_value(json_object_get(root, "kind")), kinds[kind]);
		assert_string_equal(json_string_value(json_object_get(root, "name")), "wall");
		assert_true(json_is_null(json_object_get(root, "id")));
		json_decref(root);
		free(text);
	}
}

/* Denials are counted over the whole run: 3 + 4 calls by name and 5 without, 2 + 6 of the network,
 * the latter of kinds that have no row of their own. */
static void counts(void **state)
{
	(void)state;
	struct result r;
	struct egress_row rows[] = {{.verdict = EGRESS_DENIED, .count = 2},
				    {.verdict = EGRESS_ALLOWED, .count = 100},
				    {.verdict = EGRESS_DENIED, .others = true, .count = 6},
				    {.verdict = EGRESS_ALLOWED, .others = true, .count = 200},
				    {.verdict = EGRESS_BROKEN, .others = true, .count = 400}};
	result_init(&r);
	r.denied[0] = (struct denied_syscall){"mount", 3};
	r.denied[1] = (struct denied_syscall){"bpf", 4};
	r.denied_len = 2;
	r.denied_more = 5;
	r.egress = rows;
	r.egress_len = sizeof(rows) / sizeof(rows[0]);
	const struct audit_record a = record(AUDIT_END, &r);
	char *text = audit_write_json(&a);
	assert_non_null(
		strstr(text, "\"denied\":{\"syscalls\":12,\"egress\":8},\"result_sha256\":\"00\"}\n"));
	assert_non_null(
		strstr(text,
		       "\"status\":\"lost\",\"ok\":false,\"exit\":{\"code\":null,\"signal\":null}"));
	free(text);
}

/* Control characters and bytes that are no text take the most room. */
static void bounded(void **state)
{
	(void)state;
	static const char worst[] = {'\x01', '\xff', '\xc3'};
	char name[20000];
	for (size_t i = 0; i < sizeof(worst); i++) {
		struct result r;
		result_init(&r);
		memset(name, worst[i], sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		memset(r.cause.message, worst[i], sizeof(r.cause.message) - 1);
		memset(r.image_digest, worst[i], sizeof(r.image_digest) - 1);
		for (int event = 0; event < AUDIT_EVENT_COUNT; event++) {
			struct audit_record a = record((enum audit_event)event, &r);
			a.image = a.name = a.reason = name;
			char *text = audit_write_json(&a);
			assert_true(strlen(text) <= RECORD_BYTES_MAX);
			assert_int_equal(strcspn(text, "\n"), strlen(text) - 1);
			json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
			assert_non_null(root);
			json_decref(root);
			free(text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start),
		cmocka_unit_test(denied),
		cmocka_unit_test(counts),
		cmocka_unit_test(bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
