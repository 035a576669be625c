/* Notebooks (.ipynb): the cells that are code, and in which language. Bytes are a stranger's. */
#ifndef PINFOLD_PIPELINE_SCAN_NOTEBOOK_H
#define PINFOLD_PIPELINE_SCAN_NOTEBOOK_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOTEBOOK_DEPTH_MAX = 64, NOTEBOOK_CELLS_MAX = 5000 };

/* IPython's own lines are taken out of code and are in shell, each at its place: "!cmd", "%sx cmd",
 * "x = !cmd"; the whole cell behind "%%bash". Other magics are blank in both. */
struct cell {
	uint32_t number;	  /* from 1, as they stand in the file */
	const char *code, *shell; /* shell: NULL where there is none */
	const char *first;	  /* the first command */
};

struct notebook {
	const char *language; /* as the file says it, in lower case; "python" where it does not */
	struct cell *cells;
	size_t len;
	bool cut; /* more than NOTEBOOK_CELLS_MAX */
};

int notebook_parse(const char *text, size_t len, struct arena *a, struct notebook *n, struct err *e);

#endif
