/* Text to numbers and back, exactly: no floating point, no locale, no octal.
 *
 * Knows nothing of keys. Every parser takes the whole text or refuses it with a
 * message that says what would be right; the outputs stay untouched then.
 */
#ifndef PINFOLD_SPEC_PARSE_H
#define PINFOLD_SPEC_PARSE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The largest size, time and count: what a JSON integer of 64 bits can say. */
#define PARSE_MAX ((uint64_t)INT64_MAX)

/* Plain decimal digits; "none" gives LIMIT_NONE. */
int spec_parse_count(const char *text, uint64_t *count, struct err *e);

/* "2", "0.5", "1.25" (at most three decimals) in thousandths; "none" gives LIMIT_NONE. */
int spec_parse_cpus(const char *text, uint64_t *milli, struct err *e);

/* The shortest exact text that the parser of the same kind reads back: "512M", "1500ms", "0.5".
 * LIMIT_NONE is "none". buf of PARSE_TEXT_BYTES is always enough. */
enum { PARSE_TEXT_BYTES = 32 };
void spec_format_size(uint64_t bytes, char buf[PARSE_TEXT_BYTES]);
void spec_format_time(uint64_t ns, char buf[PARSE_TEXT_BYTES]);
void spec_format_cpus(uint64_t milli, char buf[PARSE_TEXT_BYTES]);
void spec_format_count(uint64_t count, char buf[PARSE_TEXT_BYTES]);

/* Text of the caller's as it may stand in a message: quoted, at most 40 bytes of it, and
 * everything but printable ASCII as \xNN, so that a terminal only sees letters. */
struct shown {
	char text[176];
};
struct shown show(const char *text);

#endif
