#include "spec/audit.h"

#include "base/text.h"
#include "spec/writer.h"

static void text(struct json_writer *w, const char *key, const char *s)
{
	char fits[AUDIT_TEXT_BYTES];
	if (!s || !*s) {
		json_null_value(w, key);
		return;
	}
	text_fit(fits, sizeof(fits), s);
	json_text(w, key, fits);
}

static void number(struct json_writer *w, const char *key, int64_t n)
{
	if (n == NUM_UNKNOWN)
		json_null_value(w, key);
	else
		json_number(w, key, n);
}

static void write_who(struct json_writer *w, const struct audit_who *who)
{
	json_begin(w, "who", '{');
	number(w, "uid", who->uid);
	number(w, "gid", who->gid);
	number(w, "login_uid", who->login_uid);
	number(w, "pid", who->pid);
	number(w, "caller_pid", who->caller_pid);
	json_end(w, '{');
}

static void write_what(struct json_writer *w, const struct audit_record *a)
{
	json_begin(w, "image", '{');
	text(w, "name", a->image);
	text(w, "digest", a->result->image_digest);
	json_end(w, '{');
	text(w, "spec_sha256", a->result->spec_sha256);
}

static void denied(struct json_writer *w, const struct audit_record *a)
{
	static const char *const kinds[AUDIT_KIND_COUNT] = {
		[AUDIT_SYSCALL] = "syscall",
		[AUDIT_INPUT] = "input",
		[AUDIT_ARTIFACT] = "artifact",
		[AUDIT_EGRESS] = "egress",
	};
	json_text(w, "kind", kinds[a->kind]);
	text(w, "name", a->name);
	text(w, "reason", a->reason);
}

static void limit(struct json_writer *w, const struct audit_record *a)
{
	text(w, "name", a->name);
}

static int64_t denied_calls(const struct result *r)
{
	int64_t count = r->denied_more;
	for (size_t i = 0; i < r->denied_len; i++)
		count += r->denied[i].count;
	return count;
}

static int64_t denied_egress(const struct result *r)
{
	int64_t count = 0;
	for (size_t i = 0; i < r->egress_len; i++)
		count += r->egress[i].verdict == EGRESS_DENIED ? r->egress[i].count : 0;
	return count;
}

static void end(struct json_writer *w, const struct audit_record *a)
{
	const struct result *r = a->result;
	write_what(w, a);
	json_text(w, "status", run_status_name(r->status));
	json_bool(w, "ok", result_ok(r));
	json_begin(w, "exit", '{');
	number(w, "code", r->exit_code);
	number(w, "signal", r->signal);
	json_end(w, '{');
	json_begin(w, "cause", '{');
	text(w, "limit", r->cause.limit);
	text(w, "stage", r->cause.stage);
	text(w, "message", r->cause.message);
	json_end(w, '{');
	json_begin(w, "usage", '{');
	number(w, "wall_usec", r->usage.wall_usec);
	number(w, "cpu_user_usec", r->usage.cpu_user_usec);
	number(w, "cpu_system_usec", r->usage.cpu_system_usec);
	number(w, "memory_peak_bytes", r->usage.memory_peak_bytes);
	json_end(w, '{');
	json_begin(w, "denied", '{');
	number(w, "syscalls", denied_calls(r));
	number(w, "egress", denied_egress(r));
	json_end(w, '{');
	text(w, "result_sha256", a->result_sha256);
}

static const struct {
	const char *name;
	void (*fields)(struct json_writer *w, const struct audit_record *a);
} events[AUDIT_EVENT_COUNT] = {
	[AUDIT_START] = {"start", write_what},
	[AUDIT_DENIED] = {"denied", denied},
	[AUDIT_LIMIT] = {"limit", limit},
	[AUDIT_END] = {"end", end},
};

char *audit_write_json(const struct audit_record *a)
{
	struct json_writer w;
	json_open(&w, false);
	json_begin(&w, NULL, '{');
	json_text(&w, "schema", "pinfold.audit/1");
	json_text(&w, "event", events[a->event].name);
	json_text(&w, "time", a->time);
	text(&w, "id", a->result->id);
	write_who(&w, &a->who);
	events[a->event].fields(&w, a);
	json_end(&w, '{');
	return json_finish(&w, true);
}
