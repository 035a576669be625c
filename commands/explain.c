/* `pinfold explain`: the plan of `run` for the same arguments, rehearsed up to the program's start and printed. */
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/images.h"
#include "commands/files.h"
#include "spec/keys.h"
#include "spec/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_words(const char *title, char *const *words)
{
	printf("%-12s", title);
	for (size_t i = 0; words[i]; i++) {
		printf(" ");
		print_text(words[i]);
	}
	printf("\n");
}

static void print_word(const char *title, const char *word, const char *tail)
{
	printf("%-12s ", title);
	print_text(word);
	printf("%s\n", tail);
}

static const char *form_name(enum rootfs_form form)
{
	static const char *const names[] = {
		[ROOTFS_BIND] = ": the image itself, every mount target is in it",
		[ROOTFS_OVERLAY] = ": a read-only overlay of our skeleton over the image",
		[ROOTFS_HOST] = ": our skeleton with the host's /usr",
	};
	return names[form];
}

static void print_cgroup(const struct plan *p, const char *id)
{
	static const char *const sources[] = {
		[CGROUP_NONE] = "none",
		[CGROUP_GIVEN] = "given",
		[CGROUP_SUBTREE] = "delegated subtree",
		[CGROUP_SCOPE] = "scope from systemd",
		[CGROUP_SLICE] = "slice of our own",
		[CGROUP_TOP] = "the top of the tree",
	};
	if (p->place.source == CGROUP_NONE) {
		printf("%-12s none: ", "cgroup");
		print_text(p->place.why_no_leaf);
		printf("\n");
		return;
	}
	id = id ? id : "ID";
	printf("%-12s ", "cgroup");
	print_text(strcmp(p->place.parent_path, "/") == 0 ? "" : p->place.parent_path);
	if (p->place.source == CGROUP_SCOPE)
		printf("/pinfold-%s.scope", id);
	printf("/pinfold-%s (%s)\n", id, sources[p->place.source]);
	for (unsigned i = 0; i < CG_CONTROLLERS; i++)
		if (!(p->place.controllers >> i & 1) && p->place.why_not[i][0])
			printf("%-12s no %s controller: %s\n", "", controller_name(i),
			       p->place.why_not[i]);
}

