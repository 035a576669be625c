/* `pinfold doctor`: what can be enforced here for this user, found by running a sandbox by the code of `run`. */
#include "base/fd.h"
#include "base/text.h"
#include "cgroup/cgroup.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/images.h"
#include "runtime/exe.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* As run has it by default, with what is not limited there limited too, so that each has its row;
 * io is judged by its controller, since run refuses it without. */
static const char *const trial[][2] = {{"wall", "30s"}, {"idle", "30s"}, {"cpu-time", "20s"}};

/* Nothing is asked for: the broker only starts, and is jailed. */
#define TRIAL_RULE "doctor.invalid:443"

static int trial_spec(struct spec *s, struct arena *a, const char *image, const char *rule,
		      struct err *e)
{
	static const char *const command[] = {"true", NULL};
	if (spec_init(s, a, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(trial) / sizeof(*trial); i++)
		if (spec_set(s, trial[i][0], trial[i][1], e) < 0)
			return -1;
	if (rule && spec_set(s, "allow", rule, e) < 0)
		return -1;
	if (spec_set_image(s, image, e) < 0 || spec_set_command(s, command, 1, e) < 0)
		return -1;
	return spec_check(s, e);
}

/* The program of the trial writes nothing, but its streams go nowhere all the same. */
static void judge_io(struct result *r)
{
	struct cgroup_place place = CGROUP_PLACE_INIT;
	struct err e = ERR_INIT;
	struct guarantee *io = &r->guarantees[G_IO];
	const char *why = e.msg;
	if (cgroup_find(&place, NULL, CG_MEMORY | CG_PIDS | CG_CPU | CG_IO, true, &e) == 0)
		why = place.why_not[3][0] ? place.why_not[3] : place.why_no_leaf;
	if (place.controllers & CG_IO) {
		guarantee_enforced(io, "io.max", "");
	} else {
		guarantee_absent(io, "bytes and operations on disks, in a second", place.mend);
		text_fit(io->why, sizeof(io->why), why);
	}
	cgroup_place_close(&place);
}

/* cpu.stat is in every cgroup, whatever its controllers are: where there is no leaf, a leaf is what mends it. */
static void judge_cpu_time(struct result *r)
{
	struct cgroup_place place = CGROUP_PLACE_INIT;
	struct err e = ERR_INIT;
	struct guarantee *time = &r->guarantees[G_CPU_TIME];
	if (time->state != G_ENFORCED && cgroup_find(&place, NULL, 0, true, &e) == 0 &&
	    place.source == CGROUP_NONE) {
		text_fit(time->why, sizeof(time->why), place.why_no_leaf);
		snprintf(time->mend, sizeof(time->mend), "%s", place.mend);
	}
	cgroup_place_close(&place);
}

static const char *paint(const char *colour)
{
	const char *no = getenv("NO_COLOR");
	return isatty(STDOUT_FILENO) && !(no && *no) ? colour : "";
}

static void print_rows(const struct result *r)
{
	static const char *const colours[] = {"\033[31m", "\033[33m", "\033[32m"};
	for (int id = 0; id < G_COUNT; id++) {
		const struct guarantee *g = &r->guarantees[id];
		printf("%s%-8s%s  %-*s%s%s%s%s\n", paint(colours[g->state]),
		       guarantee_state_name(g->state), paint("\033[0m"), g->by[0] ? 15 : 0,
		       guarantee_name((enum guarantee_id)id), g->by[0] ? " " : "", g->by,
		       g->value[0] ? " = " : "", g->value);
		if (g->state == G_ENFORCED)
			continue;
		if (g->why[0])
			printf("            because:     %s\n", g->why);
		printf("            not covered: %s\n", g->not_covered);
		if (g->mend[0])
			printf("            to mend it:  %s\n", g->mend);
	}
}

static bool possible(const struct result *r)
{
	return r->status == RUN_EXITED && r->exit_code == 0;
}

/* The configuration files of this host and this user: a mistake in one refuses every run. */
struct configuration {
	struct spec spec;
	struct err refused;
};

static void look_at_configuration(struct configuration *c, struct arena *a)
{
	*c = (struct configuration){.refused = ERR_INIT};
	if (spec_init(&c->spec, a, &c->refused) == 0)
		config_read(&c->spec, &c->refused);
}

/* What each run says on stderr here, and how it need not. */
static void print_accept(const struct result *r, uint64_t accept)
{
	bool news = false;
	for (int id = 0; id < G_COUNT; id++)
		news |= r->guarantees[id].state == G_DEGRADED && !(accept >> id & 1);
	if (!news)
		return;
	const char *before =
		"\nWhat is degraded is told at each run. Who knows that is told no more, by a\n"
		"configuration file (pinfold-config(5)) with {\"defaults\": {\"accept\": [\"";
	for (int id = 0; id < G_COUNT; id++) {
		if (r->guarantees[id].state != G_DEGRADED)
			continue;
		printf("%s%s", before, guarantee_name((enum guarantee_id)id));
		before = ",";
	}
	printf("\"]}}\n");
}

static void print_configuration(const struct configuration *c)
{
	const struct rules *r = &c->spec.rules;
	printf("\nConfiguration: the host's is ");
	print_text(r->host_file ? r->host_file : "none");
	printf(", yours is ");
	print_text(r->user_file ? r->user_file : "none");
	printf("\n");
	if (c->refused.kind != ERR_NONE) {
		printf("  %severy run is refused:%s ", paint("\033[31m"), paint("\033[0m"));
		print_text(c->refused.msg);
		printf("\n");
	}
}

static void print_people(const struct result *r)
{
	printf("Pinfold %s on Linux %s, uid %u\n\n", PINFOLD_VERSION, r->kernel, geteuid());
	if (!possible(r)) {
		printf("%sA sandbox cannot be run here.%s\n  %s%s%s: %s\n", paint("\033[31m"),
		       paint("\033[0m"), run_status_name(r->status),
		       r->cause.stage[0] ? " in " : "", r->cause.stage, r->cause.message);
		return;
	}
	print_rows(r);
}

/* A text that is not there is null. */
static json_t *configuration_json(const struct configuration *c)
{
	const struct rules *r = &c->spec.rules;
	return json_pack("{s:s?, s:s?, s:s?}", "host", r->host_file, "user", r->user_file,
			 "refused", c->refused.kind != ERR_NONE ? c->refused.msg : NULL);
}

static int print_json(const struct result *r, const struct configuration *c)
{
	json_t *rows = json_array();
	for (int id = 0; id < G_COUNT && possible(r); id++) {
		const struct guarantee *g = &r->guarantees[id];
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name",
						      guarantee_name((enum guarantee_id)id), "state",
						      guarantee_state_name(g->state), "by", g->by,
						      "value", g->value, "why", g->why, "not_covered",
						      g->not_covered, "mend", g->mend));
	}
	const bool can = possible(r) && c->refused.kind == ERR_NONE;
	json_t *doc = json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:i, s:o, s:o}", "schema",
				"pinfold.doctor/1", "possible", can, "status",
				run_status_name(r->status), "stage", r->cause.stage, "message",
				r->cause.message, "kernel", r->kernel, "uid", (int)geteuid(),
				"configuration", configuration_json(c), "guarantees", rows);
	int rc = doc ? json_dumpf(doc, stdout, JSON_INDENT(2)) : -1;
	printf("\n");
	json_decref(doc);
	return rc;
}

