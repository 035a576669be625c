/* The stages that fetch a source: what a document could say, had it to.
 *
 * git and tar are driven by a short script in the image's own shell, inside the sandbox, because it
 * takes several commands in one scratch; url and ref reach it as arguments and are never part of
 * its text.
 */
#include "pipeline/fetch.h"

#include "spec/keys.h"
#include "spec/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1ULL << 20)

/* $1: url, $2: ref, $3: "submodules" or "", $4: "sha256" or "". A colon behind the ref says that it
 * is one: "tag" alone is a word of git's. No hook, no filter, no helper: nothing of the host's or
 * the caller's configuration is in there, and what the repository has is not read as configuration.
 * How a repository names its objects is known when it was asked. */
static const char git_script[] =
	"set -eu\n"
	"begin() {\n"
	"	rm -rf .git\n"
	"	git init -q --template= \"$@\"\n"
	"	git config core.hooksPath /dev/null\n"
	"	git config core.fsmonitor false\n"
	"}\n"
	"fetch() {\n"
	"	git fetch -q --depth 1 --no-tags --no-recurse-submodules -- \"$1\" \"$2:\" 2> ../said\n"
	"}\n"
	"mkdir source\n"
	"cd source\n"
	"begin ${4:+--object-format=\"$4\"}\n"
	"failed=\n"
	"fetch \"$1\" \"$2\" || failed=$?\n"
	"case $failed$(cat ../said) in\n"
	"?*mismatched\\ algorithms*sha256*)\n"
	"	begin --object-format=sha256\n"
	"	failed=\n"
	"	fetch \"$1\" \"$2\" || failed=$?\n"
	"esac\n"
	"cat ../said >&2\n"
	"[ ! \"$failed\" ] || exit \"$failed\"\n"
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
	const struct job *job;
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
	set_unless_given(o, key, arena_printf(o->job->arena, "%" PRIu64, bytes));
}

/* So many times the bytes and some more, or as much as a size may say. */
static uint64_t room_for(uint64_t bytes, uint64_t times, uint64_t more)
{
	uint64_t sum;
	if (__builtin_mul_overflow(bytes, times, &sum) || __builtin_add_overflow(sum, more, &sum) ||
	    sum > PARSE_MAX)
		return PARSE_MAX;
	return sum;
}

/* scratch_bytes: what it will need of it; memory besides. */
static struct own_stage begin_stage(const struct job *job, const char *name, const char *image,
				    uint64_t scratch_bytes)
{
	const struct job_source *source = &job->source;
	struct arena *a = job->arena;
	struct own_stage o = {.job = job, .s = arena_alloc(a, sizeof(*o.s)), .e = ERR_INIT};
	*o.s = (struct job_stage){.name = name, .kind = STAGE_BUILD};
	if (source->limits)
		o.s->asked = source->limits->asked;
	else if (spec_init(&o.s->asked, a, &o.e) < 0)
		return o;
	o.s->asked.speaking = ORIGIN_FILE;
	if (spec_set_image(&o.s->asked, image, &o.e) < 0)
		return o;
	set_bytes(&o, "memory", room_for(scratch_bytes, 1, 256 * MIB));
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
	const struct job_source *source = &o->job->source;
	o->s->outputs[0] = (struct job_output){"source", source->max_bytes, source->max_files};
	o->s->outputs_len = 1;
}

/* One rule, for the host of the url; or those of the document. */
static void allow_host(struct own_stage *o)
{
	const struct job_source *s = &o->job->source;
	if (!s->allow)
		set(o, "allow", arena_printf(o->job->arena, "%s:%u", s->host, s->port));
	for (const char *const *rule = (const char *const *)s->allow; rule && *rule; rule++)
		set(o, "allow", *rule);
	set_bytes(o, "egress-bytes", room_for(s->max_bytes, 2, 64 * MIB));
}

static void trust_ca(struct own_stage *o, const char *variable)
{
	struct arena *a = o->job->arena;
	if (!o->job->source.ca)
		return;
	set(o, "input-ro", arena_printf(a, "%s:ca.pem", o->job->source.ca));
	set(o, "env", arena_printf(a, "%s=/run/input/ca.pem", variable));
}

static const char *image_of(const struct job *job)
{
	return job->source.image ? job->source.image : job->image;
}

static uint64_t number_of(const struct spec *s, const struct key *k)
{
	return *(const uint64_t *)((uintptr_t)s + k->offset);
}

/* What is a default here is no more than the host allows. */
static void lower(struct own_stage *o)
{
	static const char *const names[] = {"memory", "scratch", "scratch-inodes",
					    "wall",   "pids",	 "egress-bytes"};
	const struct spec *ceilings = o->s->whole.rules.ceilings;
	for (size_t i = 0; ceilings && i < sizeof(names) / sizeof(*names); i++) {
		const struct key *k = key_find(names[i]);
		const uint64_t most = number_of(ceilings, k), now = number_of(&o->s->asked, k);
		if (!(ceilings->given >> (k - spec_keys) & 1) || now <= most)
			continue;
		char *text = key_value_text(ceilings, k);
		if (text)
			set(o, k->name, text);
		free(text);
	}
	/* The scratch is made of the memory, as in any stage. */
	const struct job_stage *limits = o->job->source.limits;
	const struct limits *l = &o->s->asked.limits;
	if (l->scratch_bytes > l->memory_bytes &&
	    !(limits && limits->asked.given >> (key_find("scratch") - spec_keys) & 1))
		set(o, "scratch", arena_printf(o->job->arena, "%" PRIu64, l->memory_bytes));
}

