#include "commands/options.h"

#include "commands/commands.h"
#include "spec/keys.h"

#include <stdio.h>
#include <string.h>

enum { WORD_COLUMNS = 26 };

bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

void verb_unknown(const char *command, const char *name,
		  const struct verb_manual *(*manual)(size_t i))
{
	unsigned int distance = WORD_NEAR;
	const char *near = NULL;
	const struct verb_manual *m;
	for (size_t i = 0; (m = manual(i)); i++)
		if (word_is_near(name, m->name, &distance))
			near = m->name;
	if (near)
		complain("%s: %s: no such verb; did you mean %s?", command, name, near);
	else
		complain("%s: %s: no such verb; `pinfold %s --help` lists them", command, name,
			 command);
}

static bool takes_value(const struct verb_option *row)
{
	return row->text || row->list;
}

static void print_option(const struct verb_option *row)
{
	const char *rest = takes_value(row) ? strstr(row->help, "  ") : NULL;
	const int len = rest ? (int)(rest - row->help) : 0;
	char word[64];
	snprintf(word, sizeof(word), "--%s%s%.*s", row->name, len ? " " : "", len, row->help);
	printf("  %-*s %s\n", WORD_COLUMNS, word, rest ? rest + 2 : row->help);
}

static void print_manual(const struct verb_manual *m, const struct verb_option *rows)
{
	printf("Usage: pinfold %s %s\n\n%c%s.\n%s", m->name, m->usage, m->help[0] - 'a' + 'A',
	       m->help + 1, m->more ? m->more : "");
	for (const struct verb_option *row = rows; row->name; row++) {
		if (row == rows)
			printf("\n");
		print_option(row);
	}
}

static const struct verb_option *find_option(const struct verb_option *rows, const char *name,
					     size_t len)
{
	for (; rows->name; rows++)
		if (strlen(rows->name) == len && memcmp(rows->name, name, len) == 0)
			return rows;
	return NULL;
}

static int add_value(const struct verb_option *row, const char *value, struct err *e)
{
	struct option_list *list = row->list;
	if (!list) {
		*row->text = value;
		return 0;
	}
	if (list->len == list->most)
		return err_usage(e, "--%s more than %zu times", row->name, list->most);
	list->at[list->len++] = value;
	return 0;
}

/* argv[*at] is an option: take it and its value. */
static int take_option(const struct verb_words *w, const struct verb_option *rows, int *at,
		       const struct verb_manual *m, struct err *e)
{
	const char *word = w->argv[*at] + 2;
	const size_t len = strcspn(word, "=");
	const struct verb_option *row = find_option(rows, word, len);
	if (!row)
		return err_usage(e, "unknown option --%.40s; `pinfold %s --help` lists them", word,
				 m->name);
	if (!takes_value(row) && word[len])
		return err_usage(e, "--%s takes no value", row->name);
	if (!takes_value(row)) {
		*row->flag = true;
		return 0;
	}
	if (!word[len] && *at + 1 == w->argc)
		return err_usage(e, "--%s: a value is missing", row->name);
	return add_value(row, word[len] ? word + len + 1 : w->argv[++*at], e);
}

static int check_count(const struct verb_words *w, const struct verb_manual *m,
		       struct word_count count, struct err *e)
{
	if (w->argc < count.least)
		return err_usage(e, "a word is missing; usage: pinfold %s %s", m->name, m->usage);
	if (count.most >= 0 && w->argc > count.most)
		return err_usage(e, "unexpected \"%.60s\"; usage: pinfold %s %s",
				 w->argv[count.most], m->name, m->usage);
	return 0;
}

int options_take(struct verb_words *w, const struct verb_option *rows, const struct verb_manual *m,
		 struct word_count count, struct err *e)
{
	int rest = 0;
	bool options = true;
	w->dashes = -1;
	for (int at = 0; at < w->argc; at++) {
		const char *word = w->argv[at];
		if (options && is_help(word)) {
			print_manual(m, rows);
			return 1;
		}
		if (options && strcmp(word, "--") == 0) {
			options = false;
			w->dashes = rest;
		} else if (options && strncmp(word, "--", 2) == 0) {
			if (take_option(w, rows, &at, m, e) < 0)
				return -1;
		} else if (options && word[0] == '-' && word[1]) {
			return err_usage(e, "unknown option %.40s; `pinfold %s --help` lists them",
					 word, m->name);
		} else {
			w->argv[rest++] = w->argv[at];
		}
	}
	w->argc = rest;
	return check_count(w, m, count, e);
}