/* The sandbox's own stderr is not for the reader; ours is. */
static int run_trial(const struct context *c, const char *image, const char *rule, struct result *r,
		     struct err *e)
{
	autoarena arena = ARENA_INIT;
	struct spec spec;
	struct sandbox_options o = {.argv = c->whole_argv, .events = -1, .begun_ns = c->begun_ns};
	options_from_environment(&o, &arena);
	autostored struct stored held = STORED_INIT;
	if (exe_protect(c->whole_argv, environ, e) < 0 ||
	    trial_spec(&spec, &arena, image, rule, e) < 0)
		return -1;
	if (images_resolve(&spec, NULL, &held, e) < 0) {
		struct utsname u;
		if (uname(&u) == 0)
			snprintf(r->kernel, sizeof(r->kernel), "%s", u.release);
		result_fail(r, RUN_REFUSED, "image", e);
		return 0;
	}
	sandbox_run(&spec, &o, r);
	return 0;
}

/* What a rule would get here is found as all else is; a run that needs none does not depend on it. */
static void judge_egress(const struct context *c, const char *image, struct result *r)
{
	static struct result with_rule;
	struct err e = ERR_INIT;
	struct guarantee *row = &r->guarantees[G_EGRESS];
	result_init(&with_rule);
	if (!possible(r))
		return;
	const bool ran = run_trial(c, image, TRIAL_RULE, &with_rule, &e) == 0;
	if (ran && possible(&with_rule)) {
		*row = with_rule.guarantees[G_EGRESS];
		return;
	}
	guarantee_absent(row, "what --allow would open; without a rule nothing leaves",
			 "make install puts pinfold-egress beside the others");
	text_fit(row->why, sizeof(row->why), ran ? with_rule.cause.message : e.msg);
}

int command_doctor(const struct context *c)
{
	static struct result r;
	autoarena arena = ARENA_INIT;
	struct configuration configuration;
	struct err e = ERR_INIT;
	bool json = false;
	const char *image = NULL;
	for (int i = 0; i < c->argc; i++) {
		if (strcmp(c->argv[i], "--json") == 0) {
			json = true;
		} else if (c->argv[i][0] != '-' && !image) {
			image = c->argv[i];
		} else {
			complain("doctor: unexpected \"%s\"; usage: pinfold doctor [--json] [IMAGE]",
				 c->argv[i]);
			return EXIT_REFUSED;
		}
	}
	result_init(&r);
	if (!image)
		image = "@host";
	if (run_trial(c, image, NULL, &r, &e) < 0) {
		complain("%s", e.msg);
		return EXIT_REFUSED;
	}
	judge_io(&r);
	judge_cpu_time(&r);
	judge_egress(c, image, &r);
	look_at_configuration(&configuration, &arena);
	if (json && print_json(&r, &configuration) < 0)
		return EXIT_REFUSED;
	if (!json) {
		print_people(&r);
		if (possible(&r))
			print_accept(&r, configuration.spec.accept);
		print_configuration(&configuration);
	}
	return possible(&r) && configuration.refused.kind == ERR_NONE ? 0 : EXIT_REFUSED;
}
