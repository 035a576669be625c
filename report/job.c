/* A job on its page: what became of it, what it is of, and where it ran. */
#include "report/page.h"
#include "report/parts.h"

#include <inttypes.h>
#include <string.h>

static void put_name(struct html *h, struct bytes name)
{
	if (!name.at)
		return;
	html_markup(h, "<p class=\"stage\">");
	html_text(h, name, HTML_SHORT);
	html_markup(h, "</p>\n");
}

/* ---- key figures ---- */

struct totals {
	int64_t cpu_usec, memory_peak;
	size_t ran, cached, failed, skipped, kept;
};

/* What came out of the cache took nothing: its figures are those of an earlier run. */
static void add_run(struct totals *t, const struct run_told *run)
{
	t->cpu_usec = sum_of(t->cpu_usec, sum_of(run->user_usec, run->system_usec));
	if (run->memory_peak > t->memory_peak)
		t->memory_peak = run->memory_peak;
}

static struct totals totals_of(const struct report *r)
{
	struct totals t = {.memory_peak = NUM_UNKNOWN};
	for (size_t i = 0; i < r->stages_len; i++) {
		const struct stage_told *s = &r->stages[i];
		const bool cached = bytes_are(s->state, "cached"),
			   skipped = bytes_are(s->state, "skipped");
		t.cached += cached;
		t.skipped += skipped;
		t.ran += !cached && !skipped;
		t.failed += !s->ok && !skipped;
		if (s->has_run && !cached)
			add_run(&t, &s->run);
		for (size_t a = 0; a < s->run.artifacts_len; a++)
			t.kept += bytes_are(s->run.artifacts[a].status, "kept") &&
				  !is_handed_on(s, &s->run.artifacts[a]);
	}
	return t;
}

static void put_stage_counts(struct html *h, const struct totals *t)
{
	fact_begin(h, "Stages run");
	html_printf(h, "%zu", t->ran);
	if (t->failed + t->cached + t->skipped > 0) {
		const struct {
			size_t count;
			const char *words;
		} rest[] = {{t->failed, "failed"},
			    {t->cached, "from the cache"},
			    {t->skipped, "not begun"}};
		const char *between = "";
		html_markup(h, " <span class=\"aside\">");
		for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++) {
			if (rest[i].count == 0)
				continue;
			html_printf(h, "%s%zu %s", between, rest[i].count, rest[i].words);
			between = ", ";
		}
		html_markup(h, "</span>");
	}
	fact_end(h);
}

static void put_totals(struct html *h, const struct report *r)
{
	const struct totals t = totals_of(r);
	html_markup(h, "<dl class=\"figures\">\n");
	page_figure(h, "Wall time", say_time(r->job->wall_usec));
	page_figure(h, "In stages", say_time(r->job->stages_usec));
	page_figure(h, "Processor time", say_time(t.cpu_usec));
	page_figure(h, "Memory, at most", say_size(t.memory_peak));
	put_stage_counts(h, &t);
	page_figure(h, "Artifacts kept", say_count((int64_t)t.kept));
	html_markup(h, "</dl>\n");
}

/* ---- the source ---- */

static void put_meaning(struct html *h, const char *term, struct bytes text, const char *words)
{
	fact_begin(h, term);
	if (words)
		html_words(h, words);
	else
		put_text(h, text);
	fact_end(h);
}

static void page_source(const struct part *p, const struct report *r)
{
	static const struct meaning kinds[] = {{"git", "a commit of a git repository"},
					       {"archive", "an archive"},
					       {"folder", "a folder of this host"},
					       {"files", "files of this host"}};
	static const struct meaning trusts[] = {{"declared",
						 "the one that the job's document declares"},
						{"first-use",
						 "seen now for the first time, and recorded"},
						{"recorded", "the same as when it was first seen"}};
	const struct source_told *s = &r->job->source;
	struct html *h = p->h;
	part_begin(p, "source", "Source");
	if (!s->there) {
		part_note(p,
			  "There is none, and so nothing to be analysed: the stages took what their images have and what they were given.");
		return part_end(p);
	}
	facts_begin(h);
	put_meaning(h, "It is", s->kind, words_for(s->kind, kinds, 4));
	page_code_fact(h, "From", s->from);
	page_fact(h, "Asked for", s->ref);
	if (s->commit.at)
		page_code_fact(h, "Commit", s->commit);
	if (s->archive_digest.at) {
		page_code_fact(h, "Digest of the archive", s->archive_digest);
		put_meaning(h, "Which is", s->trust, words_for(s->trust, trusts, 3));
	}
	page_code_fact(h, "Digest of the tree", s->digest);
	page_figure(h, "Size", say_size(s->bytes));
	facts_end(h);
	part_end(p);
}

static void put_where(const struct part *p, const struct job_told *job)
{
	part_begin(p, "origin", "Where it ran");
	facts_begin(p->h);
	page_code_fact(p->h, "Kernel", job->kernel);
	page_code_fact(p->h, "Pinfold", job->version);
	page_code_fact(p->h, "Job", job->id);
	facts_end(p->h);
	if (job->lines_bad > 0) {
		html_markup(p->h, "<p class=\"note\">");
		html_printf(p->h,
			    "%zu line%s of the events %s of no stage of this job, or no event, and left out.",
			    job->lines_bad, job->lines_bad == 1 ? "" : "s",
			    job->lines_bad == 1 ? "is" : "are");
		html_markup(p->h, "</p>\n");
	}
	part_end(p);
}

/* ---- the page ---- */

static void put_analysis(const struct part *p, const struct report *r, struct arena *a)
{
	(void)a;
	page_analysis(p, r->job);
}

static void put_cost(const struct part *p, const struct report *r, struct arena *a)
{
	(void)a;
	page_cost(p, r->job);
}

static void put_matrix(const struct part *p, const struct report *r, struct arena *a)
{
	(void)a;
	page_matrix(p, r);
}

static void put_source(const struct part *p, const struct report *r, struct arena *a)
{
	(void)a;
	page_source(p, r);
}

static void put_artifacts(const struct part *p, const struct report *r, struct arena *a)
{
	(void)a;
	page_all_artifacts(p, r);
}

/* The parts that say why the job is not ok stand before the others. */
static const struct {
	const char *explains;
	void (*put)(const struct part *p, const struct report *r, struct arena *a);
} parts[] = {
	{"", put_source},	{"stopped", put_analysis}, {"needs-approval", put_cost},
	{"failed", put_matrix}, {"failed", page_stages},   {"", put_artifacts},
};

void page_job(struct html *h, const struct report *r, struct arena *a)
{
	const struct job_told *job = r->job;
	const struct part p = {h, r->stages_len, RANK_PAGE};
	const struct verdict v = job_verdict_of(job);
	const size_t len = sizeof(parts) / sizeof(*parts);
	put_name(h, job->name);
	page_verdict(h, &v, &(struct headline){"job", job->id, job->status, job->message});
	put_totals(h, r);
	page_warnings(&p, job->warnings, job->warnings_len);
	for (size_t i = 0; i < len; i++)
		if (bytes_are(job->status, parts[i].explains))
			parts[i].put(&p, r, a);
	for (size_t i = 0; i < len; i++)
		if (!bytes_are(job->status, parts[i].explains))
			parts[i].put(&p, r, a);
	put_where(&p, job);
}
