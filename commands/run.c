#include "commands/commands.h"
#include "commands/config.h"
#include "commands/files.h"
#include "commands/images.h"
#include "commands/sink.h"
#include "base/fd.h"
#include "base/pages.h"
#include "runtime/exe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <sha2.h>

/* Once, on stderr: what the host cannot enforce, and nobody said that he knows. The ledger in the result says it all. */
static void mention_degraded(const struct spec *s, const struct result *r)
{
	char names[400] = "";
	size_t used = 0;
	if (getenv("PINFOLD_JOB")) /* which says it once for all of its runs */
		return;
	for (int id = 0; id < G_COUNT; id++) {
		const struct guarantee *g = &r->guarantees[id];
		if (g->state == G_ENFORCED || s->accept >> id & 1 || used >= sizeof(names) - 32)
			continue;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", guarantee_name(id));
	}
	if (used)
		complain("degraded here: %s; `pinfold doctor` tells why and how to mend it", names);
}

static void mention_end(const struct result *r)
{
	const bool ours = r->status != RUN_EXITED && r->status != RUN_SIGNALED;
	if (!ours && !r->cause.message[0])
		return;
	complain_of_end(r);
}

static int write_result(struct sink *k, const struct result *r, struct err *e)
{
	char *text = result_write_json(r);
	if (!text)
		return err_host(e, "out of memory for the result");
	int rc = sink_commit(k, text, r->id, e);
	free(text);
	return rc;
}

/* The last record has the digest of the result, and so comes before it; and a result whose record
 * was lost says that, under a digest that nobody has. */
static int record_end(const struct spec *s, struct audit *a, struct result *r, struct err *e)
{
	enum { SYSLOG_MS = 1000 };
	char digest[65];
	struct audit_record end = {.event = AUDIT_END, .result = r, .image = s->image};
	if (a->len == 0)
		return 0;
	char *text = result_write_json(r);
	if (text)
		end.result_sha256 = SHA256Data((const uint8_t *)text, strlen(text), digest);
	free(text);
	if (audit_write(a, &end, SYSLOG_MS, e) == 0)
		return 0;
	result_warn(r, "the record of the end was lost: %s", e->msg);
	return -1;
}

static void note_host(struct result *r)
{
	struct utsname u;
	if (uname(&u) == 0)
		snprintf(r->kernel, sizeof(r->kernel), "%s", u.release);
}

/* Where they cannot be had, the reason for the refusal is the news, not this. */
static void refuse_events(const struct spec *s, struct sandbox_options *o, struct result *r)
{
	struct err e = ERR_INIT;
	if (s->events && o->events < 0 && (o->events = sink_open_lines(s->events, &e)) < 0)
		result_warn(r, "events were lost: %s", e.msg);
	sandbox_refused(s, o, r);
	fd_close(&o->events);
}

/* The host's first; where one cannot be had, the others are open all the same. */
static int open_audit(const struct spec *s, struct audit *a, struct err *e)
{
	int failed = s->rules.audit ? audit_open(a, s->rules.audit, e) : 0;
	if (s->audit && audit_open(a, s->audit, e) < 0)
		failed = -1;
	return failed;
}

/* A place that cannot be opened may be the very reason for it, which was told then. */
static void record_refusal(const struct spec *s, struct result *r)
{
	autoaudit a = AUDIT_INIT;
	struct err e = ERR_INIT;
	if (open_audit(s, &a, &e) < 0 && strcmp(e.msg, r->cause.message) != 0)
		complain("%s", e.msg);
	if (record_end(s, &a, r, &e) < 0)
		complain("%s", e.msg);
}

/* Bad usage has a result and an end among the events too, if the words say where they go. */
static int refuse_in(const char *stage, const struct spec *s, struct sandbox_options *o,
		     struct result *r, struct err *e)
{
	struct sink sink = SINK_INIT;
	struct err other = ERR_INIT;
	result_fail(r, RUN_REFUSED, stage, e);
	note_host(r);
	if (s->id)
		snprintf(r->id, sizeof(r->id), "%s", s->id);
	refuse_events(s, o, r);
	mention_end(r);
	record_refusal(s, r);
	if (sink_open(&sink, s->result, &other) < 0 || write_result(&sink, r, &other) < 0)
		complain("%s", other.msg);
	sink_close(&sink);
	return EXIT_REFUSED;
}

