/* Theory of operation.
 *
 * A job is a list of runs. Each run of a stage is a `pinfold run` of its own (stage_run.c), told by
 * a spec and answering by a result; this process only waits (watch.c), keeps what stages hand to
 * each other (work.c) and writes down what happened. It reads no byte that a stage made but its own
 * runs' results: trees and files are collected by `pinfold run`, and put into the next stage by it.
 *
 * In order: a folder for the job; the source, fetched in sandboxes (fetch.c); what looks at it;
 * then the stages in the order in which they stand, those that vary once for each combination. The
 * first that is not ok ends the job; a signal or a caller that is gone ends what runs, and nothing
 * more begins.
 */
#include "pipeline/run.h"

#include "base/fd.h"
#include "pipeline/hand_back.h"
#include "pipeline/state.h"
#include "pipeline/template.h"
#include "rootfs/stored.h"
#include "runtime/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int choose_id(struct job_result *r, const char *id, struct err *e)
{
	uint8_t random[8];
	if (id) {
		snprintf(r->id, sizeof(r->id), "%s", id);
		return 0;
	}
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_sys(e, "getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(r->id + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* ---- runs ---- */

/* The id of a stored image. Where a folder has that name, too, the run refuses or takes that. */
static void find_image(const struct job_state *j, struct stage_run *run)
{
	const struct spec *s = &run->stage->asked;
	struct err e = ERR_INIT;
	struct stat st;
	char id[STORED_ID_BYTES];
	if (s->image_kind != IMAGE_NAME || stat(s->image, &st) == 0 ||
	    stored_is_shut(j->o->store, &e))
		return;
	if (stored_find(j->o->store, s->image, id, &e) > 0)
		snprintf(run->image_id, sizeof(run->image_id), "%s", id);
}

struct stage_run *job_new_run(struct job_state *j, const struct job_stage *s)
{
	struct stage_run *run = arena_alloc(j->job->arena, sizeof(*run));
	stage_run_init(run, s, j->number++);
	find_image(j, run);
	return run;
}

/* Nothing of its ran: why says so in a sentence. */
static void leave_out(struct stage_run *run, const char *whose)
{
	run->cache_why = "it was not begun";
	snprintf(run->why, sizeof(run->why), "not begun: stage %s, from which it takes, was not ok",
		 whose);
}

/* False: what it takes is not there, or comes from a run that was not ok. */
static bool connect_inputs(struct job_state *j, struct stage_run *run, size_t combination)
{
	for (size_t i = 0; i < run->stage->links_len; i++) {
		const struct job_link *l = &run->stage->links[i];
		const struct stage_output *from = &j->r->source.tree;
		const struct stage_run *giver = NULL;
		if (l->stage != LINK_SOURCE) {
			const struct job_stage *s = &j->job->stages[l->stage];
			giver = j->by_stage[l->stage][s->varies ? combination : 0];
			from = &giver->outputs[l->output];
		}
		run->inputs[i].from = from;
		if (!from->path || (giver && !giver->ok)) {
			leave_out(run, giver ? giver->stage->name : "fetch");
			return false;
		}
	}
	return true;
}

static void note_failure(struct job_state *j, const struct stage_run *run)
{
	if (j->r->stage[0] || run->ok || run->state == RUN_SKIPPED)
		return;
	snprintf(j->r->stage, sizeof(j->r->stage), "%s", run->stage->name);
	snprintf(j->r->message, sizeof(j->r->message), "stage %s: %s", run->stage->name, run->why);
}

static void hand_over(struct job_state *j, struct stage_run *run, size_t number)
{
	struct err e = ERR_INIT;
	if (j->handed < 0 || run->state == RUN_SKIPPED ||
	    hand_back(run, j->handed, number, j->job->arena, &e) == 0)
		return;
	run->ok = false;
	snprintf(run->why, sizeof(run->why), "%.390s", e.msg);
}

/* Its runs, connected; those whose inputs failed are left out of the batch and stay skipped. */
static size_t prepare_runs(struct job_state *j, size_t stage, struct stage_run **ready)
{
	const struct job_stage *s = &j->job->stages[stage];
	const size_t count = job_runs_of(j->job, s);
	size_t len = 0;
	j->by_stage[stage] = arena_alloc(j->job->arena, count * sizeof(*j->by_stage[stage]));
	for (size_t i = 0; i < count; i++) {
		struct stage_run *run = job_new_run(j, s);
		j->by_stage[stage][i] = run;
		run->to_stdout = stage + 1 == j->job->stages_len;
		if (s->varies && j->job->matrix.combinations) {
			struct job_setting *set = arena_alloc(j->job->arena,
							      JOB_PARAMETERS_MAX * sizeof(*set));
			job_combination(&j->job->matrix, i, set);
			run->set = set;
			run->set_len = j->job->matrix.parameters_len;
			run->slots = j->job->matrix.slots_said ? &j->job->matrix.slots : NULL;
			run->quiet = run->mute = j->job->matrix.slots.count > 1;
		}
		if (connect_inputs(j, run, i))
			ready[len++] = run;
	}
	return len;
}

static bool run_stage(struct job_state *j, size_t stage)
{
	const struct job_matrix *m = &j->job->matrix;
	struct stage_run *ready[JOB_COMBINATIONS_MAX];
	const size_t count = job_runs_of(j->job, &j->job->stages[stage]);
	const size_t len = prepare_runs(j, stage, ready);
	const struct batch b = {.runs = ready,
				.len = len,
				.most = count > 1 ? m->slots.count : 1,
				.keep_going = count > 1 && m->keep_going};
	bool good = watch_run(&j->watch, &b) && len == count;
	for (size_t i = 0; i < count; i++) {
		struct stage_run *run = j->by_stage[stage][i];
		if (run->state != RUN_SKIPPED)
			hand_over(j, run, count > 1 ? i + 1 : 0);
		else
			j->r->runs[j->r->runs_len++] = run;
		good &= run->ok;
		note_failure(j, run);
	}
	return good;
}

bool job_run_configured(struct job_state *j, size_t stage, size_t configuration)
{
	const struct job_cost *c = &j->job->cost;
	const struct job_stage *s = &j->job->stages[stage];
	const bool full = configuration == c->minimal_len;
	const struct job_configuration *own = full ? &c->full : &c->minimal[configuration];
	struct stage_run *run = job_new_run(j, s);
	if (!j->by_stage[stage])
		j->by_stage[stage] = arena_alloc(j->job->arena,
						 (c->minimal_len + 1) * sizeof(*j->by_stage[stage]));
	j->by_stage[stage][s->varies ? configuration : 0] = run;
	run->to_stdout = full && stage + 1 == j->job->stages_len;
	if (s->varies) {
		run->set = own->set;
		run->set_len = own->set_len;
		run->configuration = own->name;
	}
	const bool good = connect_inputs(j, run, configuration) &&
			  watch_run(&j->watch, &(struct batch){.runs = &run, .len = 1, .most = 1});
	hand_over(j, run, s->varies && !full ? configuration + 1 : 0);
	note_failure(j, run);
	return good && run->ok;
}

static void skip_stage(struct job_state *j, size_t stage)
{
	struct stage_run *run = job_new_run(j, &j->job->stages[stage]);
	run->cache_why = "it was not begun";
	j->r->runs[j->r->runs_len++] = run;
}

static bool run_stages(struct job_state *j)
{
	bool good = true;
	for (size_t i = 0; i < j->job->stages_len; i++) {
		const bool goes_on = (good || j->job->matrix.keep_going) && !j->watch.cancelled;
		if (goes_on)
			good &= run_stage(j, i);
		else
			skip_stage(j, i);
	}
	return good;
}

/* ---- the job ---- */

/* All of a job's runs are in one list, that never grows. */
static void make_lists(struct job_state *j)
{
	enum { OTHERS = 64 };
	size_t most = OTHERS + JOB_CONFIGURATIONS_MAX * j->job->stages_len;
	for (size_t i = 0; i < j->job->stages_len; i++)
		most += job_runs_of(j->job, &j->job->stages[i]);
	j->r->runs = arena_alloc(j->job->arena, most * sizeof(*j->r->runs));
	j->by_stage = arena_alloc(j->job->arena, (j->job->stages_len + 1) * sizeof(*j->by_stage));
}

/* Whether it is the name of a template's image that nobody has made yet. */
static const struct template_image *lacking(const struct job_state *j, const struct job_stage *s)
{
	char id[STORED_ID_BYTES];
	struct err e = ERR_INIT;
	const char *name = s->asked.image;
	const struct template_image *image = name && s->asked.image_kind == IMAGE_NAME
						     ? template_image_find(name)
						     : NULL;
	/* What else is the matter with the store, the run says. */
	return image && stored_find(j->o->store, name, id, &e) == 0 &&
			       faccessat(AT_FDCWD, name, F_OK, 0) < 0
		       ? image
		       : NULL;
}

/* A template names images that nobody has until they are made: how is said, of all, before anything is built. */
static int check_images(const struct job_state *j, struct err *e)
{
	struct arena *a = j->job->arena;
	const struct template_image *before = NULL;
	const char *recipes = NULL;
	for (size_t i = 0; j->job->lang.name && i < j->job->stages_len; i++) {
		const struct template_image *image = lacking(j, &j->job->stages[i]);
		if (!image || image == before)
			continue;
		const char *recipe = template_image_recipe(image, a);
		recipes = recipes ? arena_printf(a, "%s` and `%s", recipes, recipe) : recipe;
		before = image;
	}
	if (!recipes)
		return 0;
	return err_usage(e,
			 "there is no image for %s yet; make it once with `%s`, or name another "
			 "(--build-image, --run-image)",
			 j->job->lang.name, recipes);
}

static int prepare(struct job_state *j, struct err *e)
{
	if (choose_id(j->r, j->o->id, e) < 0)
		return -1;
	if (job_has_artifacts(j->job) && !j->o->artifacts_dir)
		return err_usage(e,
				 "a stage has artifacts, and nothing says where to; give --artifacts-dir");
	if (check_images(j, e) < 0)
		return -1;
	/* A budget that is none is no reason to fetch or run anything first. */
	if (j->job->cost.budget_file && budget_open(&j->budget, j->job->cost.budget_file, e) < 0)
		return -1;
	if (j->o->artifacts_dir && (j->handed = hand_back_open(j->o->artifacts_dir, e)) < 0)
		return -1;
	if (work_open(&j->work, j->o->store, j->job->arena, e) < 0 ||
	    work_begin(&j->work, j->r->id, e) < 0)
		return -1;
	make_lists(j);
	return 0;
}

static void decide(struct job_state *j, bool good)
{
	struct job_result *r = j->r;
	if (j->watch.unwritten) {
		r->status = JOB_LOST;
		r->stage[0] = '\0';
		snprintf(r->message, sizeof(r->message),
			 "%s cannot be written to what the caller gave: %s; make room there, or "
			 "name another place",
			 j->watch.unwritten, strerrordesc_np(j->watch.unwritten_errno));
	} else if (j->watch.cancelled) {
		r->status = JOB_CANCELLED;
		if (!r->message[0])
			snprintf(r->message, sizeof(r->message),
				 "told to stop, or the caller is gone");
	} else {
		r->status = good ? JOB_SUCCEEDED : JOB_FAILED;
	}
}

static void run_all(struct job_state *j)
{
	watch_event(&j->watch, NULL, "begun", NULL);
	if (!fetch_source(j) || !analyse_source(j)) {
		for (size_t i = 0; i < j->r->runs_len; i++)
			note_failure(j, j->r->runs[i]);
		for (size_t i = 0; i < j->job->stages_len; i++)
			skip_stage(j, i);
		decide(j, false);
		if (j->r->analysis.verdict.stop && !j->watch.cancelled)
			j->r->status = JOB_STOPPED;
		return;
	}
	if (!j->job->cost.wanted) {
		decide(j, run_stages(j));
		return;
	}
	const enum job_status status = cost_run(j);
	for (size_t i = 0; i < j->job->stages_len; i++)
		if (!j->by_stage[i])
			skip_stage(j, i);
	decide(j, status == JOB_SUCCEEDED);
	if (status == JOB_NEEDS_APPROVAL && !j->watch.cancelled)
		j->r->status = status;
}

void job_run(const struct job *job, const struct job_options *o, struct job_result *r)
{
	struct job_state j = {.job = job,
			      .o = o,
			      .r = r,
			      .watch = WATCH_INIT_JOB,
			      .work = WORK_INIT,
			      .handed = -1,
			      .budget = BUDGET_INIT};
	struct err e = ERR_INIT;
	j.watch.place = (struct stage_place){.work = &j.work,
					     .store = o->store,
					     .arena = job->arena,
					     .pinfold = o->pinfold,
					     .no_cache = o->no_cache,
					     .stderr_fd = 2};
	if (watch_open(&j.watch, o, r, &e) < 0 || prepare(&j, &e) < 0)
		job_result_refuse(r, &e);
	else
		run_all(&j);
	struct err left = ERR_INIT;
	if (work_close(&j.work, &left) < 0)
		job_warn(r, "%s", left.msg);
	budget_close(&j.budget);
	fd_close(&j.handed);
	r->wall_usec = (now_ns() - o->begun_ns) / 1000;
	watch_event(&j.watch, NULL, "finished", NULL);
	watch_close(&j.watch);
	if (j.watch.events_lost)
		job_warn(r, "%llu events were lost", (unsigned long long)j.watch.events_lost);
}
