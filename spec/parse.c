#include "spec/parse.h"

#include "spec/spec.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* More decimals than this are a mistake rather than a wish. */
enum { FRACTION_DIGITS_MAX = 9 };

struct decimal {
	uint64_t whole;
	uint64_t fraction; /* fraction / scale */
	uint64_t scale;
	bool point;
	size_t digits;	  /* of the fraction */
	const char *tail; /* behind the number */
};

struct unit {
	const char *name;
	uint64_t factor;
	unsigned int decimals; /* the most; a time has no part of a nanosecond */
};

/* Largest first, so that formatting takes the first that divides. */
static const struct unit size_units[] = {
	{"T", 1ULL << 40, 3}, {"G", 1ULL << 30, 3}, {"M", 1ULL << 20, 3},
	{"K", 1ULL << 10, 3}, {"", 1, 0},
};

static const struct unit time_units[] = {
	{"h", 3600000000000ULL, 9}, {"m", 60000000000ULL, 9}, {"s", 1000000000ULL, 9},
	{"ms", 1000000ULL, 6},	    {"us", 1000ULL, 3},	      {"ns", 1ULL, 0},
};

/* Spellings that people write; the answer is a hint, never a guess. */
static const struct {
	const char *theirs;
	const char *ours;
} time_spellings[] = {
	{"S", "s"},	     {"sec", "s"},  {"secs", "s"},    {"second", "s"},	{"seconds", "s"},
	{"min", "m"},	     {"mins", "m"}, {"minute", "m"},  {"minutes", "m"}, {"H", "h"},
	{"hr", "h"},	     {"hour", "h"}, {"hours", "h"},   {"msec", "ms"},	{"usec", "us"},
	{"\xc2\xb5s", "us"}, {"MS", "ms"},  {"millis", "ms"},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct shown show(const char *text)
{
	struct shown s;
	size_t at = 0;
	size_t left = 40;
	s.text[at++] = '\'';
	for (; *text && left > 0; text++, left--) {
		unsigned char c = (unsigned char)*text;
		if (c >= 0x20 && c < 0x7f)
			s.text[at++] = (char)c;
		else
			at += (size_t)snprintf(s.text + at, 5, "\\x%02x", c);
	}
	snprintf(s.text + at, sizeof(s.text) - at, "'%s", *text ? "..." : "");
	return s;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits, and after a point at least one more digit. False: no such number, or too large. */
static bool scan_decimal(const char *text, struct decimal *d)
{
	*d = (struct decimal){.scale = 1};
	if (!is_digit(*text))
		return false;
	for (; is_digit(*text); text++) {
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, (uint64_t)(*text - '0'), &d->whole))
			return false;
	}
	if (*text == '.') {
		d->point = true;
		for (text++; is_digit(*text); text++, d->digits++) {
			if (d->digits == FRACTION_DIGITS_MAX)
				return false;
			d->fraction = d->fraction * 10 + (uint64_t)(*text - '0');
			d->scale *= 10;
		}
		if (d->digits == 0)
			return false;
	}
	d->tail = text;
	return true;
}

/* number * factor, what is smaller than one dropped. False: too large. */
static bool scale(const struct decimal *d, uint64_t factor, uint64_t *out)
{
	uint64_t whole, sum;
	unsigned __int128 part = (unsigned __int128)d->fraction * factor / d->scale;
	if (__builtin_mul_overflow(d->whole, factor, &whole) ||
	    __builtin_add_overflow(whole, (uint64_t)part, &sum) || sum > PARSE_MAX)
		return false;
	*out = sum;
	return true;
}

static const struct unit *unit_find(const struct unit *units, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i++) {
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	}
	return NULL;
}

static int refuse_decimals(const char *text, const struct unit *u, struct err *e)
{
	if (u->decimals == 0)
		return err_usage(e, "%s is too fine; nanoseconds are whole", show(text).text);
	return err_usage(e, "%s is too fine; with %s there are at most %u decimals",
			 show(text).text, u->name, u->decimals);
}

/* "64m", "64MB", "64MiB", "64kB": the letter that was meant; 0: no idea. */
static char size_letter_meant(const char *tail)
{
	static const char *const endings[] = {"", "b", "B", "ib", "iB"};
	static const char letters[] = "KMGTkmgt";
	const char *letter = *tail ? strchr(letters, *tail) : NULL;
	if (!letter)
		return 0;
	for (size_t i = 0; i < LENGTH(endings); i++) {
		if (strcmp(tail + 1, endings[i]) == 0)
			return letters[(letter - letters) % 4];
	}
	return 0;
}

