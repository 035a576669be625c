/* The scanner outside of the jail: it walks the tree, hands each file's bytes to the jailed reader, believes
 * its records within their bounds, and starts another reader when one dies or takes too long. */
#ifndef PINFOLD_PIPELINE_SCAN_SCANNER_H
#define PINFOLD_PIPELINE_SCAN_SCANNER_H

#include "base/err.h"
#include "pipeline/scan/propose.h"
#include "pipeline/scan/rules.h"
#include "pipeline/scan/scan.h"
#include "runtime/jail.h"

#include <stdint.h>

enum {
	/* Readers that may die before the rest of the tree is given up. */
	SCAN_DEATHS_MAX = 20,
};

struct scanner {
	struct ruleset *rules;		/* borrowed */
	struct scan_findings *findings; /* borrowed */
	uint64_t file_cpu_ns;		/* processor time that one file may take */
	/* What was seen. */
	size_t files;
	uint64_t bytes;
	struct seen seen;
	/* The reader; orders go to it, records come from it. */
	struct jail_child child;
	struct jail jail;
	int to, from;
	int deaths;
	bool given_up;
};

#define SCANNER_INIT {.child = JAIL_CHILD_INIT, .to = -1, .from = -1}

/* path: a folder, or one file. -1 and *e: there is no such thing, or no jail is to be had; whatever
 * is wrong with what is in it is a finding. */
int scanner_read(struct scanner *s, const char *path, struct err *e);
/* Another analyser's log; its findings are told as that analyser's. */
int scanner_merge(struct scanner *s, const char *path, struct err *e);
/* All findings are there: put them in order; where some were dropped one says so. */
void scanner_finish(struct scanner *s);
void scanner_close(struct scanner *s);

#endif
