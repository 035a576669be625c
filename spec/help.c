#include "spec/help.h"

#include "spec/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 80, HELP_COLUMN = 28 };

struct text {
	FILE *to;
	char *buf;
	size_t len;
};

static bool text_open(struct text *t)
{
	*t = (struct text){.to = NULL};
	t->to = open_memstream(&t->buf, &t->len);
	return t->to;
}

static char *text_close(struct text *t)
{
	bool bad = ferror(t->to);
	if (fclose(t->to) != 0 || bad) {
		free(t->buf);
		return NULL;
	}
	return t->buf;
}

/* Words from column `at` on, broken before COLUMNS and continued at `indent`. */
static void wrapped(FILE *to, int at, int indent, const char *words)
{
	bool first = true;
	while (*words) {
		int len = (int)strcspn(words, " ");
		if (!first && at + 1 + len > COLUMNS) {
			fprintf(to, "\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', to);
			at++;
		}
		fprintf(to, "%.*s", len, words);
		at += len;
		words += len;
		words += strspn(words, " ");
		first = false;
	}
	fputc('\n', to);
}

/* What is true when the option is not given, in brackets; "" where the sentence says it. */
static void default_text(const struct key *k, char *buf, size_t size)
{
	buf[0] = '\0';
	if (k->initial && k->type != KEY_BOOL)
		snprintf(buf, size, " [%s]", k->initial);
}

static void help_row(FILE *to, const struct key *k)
{
	char sentence[256], initial[40];
	default_text(k, initial, sizeof(initial));
	snprintf(sentence, sizeof(sentence), "%s%s", k->help, initial);
	int at = fprintf(to, "  --%s%s%s", k->name, k->placeholder ? " " : "",
			 k->placeholder ? k->placeholder : "");
	if (at + 2 > HELP_COLUMN) {
		fputc('\n', to);
		at = 0;
	}
	fprintf(to, "%*s", HELP_COLUMN - at, "");
	wrapped(to, HELP_COLUMN, HELP_COLUMN, sentence);
}

static void help_intro(FILE *to, const char *command)
{
	fprintf(to, "Usage: pinfold %s [OPTION...] IMAGE [--] COMMAND [ARG...]\n\n", command);
	fputs(strcmp(command, "explain") == 0
		      ? "Prints what `pinfold run` with the same arguments would do, and runs nothing.\n"
		      : "Runs COMMAND in a fresh sandbox and says in one document what happened.\n",
	      to);
	fputs("\nIMAGE is a folder (./rootfs, /srv/rootfs), the name of a stored image (see\n"
	      "`pinfold image list`), or @host for this host's /usr.\n"
	      "Options take their value as --key VALUE or --key=VALUE. [..] is the default.\n"
	      "Sizes are like 64M or 1.5G (K M G T, binary), times like 500ms, 2s, 5m; `none`\n"
	      "lifts a limit.\n",
	      to);
}

static void help_end(FILE *to)
{
	fputs("\nOther\n", to);
	fprintf(to, "%-*s%s", HELP_COLUMN, "  --spec FILE",
		"the same keys as JSON; an option overrides the file\n");
	fprintf(to, "%-*s%s", HELP_COLUMN, "  -h, --help", "this text\n");
	fputs("\nExit code: the program's own; 128+N if signal N ended it; 124 a limit on time or\n"
	      "output; 137 out of memory; 126 not executable; 127 not found; 125 pinfold itself\n"
	      "refused or failed. See pinfold-run(1), pinfold-spec(5), pinfold-result(5).\n",
	      to);
}

char *spec_help_text(const char *command)
{
	struct text t;
	if (!text_open(&t))
		return NULL;
	help_intro(t.to, command);
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		if (i == 0 || spec_keys[i - 1].group != k->group)
			fprintf(t.to, "\n%s\n", key_group_titles[k->group]);
		help_row(t.to, k);
	}
	help_end(t.to);
	return text_close(&t);
}

/* ---- manual page ---- */

/* A hyphen that may be copied and pasted is \-, and no line may begin with a dot or a quote. */
static void man_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", to);
		else if (*text == '\\')
			fputs("\\e", to);
		else
			fputc(*text, to);
	}
}

static void man_row(FILE *to, const struct key *k)
{
	fputs(".TP\n.B \\-\\-", to);
	man_escaped(to, k->name);
	if (k->placeholder) {
		fputs(" \\fI", to);
		man_escaped(to, k->placeholder);
		fputs("\\fR", to);
	}
	fputc('\n', to);
	fputc(k->help[0] >= 'a' && k->help[0] <= 'z' ? k->help[0] - 'a' + 'A' : k->help[0], to);
	man_escaped(to, k->help + 1);
	fputs(".\n", to);
	if (k->initial && k->type != KEY_BOOL) {
		fputs("The default is\n.BR ", to);
		man_escaped(to, k->initial);
		fputs(" .\n", to);
	}
}

char *spec_man_text(void)
{
	struct text t;
	if (!text_open(&t))
		return NULL;
	for (size_t i = 0; i < spec_keys_len; i++) {
		const struct key *k = &spec_keys[i];
		if (i == 0 || spec_keys[i - 1].group != k->group)
			fprintf(t.to, ".SS %s\n", key_group_titles[k->group]);
		man_row(t.to, k);
	}
	return text_close(&t);
}
