/* What a name in a program means: imports under other names, assignments of functions and modules,
 * constants. Per file, not per scope: a name may mean several things, and each of them counts.
 *
 * rules/LANG/names.scm says where names come from, with these captures:
 *   @module @as        as is that module; without @as the last component is (or the whole, where that is alone)
 *   @from @name @as    as (or name) is from.name
 *   @star              all of that module is here without its name
 *   @as @value         as is what value is spelled as
 *   @defined           the file has a function of that name of its own
 */
#ifndef PINFOLD_PIPELINE_SCAN_NAMES_H
#define PINFOLD_PIPELINE_SCAN_NAMES_H

#include "base/arena.h"
#include "pipeline/scan/language.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SPELLED_MAX = 512, /* bytes of a spelled name */
	NAMES_MAX = 8192,  /* bindings of a file */
	STARS_MAX = 32,
};

struct binding {
	const char *name, *target; /* a literal's target begins with '"', a module's with '=' */
	uint32_t from;		   /* byte where it begins to hold; for definitions */
	uint32_t next;
};

struct names {
	struct arena *arena;
	enum language language;
	const char *text;
	struct binding *at;
	uint32_t len, *slots; /* a hash of heads of lists, by name */
	const char *stars[STARS_MAX];
	size_t stars_len;
	bool full;
	bool *crowded; /* a name had more meanings than were looked at */
};

void names_init(struct names *n, enum language l, const char *text, struct arena *a);
/* Take what the query finds below root; a query may be NULL. */
void names_read(struct names *n, const TSQuery *query, TSNode root);

/* Of what node may mean, full names (of literals and constants what they say), whether one is taken; it ends there. */
typedef bool names_take(const char *name, void *arg);
bool names_any(const struct names *n, TSNode node, names_take *take, void *arg);
/* What the literal, the constant or the sum of such says. False: it is none that can be read. */
bool names_literal(const struct names *n, TSNode node, char *to, size_t size);

/* '*' in the pattern is any number of bytes without a call in it. */
bool names_match(const char *pattern, const char *name);

#endif
