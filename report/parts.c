#include "report/parts.h"

#include <inttypes.h>

void part_begin(const struct part *p, const char *name, const char *title)
{
	struct html *h = p->h;
	html_markup(h, "<section aria-labelledby=\"");
	html_printf(h, "s%zu-%s", p->stage, name);
	html_markup(h, "\">\n");
	if (p->rank == RANK_OPEN)
		html_markup(h, "<details open=\"\">\n<summary>");
	else if (p->rank == RANK_CLOSED)
		html_markup(h, "<details>\n<summary>");
	if (p->rank == RANK_PAGE)
		html_markup(h, "<h2 id=\"");
	else
		html_markup(h, "<h4 id=\"");
	html_printf(h, "s%zu-%s", p->stage, name);
	html_markup(h, "\">");
	html_words(h, title);
	if (p->rank == RANK_PAGE)
		html_markup(h, "</h2>\n");
	else
		html_markup(h, "</h4></summary>\n");
}

void part_end(const struct part *p)
{
	if (p->rank != RANK_PAGE)
		html_markup(p->h, "</details>\n");
	html_markup(p->h, "</section>\n");
}

void part_note(const struct part *p, const char *words)
{
	html_markup(p->h, "<p class=\"note\">");
	html_words(p->h, words);
	html_markup(p->h, "</p>\n");
}

/* ---- tables ---- */

void table_begin(struct table *t, struct html *h, const char *caption, const struct column *columns,
		 size_t len)
{
	*t = (struct table){.h = h, .columns = columns, .len = len};
	if (len <= 3)
		html_markup(h, "<table class=\"slim\">\n<caption>");
	else
		html_markup(h, "<table>\n<caption>");
	html_words(h, caption);
	html_markup(h, "</caption>\n<thead><tr>");
	for (size_t i = 0; i < len; i++) {
		if (columns[i].number)
			html_markup(h, "<th scope=\"col\" class=\"n\">");
		else
			html_markup(h, "<th scope=\"col\">");
		html_words(h, columns[i].title);
		html_markup(h, "</th>");
	}
	html_markup(h, "</tr></thead>\n<tbody>\n");
}

static void close_cell(struct table *t)
{
	if (t->at == 1)
		html_markup(t->h, "</th>");
	else if (t->at > 1)
		html_markup(t->h, "</div></td>");
}

static void close_row(struct table *t)
{
	close_cell(t);
	if (t->row)
		html_markup(t->h, "</tr>\n");
	t->row = false;
}

void table_row(struct table *t)
{
	close_row(t);
	t->row = true;
	t->at = 0;
	html_markup(t->h, "<tr>");
}

struct html *table_cell(struct table *t)
{
	close_cell(t);
	const struct column *c = &t->columns[t->at < t->len ? t->at : t->len - 1];
	if (t->at++ == 0) {
		html_markup(t->h, "<th scope=\"row\">");
		return t->h;
	}
	html_markup(t->h, "<td data-of=\"");
	html_words(t->h, c->title);
	if (c->number)
		html_markup(t->h, "\" class=\"n\"><div>");
	else
		html_markup(t->h, "\"><div>");
	return t->h;
}

void table_end(struct table *t)
{
	close_row(t);
	html_markup(t->h, "</tbody>\n</table>\n");
}

/* ---- what stands in them ---- */

void put_known(struct html *h, struct said said, int64_t number)
{
	if (number == NUM_UNKNOWN)
		put_text(h, (struct bytes){NULL, 0});
	else
		put_said(h, said);
}

void put_text(struct html *h, struct bytes text)
{
	if (text.at)
		html_text(h, text, HTML_SHORT);
	else
		html_markup(h, "<span class=\"none\">\xe2\x80\x93</span>");
}

void put_code(struct html *h, struct bytes text)
{
	if (!text.at)
		return put_text(h, text);
	html_markup(h, "<code>");
	html_text(h, text, HTML_SHORT);
	html_markup(h, "</code>");
}

void put_said(struct html *h, struct said said)
{
	html_markup(h, "<span class=\"n\">");
	html_words(h, said.text);
	html_markup(h, "</span>");
}

void put_tag(struct html *h, const char *class, struct bytes word)
{
	html_markup(h, "<span class=\"tag ");
	html_words(h, class);
	html_markup(h, "\">");
	html_plain(h, word, HTML_SHORT);
	html_markup(h, "</span>");
}

static const char *bar_class(int64_t permille)
{
	return permille >= 1000 ? "full" : permille >= 800 ? "near" : "fill";
}

void put_bar(struct html *h, int64_t used, int64_t most)
{
	if (used == NUM_UNKNOWN || most == NUM_UNKNOWN || most <= 0)
		return put_text(h, (struct bytes){NULL, 0});
	const double share = (double)used / (double)most * 1000;
	const int64_t permille = share > 9999 ? 9999 : (int64_t)share;
	html_markup(h, "<span class=\"share\"><svg class=\"bar\" viewBox=\"0 0 100 6\" "
		       "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"track\" "
		       "width=\"100\" height=\"6\"/><rect class=\"");
	html_words(h, bar_class(permille));
	html_markup(h, "\" height=\"6\" width=\"");
	html_milli(h, (permille > 1000 ? 1000 : permille) * 100);
	html_markup(h, "\"/></svg> <span class=\"n\">");
	if (used > 0 && permille < 10)
		html_markup(h, "&lt; 1 %");
	else
		html_printf(h, "%" PRId64 " %%", permille / 10);
	html_markup(h, "</span></span>");
}

void facts_begin(struct html *h)
{
	html_markup(h, "<dl class=\"facts\">\n");
}

void fact_begin(struct html *h, const char *term)
{
	html_markup(h, "<div><dt>");
	html_words(h, term);
	html_markup(h, "</dt><dd>");
}

void fact_end(struct html *h)
{
	html_markup(h, "</dd></div>\n");
}

void facts_end(struct html *h)
{
	html_markup(h, "</dl>\n");
}
