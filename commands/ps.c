#include "base/fd.h"
#include "commands/commands.h"
#include "runtime/registry.h"

#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of 17 digits the last would be noise. */
enum { REAL_DIGITS = 15 };

struct listing {
	json_t *json; /* NULL: for people */
	unsigned count;
};

/* Seconds since the supervisor started, by /proc/PID/stat field 22 and the uptime. -1: it is gone. */
static double age_of(pid_t pid)
{
	char path[32], text[1024], uptime[64];
	unsigned long long start;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (fd_read_small(AT_FDCWD, path, text, sizeof(text)) < 0 ||
	    fd_read_small(AT_FDCWD, "/proc/uptime", uptime, sizeof(uptime)) < 0)
		return -1;
	char *p = strrchr(text, ')');
	if (!p ||
	    sscanf(p + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &start) != 1)
		return -1;
	return strtod(uptime, NULL) - (double)start / (double)sysconf(_SC_CLK_TCK);
}

/* The supervisor's own words, spaces for the NULs, anything that could drive a terminal replaced. */
static void words_of(pid_t pid, char *text, size_t size)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
	size_t len = n > 0 ? (size_t)n : 0;
	while (len > 0 && text[len - 1] == '\0')
		len--;
	text[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!text[i] || (unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f)
			text[i] = text[i] ? '?' : ' ';
}

/* What is not known of it is null. */
static void list_json(const struct listing *l, const struct registry_run *run, double age,
		      const char *words)
{
	json_t *row = json_pack("{s:s, s:n, s:b, s:n, s:s}", "id", run->id, "pid", "answers",
				run->answers, "age_seconds", "command", words);
	if (run->supervisor > 0) {
		json_object_set_new(row, "pid", json_integer(run->supervisor));
		json_object_set_new(row, "age_seconds",
				    json_real((double)(int64_t)(age * 1000 + 0.5) / 1000));
	}
	json_array_append_new(l->json, row);
}

static void list_text(const struct listing *l, const struct registry_run *run, double age,
		      const char *words)
{
	if (l->count == 0)
		printf("ID                    PID       AGE  COMMAND\n");
	if (run->supervisor > 0)
		printf("%-16s %8d %9.1fs  ", run->id, run->supervisor, age);
	else
		printf("%-16s %8s %10s  ", run->id, "?", "?");
	printf("%s%s\n", run->answers ? "" : "(does not answer) ", words);
}

static void list_one(struct listing *l, const struct registry_run *run)
{
	char words[200] = "";
	const double age = run->supervisor > 0 ? age_of(run->supervisor) : 0;
	if (age < 0)
		return;
	if (run->supervisor > 0)
		words_of(run->supervisor, words, sizeof(words));
	if (l->json)
		list_json(l, run, age, words);
	else
		list_text(l, run, age, words);
	l->count++;
}

int command_ps(const struct context *c)
{
	struct listing l = {0};
	struct err e = ERR_INIT;
	if (c->argc == 1 && strcmp(c->argv[0], "--json") == 0) {
		l.json = json_array();
	} else if (c->argc > 0) {
		const bool second = strcmp(c->argv[0], "--json") == 0;
		complain("ps: unexpected \"%s\"; usage: pinfold ps [--json]",
			 c->argv[second ? 1 : 0]);
		return EXIT_REFUSED;
	}
	struct registry r = REGISTRY_INIT;
	const int looked = registry_look(&r, NULL, 0, &e);
	for (size_t i = 0; i < r.len; i++)
		if (registry_own(&r.runs[i]))
			list_one(&l, &r.runs[i]);
	if (l.json) {
		json_dumpf(l.json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
		printf("\n");
		json_decref(l.json);
	}
	if (looked < 0)
		complain("%s", e.msg);
	else if (r.cut)
		complain("ps: " REGISTRY_CUT);
	const int code = looked < 0 || r.cut ? EXIT_REFUSED : 0;
	registry_close(&r);
	return code;
}