static int refuse(const struct spec *s, struct sandbox_options *o, struct result *r, struct err *e)
{
	return refuse_in("spec", s, o, r, e);
}

static int run_and_report(const struct spec *s, const struct sandbox_options *o, struct result *r,
			  struct sink *sink)
{
	struct err e = ERR_INIT;
	if (s->id) /* also where it is refused before it needs a name */
		snprintf(r->id, sizeof(r->id), "%s", s->id);
	sandbox_run(s, o, r);
	if (r->status != RUN_REFUSED)
		mention_degraded(s, r);
	for (size_t i = 0; i < r->warnings_len; i++)
		complain("warning: %s", r->warnings[i]);
	mention_end(r);
	const bool recorded = record_end(s, o->audit, r, &e) == 0;
	if (!recorded)
		complain("%s", e.msg);
	if (write_result(sink, r, &e) < 0) {
		complain("%s", e.msg);
		return EXIT_REFUSED;
	}
	return recorded ? result_exit_code(r) : EXIT_REFUSED;
}

int command_run(const struct context *c)
{
	autoarena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec spec;
	struct spec_args args = {.read_file = read_file, .configure = config_read};
	struct sandbox_options o = {.argv = c->whole_argv, .events = -1, .begun_ns = c->begun_ns};
	struct err exposed = ERR_INIT;
	struct sink sink = SINK_INIT;
	autoaudit audit = AUDIT_INIT;
	autostored struct stored held = STORED_INIT;
	static struct result result;
	umask(umask(077) & 077); /* what is made is its owner's in any case */
	pages_warm(&result, sizeof(result));
	result_init(&result);
	options_from_environment(&o, &arena);
	const char *store = images_store(&arena);
	o.kept = store ? arena_printf(&arena, "%s/jobs", store) : NULL;
	o.audit = &audit;
	/* First of all: it starts this process anew, and what was read from a pipe would be gone. */
	exe_protect(c->whole_argv, environ, &exposed);
	if (spec_init(&spec, &arena, &e) < 0) {
		complain("%s", e.msg);
		return EXIT_REFUSED;
	}
	if (spec_read_argv(&spec, &args, c->argc, c->argv, &e) < 0) {
		files_spare(&spec, args.spec_file);
		return refuse(&spec, &o, &result, &e);
	}
	if (args.help_wanted)
		return print_help("run");
	if (images_resolve(&spec, o.libexec, &held, &e) < 0 || images_apply(&spec, &held, &e) < 0) {
		files_spare(&spec, args.spec_file);
		return refuse_in("image", &spec, &o, &result, &e);
	}
	if (held.lock >= 0)
		snprintf(result.image_digest, sizeof(result.image_digest), "%s", held.facts.id);
	if (spec_check(&spec, &e) < 0 || files_check(&spec, args.spec_file, &e) < 0) {
		files_spare(&spec, args.spec_file);
		return refuse(&spec, &o, &result, &e);
	}
	if (exposed.kind != ERR_NONE)
		return refuse(&spec, &o, &result, &exposed);
	if (sink_open(&sink, spec.result, &e) < 0) {
		err_wrap(&e, "--result");
		spec.result = NULL;
		return refuse(&spec, &o, &result, &e);
	}
	if (spec.events && (o.events = sink_open_lines(spec.events, &e)) < 0) {
		err_wrap(&e, "--events");
		sink_close(&sink);
		spec.events = NULL;
		return refuse(&spec, &o, &result, &e);
	}
	if (open_audit(&spec, &audit, &e) < 0) {
		sink_close(&sink);
		return refuse_in("audit", &spec, &o, &result, &e);
	}
	int code = run_and_report(&spec, &o, &result, &sink);
	sink_close(&sink);
	fd_close(&o.events);
	return code;
}
