/* THE key table: one row an option. The command line, the JSON spec, the canonical
 * JSON, --help, the completion and the manual page all read these rows.
 *
 * A row says where the value lives, of what type it is, what it is by default (set
 * by the same parser), what it may be, and one sentence of help. A type is a pair of
 * functions in value.c. No option is accepted and ignored: what is not here is unknown.
 */
#ifndef PINFOLD_SPEC_KEYS_H
#define PINFOLD_SPEC_KEYS_H

#include "spec/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_type {
	KEY_SIZE,
	KEY_RATE,
	KEY_TIME,
	KEY_COUNT,
	KEY_CPUS, /* uint64_t */
	KEY_UID,  /* uint32_t */
	KEY_ENUM, /* an enum, by key.words */
	KEY_BOOL, /* bool: a flag without a value */
	KEY_ID,
	KEY_HOSTNAME,
	KEY_WORKDIR,
	KEY_PATH,
	KEY_SINK,    /* const char * */
	KEY_STDIN,   /* stdin_kind and stdin_file */
	KEY_ENV,     /* repeatable */
	KEY_REQUIRE, /* repeatable, comma lists */
	KEY_ALLOW,   /* repeatable */
	KEY_INPUT,   /* repeatable */
	KEY_INPUT_RO,
	KEY_ARTIFACT, /* repeatable */
	KEY_SLOTS,    /* struct slots */
	KEY_TYPE_COUNT,
};

/* The sections of --help and of the manual page, in this order. */
enum key_group {
	GROUP_LIMITS,
	GROUP_NETWORK,
	GROUP_INSIDE,
	GROUP_TRANSFER,
	GROUP_STREAMS,
	GROUP_RESULT,
	GROUP_RUN,
	GROUP_COUNT
};

struct key {
	const char *name;
	enum key_type type;
	enum key_group group;
	size_t offset;		  /* in struct spec */
	const char *initial;	  /* the default as text; NULL: not given */
	uint64_t min, max;	  /* of a number, in the units of the field */
	bool no_none;		  /* a number that cannot be lifted */
	const char *const *words; /* KEY_ENUM: NULL-terminated, in the order of the enum */
	const char *placeholder;  /* of the value in help: SIZE, FILE */
	const char *help;	  /* one sentence, without a capital and a full stop */
	const char *object;	  /* of JSON, whose member it is; NULL: of the spec itself */
	const char *member;	  /* its name in that object */
};

extern const struct key spec_keys[];
extern const size_t spec_keys_len;
extern const char *const key_group_titles[GROUP_COUNT];

/* The row of that name; NULL: unknown. */
const struct key *key_find(const char *name);

/* Whether name may be a slip of word, and a nearer one than what was found before: *distance is lowered then. */
enum { WORD_NEAR = 3 }; /* where *distance begins */
bool word_is_near(const char *name, const char *word, unsigned int *distance);

/* The name that was probably meant: a key or one of the words that stand beside the keys
 * ("spec", "help", "image", "command"); NULL: nothing is near. */
const char *key_nearest(const char *name);

/* Its name as a member in JSON. */
const char *key_member(const struct key *k);

/* The row that is the member of that object of JSON; NULL: none. With member NULL: any of that object. */
const struct key *key_find_member(const char *object, const char *member);

/* Read before all others, so that a refusal knows them too: where the result goes, and the run's files. */
bool key_is_early(const struct key *k);

/* Its value for people, as a flag has it or as JSON; malloc'ed. NULL: memory is out. */
char *key_value_text(const struct spec *s, const struct key *k);

/* May be given more than once; the values add up. */
bool key_repeatable(const struct key *k);

#endif
