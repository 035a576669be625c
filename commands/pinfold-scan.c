/* pinfold-scan: `pinfold scan`. It walks a tree and reads none of it: that is done in a jail (pipeline/scan/). */
#include "commands/commands.h"
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

/* Words that were given for one option. */
struct words {
	const char **at;
	size_t len, most;
};

struct call {
	const char *path;
	const char *format, *gate_word, *waivers, *time;
	const char *rules[RULE_FOLDERS_MAX], *logs[LOGS_MAX];
	size_t rules_len, logs_len;
	bool propose, help;
	int gate;
	uint64_t file_cpu_ns;
};

static const struct option {
	const char *name, *value, *help;
} options[] = {
	{"format", "text|sarif", "how findings are written (default text); SARIF is 2.1.0"},
	{"gate", "error|warning|note|none",
	 "the least severity that makes the exit code 1 (default error)"},
	{"waive", "FILE", "findings that the gate lets through: [{\"id\", \"path\", \"reason\"}]"},
	{"rules", "FOLDER", "more rules, in FOLDER/LANGUAGE/NAME.scm (see pinfold-scan(1))"},
	{"merge", "FILE", "take in another analyser's SARIF log"},
	{"limit-time", "TIME", "processor time that one file may take (default 10s)"},
	{"propose", NULL, "write a draft of a job instead of findings"},
	{"help", NULL, "print this"},
};

static void print_usage(void)
{
	printf("Usage: pinfold scan [OPTION...] PATH\n\n"
	       "Looks into source code, notebooks, archives and machine code before anything of it runs.\n"
	       "PATH is a folder or a file. Nothing of it is trusted: all is read in a jail.\n\n");
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		char word[64];
		snprintf(word, sizeof(word), "--%s%s%s", options[i].name,
			 options[i].value ? " " : "", options[i].value ? options[i].value : "");
		printf("  %-30s %s\n", word, options[i].help);
	}
	printf("\nExits with 0 if nothing of the gate's severity was found, 1 if something was, and 125 if the\n"
	       "scan could not be made. A finding is advice: what holds a program is the sandbox.\n");
}

static int add_word(const char **list, size_t *len, size_t most, const char *word)
{
	if (*len == most)
		return -1;
	list[(*len)++] = word;
	return 0;
}

static int set_option(struct call *c, const char *name, const char *value, struct err *e)
{
	if (strcmp(name, "help") == 0)
		c->help = true;
	else if (strcmp(name, "propose") == 0)
		c->propose = true;
	else if (strcmp(name, "format") == 0)
		c->format = value;
	else if (strcmp(name, "gate") == 0)
		c->gate_word = value;
	else if (strcmp(name, "waive") == 0)
		c->waivers = value;
	else if (strcmp(name, "limit-time") == 0)
		c->time = value;
	else if (strcmp(name, "rules") == 0 &&
		 add_word(c->rules, &c->rules_len, RULE_FOLDERS_MAX, value) < 0)
		return err_usage(e, "--rules more than %d times", RULE_FOLDERS_MAX);
	else if (strcmp(name, "merge") == 0 && add_word(c->logs, &c->logs_len, LOGS_MAX, value) < 0)
		return err_usage(e, "--merge more than %d times", LOGS_MAX);
	return 0;
}

/* argv[*at] is an option: take it and its value. */
static int take_option(struct call *c, int argc, char **argv, int *at, struct err *e)
{
	const char *word = argv[*at] + 2;
	const size_t len = strcspn(word, "=");
	const struct option *o = NULL;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strlen(options[i].name) == len && memcmp(options[i].name, word, len) == 0)
			o = &options[i];
	if (!o)
		return err_usage(e, "unknown option --%.40s; `pinfold scan --help` lists them", word);
	if (!o->value && word[len])
		return err_usage(e, "--%s takes no value", o->name);
	if (o->value && !word[len] && *at + 1 == argc)
		return err_usage(e, "--%s: a value is missing", o->name);
	const char *value = !o->value ? NULL : word[len] ? word + len + 1 : argv[++*at];
	return set_option(c, o->name, value, e);
}

static int check_call(struct call *c, struct err *e)
{
	uint64_t ns = 10 * (uint64_t)1000000000;
	if (!c->path)
		return err_usage(e, "a PATH is missing; usage: pinfold scan [OPTION...] PATH");
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

static int read_call(struct call *c, int argc, char **argv, struct err *e)
{
	bool words_only = false;
	for (int at = 1; at < argc; at++) {
		if (!words_only && strcmp(argv[at], "-h") == 0) {
			c->help = true;
		} else if (!words_only && strcmp(argv[at], "--") == 0) {
			words_only = true;
		} else if (!words_only && strncmp(argv[at], "--", 2) == 0) {
			if (take_option(c, argc, argv, &at, e) < 0)
				return -1;
		} else if (!words_only && argv[at][0] == '-' && argv[at][1]) {
			return err_usage(e, "unknown option %.40s", argv[at]);
		} else if (c->path) {
			return err_usage(e, "unexpected \"%.60s\"; one PATH is scanned", argv[at]);
		} else {
			c->path = argv[at];
		}
	}
	return c->help ? 0 : check_call(c, e);
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
	if (c->propose)
		return print_made(propose(&s->seen, s->findings, c->path), e);
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
	int code = read_call(&c, argc, argv, &e);
	if (code == 0 && c.help)
		print_usage();
	else if (code == 0)
		code = run(&c, &e);
	if (code < 0)
		complain("scan: %s", e.msg);
	return finish_printing(code);
}
