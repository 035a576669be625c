/* The languages that can be read: their grammars, how their files are called, and how names are
 * written in them. The reader's and the rules' business; nothing outside of pinfold-scan links it. */
#ifndef PINFOLD_PIPELINE_SCAN_LANGUAGE_H
#define PINFOLD_PIPELINE_SCAN_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <tree_sitter/api.h>

enum language {
	LANGUAGE_NONE = -1,
	LANGUAGE_PYTHON,
	LANGUAGE_C,
	LANGUAGE_CPP,
	LANGUAGE_CSHARP,
	LANGUAGE_JAVASCRIPT,
	LANGUAGE_TYPESCRIPT,
	LANGUAGE_TSX,
	LANGUAGE_JAVA,
	LANGUAGE_SHELL,
	LANGUAGES,
};

/* How an expression is spelled as a dotted name. */
enum spelling {
	SPELL_NAME = 1, /* its text, without blanks, "::" and "->" as "." */
	SPELL_MEMBER,	/* field a, ".", field b */
	SPELL_INDEX,	/* the same, where b is a literal */
	SPELL_CALL,	/* field a, "()"; or what a call is known to give (module_calls) */
	SPELL_METHOD,	/* field a, ".", field b, "()"; or without a */
	SPELL_INSIDE,	/* field a; without a field the first that is named */
	SPELL_LAST,	/* the last child that is named */
	SPELL_NEW,	/* field a, "{}": an object of that class */
	SPELL_WORD,	/* a shell's word: without quotes and backslashes */
	SPELL_VARIABLE, /* "$" and its name */
	SPELL_LITERAL,	/* a text */
};

struct form {
	const char *type; /* of the node */
	enum spelling how;
	const char *a, *b; /* fields */
};

struct language_row {
	const char *name;	/* as it is told */
	const char *folders[3]; /* of rules/, NULL-terminated */
	const char *extensions; /* between blanks */
	const char *interpreters;
	const TSLanguage *(*grammar)(void);
	const struct form *forms; /* ends with a NULL */
	/* Calls that give a module ("require") or a member by its name ("getattr"), between blanks. */
	const char *module_calls, *member_calls;
	/* Calls that give what their first argument is ("partial"), and what all names hang on ("window"). */
	const char *same_calls, *around;
	/* How a member calls the object that it is of ("self"). */
	const char *self;
	/* What is there without an import, between blanks. */
	const char *implicit;
};

extern const struct language_row languages[LANGUAGES];

/* word is one of the words, which blanks divide. */
bool language_lists(const char *words, const char *word, size_t len);
/* By the extension, or by the interpreter of a "#!" line; LANGUAGE_NONE. */
enum language language_of(const char *name, const char *text, size_t len);

#endif
