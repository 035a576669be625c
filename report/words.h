/* What a person reads: sizes, times, and what became of a run in a sentence. Pure. */
#ifndef PINFOLD_REPORT_WORDS_H
#define PINFOLD_REPORT_WORDS_H

#include "report/model.h"

enum { WORDS_ROOM = 32 };

/* "1.5 MiB", "250 ms", "12,345"; "not told" for NUM_UNKNOWN. */
struct said {
	char text[WORDS_ROOM];
};
struct said say_size(int64_t bytes);
struct said say_time(int64_t usec);
struct said say_count(int64_t count);

/* How a run ended, for a glance. */
enum mood { MOOD_GOOD, MOOD_FAILED, MOOD_STOPPED, MOOD_NEVER, MOOD_WAITING, MOOD_COUNT };
struct verdict {
	enum mood mood;
	const char *word;    /* "Succeeded" */
	char sentence[240];  /* what happened */
	const char *meaning; /* what that says about whom; NULL: nothing more */
};
struct verdict verdict_of(const struct run_told *run);
struct verdict job_verdict_of(const struct job_told *job);

/* A stage in a word, and the class of its tag. */
struct stage_state {
	const char *class;
	struct bytes word;
};
struct stage_state stage_state_of(const struct stage_told *s);

/* What a word of a document means; NULL: it is not in the table. */
struct meaning {
	const char *text, *words;
};
const char *words_for(struct bytes text, const struct meaning *table, size_t len);

/* Not told where one of them is not. */
int64_t sum_of(int64_t one, int64_t two);
struct said say_real(struct real_told r);

/* The row of that guarantee; NULL: none. */
const struct guarantee_told *guarantee_told_of(const struct run_told *run, const char *name);

#endif
