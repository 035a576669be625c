/* What the types of key do that add up: each text is one more guarantee, rule, input or artifact.
 * Rows of the table of spec/value.c; inside spec/ only.
 */
#ifndef PINFOLD_SPEC_LIST_H
#define PINFOLD_SPEC_LIST_H

#include "spec/value.h"

/* One more; ERR_USAGE without the key's name, and the list as it was. */
int list_set_require(struct spec *s, const struct key *k, const char *text, struct err *e);
int list_set_allow(struct spec *s, const struct key *k, const char *text, struct err *e);
int list_set_input(struct spec *s, const struct key *k, const char *text, struct err *e);
int list_set_artifact(struct spec *s, const struct key *k, const char *text, struct err *e);

/* The list as a canonical JSON member of the key's name. */
void list_write_require(const struct spec *s, const struct key *k, struct json_writer *w);
void list_write_allow(const struct spec *s, const struct key *k, struct json_writer *w);
void list_write_input(const struct spec *s, const struct key *k, struct json_writer *w);
void list_write_artifact(const struct spec *s, const struct key *k, struct json_writer *w);

/* Back to what it is when the key is not given at all. */
void list_clear_require(struct spec *s, const struct key *k);
void list_clear_allow(struct spec *s, const struct key *k);
void list_clear_input(struct spec *s, const struct key *k);
void list_clear_artifact(struct spec *s, const struct key *k);

#endif
