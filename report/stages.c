/* The stages of a job, in their order, each with its run; and the combinations of a matrix. */
#include "report/page.h"
#include "report/parts.h"

#include <string.h>

/* Those that are told in full, besides those that failed; the others have a row. */
enum { STAGES_IN_FULL = 64, FAILED_IN_FULL = 64, COMBINATIONS_SHOWN = 512 };

void page_set(struct html *h, const struct stage_told *s)
{
	if (s->set_len == 0)
		return;
	html_markup(h, " <span class=\"set\">");
	for (size_t i = 0; i < s->set_len; i++) {
		html_markup(h, "<code>");
		html_text(h, s->set[i].name, HTML_SHORT);
		html_markup(h, " = ");
		html_text(h, s->set[i].value, HTML_SHORT);
		html_markup(h, "</code> ");
	}
	html_markup(h, "</span>");
}

static int64_t cpu_of(const struct run_told *run)
{
	return sum_of(run->user_usec, run->system_usec);
}

static void put_configuration(struct html *h, const struct stage_told *s)
{
	if (!s->configuration.at)
		return;
	html_markup(h, " <span class=\"quiet\">configuration ");
	html_text(h, s->configuration, HTML_SHORT);
	html_markup(h, "</span>");
}

/* ---- one stage ---- */

static void put_summary(struct html *h, const struct stage_told *s)
{
	const struct stage_state state = stage_state_of(s);
	html_markup(h, "<summary><h3>");
	put_text(h, s->name);
	html_markup(h, "</h3>");
	put_tag(h, state.class, state.word);
	page_set(h, s);
	put_configuration(h, s);
	if (s->has_run) {
		html_markup(h, " <span class=\"glance\">");
		put_said(h, say_time(s->run.wall_usec));
		if (s->run.memory_peak != NUM_UNKNOWN) {
			html_markup(h, " <span class=\"dot\">&#183;</span> ");
			put_said(h, say_size(s->run.memory_peak));
		}
		html_markup(h, "</span>");
	}
	html_markup(h, "</summary>\n");
}

static void put_outcome(const struct part *p, const struct stage_told *s)
{
	const struct verdict v = verdict_of(&s->run);
	struct html *h = p->h;
	if (s->message.at) {
		html_markup(h, "<p class=\"said\">");
		html_text(h, s->message, HTML_LONG);
		html_markup(h, "</p>\n");
	}
	if (bytes_are(s->state, "skipped"))
		return part_note(p, "It was not begun.");
	if (!s->has_run)
		return part_note(p,
				 "There is no result of its run: its supervision ended without one.");
	html_markup(h, "<p class=\"message\">");
	if (bytes_are(s->state, "cached"))
		html_words(h, "Taken from the cache; what follows is of the run that filled it. ");
	html_words(h, v.sentence);
	html_markup(h, ".");
	if (v.meaning) {
		html_markup(h, " ");
		html_words(h, v.meaning);
	}
	html_markup(h, "</p>\n");
}

static void put_cache(struct html *h, const struct stage_told *s)
{
	static const struct meaning states[] = {{"hit", "it was there"},
						{"miss", "it was not there yet"},
						{"off", "not for this stage"}};
	const char *words = words_for(s->cache, states, 3);
	fact_begin(h, "Cache");
	if (words)
		html_words(h, words);
	else
		put_text(h, s->cache);
	if (s->cache_reason.at) {
		html_markup(h, ": ");
		html_text(h, s->cache_reason, HTML_LONG);
	}
	fact_end(h);
	if (s->cache_key.at)
		page_code_fact(h, "Key", s->cache_key);
}

static void put_facts(struct html *h, const struct stage_told *s)
{
	static const struct meaning kinds[] = {{"fetch", "fetches the source"},
					       {"analyse", "looks at the source"},
					       {"build", "builds"},
					       {"run", "runs, with less"}};
	const char *kind = words_for(s->kind, kinds, 4);
	facts_begin(h);
	fact_begin(h, "What it does");
	if (kind)
		html_words(h, kind);
	else
		put_text(h, s->kind);
	fact_end(h);
	put_cache(h, s);
	page_fact(h, "Folder of what is kept", s->folder);
	facts_end(h);
}

static void put_outputs(struct html *h, const struct stage_told *s)
{
	static const struct column columns[] = {{"Output", false}, {"Size", true}, {"Digest", false}};
	struct table t;
	if (s->outputs_len == 0)
		return;
	table_begin(&t, h, "What later stages may take", columns, 3);
	for (size_t i = 0; i < s->outputs_len; i++) {
		table_row(&t);
		put_code(table_cell(&t), s->outputs[i].path);
		put_known(table_cell(&t), say_size(s->outputs[i].bytes), s->outputs[i].bytes);
		put_code(table_cell(&t), s->outputs[i].digest);
	}
	table_end(&t);
}

static bool has_failed(const struct stage_told *s)
{
	return !s->ok && !bytes_are(s->state, "skipped");
}

/* The first that failed is open. */
static void put_stage(const struct part *p, const struct stage_told *s, bool open, struct arena *a)
{
	struct html *h = p->h;
	if (open)
		html_markup(h, "<details class=\"one\" open=\"\">\n");
	else
		html_markup(h, "<details class=\"one\">\n");
	put_summary(h, s);
	html_markup(h, "<div class=\"within\">\n");
	put_outcome(p, s);
	if (s->has_run)
		page_figures(h, &s->run);
	page_diagnostics(p, s);
	put_facts(h, s);
	put_outputs(h, s);
	if (s->has_run)
		page_run(p, &s->run, a);
	html_markup(h, "</div>\n</details>\n");
}

