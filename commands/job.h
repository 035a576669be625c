/* pinfold-job's parts. */
#ifndef PINFOLD_COMMANDS_JOB_H
#define PINFOLD_COMMANDS_JOB_H

#include "base/arena.h"
#include "base/err.h"
#include "commands/options.h"
#include "pipeline/run.h"

#include <stdbool.h>

enum { EXIT_FAILED = 1, EXIT_STOPPED = 2, EXIT_NEEDS_APPROVAL = 3, EXIT_CANCELLED = 4 };

struct job_call {
	struct verb_manual manual; /* its name in full: "job run" */
	int argc;		   /* after the verb; options are taken out by job_words() */
	char **argv;
	struct arena *arena;
	int dashes; /* words before "--"; -1: there is none */
	int64_t begun_ns;
};

/* --lang and what belongs to it; name NULL: a document is named. */
struct job_language {
	const char *name, *version, *build_image, *run_image, *stdin_from;
};

struct job_verb {
	struct verb_manual manual;
	/* The exit code; -1 and *e: bad usage, or it could not be done. */
	int (*run)(struct job_call *c, struct err *e);
};

/* The rows of struct job_language. */
#define JOB_LANGUAGE_ROWS(l)                                                                        \
	{"lang", &(l).name, NULL, "NAME  the files that are named, by the template of a language"}, \
		{"lang-version", &(l).version, NULL, "VERSION  of the language: c17, c++20"},       \
		{"build-image", &(l).build_image, NULL, "IMAGE  instead of the template's"},        \
		{"run-image", &(l).run_image, NULL, "IMAGE  instead of the template's"},            \
		{"stdin", &(l).stdin_from, NULL,                                                    \
		 "FILE|-|null  what the program reads: a file, the caller's stdin, or nothing"}

/* options_take() of the verb's words. */
int job_words(struct job_call *c, const struct verb_option *rows, struct word_count count,
	      struct err *e);

/* The document that the only word names ("-": stdin), read whole; with a language, the words are
 * its files, and the program's arguments behind "--". */
int job_load(struct job_call *c, const struct job_language *l, struct job *job, struct err *e);
/* Where images and what jobs make are; NULL: nothing says. */
const char *job_store(struct job_call *c);

int job_check_verb(struct job_call *c, struct err *e);
int job_plan_verb(struct job_call *c, struct err *e);
int job_run_verb(struct job_call *c, struct err *e);
int job_gc_verb(struct job_call *c, struct err *e);
int job_budget_verb(struct job_call *c, struct err *e);

#endif
