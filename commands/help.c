#include "commands/commands.h"
#include "spec/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *text;
} texts[] = {
	{"ps", "Usage: pinfold ps [--json]\n\n"
	       "Lists your running sandboxes: id, pid of the supervisor, age, its words.\n"},
	{"kill",
	 "Usage: pinfold kill ID...\n\n"
	 "Ends running sandboxes of yours as a TERM to their pinfold would (the program is told, has its\n"
	 "grace, and is killed), and returns when they are gone.\n"},
	{"gc", "Usage: pinfold gc [--cgroup-parent PATH]\n\n"
	       "Removes the empty cgroup that a killed supervisor may have left.\n"},
	{"audit",
	 "Usage: pinfold audit [--id NAME] [--since TIME] [--status STATUS] [--json] FILE\n\n"
	 "Prints the records that --audit FILE appended, one a line (FILE may be -, for stdin).\n"
	 "TIME is a day or moment in UTC (2026-11-30, 2026-11-30T17:05:00), or how long ago (2h).\n"
	 "With --status only the ends of that kind. --json prints them as they are.\n"
	 "Lines that are no record are counted, and make the exit code 125.\n"},
	{"doctor",
	 "Usage: pinfold doctor [--json] [IMAGE]\n\n"
	 "Runs a small sandbox by the code of `run`, of @host or of IMAGE (in which `true` is to be found),\n"
	 "and tells, for you on this host, which guarantees are enforced, which are degraded and why, and\n"
	 "what mends each. Exits with 0 if a run is possible.\n"},
	{"completion", "Usage: pinfold completion\n\n"
		       "Prints a completion script for bash: . <(pinfold completion)\n"},
	{"version", "Usage: pinfold version\n\nPrints the version.\n"},
	{"help", "Usage: pinfold help [COMMAND]\n\nLists the commands, or tells about one.\n"},
};

/* A text that was malloc'ed; NULL: memory was out. */
static int print_made(char *text)
{
	if (!text) {
		complain("out of memory");
		return EXIT_REFUSED;
	}
	fputs(text, stdout);
	free(text);
	return 0;
}

int print_help(const char *command)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(texts[i].name, command) == 0) {
			fputs(texts[i].text, stdout);
			return 0;
		}
	}
	return print_made(spec_help_text(command));
}

int command_completion(const struct context *c)
{
	(void)c;
	return print_made(spec_completion_text());
}
