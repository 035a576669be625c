/* The page: a report as HTML. Pure.
 *
 * One file that needs nothing else: no script, styles in its head, plots as SVG, images as data. It
 * is made in two halves by two processes: the body by the jailed one that has read the documents,
 * the head, with a policy under which nothing runs and nothing is loaded, by its caller, which also
 * holds the body against a list of what may be in one (page_check()). So a reader that was taken
 * over can tell lies on the page, and that is all.
 */
#ifndef PINFOLD_REPORT_PAGE_H
#define PINFOLD_REPORT_PAGE_H

#include "report/model.h"

enum { PAGE_BYTES_MAX = 48 << 20, PAGE_TITLE_BYTES = 160 };

/* What is between <body> and </body>. */
void page_body(struct html *h, const struct report *r);
/* Its title, cut to fit: id and verdict. */
void page_title(char title[PAGE_TITLE_BYTES], const struct report *r);

/* The whole page around a body that page_check() has passed. title: any bytes. */
void page_put(struct html *h, struct bytes title, struct bytes body);

/* Elements and attributes of a table, quoted values, links into the page, images that are data; no
 * markup besides. ERR_BUG: what it met. */
int page_check(struct bytes body, struct err *e);

/* ---- between the files of this room ---- */

/* plots.c: what the events tell over time. */
struct part;
void page_plots(const struct part *p, const struct run_told *run, struct arena *a);
/* kept.c: artifacts with previews, and the two streams. */
void page_artifacts(const struct part *p, const struct run_told *run);
void page_output(const struct part *p, const struct run_told *run);
/* promises.c: limits and guarantees. */
void page_limits(const struct part *p, const struct run_told *run);
void page_guarantees(const struct part *p, const struct run_told *run);
/* style.c */
extern const char page_style[];

#endif
