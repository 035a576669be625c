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
	{"doctor",
	 "Usage: pinfold doctor [--json]\n\n"
	 "Runs a small sandbox by the code of `run` and tells, for you on this host, which guarantees\n"
	 "are enforced, which are degraded and why, and what mends each. Exits with 0 if a run is possible.\n"},
};

int print_help(const char *command)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(texts[i].name, command) == 0) {
			fputs(texts[i].text, stdout);
			return fflush(stdout) == 0 ? 0 : EXIT_REFUSED;
		}
	}
	char *text = spec_help_text(command);
	if (!text)
		return EXIT_REFUSED;
	fputs(text, stdout);
	free(text);
	return fflush(stdout) == 0 ? 0 : EXIT_REFUSED;
}

int command_completion(const struct context *c)
{
	(void)c;
	char *text = spec_completion_text();
	if (!text)
		return EXIT_REFUSED;
	fputs(text, stdout);
	free(text);
	return fflush(stdout) == 0 ? 0 : EXIT_REFUSED;
}
