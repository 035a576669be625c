/* What looks at the source before anything of it runs: pinfold-scan, and another analyser where the
 * job names one. That one runs in a sandbox like any stage; what it leaves is read by pinfold-scan,
 * in a jail, and comes with its own findings. No list of findings, no run. */
#include "base/fd.h"
#include "pipeline/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(struct job_state *j, const char *why)
{
	snprintf(j->r->stage, sizeof(j->r->stage), "analyse");
	snprintf(j->r->message, sizeof(j->r->message), "stage analyse: %.900s", why);
	return false;
}

/* ---- another analyser ---- */

/* What a shell says of a program that it could not run, or that a signal ended (128 and its number). */
enum { EXIT_NOT_RUN = 126 };

/* The file that it left, whatever its own exit code was: many say by it that they found something. NULL: none. */
static const char *tool_findings(struct job_state *j)
{
	struct stage_run *run = job_new_run(j, j->job->analyse.tool);
	run->kind = "analyse";
	run->quiet = true;
	for (size_t i = 0; i < run->stage->links_len; i++)
		run->inputs[i].from = &j->r->source.tree;
	watch_run(&j->watch, &(struct batch){.runs = &run, .len = 1, .most = 1});
	const json_t *exit = json_object_get(run->result, "exit");
	if (json_integer_value(json_object_get(exit, "code")) >= EXIT_NOT_RUN) {
		failed(j, "the analyser did not come to its end: its exit code is that of a shell "
			  "whose program could not be run, or was ended by a signal");
		return NULL;
	}
	const json_t *row = json_array_get(json_object_get(run->result, "artifacts"), 0);
	const char *status = json_string_value(json_object_get(row, "status"));
	const char *file = json_string_value(json_object_get(row, "file"));
	if (!file || strcmp(status ? status : "", "kept") != 0) {
		failed(j, run->why[0] ? run->why : "the analyser left no findings");
		return NULL;
	}
	return arena_printf(j->job->arena, "%s/outputs/%s", run->path, file);
}

/* ---- pinfold-scan ---- */

static char *read_log(int fd, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || st.st_size > SARIF_BYTES_MAX) {
		err_host(e, "the scanner's list of findings is too large");
		return NULL;
	}
	char *text = malloc((size_t)st.st_size + 1);
	if (!text || pread(fd, text, (size_t)st.st_size, 0) != st.st_size) {
		err_host(e, "the scanner's list of findings could not be read");
		free(text);
		return NULL;
	}
	text[st.st_size] = '\0';
	return text;
}

static int take_log(struct job_state *j, int fd, struct err *e)
{
	char *text = read_log(fd, e);
	if (!text)
		return -1;
	j->r->analysis.findings.arena = j->job->arena;
	const int done = scan_sarif_read(text, strlen(text), &j->r->analysis.findings, e);
	free(text);
	return done;
}

/* A log that could not be read is a finding about the log itself: then the analyser found nothing that counts. */
static int check_merged(const struct job_state *j, const char *merged, struct err *e)
{
	const struct scan_findings *all = &j->r->analysis.findings;
	for (size_t i = 0; merged && i < all->len; i++)
		if (strcmp(all->at[i].path, merged) == 0)
			return err_host(e, "the analyser's findings could not be read: %s",
					all->at[i].detail);
	return 0;
}

/* merged: another analyser's log, NULL none. */
static int scan(struct job_state *j, const char *merged, struct err *e)
{
	struct arena *a = j->job->arena;
	const char *words[16];
	size_t len = 0;
	autoclose int log = memfd_create("findings", MFD_CLOEXEC);
	if (log < 0)
		return err_sys(e, "make a memory file for findings");
	if (!j->o->libexec)
		return err_host(e, "the folder of the sibling programs is not known");
	words[len++] = "pinfold-scan";
	words[len++] = "--format=sarif";
	words[len++] = "--gate=none";
	if (j->job->analyse.rules)
		words[len++] = arena_printf(a, "--rules=%s", j->job->analyse.rules);
	if (merged)
		words[len++] = arena_printf(a, "--merge=%s", merged);
	words[len++] = "--";
	words[len++] = j->r->source.tree.path;
	char **argv = arena_alloc(a, (len + 1) * sizeof(*argv));
	for (size_t i = 0; i < len; i++)
		argv[i] = arena_strdup(a, words[i]);
	struct sibling s = {.path = arena_printf(a, "%s/pinfold-scan", j->o->libexec),
			    .argv = argv,
			    .in = -1,
			    .out = log,
			    .err = STDERR_FILENO,
			    .pidfd = -1};
	if (sibling_start(&s, e) < 0)
		return -1;
	const int code = watch_sibling(&j->watch, &s);
	if (code == 127)
		return err_host(e,
				"%s is not there; without it nothing is run (analyse \"none\" does without)",
				s.path);
	if (code != 0)
		return err_host(e, "pinfold scan ended with code %d", code);
	return take_log(j, log, e) < 0 ? -1 : check_merged(j, merged, e);
}

/* ---- the gate ---- */

static void judge(struct job_state *j)
{
	const struct job_analyse *a = &j->job->analyse;
	struct job_analysis *r = &j->r->analysis;
	r->waivers.at = arena_alloc(j->job->arena, (a->waivers_len + 1) * sizeof(*r->waivers.at));
	r->waivers.len = a->waivers_len;
	for (size_t i = 0; i < a->waivers_len; i++)
		r->waivers.at[i] = (struct scan_waiver){.id = a->waivers[i].id,
							.path = a->waivers[i].path,
							.reason = a->waivers[i].reason};
	const int gate = a->gate == GATE_NONE ? SCAN_GATE_NONE : (int)a->gate - GATE_NOTE;
	scan_sort(&r->findings);
	r->verdict = scan_gate(&r->findings, &r->waivers, gate);
	r->done = true;
	if (!r->verdict.stop)
		return;
	snprintf(j->r->stage, sizeof(j->r->stage), "analyse");
	snprintf(j->r->message, sizeof(j->r->message),
		 "the gate does not let through what the analysis found (errors: %zu, warnings: %zu, notes: %zu)",
		 r->verdict.counts[SCAN_ERROR], r->verdict.counts[SCAN_WARNING],
		 r->verdict.counts[SCAN_NOTE]);
}

bool analyse_source(struct job_state *j)
{
	struct err e = ERR_INIT;
	const char *merged = NULL;
	if (j->job->source.kind == SOURCE_NONE || j->job->analyse.off)
		return true;
	if (j->job->analyse.tool && !(merged = tool_findings(j)))
		return false;
	if (scan(j, merged, &e) < 0)
		return j->watch.cancelled ? false : failed(j, e.msg);
	judge(j);
	watch_event(&j->watch, NULL, "analysed", NULL);
	return !j->r->analysis.verdict.stop;
}
