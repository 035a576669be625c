/* One JSON document whose members are keys of the table, and where in it things stand. For readers
 * of documents: spec/ and pipeline/. */
#ifndef PINFOLD_SPEC_DOCUMENT_H
#define PINFOLD_SPEC_DOCUMENT_H

#include "spec/keys.h"
#include "spec/locate.h"

#include <jansson.h>

struct document {
	char name[96]; /* as it stands in messages; "": nobody wrote it, and messages have no place */
	struct json_text j;
	json_t *root;
};

struct decoded {
	json_t *value;
};

static inline void decoded_drop(struct decoded *d)
{
	json_decref(d->value);
}
#define autodecoded __attribute__((cleanup(decoded_drop))) struct decoded

/* What the members of an object may be. */
enum members {
	MEMBERS_SPEC,	  /* every key, image and command */
	MEMBERS_DEFAULTS, /* every key */
	MEMBERS_CEILINGS, /* keys that are a number with a bound */
};

/* An object, not too large and not too deep; what: "a spec". The root is the caller's to drop, also on failure. */
int document_parse(struct document *d, const char *what, struct err *e);
/* name as it may stand in messages; text is borrowed. */
void document_init(struct document *d, const char *name, const char *text, size_t len);
/* Puts the place, and the key if one is to blame, before the message that is there. Returns -1. */
int document_refuse(const struct document *d, size_t at, const char *key, struct err *e);
json_t *document_decode(const struct document *d, struct slice s);
/* The text of a string, or of bytes as base64. */
int document_text(const json_t *value, struct arena *a, const char **text, struct err *e);
/* The members of the object at `at`, set in s. */
int document_set_members(struct spec *s, const struct document *d, size_t at, enum members kind,
			 struct err *e);
/* The same for an object that has members besides, which are no keys: others, NULL-terminated. They
 * are passed over. Every key may stand in it, image and command. */
int document_set_beside(struct spec *s, const struct document *d, size_t at,
			const char *const *others, struct err *e);
/* One value, set in s. */
int document_set_key(struct spec *s, const struct key *k, const struct document *d, struct slice at,
		     struct err *e);

#endif
