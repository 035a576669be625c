/* The words of a verb: one table of options is what is read and what --help lists. */
#ifndef PINFOLD_COMMANDS_OPTIONS_H
#define PINFOLD_COMMANDS_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What an option that may stand several times was given. at has room for most words. */
struct option_list {
	const char **at;
	size_t len, most;
};

/* One option: with a value (text, the last one counts; or list) or without (flag). */
struct verb_option {
	const char *name;  /* without the dashes; NULL ends the table */
	const char **text; /* NULL: takes no value, or several */
	bool *flag;
	const char *help; /* "SIZE  what it is": the value's name first, if it takes one */
	struct option_list *list;
};

/* What is said of a verb. */
struct verb_manual {
	const char *name;  /* "image pull" */
	const char *usage; /* behind the name */
	const char *help;  /* one line, without a capital and a full stop */
	const char *more;  /* lines below it; NULL none */
};

/* Complains that a command has no such verb, and names what was probably meant, or where they are
 * listed. manual: that of the verb of that number, NULL behind the last. */
void verb_unknown(const char *command, const char *name,
		  const struct verb_manual *(*manual)(size_t i));

/* How many words may stay that are no options; most -1: any number. */
struct word_count {
	int least, most;
};

struct verb_words {
	int argc; /* after options_take(): what is no option */
	char **argv;
	int dashes; /* how many of them stand before "--"; -1: there is none */
};

bool is_help(const char *word);

/* Takes the options out, wherever they stand before a "--"; the rest moves to the front of argv.
 * 0; 1: --help was there, and was printed; -1 and *e (ERR_USAGE). */
int options_take(struct verb_words *w, const struct verb_option *rows, const struct verb_manual *m,
		 struct word_count count, struct err *e);

#endif
