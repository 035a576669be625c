#include "report/page.h"
#include "report/parts.h"

#include <string.h>

static void put_image(struct html *h, const struct artifact_told *row)
{
	html_markup(h, "<img alt=\"Preview of ");
	html_plain(h, row->path, HTML_SHORT);
	html_markup(h, "\" src=\"data:image/png;base64,");
	html_base64(h, row->preview.data);
	html_markup(h, "\">\n");
}

static void put_head(struct html *h, const struct preview *p)
{
	html_markup(h, "<pre tabindex=\"0\">");
	html_plain(h, p->data, p->data.len);
	html_markup(h, "</pre>\n");
	if (p->cut)
		html_markup(h, "<p class=\"note\">Its beginning; there is more.</p>\n");
}

/* of: the stage whose it is; NULL: there is but one run. */
static void put_preview(struct html *h, const struct artifact_told *row, const struct stage_told *of)
{
	html_markup(h, "<figure>\n<figcaption>");
	put_code(h, row->path);
	if (of) {
		html_markup(h, " <span class=\"quiet\">of ");
		html_text(h, of->name, HTML_SHORT);
		html_markup(h, "</span>");
	}
	html_markup(h, "</figcaption>\n");
	if (row->preview.kind == PREVIEW_IMAGE)
		put_image(h, row);
	else
		put_head(h, &row->preview);
	html_markup(h, "</figure>\n");
}

static bool has_preview(const struct stage_told *s)
{
	for (size_t i = 0; i < s->run.artifacts_len; i++)
		if (s->run.artifacts[i].preview.kind != PREVIEW_NONE)
			return true;
	return false;
}

static void put_previews(struct html *h, const struct stage_told *stages, size_t len, bool named)
{
	bool begun = false;
	for (size_t s = 0; s < len; s++) {
		if (!has_preview(&stages[s]))
			continue;
		if (!begun)
			html_markup(h, "<h3>What is in them</h3>\n<div class=\"previews\">\n");
		begun = true;
		for (size_t i = 0; i < stages[s].run.artifacts_len; i++)
			if (stages[s].run.artifacts[i].preview.kind != PREVIEW_NONE)
				put_preview(h, &stages[s].run.artifacts[i],
					    named ? &stages[s] : NULL);
	}
	if (begun)
		html_markup(h, "</div>\n");
}

static void put_reason(struct html *h, const struct artifact_told *row)
{
	if (row->reason.at)
		html_text(h, row->reason, HTML_SHORT);
	if (row->reason.at && row->preview.why_not)
		html_markup(h, "<br>");
	if (row->preview.why_not) {
		html_markup(h, "<span class=\"quiet\">no preview: ");
		html_words(h, row->preview.why_not);
		html_markup(h, "</span>");
	}
	if (!row->reason.at && !row->preview.why_not)
		put_text(h, row->reason);
}

static bool is_same(struct bytes one, struct bytes two)
{
	return one.at && two.at && one.len == two.len && memcmp(one.at, two.at, one.len) == 0;
}

/* From its path on, in the row that has begun. */
static void put_artifact(struct table *t, const struct artifact_told *row)
{
	const bool kept = bytes_are(row->status, "kept"), partial = bytes_are(row->status, "partial");
	struct html *h = table_cell(t);
	put_code(h, row->path);
	if (row->file.at && !is_same(row->file, row->path)) {
		html_markup(h, "<br><span class=\"quiet\">kept as ");
		put_code(h, row->file);
		html_markup(h, "</span>");
	}
	table_cell(t);
	put_tag(h, kept ? "good" : partial ? "warn" : "bad", row->status);
	if (row->required)
		html_markup(h, " <span class=\"quiet\">required</span>");
	put_text(table_cell(t), row->type);
	put_known(table_cell(t), say_size(row->size), row->size);
	put_reason(table_cell(t), row);
	put_code(table_cell(t), row->sha256);
}

