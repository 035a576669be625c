/* Prints a text that is made from the key table, for who writes the manual page and for the test
 * that holds it against the table. */
#include "spec/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *help(void)
{
	return spec_help_text("run");
}

static const struct {
	const char *name;
	char *(*make)(void);
} texts[] = {
	{"help", help},
	{"man", spec_man_text},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].name, argv[1]) != 0)
			continue;
		char *text = texts[i].make();
		int failed = !text || fputs(text, stdout) < 0 || fflush(stdout) != 0;
		free(text);
		return failed;
	}
	fputs("usage: spec-text help|man\n", stderr);
	return 2;
}