/* With the configuration around it: what the run will be. */
static int finish_stage(struct own_stage *o, struct job_stage **stage, struct err *e)
{
	struct spec *whole = &o->s->whole;
	*e = o->e;
	if (e->kind != ERR_NONE || spec_init(whole, o->job->arena, e) < 0 ||
	    (o->job->configure && o->job->configure(whole, e) < 0))
		return -1;
	lower(o);
	*e = o->e;
	char *said = e->kind == ERR_NONE ? spec_write_given(&o->s->asked) : NULL;
	whole->speaking = ORIGIN_FILE;
	const int done = said ? spec_read_json(whole, o->s->name, said, strlen(said), e) : -1;
	free(said);
	*stage = o->s;
	if (!said && e->kind == ERR_NONE)
		return err_host(e, "out of memory");
	return done;
}

/* ---- each kind ---- */

bool source_is_commit(const char *text)
{
	const size_t len = strlen(text);
	return (len == COMMIT_SHA1 || len == COMMIT_SHA256) &&
	       strspn(text, "0123456789abcdefABCDEF") == len;
}

static int git_stage(const struct job *job, struct job_stage **stage, struct err *e)
{
	const struct job_source *s = &job->source;
	/* The objects, and the tree beside them. */
	struct own_stage o = begin_stage(job, "fetch", image_of(job),
					 room_for(s->max_bytes, 2, 64 * MIB));
	const char *const words[] = {"sh",
				     "-c",
				     git_script,
				     "fetch",
				     s->url,
				     s->ref,
				     s->submodules ? "submodules" : "",
				     source_is_commit(s->ref) && s->ref[COMMIT_SHA1] ? "sha256" : ""};
	command(&o, words, sizeof(words) / sizeof(*words));
	for (size_t i = 0; i < sizeof(git_env) / sizeof(*git_env); i++)
		set(&o, "env", git_env[i]);
	allow_host(&o);
	trust_ca(&o, "GIT_SSL_CAINFO");
	output_tree(&o);
	return finish_stage(&o, stage, e);
}

static int archive_stage(const struct job *job, struct job_stage **stage, struct err *e)
{
	const struct job_source *s = &job->source;
	struct own_stage o = begin_stage(job, "fetch", image_of(job),
					 room_for(s->max_bytes, 1, 16 * MIB));
	const char *const words[] = {"curl",	  "-q",		"--silent",	 "--show-error",
				     "--fail",	  "--location", "--max-redirs",	 "5",
				     "--proto",	  "=https",	"--proto-redir", "=https",
				     "--globoff", "--output",	"archive",	 "--url",
				     s->url};
	command(&o, words, sizeof(words) / sizeof(*words));
	allow_host(&o);
	trust_ca(&o, "CURL_CA_BUNDLE");
	set(&o, "artifact", arena_printf(job->arena, "archive:required:max=%" PRIu64, s->max_bytes));
	return finish_stage(&o, stage, e);
}

/* It goes in as any input does, and comes out as a tree: what later stages get is one state of it. */
static int folder_stage(const struct job *job, struct job_stage **stage, struct err *e)
{
	const struct job_source *s = &job->source;
	struct own_stage o = begin_stage(job, "fetch", "@host", room_for(s->max_bytes, 1, 16 * MIB));
	const char *const words[] = {"true"};
	command(&o, words, 1);
	if (s->folder)
		set(&o, "input", arena_printf(job->arena, "%s:source", s->folder));
	for (const char *const *file = (const char *const *)s->files; file && *file; file++) {
		const char *slash = strrchr(*file, '/');
		set(&o, "input",
		    arena_printf(job->arena, "%s:source/%s", *file, slash ? slash + 1 : *file));
	}
	output_tree(&o);
	return finish_stage(&o, stage, e);
}

int fetch_stage(const struct job *job, struct job_stage **stage, struct err *e)
{
	static int (*const kinds[])(const struct job *, struct job_stage **,
				    struct err *) = {[SOURCE_GIT] = git_stage,
						     [SOURCE_ARCHIVE] = archive_stage,
						     [SOURCE_FOLDER] = folder_stage,
						     [SOURCE_FILES] = folder_stage};
	return kinds[job->source.kind](job, stage, e);
}

int unpack_stage(const struct job *job, const char *archive, struct job_stage **stage, struct err *e)
{
	const struct job_source *s = &job->source;
	struct own_stage o = begin_stage(job, "unpack", image_of(job),
					 room_for(s->max_bytes, 2, 16 * MIB));
	const char *const words[] = {"sh", "-c", s->format == ARCHIVE_ZIP ? zip_script : tar_script};
	command(&o, words, sizeof(words) / sizeof(*words));
	set(&o, "input-ro", arena_printf(job->arena, "%s:archive", archive));
	output_tree(&o);
	return finish_stage(&o, stage, e);
}