void page_artifacts(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"Path", false},   {"Became", false},
						{"Type", false},   {"Size", true},
						{"Reason", false}, {"SHA-256", false}};
	struct table t;
	part_begin(p, "artifacts", "Artifacts");
	if (run->artifacts_len == 0 && run->artifacts_more <= 0) {
		part_note(p, "None was declared: nothing but the output left the sandbox.");
		return part_end(p);
	}
	table_begin(&t, p->h, "What became of each file that was declared", columns, 6);
	for (size_t i = 0; i < run->artifacts_len; i++) {
		table_row(&t);
		put_artifact(&t, &run->artifacts[i]);
	}
	table_end(&t);
	if (run->artifacts_more > 0) {
		html_markup(p->h, "<p class=\"note\">And ");
		put_said(p->h, say_count(run->artifacts_more));
		html_markup(p->h, " more, none of them kept.</p>\n");
	}
	/* Those of a job stand together, where all of its artifacts do. */
	if (p->rank == RANK_PAGE) {
		const struct stage_told only = {.run = *run};
		put_previews(p->h, &only, 1, false);
	}
	part_end(p);
}

bool is_handed_on(const struct stage_told *s, const struct artifact_told *row)
{
	if (!bytes_are(row->type, "tree"))
		return false;
	for (size_t i = 0; i < s->outputs_len; i++)
		if (is_same(s->outputs[i].path, row->path))
			return true;
	return bytes_are(s->kind, "fetch");
}

static size_t count_rows(const struct report *r)
{
	size_t rows = 0;
	for (size_t s = 0; s < r->stages_len; s++)
		for (size_t i = 0; i < r->stages[s].run.artifacts_len; i++)
			rows += !is_handed_on(&r->stages[s], &r->stages[s].run.artifacts[i]);
	return rows;
}

/* Of a stage, those that are not for later stages; at most left of them. */
static size_t put_own(struct table *t, const struct stage_told *s, size_t left)
{
	size_t put = 0;
	for (size_t i = 0; i < s->run.artifacts_len && put < left; i++) {
		if (is_handed_on(s, &s->run.artifacts[i]))
			continue;
		table_row(t);
		struct html *h = table_cell(t);
		put_text(h, s->name);
		page_set(h, s);
		put_artifact(t, &s->run.artifacts[i]);
		put++;
	}
	return put;
}

void page_all_artifacts(const struct part *p, const struct report *r)
{
	static const struct column columns[] = {{"Stage", false},  {"Path", false},
						{"Became", false}, {"Type", false},
						{"Size", true},	   {"Reason", false},
						{"SHA-256", false}};
	enum { ROWS_SHOWN = 500 };
	struct table t;
	const size_t rows = count_rows(r);
	part_begin(p, "artifacts", "Artifacts");
	if (rows == 0) {
		part_note(p,
			  "None was declared: nothing but what stages handed on and their output left the sandboxes.");
		return part_end(p);
	}
	table_begin(&t, p->h, "What became of each file that a stage declared", columns, 7);
	size_t shown = 0;
	for (size_t s = 0; s < r->stages_len; s++)
		shown += put_own(&t, &r->stages[s], ROWS_SHOWN - shown);
	table_end(&t);
	if (rows > shown) {
		html_markup(p->h, "<p class=\"note\">And ");
		put_said(p->h, say_count((int64_t)(rows - shown)));
		html_markup(p->h, " more, which the stages tell.</p>\n");
	}
	put_previews(p->h, r->stages, r->stages_len, true);
	part_end(p);
}

static void put_stream(struct table *t, const char *name, const struct stream_told *s)
{
	table_row(t);
	html_words(table_cell(t), name);
	if (!s->there) {
		html_words(table_cell(t), "no such stream");
		put_text(table_cell(t), s->sha256);
		put_text(table_cell(t), s->sha256);
		return;
	}
	put_said(table_cell(t), say_size(s->bytes));
	struct html *h = table_cell(t);
	put_tag(h, s->truncated ? "warn" : "good", bytes_of(s->truncated ? "cut off" : "complete"));
	put_code(table_cell(t), s->sha256);
}

void page_output(const struct part *p, const struct run_told *run)
{
	static const struct column columns[] = {{"Stream", false},
						{"Passed on", true},
						{"Is", false},
						{"SHA-256", false}};
	struct table t;
	part_begin(p, "output", "Output");
	table_begin(&t, p->h, "What the program wrote, as far as it was passed on", columns, 4);
	put_stream(&t, "stdout", &run->out);
	put_stream(&t, "stderr", &run->err);
	table_end(&t);
	part_end(p);
}
