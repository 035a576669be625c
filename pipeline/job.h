/* A job: what was asked for, as one struct; const once it is read.
 *
 * pinfold-job(5) says what a document may hold, docs/job.schema.json is its schema. Sandbox keys of
 * a stage are the spec's own: the same table, the same parser (spec/keys.h), and so the same
 * defaults. All strings and arrays belong to the arena that job_read() was given. Reading is pure:
 * no system call but memory.
 */
#ifndef PINFOLD_PIPELINE_JOB_H
#define PINFOLD_PIPELINE_JOB_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JOB_STAGES_MAX = 64,
	JOB_OUTPUTS_MAX = 16, /* of a stage */
	JOB_PARAMETERS_MAX = 16,
	JOB_COMBINATIONS_MAX = 256,
	JOB_CONFIGURATIONS_MAX = 16,
	JOB_WAIVERS_MAX = 1024,
	JOB_NAME_MAX = 32, /* bytes of a stage's or a parameter's name */
	JOB_WORDS_MAX = 256,
};

/* ---- where the code comes from ---- */

enum source_kind { SOURCE_NONE, SOURCE_GIT, SOURCE_ARCHIVE, SOURCE_FOLDER, SOURCE_FILES };
enum archive_format { ARCHIVE_TAR, ARCHIVE_ZIP, ARCHIVE_COUNT };

struct job_stage;

struct job_source {
	enum source_kind kind;
	const char *image; /* whose git, curl, tar or unzip is used; NULL: the job's */
	const char *url;   /* git and archive: https alone */
	const char *host;  /* of the url, lower case; brackets gone */
	uint16_t port;
	const char *ref;    /* git: a branch, a tag or a commit; "HEAD" by default */
	bool submodules;    /* git: of the declared host alone */
	const char *digest; /* archive: "sha256:..."; NULL: recorded on first use */
	enum archive_format format;
	const char *folder; /* folder: its path */
	const char **files; /* files: their paths, NULL-terminated; each gets its own last name */
	const char *ca;	    /* NULL: the image's own certificates */
	const char **allow; /* rules instead of the one for host and port, NULL-terminated; NULL: that one */
	uint64_t max_bytes, max_files; /* of the tree */
	struct job_stage *limits;      /* sandbox keys of the fetch; NULL: none are said */
	size_t at;		       /* place in the document; so in the others */
};

/* ---- what is looked at before anything runs ---- */

/* The least severity that stops a job. In the order of SARIF's levels, the worst last. */
enum job_gate { GATE_NONE, GATE_NOTE, GATE_WARNING, GATE_ERROR };

struct job_waiver {
	const char *id;	    /* the rule's */
	const char *path;   /* in the tree, a glob as with artifacts */
	const char *reason; /* never empty */
};

struct job_analyse {
	bool said; /* it is in the document */
	bool off;  /* said so there: nothing is analysed */
	enum job_gate gate;
	const char *rules; /* a folder of more rules; NULL: none */
	struct job_waiver *waivers;
	size_t waivers_len;
	struct job_stage *tool; /* another analyser, in a sandbox of its own; NULL: none */
	const char *tool_sarif; /* the file below its scratch where it leaves its findings */
	size_t at;
};

/* ---- one stage ---- */

/* A run stage has tighter defaults, see pinfold-job(5). */
enum stage_kind { STAGE_RUN, STAGE_BUILD };

struct job_output {
	const char *path; /* below the scratch, without patterns */
	uint64_t max_bytes, max_files;
};

/* What `@STAGE/OUTPUT` in an input stands for. */
struct job_link {
	size_t input;  /* in the stage's spec's inputs */
	int stage;     /* index of the earlier stage; LINK_SOURCE: the tree that was fetched */
	size_t output; /* of that stage */
};
enum { LINK_SOURCE = -1 };

struct job_stage {
	const char *name;
	enum stage_kind kind;
	struct spec asked; /* what the document says, over plain defaults: what the run is told */
	struct spec whole; /* with the configuration files: what the run will be */
	struct job_output outputs[JOB_OUTPUTS_MAX];
	size_t outputs_len;
	struct job_link *links; /* of asked */
	size_t links_len;
	const char *diagnostics; /* name of the compiler whose words it prints, see diagnostics.h; NULL: none */
	bool cache;		 /* may come out of the cache and go into it */
	bool varies;		 /* names a parameter, or takes what a stage that varies gives */
	size_t at;		 /* place in the document */
};

