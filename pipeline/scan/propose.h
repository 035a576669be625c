/* A draft of a job from what was found: who wants to run the tree begins with it, and decides. */
#ifndef PINFOLD_PIPELINE_SCAN_PROPOSE_H
#define PINFOLD_PIPELINE_SCAN_PROPOSE_H

#include "pipeline/scan/language.h"
#include "pipeline/scan/scan.h"

enum { ENTRY_MAX = 1024 };

/* Of each language: how many bytes, and the file to begin with. */
struct seen {
	uint64_t bytes[LANGUAGES];
	char entry[LANGUAGES][ENTRY_MAX];
};

/* Take note of a file; path is below the root. */
void seen_file(struct seen *s, enum language l, const char *path);

/* A job document (docs/job.schema.json); path, a folder or a file, is the source. malloc'ed; NULL:
 * memory was out. */
char *propose(const struct seen *s, const struct scan_findings *all, const char *path,
	      bool is_folder);

#endif
