/* The source: fetched in a sandbox whose only way out is to the declared host, and handed on as a tree.
 *
 * git and tar are driven by a short script in the image's own shell, inside the sandbox, because it takes several
 * commands in one scratch; url and ref reach it as arguments and are never part of its text.
 */
#include "base/fd.h"
#include "pipeline/state.h"
#include "pipeline/trust.h"
#include "spec/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1ULL << 20)

enum { COMMIT_SHA1 = 40, COMMIT_SHA256 = 64 };

/* $1: url, $2: ref, $3: "submodules" or "". No hook, no filter, no helper: nothing of the host's or the caller's
 * configuration is in there, and what the repository has is not read as configuration. */
static const char git_script[] =
	"set -eu\n"
	"git init -q --template= source\n"
	"cd source\n"
	"git config core.hooksPath /dev/null\n"
	"git config core.fsmonitor false\n"
	"git fetch -q --depth 1 --no-tags --no-recurse-submodules -- \"$1\" \"$2\"\n"
	"git checkout -q --detach FETCH_HEAD --\n"
	"if [ \"$3\" ]; then\n"
	"	git remote add origin \"$1\"\n"
	"	git submodule -q update --init --recursive --depth 1\n"
	"fi\n"
	"git rev-parse HEAD\n"
	"if [ \"$3\" ]; then find . -name .git -prune -exec rm -rf {} +; fi\n"
	"rm -rf .git\n";

static const char *const git_env[] = {
	"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false",	"GIT_ALLOW_PROTOCOL=https",
	"GIT_LFS_SKIP_SMUDGE=1",
};

static const char tar_script[] = "mkdir source && exec tar -x -C source -f /run/input/archive";
static const char zip_script[] = "mkdir source && exec unzip -q /run/input/archive -d source";

/* ---- a stage that no document has ---- */

struct own_stage {
	struct job_state *j;
	struct job_stage *s;
	struct err e;
};

static void set(struct own_stage *o, const char *key, const char *value)
{
	if (o->e.kind == ERR_NONE)
		spec_set(&o->s->asked, key, value, &o->e);
}

static void set_unless_given(struct own_stage *o, const char *key, const char *value)
{
	if (!(o->s->asked.given >> (key_find(key) - spec_keys) & 1))
		set(o, key, value);
}

static void set_bytes(struct own_stage *o, const char *key, uint64_t bytes)
{
	set_unless_given(o, key, arena_printf(o->j->job->arena, "%" PRIu64, bytes));
}

/* scratch_bytes: what it will need of it; memory besides. */
static struct own_stage begin_stage(struct job_state *j, const char *name, const char *image,
				    uint64_t scratch_bytes)
{
	const struct job_source *source = &j->job->source;
	struct arena *a = j->job->arena;
	struct own_stage o = {.j = j, .s = arena_alloc(a, sizeof(*o.s)), .e = ERR_INIT};
	*o.s = (struct job_stage){.name = name, .kind = STAGE_BUILD};
	if (source->limits)
		o.s->asked = source->limits->asked;
	else if (spec_init(&o.s->asked, a, &o.e) < 0)
		return o;
	o.s->asked.speaking = ORIGIN_FILE;
	if (spec_set_image(&o.s->asked, image, &o.e) < 0)
		return o;
	set_bytes(&o, "memory", scratch_bytes + 256 * MIB);
	set_bytes(&o, "scratch", scratch_bytes);
	set_unless_given(&o, "scratch-inodes",
			 arena_printf(a, "%" PRIu64, 2 * source->max_files + 4096));
	set_unless_given(&o, "wall", "300s");
	set_unless_given(&o, "pids", "64");
	return o;
}

static void command(struct own_stage *o, const char *const *words, size_t len)
{
	if (o->e.kind == ERR_NONE)
		spec_set_command(&o->s->asked, words, len, &o->e);
}

static void output_tree(struct own_stage *o)
{
	const struct job_source *source = &o->j->job->source;
	o->s->outputs[0] = (struct job_output){"source", source->max_bytes, source->max_files};
	o->s->outputs_len = 1;
}

/* One rule, for the host of the url; or those of the document. */
static void allow_host(struct own_stage *o)
{
	const struct job_source *s = &o->j->job->source;
	if (!s->allow)
		set(o, "allow", arena_printf(o->j->job->arena, "%s:%u", s->host, s->port));
	for (const char *const *rule = (const char *const *)s->allow; rule && *rule; rule++)
		set(o, "allow", *rule);
	set_bytes(o, "egress-bytes", 2 * s->max_bytes + 64 * MIB);
}

static void trust_ca(struct own_stage *o, const char *variable)
{
	struct arena *a = o->j->job->arena;
	if (!o->j->job->source.ca)
		return;
	set(o, "input-ro", arena_printf(a, "%s:ca.pem", o->j->job->source.ca));
	set(o, "env", arena_printf(a, "%s=/run/input/ca.pem", variable));
}

/* NULL: it could not be made or is not ok, and the result says why. */
static struct stage_run *run_own(struct own_stage *o)
{
	struct job_state *j = o->j;
	if (o->e.kind != ERR_NONE) {
		snprintf(j->r->stage, sizeof(j->r->stage), "%s", o->s->name);
		snprintf(j->r->message, sizeof(j->r->message), "stage %s: %s", o->s->name, o->e.msg);
		return NULL;
	}
	o->s->whole = o->s->asked;
	struct stage_run *run = job_new_run(j, o->s);
	run->kind = "fetch";
	run->quiet = true;
	return watch_run(&j->watch, &(struct batch){.runs = &run, .len = 1, .most = 1}) ? run : NULL;
}

