/* What a type of key does: text into its field, its field into JSON.
 * Inside spec/ only.
 */
#ifndef PINFOLD_SPEC_VALUE_H
#define PINFOLD_SPEC_VALUE_H

#include "spec/keys.h"
#include "spec/writer.h"

/* The field of k, of the type that k's type says. */
static inline void *value_field(struct spec *s, const struct key *k)
{
	return (char *)s + k->offset;
}

static inline const void *value_field_of(const struct spec *s, const struct key *k)
{
	return (const char *)s + k->offset;
}

/* Set the field of k from text. ERR_USAGE without the key's name; the field untouched then. */
int value_set(struct spec *s, const struct key *k, const char *text, struct err *e);

/* Back to what it is when the key is not given at all. */
void value_clear(struct spec *s, const struct key *k);

/* A number's field, lowered: as if it had been its default. */
void value_lower(struct spec *s, const struct key *k, uint64_t value);

/* A number as a flag has it; buf of PARSE_TEXT_BYTES. */
void value_format(const struct key *k, uint64_t value, char *buf);

/* The field as a canonical JSON member of the key's name. */
void value_write(const struct spec *s, const struct key *k, struct json_writer *w);

/* One word of the command line of the program, or a variable; checked for length. */
int value_check_word(const char *what, const char *text, struct err *e);

/* One more variable, NAME=VALUE, in the place of one of that name. Unlike a user's, whose odd name
 * is a slip, it may have any name: an image's are what its maker's programs look for. ERR_USAGE. */
int value_add_env(struct spec *s, const char *text, struct err *e);

#endif
