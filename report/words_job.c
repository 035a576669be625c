#include "report/words.h"

#include <stdio.h>
#include <string.h>

static const struct outcome {
	const char *status;
	enum mood mood;
	const char *word, *sentence, *meaning;
} outcomes[] = {
	{"succeeded", MOOD_GOOD, "Succeeded", "Every stage did what it should", NULL},
	{"failed", MOOD_FAILED, "Failed", "A stage did not do what it should",
	 "What was to follow it was not begun, unless the job says to keep going."},
	{"stopped", MOOD_STOPPED, "Stopped by the analysis",
	 "The analysis found what the gate does not let through",
	 "Nothing of the source was compiled or run."},
	{"needs-approval", MOOD_WAITING, "Needs approval", "The full configuration was not begun",
	 "What it is expected to take is not within what was approved. The small configurations ran; "
	 "whoever may decides whether the rest does, with --approve or a larger budget."},
	{"cancelled", MOOD_STOPPED, "Cancelled", "The job was ended from outside",
	 "By a signal to pinfold, or because whoever started it went away. It says nothing of the code."},
	{"refused", MOOD_NEVER, "Refused", "Pinfold did not begin the job",
	 "Nothing was run. What was asked for cannot be promised, or is a mistake."},
	{"lost", MOOD_NEVER, "Lost", "Pinfold itself failed", "Take nothing from it for granted."},
};

struct verdict job_verdict_of(const struct job_told *job)
{
	struct verdict v = {.mood = job->ok ? MOOD_GOOD : MOOD_STOPPED,
			    .word = job->ok ? "Succeeded" : "Did not succeed",
			    .sentence = "The job ended in a way that this version has no words for",
			    .meaning = "The result is of a newer Pinfold; its status is below."};
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++) {
		const struct outcome *o = &outcomes[i];
		if (!bytes_are(job->status, o->status))
			continue;
		v = (struct verdict){.mood = o->mood, .word = o->word, .meaning = o->meaning};
		snprintf(v.sentence, sizeof(v.sentence), "%s", o->sentence);
	}
	return v;
}

struct stage_state stage_state_of(const struct stage_told *s)
{
	if (bytes_are(s->state, "skipped"))
		return (struct stage_state){"still", bytes_of("skipped")};
	if (!s->ok)
		return (struct stage_state){"bad", bytes_of("failed")};
	if (bytes_are(s->state, "ran") || bytes_are(s->state, "cached"))
		return (struct stage_state){"good", s->state};
	return (struct stage_state){"still", s->state.at ? s->state : bytes_of("not told")};
}

const char *words_for(struct bytes text, const struct meaning *table, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes_are(text, table[i].text))
			return table[i].words;
	return NULL;
}

int64_t sum_of(int64_t one, int64_t two)
{
	if (one == NUM_UNKNOWN || two == NUM_UNKNOWN)
		return NUM_UNKNOWN;
	return one > INT64_MAX - two ? INT64_MAX : one + two;
}

struct said say_real(struct real_told r)
{
	struct said s = {"not told"};
	if (r.there)
		snprintf(s.text, sizeof(s.text), "%.6g", r.value);
	return s;
}
