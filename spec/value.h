/* What a type of key does: text into its field, its field into JSON.
 * Inside spec/ only.
 */
#ifndef PINFOLD_SPEC_VALUE_H
#define PINFOLD_SPEC_VALUE_H

#include "spec/keys.h"

#include <jansson.h>

/* Set the field of k from text. ERR_USAGE without the key's name; the field untouched then. */
int value_set(struct spec *s, const struct key *k, const char *text, struct err *e);

/* Back to what it is when the key is not given at all. */
void value_clear(struct spec *s, const struct key *k);

/* The field as its canonical JSON value; a new reference, NULL when memory is out. */
json_t *value_write(const struct spec *s, const struct key *k);

/* One word of the command line of the program, or its image; checked for length. */
int value_check_word(const char *what, const char *text, struct err *e);

/* Text as a JSON string if it is valid UTF-8, else {"encoding":"base64","data":"..."}. */
json_t *json_bytes(const char *text);

/* The reverse of json_bytes(): the arena's text. ERR_USAGE: neither of the two, a NUL in it. */
int json_bytes_read(const json_t *value, struct arena *a, const char **text, struct err *e);

#endif
