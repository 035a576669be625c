/* How a program in some language is built and run: a table, and nothing else.
 *
 * Pure. A template knows two images by name (one that builds, one that runs), the two commands, what
 * the first hands on to the second, and limits for both; it starts nothing and opens nothing. The run
 * image has no compiler where the language permits; where the interpreter is one, the row says so.
 *
 * The build command's working folder is the sandbox's own, writable; the files are in a folder that may be
 * read-only. What is built is left in the working folder under the name of the row's output.
 */
#ifndef PINFOLD_PIPELINE_TEMPLATE_H
#define PINFOLD_PIPELINE_TEMPLATE_H

#include "base/arena.h"
#include "base/err.h"
#include "pipeline/diagnostics/diagnostics.h"

#include <stddef.h>

/* An image, and how a user comes by it. */
struct template_image {
	const char *name;
	const char *variant;  /* of `pinfold image build-debian`; NULL: its default */
	const char *packages; /* comma-separated; NULL: none */
};

/* A key of the spec and its value, as text: limits, environment. */
struct template_setting {
	const char *key, *value;
};

struct template_stage {
	const struct template_image *image;
	const char *const *command;		 /* see template_command(); NULL-terminated */
	const struct template_setting *settings; /* ends with a NULL key */
	enum diagnostics_kind says;		 /* how what it prints on stderr is read */
};

struct language {
	const char *const *names;      /* the first is the one that is printed; NULL-terminated */
	const char *title;	       /* for people */
	const char *const *extensions; /* of the main file, with the dot */
	/* What a version is called and which there are: the flag's word is joined to it, or stands
	 * before it where it ends with a space. versions NULL: there is one, the image's. */
	const char *version_flag;
	const char *const *versions; /* the first is the default */
	struct template_stage build, run;
	/* What the build stage hands on; NULL: it only checks, and the files themselves are run. */
	const char *output;
	const char *why; /* what has to be known of this row */
};

extern const struct language languages[];
extern const size_t languages_len;

/* By any of its names, else NULL. */
const struct language *language_find(const char *name);
/* By the extension of a file, else NULL. */
const struct language *language_for_file(const char *file);

struct template_ask {
	const char *version; /* NULL: the default */
	const char *const *options; /* for the compiler or the interpreter's check, NULL-terminated; NULL: none */
	const char *const *files; /* relative, of one tree; the first is the main one; NULL-terminated */
	const char *const *args; /* of the program; NULL: none */
	const char *folder; /* build: where the files are; run: where the output is, or without one the files */
};

/* Whether all of it makes sense: the version is one of the row's, the files are names below a
 * folder, and the main one has one of the row's extensions. 0 or ERR_USAGE. */
int language_check(const struct language *l, const struct template_ask *ask, struct err *e);

/* The command of a stage, NULL-terminated, in the arena. ask has passed language_check(). Words in
 * braces stand for: {main} and {files} in ask's folder, {version}, {options}, {args}, {output} in
 * ask's folder, {class} (the main file's name without folder and extension). */
const char *const *template_command(const struct language *l, const struct template_stage *stage,
				    const struct template_ask *ask, struct arena *a);

/* The image of a template that is called so, else NULL. */
const struct template_image *template_image_find(const char *name);

/* How that image is made: "pinfold image build-debian --packages gcc,g++ c-build", in the arena. */
const char *template_image_recipe(const struct template_image *image, struct arena *a);

#endif