/* ---- sweeps, and what they cost ---- */

struct job_setting {
	const char *name, *value;
};

struct job_parameter {
	const char *name;
	const char **values;
	size_t values_len;
};

struct job_matrix {
	const struct job_parameter *parameters;
	size_t parameters_len;
	size_t combinations; /* product of the lengths; 0: there is no matrix */
	struct slots slots;  /* how many of them run at once, with whom else */
	bool slots_said;     /* else it is one at a time, and nobody else's business */
	bool keep_going;     /* one that failed does not stop the others */
	size_t at;
};

struct job_configuration {
	const char *name;
	double scale; /* > 0 */
	const struct job_setting *set;
	size_t set_len;
};

/* LIMIT_NONE where nothing is approved of that kind. */
struct job_budget {
	uint64_t wall_ns, cpu_time_ns, memory_bytes, scratch_bytes;
};

struct job_cost {
	bool wanted;
	const struct job_configuration *minimal; /* by ascending scale, at least one */
	size_t minimal_len;
	struct job_configuration full;
	struct job_budget approved; /* by the document or --approve */
	bool has_approved, approved_by_flag;
	const char *budget_file; /* shared by jobs; NULL: none */
	size_t at;
};

/* A program in a language that has a template, instead of stages. */
struct job_lang {
	const char *name;     /* "c", "python", ...; NULL: none */
	const char *version;  /* "c17"; NULL: the template's */
	const char **options; /* for the compiler, NULL-terminated */
	const char **files;   /* in the tree, NULL-terminated; the first is the main one */
	const char **args;    /* of the program, NULL-terminated */
	const char *build_image, *run_image; /* NULL: the template's */
	const char *stdin_from; /* of the program: a file, "-" or "null"; NULL: nothing is said */
	size_t at;
};

struct job {
	struct arena *arena;
	int (*configure)(struct spec *s, struct err *e); /* the configuration files; NULL: none */
	const char *name;				 /* NULL: none */
	const char *image; /* of stages that name none; NULL: each does */
	struct job_source source;
	struct job_analyse analyse;
	struct job_lang lang;
	struct job_stage *stages; /* in the order in which they run */
	size_t stages_len;
	struct job_matrix matrix;
	struct job_cost cost;
};

/* Read a document whole. name is for messages. configure reads the configuration files into a spec,
 * as for `run`; NULL where there are none (tests). ERR_USAGE begins with NAME:LINE:COLUMN. */
struct job_text {
	const char *name, *text; /* borrowed for the call */
	size_t len;
	int (*configure)(struct spec *s, struct err *e);
};
int job_read(struct job *job, const struct job_text *from, struct arena *a, struct err *e);

/* "wall=10m,memory=2G": what --approve says, instead of what the document approves; something at
 * least, since what is not said is not held against anything. ERR_USAGE. */
int job_approve(struct job *job, const char *text, struct err *e);

/* The url, the folder, the first file. */
static inline const char *job_source_name(const struct job_source *s)
{
	return s->url ? s->url : s->folder ? s->folder : s->files[0];
}

/* The number of times that a stage runs. */
static inline size_t job_runs_of(const struct job *job, const struct job_stage *s)
{
	return s->varies && job->matrix.combinations ? job->matrix.combinations : 1;
}

/* Whether a stage hands something back, for which there must be a folder. */
bool job_has_artifacts(const struct job *job);

/* Values of the parameters in combination number i, in the order of matrix.parameters. */
void job_combination(const struct job_matrix *m, size_t i, struct job_setting *set);

/* text with @{NAME} replaced by what set says, and @@{ by @{; the arena's. NULL: a name is not in
 * set, which *unknown is then (of the arena, too). */
const char *job_substitute(const char *text, const struct job_setting *set, size_t len,
			   struct arena *a, const char **unknown);

#endif
