/* What the verbs of pinfold-image share. */
#ifndef PINFOLD_COMMANDS_IMAGE_H
#define PINFOLD_COMMANDS_IMAGE_H

#include "base/arena.h"
#include "base/err.h"
#include "commands/options.h"
#include "rootfs/image/store.h"
#include "rootfs/image/take.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One call of a verb. */
struct image_call {
	struct verb_manual manual; /* its name in full: "image pull" */
	int argc;		   /* after the verb; after image_options(): what is no option */
	char **argv;
	struct arena *arena;
	struct store store; /* open, but for a verb that needs none */
};

struct image_verb {
	struct verb_manual manual;
	int (*run)(struct image_call *c, struct err *e); /* the exit code, or -1 and *e */
	bool looks; /* makes no store where there is none: then store.dir is -1 */
};

/* options_take() of the verb's words. */
int image_options(struct image_call *c, const struct verb_option *rows, struct word_count count,
		  struct err *e);

/* The stored image of that name or id; -1 and *e (ERR_USAGE) where there is none. */
int image_find(struct image_call *c, const char *name, struct stored_name *n, struct err *e);

/* Takes a document, NULL where there was no memory for it, and prints it. */
int image_print(char *text, struct err *e);

int image_load(struct image_call *c, struct err *e);
int image_import(struct image_call *c, struct err *e);
int image_build_debian(struct image_call *c, struct err *e);
int image_pull(struct image_call *c, struct err *e);
int image_list(struct image_call *c, struct err *e);
int image_inspect(struct image_call *c, struct err *e);
int image_tag(struct image_call *c, struct err *e);
int image_remove(struct image_call *c, struct err *e);
int image_gc(struct image_call *c, struct err *e);
int image_verify(struct image_call *c, struct err *e);
int image_export(struct image_call *c, struct err *e);

/* ---- image-keep.c: from blobs to a stored image ---- */

/* What every verb that takes an image in has as options: the rows, for the end of its own, and what they came to. */
struct image_taking {
	const char *bytes, *entries, *depth, *ratio, *time;
	bool json;
};
#define IMAGE_TAKING_ROWS(t)                                                                    \
	{"limit-bytes", &(t).bytes, NULL, "SIZE  what the image may hold unpacked (64G)"},      \
		{"limit-entries", &(t).entries, NULL, "N  how many paths (1000000)"},           \
		{"limit-depth", &(t).depth, NULL, "N  how deep a path (256)"},                  \
		{"limit-ratio", &(t).ratio, NULL, "N  bytes out of one compressed byte (500)"}, \
		{"limit-time", &(t).time, NULL,                                                 \
		 "N  seconds of processor time (300, and one a MiB)"},                          \
		{"json", NULL, &(t).json, "progress as JSON, one document a line"}

enum image_report { REPORT_LINES, REPORT_JSON };
int image_taking_read(const struct image_taking *t, struct unpack_limits *limits,
		      enum image_report *report, struct err *e);

/* A file without a name for an archive that is made here, in a work folder of the store. -1 and *e. */
int image_archive(struct image_call *c, struct work *w, struct err *e);

/* Name the image; unpack it first, unless its tree is there: its blobs are in the store. Two
 * processes with the same image do the work once. store_share() is the caller's. */
struct image_keep {
	const struct taken *taken;
	const char *name;
	/* What the bytes had that the registry gave for the name: a name with a digest may be only
	 * theirs. NULL: they came another way, and no digest may be in the name. */
	const struct digest *pulled;
	struct unpack_limits limits;
	enum image_report report;
};
int image_keep(struct image_call *c, const struct image_keep *k, struct err *e);

/* For struct debris: a line of warning. */
void image_warn(const struct err *what);

/* The name in full, as the store has it, with its tag. NULL and *e (ERR_USAGE): it is none. */
const char *image_whole_name(struct image_call *c, const char *name, struct err *e);

/* Whether an image that is not pulled may have that name; asked before the work. ERR_USAGE. */
int image_check_name(struct image_call *c, const char *name, struct err *e);

/* ---- image-load.c ---- */

/* An archive of any form, in a file that can seek, into the store under a name. */
struct image_source {
	int input;
	const struct take_blob *blobs; /* of a layout that is a folder; then input is its index.json */
	size_t blobs_len;
	enum take_as as;
	const char *ref, *name; /* NULL: by the image; NULL: by the image or fallback */
	const char *fallback;	/* NULL: it has to have a name */
	struct platform platform;
	struct unpack_limits limits;
	enum image_report report;
};
int image_take(struct image_call *c, const struct image_source *from, struct err *e);

/* ---- image-progress.c ---- */

struct progress {
	const char *what; /* "unpacking" */
	uint64_t total;	  /* bytes; 0: not known */
	const int *fds;	  /* what is being read: their offsets are how far it is */
	size_t fds_len;
	enum image_report report;
	bool terminal;
};

/* Say that something begins: a line, or an event. */
void progress_begin(struct progress *p, enum image_report report, const char *what, uint64_t total);
/* How far it is; on a terminal a bar, else nothing. */
void progress_show(const struct progress *p, uint64_t done);
/* Of what cannot be measured, how long it is at it; on a terminal alone. */
void progress_wait(const struct progress *p, uint64_t seconds);
/* For struct jail: shows the offsets. */
void progress_tick(struct progress *p);
void progress_end(const struct progress *p);

/* "12.3 MB" in decimal units, as df -H has them. Returns buf. */
const char *image_size(uint64_t bytes, char buf[32]);

/* The file to write to: FILE, or stdout ("-" or NULL), which must not be a terminal. */
int image_output(const char *file, struct err *e);

#endif