/* ---- all of them ---- */

static void put_row(struct table *t, const struct stage_told *s)
{
	const struct stage_state state = stage_state_of(s);
	table_row(t);
	struct html *h = table_cell(t);
	put_text(h, s->name);
	page_set(h, s);
	put_tag(table_cell(t), state.class, state.word);
	put_text(table_cell(t), s->message);
	put_known(table_cell(t), say_time(s->run.wall_usec),
		  s->has_run ? s->run.wall_usec : NUM_UNKNOWN);
}

/* The rows of those that are not told in full. */
static void put_rest(const struct part *p, const struct report *r, const bool *told)
{
	static const struct column columns[] = {{"Stage", false},
						{"State", false},
						{"Message", false},
						{"Wall time", true}};
	struct table t;
	bool begun = false;
	for (size_t i = 0; i < r->stages_len; i++) {
		if (told[i])
			continue;
		if (!begun)
			table_begin(&t, p->h, "Those that are too many to be told in full", columns,
				    4);
		begun = true;
		put_row(&t, &r->stages[i]);
	}
	if (begun)
		table_end(&t);
}

void page_stages(const struct part *p, const struct report *r, struct arena *a)
{
	size_t full = STAGES_IN_FULL, failed = FAILED_IN_FULL;
	bool *told = arena_alloc(a, r->stages_len + 1);
	part_begin(p, "stages", "Stages");
	if (r->stages_len == 0)
		part_note(p, "None was begun.");
	else if (!r->job->has_events)
		part_note(p, "No events were given: `pinfold job run --events FILE` writes them, `pinfold "
			     "report --events FILE` plots them.");
	for (size_t i = 0; i < r->stages_len; i++) {
		const struct stage_told *s = &r->stages[i];
		size_t *left = has_failed(s) ? &failed : &full;
		const struct part within = {p->h, i, RANK_CLOSED};
		if (*left == 0)
			continue;
		--*left;
		told[i] = true;
		put_stage(&within, s, has_failed(s) && failed == FAILED_IN_FULL - 1, a);
	}
	put_rest(p, r, told);
	part_end(p);
}

/* ---- the combinations ---- */

static bool is_same(struct bytes one, struct bytes two)
{
	if (!one.at || !two.at)
		return one.at == two.at;
	return one.len == two.len && memcmp(one.at, two.at, one.len) == 0;
}

static bool is_combination(const struct stage_told *one, const struct stage_told *two)
{
	if (one->set_len != two->set_len || !is_same(one->configuration, two->configuration))
		return false;
	for (size_t i = 0; i < one->set_len; i++)
		if (!is_same(one->set[i].name, two->set[i].name) ||
		    !is_same(one->set[i].value, two->set[i].value))
			return false;
	return true;
}

/* The first stage of each, in their order. */
static size_t find_combinations(const struct report *r, const struct stage_told **found, size_t most)
{
	size_t len = 0;
	for (size_t i = 0; i < r->stages_len; i++) {
		const struct stage_told *s = &r->stages[i];
		size_t at = 0;
		while (at < len && !is_combination(found[at], s))
			at++;
		if (s->set_len > 0 && at == len && len < most)
			found[len++] = s;
	}
	return len;
}

static void put_combination(struct table *t, const struct report *r, const struct stage_told *first)
{
	int64_t wall = 0, cpu = 0, memory = NUM_UNKNOWN;
	bool ran = false;
	table_row(t);
	struct html *h = table_cell(t);
	page_set(h, first);
	put_configuration(h, first);
	table_cell(t);
	for (const struct stage_told *s = r->stages; s < r->stages + r->stages_len; s++) {
		if (!is_combination(first, s))
			continue;
		const struct stage_state state = stage_state_of(s);
		html_markup(h, "<span class=\"of\">");
		put_text(h, s->name);
		html_markup(h, " ");
		put_tag(h, state.class, state.word);
		html_markup(h, "</span> ");
		if (!s->has_run || bytes_are(s->state, "cached"))
			continue;
		ran = true;
		wall = sum_of(wall, s->run.wall_usec);
		cpu = sum_of(cpu, cpu_of(&s->run));
		memory = s->run.memory_peak > memory ? s->run.memory_peak : memory;
	}
	put_known(table_cell(t), say_time(wall), ran ? wall : NUM_UNKNOWN);
	put_known(table_cell(t), say_time(cpu), ran ? cpu : NUM_UNKNOWN);
	put_known(table_cell(t), say_size(memory), memory);
}

void page_matrix(const struct part *p, const struct report *r)
{
	static const struct column columns[] = {{"Combination", false},
						{"Stages", false},
						{"Wall time", true},
						{"Processor time", true},
						{"Memory, at most", true}};
	const struct stage_told *found[COMBINATIONS_SHOWN];
	const size_t len = find_combinations(r, found, COMBINATIONS_SHOWN);
	struct table t;
	if (len == 0)
		return;
	part_begin(p, "matrix", "Combinations");
	table_begin(&t, p->h, "Each combination of the parameters, with the stages that name one",
		    columns, 5);
	for (size_t i = 0; i < len; i++)
		put_combination(&t, r, found[i]);
	table_end(&t);
	if (len == COMBINATIONS_SHOWN)
		part_note(p, "There may be more; the stages have them.");
	part_end(p);
}
