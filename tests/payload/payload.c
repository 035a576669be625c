#include "payload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct verb *const tables[] = {verbs_show, verbs_memory, verbs_process,
					    verbs_end,	verbs_file,   verbs_kernel};

const char *errno_name(int number)
{
	const char *name = number ? strerrorname_np(number) : "-";
	return name ? name : "E?";
}

int fail(const char *what)
{
	say("error %s %s", what, errno_name(errno));
	return 1;
}

void say(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static void bad_argument(const char *text)
{
	fprintf(stderr, "payload: bad argument %s\n", text);
	exit(99);
}

uint64_t parse_size(const char *text)
{
	char *end;
	uint64_t size = strtoull(text, &end, 10);
	const char *units = "KMG";
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (end == text || (*end && (!unit || end[1])))
		bad_argument(text);
	return unit ? size << (10 * (unit - units + 1)) : size;
}

int64_t parse_nanoseconds(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);
	if (end == text || *end)
		bad_argument(text);
	return (int64_t)(seconds * 1e9);
}

long parse_number(const char *text)
{
	char *end;
	errno = 0;
	long number = strtol(text, &end, 0);
	/* Arguments of system calls may be any 64-bit pattern. */
	if (errno == ERANGE)
		number = (long)strtoull(text, &end, 0);
	if (end == text || *end)
		bad_argument(text);
	return number;
}

void sleep_ns(int64_t ns)
{
	struct timespec left = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

void burn_ns(int64_t ns)
{
	struct timespec now;
	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * INT64_C(1000000000) + now.tv_nsec < ns);
}

static const struct verb *find(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct verb *v = tables[i]; v->name; v++)
			if (strcmp(v->name, name) == 0)
				return v;
	return NULL;
}

static int run_verb(int argc, char **argv)
{
	const struct verb *v = find(argv[0]);
	if (!v || argc - 1 < v->least) {
		fprintf(stderr, "payload: %s %s\n", argv[0], v ? v->usage : ": no such verb");
		return 99;
	}
	return v->run(argc - 1, argv + 1);
}

int run_chain(int argc, char **argv)
{
	while (argc > 0) {
		int len = 0;
		while (len < argc && strcmp(argv[len], ",") != 0)
			len++;
		int code = len ? run_verb(len, argv) : 99;
		if (code)
			return code;
		argc -= len < argc ? len + 1 : len;
		argv += len + 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
			for (const struct verb *v = tables[i]; v->name; v++)
				fprintf(stderr, "%s %s\n", v->name, v->usage);
		return 99;
	}
	/* A comma is an argument like any other to this one. */
	if (strcmp(argv[1], "argv") == 0)
		return run_verb(argc - 1, argv + 1);
	int code = run_chain(argc - 1, argv + 1);
	fflush(stdout);
	return code;
}