int spec_parse_size(const char *text, uint64_t *bytes, struct err *e)
{
	if (strcmp(text, "none") == 0) {
		*bytes = LIMIT_NONE;
		return 0;
	}
	struct decimal d;
	if (!scan_decimal(text, &d))
		return err_usage(e, "%s is not a size; sizes are like 64M or 1.5G (K M G T, binary)",
				 show(text).text);
	const struct unit *u = unit_find(size_units, LENGTH(size_units), d.tail);
	char meant = size_letter_meant(d.tail);
	if (!u && meant)
		return err_usage(e, "%s is not a size; write %.*s%c (binary units are K M G T)",
				 show(text).text, (int)(d.tail - text < 24 ? d.tail - text : 24),
				 text, meant);
	if (!u || (d.point && u->factor == 1))
		return err_usage(e, "%s is not a size; sizes are like 64M or 1.5G (K M G T, binary)",
				 show(text).text);
	if (d.digits > u->decimals)
		return refuse_decimals(text, u, e);
	if (!scale(&d, u->factor, bytes))
		return err_usage(e, "%s is too large; the most is 2^63 - 1 bytes", show(text).text);
	return 0;
}

static const char *time_unit_meant(const char *tail)
{
	for (size_t i = 0; i < LENGTH(time_spellings); i++) {
		if (strcmp(tail, time_spellings[i].theirs) == 0)
			return time_spellings[i].ours;
	}
	return NULL;
}

int spec_parse_time(const char *text, uint64_t *ns, struct err *e)
{
	if (strcmp(text, "none") == 0) {
		*ns = LIMIT_NONE;
		return 0;
	}
	struct decimal d;
	if (!scan_decimal(text, &d))
		return err_usage(e, "%s is not a time; times are like 500ms, 2s, 5m or 1h",
				 show(text).text);
	int shown_len = (int)(d.tail - text < 24 ? d.tail - text : 24);
	const struct unit *u = unit_find(time_units, LENGTH(time_units), d.tail);
	const char *meant = time_unit_meant(d.tail);
	if (!u && !*d.tail)
		return err_usage(e, "%s has no unit; write %.*ss or %.*sms (h m s ms us ns)",
				 show(text).text, shown_len, text, shown_len, text);
	if (!u && meant)
		return err_usage(e, "%s is not a time; write %.*s%s (h m s ms us ns)",
				 show(text).text, shown_len, text, meant);
	if (!u)
		return err_usage(e, "%s is not a time; times are like 500ms, 2s, 5m or 1h",
				 show(text).text);
	if (d.digits > u->decimals)
		return refuse_decimals(text, u, e);
	if (!scale(&d, u->factor, ns))
		return err_usage(e, "%s is too long; the most is 292 years", show(text).text);
	return 0;
}

int spec_parse_count(const char *text, uint64_t *count, struct err *e)
{
	if (strcmp(text, "none") == 0) {
		*count = LIMIT_NONE;
		return 0;
	}
	struct decimal d;
	if (!scan_decimal(text, &d) || d.point || *d.tail)
		return err_usage(e, "%s is not a whole number", show(text).text);
	if (d.whole > PARSE_MAX)
		return err_usage(e, "%s is too large", show(text).text);
	*count = d.whole;
	return 0;
}

int spec_parse_cpus(const char *text, uint64_t *milli, struct err *e)
{
	if (strcmp(text, "none") == 0) {
		*milli = LIMIT_NONE;
		return 0;
	}
	struct decimal d;
	if (!scan_decimal(text, &d) || d.digits > 3 || *d.tail || !scale(&d, 1000, milli))
		return err_usage(e,
				 "%s is not a number of cpus; write 2 or 0.5 (three decimals at most)",
				 show(text).text);
	return 0;
}

static void format_unit(uint64_t value, const struct unit *units, size_t len, char *buf)
{
	const struct unit *u = units;
	if (value == 0)
		u = &units[len - 1];
	while (value % u->factor)
		u++;
	snprintf(buf, PARSE_TEXT_BYTES, "%llu%s", (unsigned long long)(value / u->factor), u->name);
}

void spec_format_size(uint64_t bytes, char buf[PARSE_TEXT_BYTES])
{
	if (bytes == LIMIT_NONE)
		snprintf(buf, PARSE_TEXT_BYTES, "none");
	else
		format_unit(bytes, size_units, LENGTH(size_units), buf);
}

void spec_format_time(uint64_t ns, char buf[PARSE_TEXT_BYTES])
{
	if (ns == LIMIT_NONE)
		snprintf(buf, PARSE_TEXT_BYTES, "none");
	else if (ns == 0)
		snprintf(buf, PARSE_TEXT_BYTES, "0s");
	else
		format_unit(ns, time_units, LENGTH(time_units), buf);
}

void spec_format_count(uint64_t count, char buf[PARSE_TEXT_BYTES])
{
	if (count == LIMIT_NONE)
		snprintf(buf, PARSE_TEXT_BYTES, "none");
	else
		snprintf(buf, PARSE_TEXT_BYTES, "%llu", (unsigned long long)count);
}

void spec_format_cpus(uint64_t milli, char buf[PARSE_TEXT_BYTES])
{
	if (milli == LIMIT_NONE) {
		snprintf(buf, PARSE_TEXT_BYTES, "none");
		return;
	}
	int n = snprintf(buf, PARSE_TEXT_BYTES, "%llu.%03u", (unsigned long long)(milli / 1000),
			 (unsigned int)(milli % 1000));
	while (buf[n - 1] == '0')
		buf[--n] = '\0';
	if (buf[n - 1] == '.')
		buf[--n] = '\0';
}
