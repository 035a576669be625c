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

struct part;
struct said;
struct verdict;
/* What stands in the banner beside a verdict. of: "run" or "job". message: of the document; at NULL: none. */
struct headline {
	const char *of;
	struct bytes id, status, message;
};
/* page.c */
void page_verdict(struct html *h, const struct verdict *v, const struct headline *line);
void page_figure(struct html *h, const char *term, struct said said);
void page_figures(struct html *h, const struct run_told *run);
void page_warnings(const struct part *p, const struct bytes *warnings, size_t len);
/* A fact that is left out where the document does not tell it, and one that is code. */
void page_fact(struct html *h, const char *term, struct bytes text);
void page_code_fact(struct html *h, const char *term, struct bytes text);
/* All of a run but verdict and key figures. */
void page_run(const struct part *p, const struct run_told *run, struct arena *a);
/* job.c: a job, from its verdict to where it ran. */
void page_job(struct html *h, const struct report *r, struct arena *a);
/* stages.c: each stage with its run, and the combinations of a matrix. */
void page_stages(const struct part *p, const struct report *r, struct arena *a);
void page_matrix(const struct part *p, const struct report *r);
void page_set(struct html *h, const struct stage_told *s);
/* findings.c: the analysis, and what compilers said. */
void page_analysis(const struct part *p, const struct job_told *job);
void page_diagnostics(const struct part *p, const struct stage_told *s);
/* cost.c */
void page_cost(const struct part *p, const struct job_told *job);
/* plots.c: what the events tell over time. */
void page_plots(const struct part *p, const struct run_told *run, struct arena *a);
/* kept.c: artifacts with previews, and the two streams. */
void page_artifacts(const struct part *p, const struct run_told *run);
/* Of a job; but what is for its later stages, which is_handed_on() tells. */
bool is_handed_on(const struct stage_told *s, const struct artifact_told *row);
void page_all_artifacts(const struct part *p, const struct report *r);
void page_output(const struct part *p, const struct run_told *run);
/* promises.c: limits and guarantees. */
void page_limits(const struct part *p, const struct run_told *run);
void page_guarantees(const struct part *p, const struct run_told *run);
/* style.c */
extern const char page_style[];

#endif
