#include "report/words.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Three digits that count: 1.23, 12.3, 123. */
static void say_scaled(struct said *s, int64_t thousandths, const char *unit)
{
	const int64_t whole = thousandths / 1000, rest = thousandths % 1000;
	if (rest == 0 || whole >= 100)
		snprintf(s->text, sizeof(s->text), "%" PRId64 " %s", whole, unit);
	else if (whole >= 10)
		snprintf(s->text, sizeof(s->text), "%" PRId64 ".%" PRId64 " %s", whole, rest / 100,
			 unit);
	else
		snprintf(s->text, sizeof(s->text), "%" PRId64 ".%02" PRId64 " %s", whole, rest / 10,
			 unit);
}

struct said say_size(int64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct said s = {"not told"};
	size_t unit = 0;
	if (bytes == NUM_UNKNOWN)
		return s;
	while (unit + 1 < sizeof(units) / sizeof(*units) && bytes >> (10 * (unit + 1)) > 0)
		unit++;
	if (unit == 0) {
		snprintf(s.text, sizeof(s.text), "%" PRId64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return s;
	}
	const int64_t one = (int64_t)1 << (10 * unit), whole = bytes / one;
	const int64_t rest = (int64_t)((double)(bytes % one) / (double)one * 1000);
	say_scaled(&s, whole * 1000 + rest, units[unit]);
	return s;
}

struct said say_time(int64_t usec)
{
	struct said s = {"not told"};
	const int64_t seconds = usec / 1000000;
	if (usec == NUM_UNKNOWN)
		return s;
	if (usec < 1000)
		snprintf(s.text, sizeof(s.text), "%" PRId64 " \xc2\xb5s", usec);
	else if (usec < 1000000)
		say_scaled(&s, usec, "ms");
	else if (seconds < 120)
		say_scaled(&s, usec / 1000, "s");
	else if (seconds < 7200)
		snprintf(s.text, sizeof(s.text), "%" PRId64 " min %" PRId64 " s", seconds / 60,
			 seconds % 60);
	else
		snprintf(s.text, sizeof(s.text), "%" PRId64 " h %" PRId64 " min", seconds / 3600,
			 seconds / 60 % 60);
	return s;
}

struct said say_count(int64_t count)
{
	struct said s = {"not told"};
	char plain[WORDS_ROOM];
	if (count == NUM_UNKNOWN)
		return s;
	const int len = snprintf(plain, sizeof(plain), "%" PRId64, count);
	size_t used = 0;
	for (int i = 0; i < len && used + 2 < sizeof(s.text); i++) {
		if (i > 0 && (len - i) % 3 == 0)
			s.text[used++] = ',';
		s.text[used++] = plain[i];
	}
	s.text[used] = '\0';
	return s;
}

const struct guarantee_told *guarantee_told_of(const struct run_told *run, const char *name)
{
	for (size_t i = 0; i < run->guarantees_len; i++)
		if (bytes_are(run->guarantees[i].name, name))
			return &run->guarantees[i];
	return NULL;
}

/* ---- what became of it ---- */

/* limit: the guarantee whose request the sentence names. */
static const struct ending {
	const char *status;
	enum mood mood;
	const char *word, *sentence, *limit, *meaning;
} endings[] = {
	{"wall-timeout", MOOD_STOPPED, "Stopped: out of time",
	 "The run took longer than its wall-clock limit", "wall",
	 "Pinfold ended all of it. What it wrote until then may be incomplete."},
	{"cpu-timeout", MOOD_STOPPED, "Stopped: out of processor time",
	 "All processes of the run together used up their processor time", "cpu-time",
	 "Pinfold ended all of it. What it wrote until then may be incomplete."},
	{"idle-timeout", MOOD_STOPPED, "Stopped: idle",
	 "The program read and wrote nothing for longer than its idle limit", "idle",
	 "Pinfold ended all of it."},
	{"oom", MOOD_STOPPED, "Stopped: out of memory", "The run needed more memory than its limit",
	 "memory", "All of its processes were ended."},
	{"output-limit", MOOD_STOPPED, "Stopped: too much output",
	 "The program wrote more to stdout or stderr than its output limit", "output",
	 "What was passed on until then is cut off at the limit."},
	{"egress-limit", MOOD_STOPPED, "Stopped: too much network traffic",
	 "The run sent and received more than its egress limit", NULL, "Pinfold ended all of it."},
	{"foreign-abi", MOOD_STOPPED, "Stopped: a foreign system call interface",
	 "The program made system calls by an interface that no program of this host needs", NULL,
	 "That is a way around filters, and ends a run at once."},
	{"cancelled", MOOD_STOPPED, "Cancelled", "The run was ended from outside", NULL,
	 "By a signal to pinfold, or because whoever started it went away. It says nothing of the program."},
	{"exec-failed", MOOD_NEVER, "Did not start", "The command could not be executed", NULL,
	 "The sandbox was ready; the program never ran."},
	{"setup-failed", MOOD_NEVER, "Did not start", "The sandbox could not be set up", NULL,
	 "The program never ran. This is Pinfold's failure or the host's, not the program's."},
	{"refused", MOOD_NEVER, "Refused", "Pinfold did not start the run", NULL,
	 "The program never ran. What was asked for cannot be promised, or is a mistake."},
	{"lost", MOOD_NEVER, "Lost", "Pinfold cannot say how the run ended", NULL,
	 "Take nothing from it for granted."},
};

static struct verdict judge_exit(const struct run_told *run)
{
	struct verdict v = {.mood = MOOD_FAILED, .word = "Failed"};
	char code[WORDS_ROOM] = "a code that is not told";
	if (run->code != NUM_UNKNOWN)
		snprintf(code, sizeof(code), "code %" PRId64, run->code);
	snprintf(v.sentence, sizeof(v.sentence), "The program ended by itself with exit %s", code);
	if (run->ok) {
		v.mood = MOOD_GOOD;
		v.word = "Succeeded";
	} else if (run->code == 0) {
		v.meaning = "Yet an artifact that the run requires was not kept.";
	} else {
		v.meaning = "The code is the program's own, and so is its meaning.";
	}
	return v;
}

static struct verdict judge_signal(const struct run_told *run)
{
	struct verdict v = {.mood = MOOD_FAILED,
			    .word = "Crashed",
			    .meaning = "The signal was not Pinfold's: it came from inside the sandbox, or "
				       "from the kernel for what the program did."};
	const char *name = run->signal > 0 && run->signal < 64 ? sigabbrev_np((int)run->signal)
							       : NULL;
	snprintf(v.sentence, sizeof(v.sentence), "Signal %" PRId64 "%s%s%s ended the program",
		 run->signal == NUM_UNKNOWN ? 0 : run->signal, name ? " (" : "", name ? name : "",
		 name ? ")" : "");
	return v;
}

static struct verdict judge_ending(const struct run_told *run, const struct ending *row)
{
	struct verdict v = {.mood = row->mood, .word = row->word, .meaning = row->meaning};
	const struct guarantee_told *g = row->limit ? guarantee_told_of(run, row->limit) : NULL;
	char limit[64] = "";
	if (g && g->requested.at && g->requested.len < 32 &&
	    strlen(g->requested.at) == g->requested.len)
		snprintf(limit, sizeof(limit), " of %s", g->requested.at);
	snprintf(v.sentence, sizeof(v.sentence), "%s%s", row->sentence, limit);
	return v;
}

struct verdict verdict_of(const struct run_told *run)
{
	if (bytes_are(run->status, "exited"))
		return judge_exit(run);
	if (bytes_are(run->status, "signaled"))
		return judge_signal(run);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (bytes_are(run->status, endings[i].status))
			return judge_ending(run, &endings[i]);
	return (struct verdict){.mood = run->ok ? MOOD_GOOD : MOOD_STOPPED,
				.word = run->ok ? "Succeeded" : "Did not succeed",
				.sentence = "The run ended in a way that this version has no words for",
				.meaning = "The result is of a newer Pinfold; its status is below."};
}
