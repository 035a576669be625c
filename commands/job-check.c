#include "commands/job.h"

#include <stdio.h>

int job_check_verb(struct job_call *c, struct err *e)
{
	struct job_language lang = {.name = NULL};
	const struct verb_option rows[] = {JOB_LANGUAGE_ROWS(lang), {NULL}};
	struct job job;
	const int words = job_words(c, rows, (struct word_count){1, -1}, e);
	if (words != 0)
		return words < 0 ? -1 : 0;
	if (job_load(c, &lang, &job, e) < 0)
		return -1;
	printf("%s: a job of %zu stage%s%s\n", c->argv[0], job.stages_len,
	       job.stages_len == 1 ? "" : "s",
	       job_has_artifacts(&job) ? "; it has artifacts, so run it with --artifacts-dir" : "");
	return 0;
}