static void print_rlimits(const struct plan *p)
{
	static const struct {
		int resource;
		const char *name;
	} names[] = {
		{RLIMIT_NOFILE, "NOFILE"},
		{RLIMIT_CORE, "CORE"},
		{RLIMIT_NPROC, "NPROC"},
		{RLIMIT_STACK, "STACK"},
		{RLIMIT_MEMLOCK, "MEMLOCK"},
		{RLIMIT_MSGQUEUE, "MSGQUEUE"},
		{RLIMIT_SIGPENDING, "SIGPENDING"},
		{RLIMIT_RTPRIO, "RTPRIO"},
		{RLIMIT_NICE, "NICE"},
	};
	printf("%-12s", "rlimits");
	for (unsigned i = 0; i < RLIM_NLIMITS; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			if (names[k].resource == p->launch.rlimits[i].resource &&
			    p->launch.rlimits[i].soft != RLIM_INFINITY)
				printf(" %s=%llu", names[k].name,
				       (unsigned long long)p->launch.rlimits[i].soft);
	printf("\n");
}

static bool checks(const struct egress_rule *rule, uint16_t port, enum egress_check check)
{
	return egress_rule_has_port(rule, port) && egress_rule_check(rule, port) == check;
}

static void print_egress_limits(const struct egress *e)
{
	char connect[PARSE_TEXT_BYTES], idle[PARSE_TEXT_BYTES];
	spec_format_time(e->connect_ns, connect);
	spec_format_time(e->idle_ns, idle);
	printf("%-12s %llu connections at once, %s to connect, %s%s\n", "",
	       (unsigned long long)e->connections, connect,
	       e->idle_ns == LIMIT_NONE ? "never cut for being idle" : "cut when idle for ",
	       e->idle_ns == LIMIT_NONE ? "" : idle);
}

static void print_network(const struct spec *s)
{
	const struct egress_list *list = &s->egress.allow;
	printf("%-12s a namespace of its own with loopback alone%s\n", "network",
	       list->len ? "; pinfold-egress carries out" : "");
	for (size_t i = 0; i < list->len; i++) {
		const struct egress_rule *rule = &list->rules[i];
		printf("%-12s %s%s%s\n", "", rule->text,
		       checks(rule, 443, EGRESS_TLS) ? ", TLS for the name on 443" : "",
		       checks(rule, 80, EGRESS_HTTP) ? ", HTTP for the name on 80" : "");
	}
	if (list->len > 0)
		print_egress_limits(&s->egress);
}

static void print_files(const struct plan *p, const struct spec *s)
{
	for (size_t i = 0; i < s->inputs.len; i++) {
		const struct input *in = &s->inputs.inputs[i];
		printf("%-12s %s", i == 0 ? "inputs" : "", in->unpack ? "what is in " : "");
		print_text(in->source);
		printf(" to %s", in->read_only ? "/run/input/" : "/scratch/");
		print_text(in->target);
		printf("\n");
	}
	if (p->sources)
		printf("%-12s %llu bytes and %llu names of the scratch%s\n", "",
		       (unsigned long long)p->sources->bytes, (unsigned long long)p->sources->inodes,
		       p->sources->packed > 0 ? ", and what archives hold" : "");
	for (size_t i = 0; i < s->artifacts.len; i++) {
		const struct artifact_rule *rule = &s->artifacts.rules[i];
		printf("%-12s ", i == 0 ? "artifacts" : "");
		print_text(rule->path);
		printf(": %s, %llu bytes at most%s%s\n", artifact_type_name(rule->type),
		       (unsigned long long)rule->max_bytes, rule->schema ? ", by a schema" : "",
		       rule->required ? ", required" : "");
	}
	if (s->artifacts_dir)
		print_word("", s->artifacts_dir, " takes them");
}

static void print_limits(const struct result *r)
{
	const char *title = "guarantees";
	for (int id = 0; id < G_COUNT; id++) {
		const struct guarantee *g = &r->guarantees[id];
		printf("%-12s %-15s %-9s %-8s %s%s%s\n", title, guarantee_name((enum guarantee_id)id),
		       guarantee_state_name(g->state), g->requested, g->by,
		       g->not_covered[0] ? "; not covered: " : "", g->not_covered);
		title = "";
	}
}

/* A line of mountinfo: "ID PARENT DEV ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS" (proc_pid_mountinfo(5)).
 * What is printed is what the sandbox's program may see; the root names a folder of the host's. */
static void print_mount(const char *title, char *line)
{
	char *at = NULL, *field[6] = {NULL}, *type = strstr(line, " - ");
	for (int i = 0; i < 6; i++)
		field[i] = strtok_r(i ? NULL : line, " ", &at);
	type = type ? strtok_r(type + 3, " ", &at) : NULL;
	if (!field[5] || !type)
		return;
	printf("%-12s ", title);
	print_text(field[4]);
	printf(" %s %s\n", type, field[5]);
}

static void print_mounts(const struct rehearsal *h)
{
	char *at = NULL, *text = h->mounts ? strdup(h->mounts) : NULL;
	const char *title = "mounts";
	if (!text)
		printf("%-12s not known: it does not come to that\n", title);
	for (char *line = text ? strtok_r(text, "\n", &at) : NULL; line;
	     line = strtok_r(NULL, "\n", &at)) {
		print_mount(title, line);
		title = "";
	}
	free(text);
}

/* Who said so, and of a key that adds up all that did: "host, flag". */
static void print_sayers(unsigned sayers)
{
	char text[64] = "";
	for (int who = 0; who < ORIGIN_COUNT; who++)
		if (sayers >> who & 1)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 *text ? ", " : "", origin_name((enum origin)who));
	printf("%-9s ", text);
}

/* What each key is, and who said so. */
static void print_settings(const struct spec *s)
{
	const char *title = "settings";
	for (size_t i = 0; i < spec_keys_len; i++) {
		char *value = key_value_text(s, &spec_keys[i]);
		printf("%-12s %-22s ", title, spec_keys[i].name);
		print_sayers(s->sayers[i]);
		print_text(value ? value : "?");
		printf("%s\n", s->rules.locked >> i & 1 ? " (for every run)" : "");
		free(value);
		title = "";
	}
}

