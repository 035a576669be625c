/* Artifacts, when all of the run is dead: who reads them, who looks at them, what is kept. See
 * docs/in-and-out.md. */
#ifndef PINFOLD_RUNTIME_COLLECT_H
#define PINFOLD_RUNTIME_COLLECT_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/spec.h"
#include "transfer/json.h"

#include <stdbool.h>

struct run;

struct artifacts_plan {
	int dir;	      /* the artifacts folder; -1: none (yet) */
	struct tree *schemas; /* one a rule, without nodes where it has none; NULL: no rule has */
};
#define ARTIFACTS_PLAN_INIT {.dir = -1}

/* The folder and the schemas. dry: nothing is made. */
int artifacts_plan(struct artifacts_plan *p, const struct spec *s, bool dry, struct err *e);
void artifacts_plan_close(struct artifacts_plan *p, const struct spec *s);

/* After the drain and with the verdict in the result: fills its artifacts. Nothing without a rule,
 * where the program never ran, or where death did not come. Waits, for as long as its bounds say
 * and nobody tells us to stop. */
void collect_artifacts(struct run *run);

struct validation {
	const struct artifact_rule *rule;
	const struct tree *schema; /* NULL: none */
	int fd;			   /* borrowed */
	int64_t most_ns;	   /* that all validators may still take together */
};

/* One file against its type, in a jailed child. 0, or -1 and why. */
int validate_file(struct run *run, const struct validation *v, struct err *why);

#endif
