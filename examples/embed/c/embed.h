/* Run `pinfold run` from C: stream its output and its events, read its result, cancel it.
 * Nothing here aborts or exits: every failure is part of the outcome.
 * cc -o embed embed.c main.c -ljansson */
#ifndef EMBED_H
#define EMBED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum embed_failure {
	EMBED_NONE,	      /* there is a result: status, ok and all else is its */
	EMBED_NOT_FOUND,      /* pinfold did not run: */
	EMBED_NOT_EXECUTABLE, /* it may not be executed */
	EMBED_NOT_STARTED,    /* no memory, no processes, too long a line */
	EMBED_KILLED,	      /* it was, and left no result */
	EMBED_NO_RESULT,      /* it ended without one */
	EMBED_BAD_RESULT,     /* it cannot be read */
	EMBED_CALLBACK,	      /* one of the caller's returned -1, and the run was cancelled */
};
const char *embed_failure_name(enum embed_failure failure);

struct embed_outcome {
	enum embed_failure failure;
	char message[512];
	bool ok;
	const char *status; /* of the result, or "no-result" */
	json_t *result;	    /* NULL: none; embed_outcome_free() drops it */
	int code, signal;   /* of pinfold itself; -1: none */
	unsigned long long events, bad_events, stdout_bytes, stderr_bytes;
};

struct embed_request {
	const char *program;	 /* path or name of pinfold; NULL: "pinfold" */
	const char *const *args; /* behind `pinfold run`, NULL-terminated; no shell sees them */
	int cancel_fd; /* readable: TERM to pinfold, which ends all of the run; -1: nobody cancels */
	/* Each returns 0, or -1 to give up. While one of them waits, the program waits, and no
	 * limit counts it. NULL: not called. */
	int (*on_stdout)(void *arg, const void *bytes, size_t len);
	int (*on_stderr)(void *arg, const void *bytes, size_t len);
	int (*on_event)(void *arg, const json_t *event);
	void *arg;
};

/* To its end; *o is always filled. A caller that does not ignore SIGPIPE decides itself what it means. */
void embed_run(const struct embed_request *r, struct embed_outcome *o);
void embed_outcome_free(struct embed_outcome *o);

#endif
