/* The subcommands: the only room that prints, exits, and reads argv and the environment. */
#ifndef PINFOLD_COMMANDS_COMMANDS_H
#define PINFOLD_COMMANDS_COMMANDS_H

#include "base/arena.h"
#include "base/err.h"
#include "runtime/sandbox.h"

#include <stddef.h>

enum { EXIT_REFUSED = 125 };

struct context {
	int argc; /* after the subcommand's name */
	char **argv;
	char **whole_argv; /* of the process */
	int64_t begun_ns;
};

int command_run(const struct context *c);
int command_explain(const struct context *c);
int command_doctor(const struct context *c);
int command_ps(const struct context *c);
int command_kill(const struct context *c);
int command_gc(const struct context *c);
int command_audit(const struct context *c);
int command_image(const struct context *c);
int command_job(const struct context *c);
int command_scan(const struct context *c);
int command_report(const struct context *c);
int command_completion(const struct context *c);

/* "pinfold: message" on stderr, with whatever could drive a terminal escaped. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The end of a run in one line, as "STATUS in STAGE: MESSAGE"; a message that begins with the stage's name says it once. */
void complain_of_end(const struct result *r);

/* text on stdout, escaped in the same way: for all that is not ours. */
void print_text(const char *text);

/* How many columns print_text() takes for the first len bytes of text; a character is one. */
size_t text_columns(const char *text, size_t len);

/* The environment's part of the options: libexec, cache, id range. Strings are the arena's. */
void options_from_environment(struct sandbox_options *o, struct arena *a);

/* `pinfold NAME ...` is pinfold-NAME, executed in this process's place. Returns what to exit with where that fails. */
int sibling_in_our_place(const char *name, const struct context *c);

/* What was printed goes out. Commands print and do not look: what did not get out is found here,
 * told, and makes the exit code 125. A reader who went away (`| head`) has read enough: that is no
 * failure, and code stays what it is. SIGPIPE must not end us. Returns what to exit with; a code
 * below 0 is 125. */
int finish_printing(int code);

/* The --help of a subcommand, on stdout. Returns the exit code. main() flushes, for all that is printed. */
int print_help(const char *command);

/* TERM, INT, HUP and QUIT: what ends a process that does nothing about them. */
void stop_signals(sigset_t *set);
/* Whether what is called has a result whatever happens (`run`, `job run`; NULL for no word): what
 * tells it to stop waits from the first act on until somebody looks. */
bool has_result(const char *command, const char *verb);
/* All that can be read from fd, at most 4 MiB; name is for messages. The text is the arena's. */
struct text {
	char *at;
	size_t len;
};
int read_descriptor(struct arena *a, int fd, const char *name, struct text *text, struct err *e);
/* For spec_read_argv(): a whole file, at most 4 MiB. */
int read_file(struct arena *a, const char *name, char **text, size_t *len, struct err *e);

#endif
