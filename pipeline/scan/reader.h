/* In the jail: one file after the other comes through a pipe, and what was found goes back.
 *
 * Everything that a stranger wrote is parsed here: source code, notebooks, archives, ELF files,
 * manifests, another analyser's log. A bug in a parser gains whoever wrote the file this process,
 * which has no file, no network, no other process, and a pipe on which its records are checked.
 */
#ifndef PINFOLD_PIPELINE_SCAN_READER_H
#define PINFOLD_PIPELINE_SCAN_READER_H

#include "base/err.h"
#include "pipeline/scan/kind.h"
#include "pipeline/scan/rules.h"
#include "pipeline/scan/wire.h"

enum {
	UNIT_DEPTH_MAX = 3,	  /* archives in archives */
	MEMBERS_MAX = 10000,	  /* of all archives of one file */
	UNPACKED_MAX = 256 << 20, /* bytes of the same */
	CELLS_MAX = 5000,
};

struct reader {
	struct ruleset *rules;
	int in, out;
	TSParser *parser;
	TSQueryCursor *cursor;
	/* Of the file that is at work. */
	uint32_t records;
	size_t members, unpacked;
	bool said_bytecode, said_binary;
	bool deaf; /* nobody takes what is found */
};

/* A text or a file's bytes, and where it is from. */
struct unit {
	const char *name, *folder; /* its last component and the one before it; "" */
	const char *inner;	   /* "", or "!/member" */
	const char *text;	   /* a NUL follows */
	const char *shown;	   /* of the same length, what is shown of it; NULL: text */
	size_t len;
	int depth;
};

/* jail.h's run(): arg is a struct reader. Ends when the pipe does. */
int reader_run(int root, void *arg, struct err *e);

/* Look into it, whatever it is. */
void unit_read(struct reader *r, const struct unit *u);

/* Bytes [from, end) of the unit's text; from > end: the unit as a whole. */
struct place {
	size_t from, end;
};
#define WHOLE ((struct place){1, 0})

void reader_tell(struct reader *r, uint32_t rule, const struct unit *u, struct place at,
		 const char *detail);
struct said {
	const char *detail, *host;
};
void reader_tell_host(struct reader *r, uint32_t rule, const struct unit *u, struct place at,
		      struct said said);

/* The parts, each for its kind of file. */
void source_read(struct reader *r, const struct unit *u, enum language l);
void notebook_read(struct reader *r, const struct unit *u);
void recipe_read(struct reader *r, const struct unit *u);
void archive_look(struct reader *r, const struct unit *u);
/* It ends as a zip does, whatever it begins with: Python, Java and unzip read it. */
bool archive_behind(const struct unit *u);
void elf_read(struct reader *r, const struct unit *u);
void secrets_read(struct reader *r, const struct unit *u);
void disguise_read(struct reader *r, const struct unit *u, enum language l, TSNode root);
void hooks_read(struct reader *r, const struct unit *u);
/* A file of that name may be a hook whatever bytes it has. */
bool hooks_named(const char *name);
void sarif_log_read(struct reader *r, const struct unit *u);

#endif
