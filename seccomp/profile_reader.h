/* Reading a JSON document with jansson so that an error can name the place. Internal to the reading
 * of profiles. */
#ifndef PINFOLD_SECCOMP_PROFILE_READER_H
#define PINFOLD_SECCOMP_PROFILE_READER_H

#include "seccomp/profile.h"

#include <jansson.h>

enum { READER_DEPTH_MAX = 8 }; /* a profile nests five deep */

struct place {
	const char *key; /* a member; NULL: an element */
	size_t index;
};

struct reader {
	struct profile *p;
	struct profile_context *context;
	struct err *err;
	struct place path[READER_DEPTH_MAX]; /* where the reading is */
	size_t depth;
	size_t names_len; /* in all rows */
};

/* Go down into a member or an element, and up again. After an error nobody goes up. */
void reader_enter_key(struct reader *rd, const char *key);
void reader_enter_element(struct reader *rd, size_t index);
void reader_leave(struct reader *rd);

/* ERR_USAGE "NAME:LINE:COLUMN: ..." of where the reading is, or of a member there. Return -1. */
int reader_refuse(struct reader *rd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int reader_refuse_key(struct reader *rd, const char *key, const char *what);

/* Every key of the object is one of known, which ends with NULL. */
int reader_check_keys(struct reader *rd, json_t *object, const char *const *known);

/* The member: NULL, or -1 for a number, if it is absent or null. Another type is refused. */
int reader_get(struct reader *rd, json_t *object, const char *key, json_type type, json_t **value);
int reader_get_text(struct reader *rd, json_t *object, const char *key, const char **text);
int reader_get_number(struct reader *rd, json_t *object, const char *key, int64_t *number);

/* An array of strings, each given to fn with its place entered. */
int reader_for_texts(struct reader *rd, json_t *object, const char *key,
		     int (*fn)(struct reader *, const char *, void *), void *ctx);

#endif
