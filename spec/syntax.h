/* What is wrong with a text that is no JSON, in words of ours and with its place. */
#ifndef PINFOLD_SPEC_SYNTAX_H
#define PINFOLD_SPEC_SYNTAX_H

#include "base/err.h"
#include "spec/locate.h"

#include <jansson.h>

/* jansson's own words may quote the text, and speak to whoever calls jansson. */
const char *syntax_words(const json_error_t *found);

/* ERR_USAGE, NAME:LINE:COLUMN and a sentence, from what jansson found in the text. name is printed
 * as it is. */
int syntax_refuse(const char *name, const struct json_text *j, const json_error_t *found,
		  struct err *e);

#endif
