/* Names that C's preprocessor puts together: "#define X(a, b) a##b" makes "X(sys, tem)(c)" a call of
 * system. Only what stands in front is followed, only in the file's own macros, and only where something
 * is pasted: a macro without that is found where it is defined. Pure; any bytes, in bounded time. */
#ifndef PINFOLD_PIPELINE_SCAN_MACRO_H
#define PINFOLD_PIPELINE_SCAN_MACRO_H

#include "pipeline/scan/names.h"

enum { MACRO_FORMS = 4 }; /* of a macro that is defined more than once */

struct macro_text {
	struct span at;
	unsigned which; /* of the definitions: see names_macro() */
	bool call;	/* only where it comes to a call */
};

/* The name that text begins with when the macro in front of it, and those that it comes to, are
 * expanded. False: there is no macro of n in front, nothing is pasted, or it does not fit. */
bool macro_name(const struct names *n, struct macro_text text, char *to, size_t size);
/* The word that is in text is gone from what the macro in front of it comes to: it was pasted to
 * something else, or made a text. */
bool macro_swallows(const struct names *n, struct span text, struct span word);

#endif
