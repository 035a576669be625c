/* What a name in a program means: imports under other names, assignments of functions and modules,
 * constants. Per file, not per scope: a name may mean several things, and each of them counts.
 *
 * rules/LANG/names.scm says where names come from, with these captures:
 *   @module @as        as is that module; without @as the last component is (or the whole, where that is alone)
 *   @from @name @as    as (or name) is from.name
 *   @of @name @as      as (or name) is the member name of what of is spelled as
 *   @star              all of that module is here without its name
 *   @as @value         as is what value is spelled as
 *   @defined           the file has a function of that name of its own
 *   @macro @parameters @body  a macro, for macro.h
 */
#ifndef PINFOLD_PIPELINE_SCAN_NAMES_H
#define PINFOLD_PIPELINE_SCAN_NAMES_H

#include "base/arena.h"
#include "pipeline/scan/language.h"
#include "pipeline/scan/literal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SPELLED_MAX = 512, /* bytes of a spelled name */
	NAMES_MAX = 8192,  /* bindings of a file */
	NAMES_NONE = 0,	   /* the index of none */
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

/* The node as a dotted name, as it stands there: to has SPELLED_MAX bytes. False: it is none. */
bool names_spell(const struct names *n, TSNode node, char to[SPELLED_MAX]);
/* Indices of the bindings of a name; NAMES_NONE is behind the last. */
uint32_t names_first(const struct names *n, const char *name, size_t len);
uint32_t names_next(const struct names *n, uint32_t at, const char *name, size_t len);
/* What the macro of that name is: its parameters in parentheses, if it has them, and its body; NULL. Where it
 * is defined more than once, which says as what (from 0; past the last it is the first). */
const char *names_macro(const struct names *n, struct span name, unsigned which);

#endif
