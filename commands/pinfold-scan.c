/* pinfold-scan: `pinfold scan`. It walks a tree and reads none of it: that is done in a jail (pipeline/scan/). */
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/scan.h"
#include "pipeline/scan/propose.h"
#include "pipeline/scan/scanner.h"
#include "spec/spec.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FINDINGS = 1, RULE_FOLDERS_MAX = 16, LOGS_MAX = 16 };
static const uint64_t TIME_MAX_NS = (uint64_t)3600 * 1000000000;

struct call {
	const char *path;
	const char *format, *gate_word, *waivers, *time;
	const char *rules[RULE_FOLDERS_MAX], *logs[LOGS_MAX];
	size_t rules_len, logs_len;
	bool propose;
	int gate;
	uint64_t file_cpu_ns;
};

static const struct verb_manual manual =
	{"scan", "[OPTION...] PATH",
	 "look into source code, notebooks, archives and machine code before anything of it runs",
	 "PATH is a folder or a file. Nothing of it is trusted: all is read in a jail.\n"
	 "Exits with 0 if nothing of the gate's severity was found, 1 if something was, and 125 if the\n"
	 "scan could not be made. A finding is advice: what holds a program is the sandbox.\n"};

static int check_call(struct call *c, struct err *e)
{
	uint64_t ns = 10 * (uint64_t)1000000000;
	if (strcmp(c->format, "text") != 0 && strcmp(c->format, "sarif") != 0)
		return err_usage(e, "--format is text or sarif, not \"%.40s\"", c->format);
	if (!scan_gate_parse(c->gate_word, &c->gate))
		return err_usage(e, "--gate is error, warning, note or none, not \"%.40s\"",
				 c->gate_word);
	if (c->time && spec_parse_time(c->time, &ns, e) < 0)
		return err_wrap(e, "--limit-time");
	if (ns == 0 || ns > TIME_MAX_NS)
		return err_usage(e, "--limit-time is more than 0 and at most an hour");
	c->file_cpu_ns = ns;
	return 0;
}

/* 1: --help was there. */
static int read_call(struct call *c, int argc, char **argv, struct err *e)
{
	struct option_list rules = {c->rules, 0, RULE_FOLDERS_MAX}, logs = {c->logs, 0, LOGS_MAX};
	const struct verb_option rows[] = {
		{"format", &c->format, NULL,
		 "text|sarif  how findings are written (default text); SARIF is 2.1.0"},
		{"gate", &c->gate_word, NULL,
		 "SEVERITY  the least one that makes the exit code 1: error (default), warning, note, none"},
		{"waive", &c->waivers, NULL,
		 "FILE  findings that the gate lets through: [{\"id\", \"path\", \"reason\"}]"},
		{"rules", NULL, NULL,
		 "FOLDER  more rules, in FOLDER/LANGUAGE/NAME.scm (see pinfold-scan(1))", &rules},
		{"merge", NULL, NULL, "FILE  take in another analyser's SARIF log", &logs},
		{"limit-time", &c->time, NULL,
		 "TIME  processor time that one file may take (default 10s)"},
		{"propose", NULL, &c->propose, "write a draft of a job instead of findings"},
		{NULL},
	};
	struct verb_words words = {.argc = argc, .argv = argv};
	const int done = options_take(&words, rows, &manual, (struct word_count){1, 1}, e);
	if (done != 0)
		return done;
	c->path = words.argv[0];
	c->rules_len = rules.len;
	c->logs_len = logs.len;
	return check_call(c, e);
}

/* Rules are in share/pinfold/rules beside the libexec folder that we are in. */
static int find_rules(char *to, size_t size, struct err *e)
{
	static const char rest[] = "/share/pinfold/rules";
	const ssize_t n = readlink("/proc/self/exe", to, size - sizeof(rest));
	if (n <= 0 || (size_t)n >= size - sizeof(rest))
		return err_host(e, "where this program lies cannot be told");
	to[n] = '\0';
	for (int up = 0; up < 3; up++) {
		char *slash = strrchr(to, '/');
		if (!slash)
			return err_host(e, "this program lies in no libexec/pinfold");
		*slash = '\0';
	}
	memcpy(to + strlen(to), rest, sizeof(rest));
	return 0;
}

