/* The payload: one static program with a verb for every thing that a test wants a sandboxed program to do.
 *
 *	payload VERB [ARG...] [, VERB [ARG...]]...
 *
 * Verbs run in order; the first that does not return 0 ends the program with its code. What a verb
 * has to say goes to stdout as lines of words ("alloc 1048576"); a call that failed is the line
 * "error WHAT ENAME", and code 1. Sizes take K, M and G, times are seconds with a fraction.
 */
#ifndef PINFOLD_TESTS_PAYLOAD_H
#define PINFOLD_TESTS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

struct verb {
	const char *name;
	int least;			   /* arguments it needs */
	int (*run)(int argc, char **argv); /* argv[0] is the first argument */
	const char *usage;
};

/* Each ends with a row without a name. */
extern const struct verb verbs_show[], verbs_memory[], verbs_process[], verbs_end[], verbs_file[],
	verbs_kernel[];

/* "error WHAT ENAME" on stdout; returns 1, so that `return fail("open")` is the whole error path. */
int fail(const char *what);
/* A line on stdout, flushed at once. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Name of an errno, "-" for 0. */
const char *errno_name(int number);

uint64_t parse_size(const char *text);
int64_t parse_nanoseconds(const char *text);
/* Decimal, hexadecimal or octal; ends the program when text is something else. */
long parse_number(const char *text);

void sleep_ns(int64_t ns);
/* Burn cpu until this thread has used ns of it. */
void burn_ns(int64_t ns);
/* The verbs of a chain, in order. */
int run_chain(int argc, char **argv);

#endif
