/* A plot of a few series over time, as SVG in the page. Pure. */
#ifndef PINFOLD_REPORT_PLOT_H
#define PINFOLD_REPORT_PLOT_H

#include "report/html.h"

enum plot_unit { PLOT_SIZE, PLOT_COUNT, PLOT_MILLI };

struct point {
	int64_t at_usec, value; /* value: NUM_UNKNOWN is a gap */
};

struct series {
	const char *name; /* for the key; NULL: there is but one */
	const struct point *points;
	size_t len;
	bool stepped; /* the value held from the point before on */
};

enum { PLOT_SERIES_MAX = 2 };
struct plot {
	const char *title, *unit;
	enum plot_unit kind;
	struct series series[PLOT_SERIES_MAX];
	size_t series_len;
	int64_t until_usec; /* the right edge */
	int64_t limit;	    /* NUM_UNKNOWN: none */
};

/* A figure with its caption; where a series has no point it says so. */
void plot_put(struct html *h, const struct plot *p);

#endif
