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
enum mood { MOOD_GOOD, MOOD_FAILED, MOOD_STOPPED, MOOD_NEVER, MOOD_COUNT };
struct verdict {
	enum mood mood;
	const char *word;    /* "Succeeded" */
	char sentence[240];  /* what happened */
	const char *meaning; /* what that says about whom; NULL: nothing more */
};
struct verdict verdict_of(const struct run_told *run);

/* The row of that guarantee; NULL: none. */
const struct guarantee_told *guarantee_told_of(const struct run_told *run, const char *name);

#endif
