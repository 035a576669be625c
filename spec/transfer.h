/* What goes in and what comes out: the values of --input, --input-ro and --artifact, parsed once.
 *
 *	INPUT    = SRC [":" DST [":unpack"]]
 *	ARTIFACT = PATH *(":" OPTION)
 *	OPTION   = "max=" SIZE | "type=" TYPE | "schema=" FILE | "files=" NUMBER | "required"
 *
 * DST is the part behind the last colon: a relative path without "." and "..", or "." alone, which
 * puts the contents of a folder there; SRC with a colon in it is written with a DST. ":unpack" behind a
 * DST says that SRC is an archive whose contents go there; "unpack" alone is no DST. PATH is relative
 * to the scratch, its components may hold * ? and [...] (fnmatch(3), FNM_PERIOD); it holds no colon. Pure.
 */
#ifndef PINFOLD_SPEC_TRANSFER_H
#define PINFOLD_SPEC_TRANSFER_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INPUTS_MAX = 64,
	UNPACKS_MAX = 8, /* of them: each has a process of its own */
	ARTIFACT_RULES_MAX = 32768,
	ARTIFACT_COMPONENTS_MAX = 64,
	ARTIFACT_MAX_DEFAULT = 64 << 20,
	ARTIFACT_FILES_DEFAULT = 20000,
	ARTIFACT_FILES_MAX = 200000,
};

struct input {
	const char *text; /* as given */
	const char *source;
	const char *target; /* relative to the scratch or, read-only, to /run/input; "." */
	bool read_only;
	bool unpack; /* an archive, whose contents are what goes in */
};

struct input_list {
	struct input *inputs;
	size_t len, room;
};

enum artifact_type {
	ARTIFACT_ANY,
	ARTIFACT_JSON,
	ARTIFACT_CSV,
	ARTIFACT_TEXT,
	ARTIFACT_PNG,
	ARTIFACT_ELF,
	ARTIFACT_TREE, /* a folder with all that is in it, or one file, with modes */
	ARTIFACT_TYPE_COUNT,
};

struct artifact_rule {
	const char *text; /* as given */
	const char *path;
	uint64_t max_bytes; /* of a tree: of all its files together */
	uint64_t max_files; /* of a tree: its entries, folders and links too */
	enum artifact_type type;
	const char *schema; /* NULL: none */
	bool required;
};

struct artifact_list {
	struct artifact_rule *rules;
	size_t len, room;
};

const char *artifact_type_name(enum artifact_type type);

/* The last component of its target. */
const char *input_name(const struct input *in);

/* One more. Strings are copied into the arena. ERR_USAGE shows what is wrong; *list is untouched then. */
int input_list_add(struct input_list *list, const char *text, bool read_only, struct arena *a,
		   struct err *e);
int artifact_list_add(struct artifact_list *list, const char *text, struct arena *a, struct err *e);

/* Two inputs that would be in one place, or one in the other; too many archives. ERR_USAGE. */
int input_lists_check(const struct input_list *list, struct err *e);

#endif
