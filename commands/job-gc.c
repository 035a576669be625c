#include "commands/job.h"
#include "pipeline/work.h"
#include "spec/spec.h"

#include <stdio.h>

int job_gc_verb(struct job_call *c, struct err *e)
{
	const char *older = NULL, *most = NULL;
	uint64_t older_ns = LIMIT_NONE, most_bytes = LIMIT_NONE;
	bool all = false;
	const struct verb_option rows[] = {
		{"older", &older, NULL, "TIME  entries that were not used for so long"},
		{"max-size", &most, NULL,
		 "SIZE  the longest unused, until all together are no more than this"},
		{"all", NULL, &all, "every entry that no job uses now"},
		{NULL},
	};
	struct work w = WORK_INIT;
	struct work_swept swept = {0};
	const int words = job_words(c, rows, (struct word_count){0, 0}, e);
	if (words != 0)
		return words < 0 ? -1 : 0;
	if ((older && spec_parse_time(older, &older_ns, e) < 0) ||
	    (most && spec_parse_size(most, &most_bytes, e) < 0))
		return -1;
	if (all)
		older_ns = 0;
	int done = work_open(&w, job_store(c), c->arena, e);
	if (done == 0)
		done = work_gc(&w, older_ns, most_bytes, &swept, e);
	if (work_close(&w, e) < 0 || done < 0)
		return -1;
	printf("%llu folders of killed jobs and %llu entries of the cache removed, %llu bytes\n",
	       (unsigned long long)swept.works, (unsigned long long)swept.entries,
	       (unsigned long long)swept.bytes);
	if (swept.strays)
		printf("%llu files removed that were none of these\n",
		       (unsigned long long)swept.strays);
	return 0;
}
