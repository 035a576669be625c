/* The source: fetched in a sandbox whose only way out is to the declared host, and handed on as a tree. */
#include "pipeline/fetch.h"

#include "pipeline/state.h"
#include "pipeline/trust.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(struct job_state *j, const char *stage, const char *why)
{
	snprintf(j->r->stage, sizeof(j->r->stage), "%s", stage);
	snprintf(j->r->message, sizeof(j->r->message), "stage %s: %s", stage, why);
	return false;
}

/* NULL: it is not ok, and the result says why. */
static struct stage_run *run_own(struct job_state *j, const struct job_stage *s)
{
	struct stage_run *run = job_new_run(j, s);
	run->kind = "fetch";
	run->quiet = true;
	return watch_run(&j->watch, &(struct batch){.runs = &run, .len = 1, .most = 1}) ? run : NULL;
}

/* ---- git ---- */

/* The one line that the script says. */
static bool take_commit(struct job_state *j, const struct stage_run *run)
{
	char line[COMMIT_SHA256 + 2];
	const ssize_t n = pread(run->out, line, sizeof(line) - 1, 0);
	line[n > 0 ? (size_t)n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (!source_is_commit(line))
		return failed(j, "fetch", "git did not say which commit it fetched");
	if (source_is_commit(j->job->source.ref) && strcasecmp(line, j->job->source.ref) != 0)
		return failed(j, "fetch", "the commit that came is not the one that was asked for");
	snprintf(j->r->source.commit, sizeof(j->r->source.commit), "%.*s", COMMIT_SHA256, line);
	return true;
}

/* ---- an archive ---- */

/* Of the file as it was stored; the supervisor of the fetch computed it. */
static const char *digest_of(const struct stage_run *run)
{
	const json_t *row = json_array_get(json_object_get(run->result, "artifacts"), 0);
	const char *digest = json_string_value(json_object_get(row, "sha256"));
	return digest ? digest : "";
}

static bool check_digest(struct job_state *j, const struct stage_run *run)
{
	struct job_source_result *r = &j->r->source;
	const struct job_source *s = &j->job->source;
	struct err e = ERR_INIT;
	snprintf(r->archive_digest, sizeof(r->archive_digest), "sha256:%s", digest_of(run));
	if (s->digest && strcmp(s->digest, r->archive_digest) != 0)
		return failed(j, "fetch", "the archive has another digest than the one declared");
	const int known = s->digest ? 0 : trust_archive(j->work.jobs, s->url, r->archive_digest, &e);
	if (known < 0)
		return failed(j, "fetch", e.msg);
	r->trust = s->digest ? "declared" : known > 0 ? "recorded" : "first-use";
	return true;
}

/* Its tree, once its digest is the right one; NULL: there is none, and the result says why. */
static const struct stage_run *unpack(struct job_state *j, const struct stage_run *archive)
{
	struct err e = ERR_INIT;
	struct job_stage *s;
	if (!check_digest(j, archive))
		return NULL;
	if (unpack_stage(j->job, arena_printf(j->job->arena, "%s/outputs/archive", archive->path),
			 &s, &e) == 0)
		return run_own(j, s);
	failed(j, "unpack", e.msg);
	return NULL;
}

bool fetch_source(struct job_state *j)
{
	const enum source_kind kind = j->job->source.kind;
	struct err e = ERR_INIT;
	struct job_stage *s;
	struct stat st;
	if (kind == SOURCE_NONE)
		return true;
	if (fetch_stage(j->job, &s, &e) < 0)
		return failed(j, "fetch", e.msg);
	const struct stage_run *run = run_own(j, s);
	if (run && kind == SOURCE_GIT && !take_commit(j, run))
		return false;
	if (run && kind == SOURCE_ARCHIVE)
		run = unpack(j, run);
	if (!run)
		return false;
	/* A file would be scanned, and handed on, without the name by which it is known what it is. */
	if (stat(run->outputs[0].path, &st) < 0 || !S_ISDIR(st.st_mode))
		return failed(j, "fetch",
			      "what was fetched is no folder; files are named by source.files");
	j->r->source.tree = run->outputs[0];
	return true;
}
