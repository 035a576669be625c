/* "N" or "N:NAME", the slots that independent runs share. Inside spec/ only. */
#ifndef PINFOLD_SPEC_SLOTS_H
#define PINFOLD_SPEC_SLOTS_H

#include "spec/spec.h"

/* "none" is a count of 0. The name is the arena's. ERR_USAGE. */
int slots_parse(const char *text, struct arena *a, struct slots *to, struct err *e);

#endif