static void print_rules(const struct spec *s)
{
	const struct rules *r = &s->rules;
	print_word("host file", r->host_file ? r->host_file : "none", "");
	for (size_t i = 0; r->ceilings && i < spec_keys_len; i++) {
		if (!(r->ceilings->given >> i & 1))
			continue;
		char *text = key_value_text(r->ceilings, &spec_keys[i]);
		printf("%-12s %s at most %s\n", "", spec_keys[i].name, text ? text : "?");
		free(text);
	}
	if (r->audit)
		print_word("audit", r->audit, " (of every run)");
	for (size_t i = 0; i < 2 && r->input_bases[i]; i++)
		print_word("inputs from", r->input_bases[i], " alone");
	for (size_t i = 0; i < r->sensitive_len; i++)
		print_word("no input of", r->sensitive[i], "");
	print_word("user file", r->user_file ? r->user_file : "none", "");
}

/* What only the program's own start would show. */
static void print_unchecked(const struct spec *s)
{
	printf("%-12s whether the command's format and interpreter are right", "not checked");
	if (s->stdin_kind == STDIN_CALLER)
		printf("; the caller's stdin");
	if (s->id)
		printf("; whether the id is free");
	if (s->result || s->events)
		printf("; where the result and the events go");
	if (s->audit || s->rules.audit)
		printf("; where the audit goes");
	if (s->slots.count || s->slots_memory_bytes != LIMIT_NONE)
		printf("; whether a slot is free");
	printf("\n");
}

static void print_plan(const struct plan *p, const struct spec *s, const struct result *r)
{
	const struct launch *l = &p->launch;
	char map[96];
	ids_describe(&l->ids, map, sizeof(map));
	print_words("command", l->argv);
	print_words("environment", l->envp);
	print_word("folder", s->workdir, "");
	print_word("image", s->image, form_name(l->root.form));
	printf("%-12s uid %u, gid %u inside; %u, %u on the host; map %s\n", "ids", l->ids.uid,
	       l->ids.gid, l->ids.kuid, l->ids.kgid, map);
	print_cgroup(p, s->id);
	printf("%-12s ", "seccomp");
	print_text(l->filter.custom ? s->seccomp_file : "default filter");
	printf(", %u instructions%s\n", l->filter.len,
	       l->filter.notify ? ", denied calls are counted" : "");
	print_limits(r);
	print_rlimits(p);
	print_network(s);
	print_rules(s);
	print_files(p, s);
	print_settings(s);
}

/* In the words of run. Returns the exit code. */
static int conclude(const struct result *r)
{
	fflush(stdout); /* whether it got out, main() looks */
	if (!result_ok(r))
		complain_of_end(r);
	return result_exit_code(r);
}

static int refuse(struct result *r, const struct err *e)
{
	result_fail(r, RUN_REFUSED, "spec", e);
	return conclude(r);
}

int command_explain(const struct context *c)
{
	autoarena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct spec spec;
	struct spec_args args = {.read_file = read_file, .configure = config_read};
	struct sandbox_options o = {.argv = c->whole_argv, .events = -1, .begun_ns = c->begun_ns};
	static struct result r;
	struct rehearsal h;
	autostored struct stored held = STORED_INIT;
	result_init(&r);
	if (spec_init(&spec, &arena, &e) < 0 || spec_read_argv(&spec, &args, c->argc, c->argv, &e) < 0)
		return refuse(&r, &e);
	if (args.help_wanted)
		return print_help("explain");
	if (images_resolve(&spec, NULL, &held, &e) < 0 || images_apply(&spec, &held, &e) < 0) {
		result_fail(&r, RUN_REFUSED, "image", &e);
		return conclude(&r);
	}
	if (spec_check(&spec, &e) < 0 || files_check(&spec, args.spec_file, &e) < 0)
		return refuse(&r, &e);
	options_from_environment(&o, &arena);
	const bool planned = sandbox_rehearse(&spec, &o, &h, &r) == 0;
	for (size_t i = 0; i < r.warnings_len; i++)
		complain("warning: %s", r.warnings[i]);
	if (planned) {
		print_plan(&h.plan, &spec, &r);
		print_mounts(&h);
		print_unchecked(&spec);
	}
	return conclude(&r);
}
