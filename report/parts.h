/* The parts that a page is put together from: sections, tables, bars, facts. */
#ifndef PINFOLD_REPORT_PARTS_H
#define PINFOLD_REPORT_PARTS_H

#include "report/model.h"
#include "report/words.h"

/* stage: a number for ids, so that the same part may stand on one page more than once. RANK_PAGE: a
 * part of the page itself; else it is one within a stage of it, closed until somebody opens it or,
 * with RANK_OPEN, open. */
enum rank { RANK_PAGE, RANK_CLOSED, RANK_OPEN };
struct part {
	struct html *h;
	size_t stage;
	enum rank rank;
};
void part_begin(const struct part *p, const char *name, const char *title);
void part_end(const struct part *p);
/* A paragraph of our own words, quieter than the rest. */
void part_note(const struct part *p, const char *words);

struct column {
	const char *title;
	bool number; /* to the right */
};
struct table {
	struct html *h;
	const struct column *columns;
	size_t len, at; /* cells of this row so far */
	bool row;
};
void table_begin(struct table *t, struct html *h, const char *caption, const struct column *columns,
		 size_t len);
void table_row(struct table *t);
/* The next cell; what is put out until then is in it. The first of a row is its head. */
struct html *table_cell(struct table *t);
void table_end(struct table *t);

/* What the cell is when the document tells nothing. */
void put_text(struct html *h, struct bytes text);
void put_code(struct html *h, struct bytes text);
void put_said(struct html *h, struct said said);
/* The same, but a dash where the number is not told. */
void put_known(struct html *h, struct said said, int64_t number);
/* A word in a coloured field; class: one of good, warn, bad, still. */
void put_tag(struct html *h, const char *class, struct bytes word);
/* used of most as a bar with its share. */
void put_bar(struct html *h, int64_t used, int64_t most);

void facts_begin(struct html *h);
/* One term; its description is what is put out until fact_end(). */
void fact_begin(struct html *h, const char *term);
void fact_end(struct html *h);
void facts_end(struct html *h);

#endif