static bool failed(struct job_state *j, const char *stage, const char *why)
{
	snprintf(j->r->stage, sizeof(j->r->stage), "%s", stage);
	snprintf(j->r->message, sizeof(j->r->message), "stage %s: %s", stage, why);
	return false;
}

static const char *image_of(const struct job *job)
{
	return job->source.image ? job->source.image : job->image;
}

/* ---- git ---- */

static bool is_commit(const char *text)
{
	const size_t len = strlen(text);
	return (len == COMMIT_SHA1 || len == COMMIT_SHA256) &&
	       strspn(text, "0123456789abcdef") == len;
}

/* The one line that the script says. */
static bool take_commit(struct job_state *j, const struct stage_run *run)
{
	char line[COMMIT_SHA256 + 2];
	const ssize_t n = pread(run->out, line, sizeof(line) - 1, 0);
	line[n > 0 ? (size_t)n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (!is_commit(line))
		return failed(j, "fetch", "git did not say which commit it fetched");
	if (is_commit(j->job->source.ref) && strcmp(line, j->job->source.ref) != 0)
		return failed(j, "fetch", "the commit that came is not the one that was asked for");
	snprintf(j->r->source.commit, sizeof(j->r->source.commit), "%s", line);
	return true;
}

static bool fetch_git(struct job_state *j)
{
	const struct job_source *s = &j->job->source;
	/* The objects, and the tree beside them. */
	struct own_stage o = begin_stage(j, "fetch", image_of(j->job), 2 * s->max_bytes + 64 * MIB);
	const char *const words[] = {"sh",
				     "-c",
				     git_script,
				     "fetch",
				     s->url,
				     s->ref,
				     s->submodules ? "submodules" : ""};
	command(&o, words, sizeof(words) / sizeof(*words));
	for (size_t i = 0; i < sizeof(git_env) / sizeof(*git_env); i++)
		set(&o, "env", git_env[i]);
	allow_host(&o);
	trust_ca(&o, "GIT_SSL_CAINFO");
	output_tree(&o);
	const struct stage_run *run = run_own(&o);
	if (!run || !take_commit(j, run))
		return false;
	j->r->source.tree = run->outputs[0];
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

static bool unpack(struct job_state *j, const struct stage_run *archive)
{
	const struct job_source *s = &j->job->source;
	struct own_stage o = begin_stage(j, "unpack", image_of(j->job), 2 * s->max_bytes + 16 * MIB);
	const char *const words[] = {"sh", "-c", s->format == ARCHIVE_ZIP ? zip_script : tar_script};
	command(&o, words, sizeof(words) / sizeof(*words));
	set(&o, "input-ro", arena_printf(j->job->arena, "%s/outputs/archive:archive", archive->path));
	output_tree(&o);
	const struct stage_run *run = run_own(&o);
	if (!run)
		return false;
	j->r->source.tree = run->outputs[0];
	return true;
}

static bool check_digest(struct job_state *j, const struct stage_run *run)
{
	struct job_source_result *r = &j->r->source;
	const struct job_source *s = &j->job->source;
	struct err e = ERR_INIT;
	snprintf(r->archive_digest, sizeof(r->archive_digest), "sha256:%s", digest_of(run));
	if (s->digest) {
		r->trust = "declared";
		return strcmp(s->digest, r->archive_digest) == 0 ||
		       failed(j, "fetch", "the archive has another digest than the one declared");
	}
	const int known = trust_archive(j->work.jobs, s->url, r->archive_digest, &e);
	r->trust = known > 0 ? "recorded" : "first-use";
	return known >= 0 || failed(j, "fetch", e.msg);
}

static bool fetch_archive(struct job_state *j)
{
	const struct job_source *s = &j->job->source;
	struct own_stage o = begin_stage(j, "fetch", image_of(j->job), s->max_bytes + 16 * MIB);
	const char *const words[] = {"curl",	 "-q",	       "--silent",	"--show-error",
				     "--fail",	 "--location", "--max-redirs",	"5",
				     "--proto",	 "=https",     "--proto-redir", "=https",
				     "--output", "archive",    "--url",		s->url};
	command(&o, words, sizeof(words) / sizeof(*words));
	allow_host(&o);
	trust_ca(&o, "CURL_CA_BUNDLE");
	set(&o, "artifact",
	    arena_printf(j->job->arena, "archive:required:max=%" PRIu64, s->max_bytes));
	const struct stage_run *run = run_own(&o);
	return run && check_digest(j, run) && unpack(j, run);
}

/* ---- a folder, or files ---- */

/* It goes in as any input does, and comes out as a tree: what later stages get is one state of it. */
static bool fetch_folder(struct job_state *j)
{
	const struct job_source *s = &j->job->source;
	struct own_stage o = begin_stage(j, "fetch", "@host", s->max_bytes + 16 * MIB);
	const char *const words[] = {"true"};
	command(&o, words, 1);
	if (s->folder)
		set(&o, "input", arena_printf(j->job->arena, "%s:source", s->folder));
	for (const char *const *file = (const char *const *)s->files; file && *file; file++) {
		const char *slash = strrchr(*file, '/');
		set(&o, "input",
		    arena_printf(j->job->arena, "%s:source/%s", *file, slash ? slash + 1 : *file));
	}
	output_tree(&o);
	const struct stage_run *run = run_own(&o);
	if (!run)
		return false;
	j->r->source.tree = run->outputs[0];
	return true;
}

bool fetch_source(struct job_state *j)
{
	static bool (*const kinds[])(struct job_state *) = {[SOURCE_GIT] = fetch_git,
							    [SOURCE_ARCHIVE] = fetch_archive,
							    [SOURCE_FOLDER] = fetch_folder,
							    [SOURCE_FILES] = fetch_folder};
	const enum source_kind kind = j->job->source.kind;
	return kind == SOURCE_NONE || kinds[kind](j);
}