static int load_rules(const struct call *c, struct ruleset *r, struct err *e)
{
	char folder[PATH_MAX];
	if (find_rules(folder, sizeof(folder), e) < 0 || rules_load(r, folder, e) < 0)
		return -1;
	for (size_t i = 0; i < c->rules_len; i++)
		if (rules_load(r, c->rules[i], e) < 0)
			return err_wrap(e, "--rules");
	/* One that cannot be compiled has to be seen also where no file of its language is. */
	for (int l = 0; l < LANGUAGES && c->rules_len > 0; l++)
		if (rules_compile(r, (enum language)l, e) < 0)
			return -1;
	return 0;
}

static int load_waivers(const struct call *c, struct arena *a, struct scan_waivers *w, struct err *e)
{
	char *text;
	size_t len;
	if (!c->waivers)
		return 0;
	if (read_file(a, c->waivers, &text, &len, e) < 0)
		return err_wrap(e, "--waive");
	return scan_waivers_read(text, len, a, w, e) < 0 ? err_wrap(e, "--waive: %s", c->waivers) : 0;
}

static int print_made(char *text, struct err *e)
{
	if (!text)
		return err_host(e, "out of memory");
	fputs(text, stdout);
	free(text);
	return 0;
}

static int report(const struct call *c, struct scan_waivers *w, const struct scanner *s,
		  struct err *e)
{
	struct stat st;
	if (c->propose)
		return print_made(propose(&s->seen, s->findings, c->path,
					  stat(c->path, &st) == 0 && S_ISDIR(st.st_mode)),
				  e);
	const struct scan_verdict v = scan_gate(s->findings, w, c->gate);
	const struct scan_report r = {s->findings, w, &v, c->gate};
	if (strcmp(c->format, "text") == 0)
		scan_print(&r, s->files);
	else if (print_made(scan_sarif_write(&r), e) < 0)
		return -1;
	return v.stop ? EXIT_FINDINGS : 0;
}

static int scan(const struct call *c, struct scanner *s, struct err *e)
{
	if (scanner_read(s, c->path, e) < 0)
		return -1;
	for (size_t i = 0; i < c->logs_len; i++)
		if (scanner_merge(s, c->logs[i], e) < 0)
			return err_wrap(e, "--merge");
	scanner_finish(s);
	return 0;
}

static int run_with(const struct call *c, struct ruleset *rules, struct arena *a, struct err *e)
{
	struct scan_waivers waivers = {.at = NULL};
	struct scan_findings findings = {.arena = a};
	struct scanner s = SCANNER_INIT;
	s.rules = rules;
	s.findings = &findings;
	s.file_cpu_ns = c->file_cpu_ns;
	if (load_rules(c, rules, e) < 0 || load_waivers(c, a, &waivers, e) < 0)
		return -1;
	int code = scan(c, &s, e);
	scanner_close(&s);
	if (code == 0)
		code = report(c, &waivers, &s, e);
	scan_free(&findings);
	return code;
}

static int run(const struct call *c, struct err *e)
{
	autoarena a = ARENA_INIT;
	struct ruleset rules;
	rules_init(&rules, &a);
	const int code = run_with(c, &rules, &a, e);
	rules_close(&rules);
	return code;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct call c = {.format = "text", .gate_word = "error"};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	int code = read_call(&c, argc - 1, argv + 1, &e);
	if (code == 0)
		code = run(&c, &e);
	else if (code > 0)
		code = 0;
	if (code < 0)
		complain("scan: %s", e.msg);
	return finish_printing(code);
}
