/* Rules: what is looked for, how grave it is, and what it means for a sandbox.
 *
 * A rule is a file rules/FOLDER/NAME.scm: a header of comment lines, then tree-sitter queries.
 *   ; id: python.process
 *   ; severity: note|warning|error
 *   ; message: starts a process
 *   ; sandbox: what it means for whoever runs it
 *   ; hosts: yes                (where a finding names the host that is written there)
 *   ((call function: (_) @name) @found (#resolves? @name "os.system" "os.exec*"))
 * @found is the place; without it the first capture is. FOLDER is one of a language's (language.h); names.scm
 * has no header and says where names come from (names.h). Rules that no query can express are builtin.
 *
 * Predicates: eq? any-of? match? (POSIX extended), resolves? (names.h), outside? blob? (literal.h),
 * longer? (bytes), literal?; each with not- in front as well. An unknown one is refused.
 *
 * Whoever runs the scanner has written them, or has installed them: they are trusted, but may be mistaken.
 */
#ifndef PINFOLD_PIPELINE_SCAN_RULES_H
#define PINFOLD_PIPELINE_SCAN_RULES_H

#include "base/arena.h"
#include "base/err.h"
#include "pipeline/scan/language.h"
#include "pipeline/scan/literal.h"
#include "pipeline/scan/names.h"
#include "pipeline/scan/scan.h"

#include <regex.h>

enum {
	RULES_MAX = 1024,
	RULE_BYTES_MAX = 256 << 10,
	RULE_FILES_MAX = 256, /* of one folder */
};

struct rule {
	const char *id, *message, *sandbox;
	enum scan_severity severity;
	bool hosts;
};

/* Builtin rules have the first numbers. */
enum builtin {
	RULE_CRASHED,
	RULE_TIMEOUT,
	RULE_TOO_LARGE,
	RULE_TOO_MANY,
	RULE_UNREADABLE,
	RULE_SYNTAX,
	RULE_ENCODING,
	RULE_DISGUISED,
	RULE_LINK,
	RULE_ARCHIVE_PATH,
	RULE_ARCHIVE_LINK,
	RULE_ARCHIVE_BOMB,
	RULE_ARCHIVE_BROKEN,
	RULE_ELF,
	RULE_BINARY,
	RULE_BYTECODE,
	RULE_CREDENTIAL,
	RULE_CREDENTIAL_FILE,
	RULE_INSTALL_PYTHON,
	RULE_INSTALL_NPM,
	RULE_INSTALL_BROKEN,
	RULE_INSTALL_TEST,
	RULE_INSTALL_BUILD,
	RULE_NATIVE_BUILD,
	RULE_NOTEBOOK_BROKEN,
	RULE_NOTEBOOK_MAGIC,
	RULE_BUILTINS,
};

/* The builtin row of that number. */
const struct rule *rules_builtin(enum builtin b);

struct test; /* a predicate */

/* Of one pattern. */
struct pattern {
	uint32_t rule;
	struct test *tests;
	size_t tests_len;
};

struct piece; /* of a language's text: which file it is from */

struct language_rules {
	char *text; /* of all its files, one behind the other */
	size_t len;
	struct piece *pieces;
	size_t pieces_len;
	char *names_text;
	size_t names_len;
	bool compiled;
	TSQuery *query, *names;
	struct pattern *patterns;
	int found; /* the number of @found; -1 */
};

struct ruleset {
	struct arena *arena; /* borrowed */
	struct rule *at;
	size_t len;
	struct language_rules languages[LANGUAGES];
};

/* The header of a rule file. ERR_USAGE says what is wrong with it, *line where. Pure. */
int rule_header_read(struct span text, size_t *line, struct arena *a, struct rule *to, struct err *e);

void rules_init(struct ruleset *r, struct arena *a);
/* All rules of that folder, which has one of each language's folders in it. name is for messages.
 * own: an id of another folder's is refused. -1 and *e: it cannot be read, or a file is wrong. */
int rules_load(struct ruleset *r, const char *folder, struct err *e);
/* Compile what is there for the language, once. -1 and *e (ERR_USAGE names file and line). */
int rules_compile(struct ruleset *r, enum language l, struct err *e);

/* Let go of what was compiled. */
void rules_close(struct ruleset *r);

/* One text that was parsed. */
struct subject {
	const struct names *names;
	const char *text;
	size_t len;
};

/* Whether a match is meant; detail, of SPELLED_MAX bytes, becomes what resolves? has found. */
bool rules_hold(const struct language_rules *lr, const TSQueryMatch *m, const struct subject *s,
		char *detail);

#endif
