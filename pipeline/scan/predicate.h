/* The predicates of a rule's patterns: rules.h lists them. The rules' alone. */
#ifndef PINFOLD_PIPELINE_SCAN_PREDICATE_H
#define PINFOLD_PIPELINE_SCAN_PREDICATE_H

#include "pipeline/scan/rules.h"

int predicates_compile(const TSQuery *q, uint32_t pattern, struct pattern *to, struct arena *a,
		       struct err *e);
/* What a pattern holds beside the arena. */
void predicates_free(struct pattern *p);
/* The number of a capture; -1: the query has none of that name. */
int predicates_capture(const TSQuery *q, const char *name);

#endif
