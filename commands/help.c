#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *text;
} texts[] = {
	{"ps", "Usage: pinfold ps [--json]\n\nLists your running sandboxes: id, pid of the supervisor, age, command.\n"},
	{"kill", "Usage: pinfold kill ID...\n\nEnds running sandboxes of yours as a TERM to their pinfold would, and waits for them.\n"},
	{"gc", "Usage: pinfold gc [--cgroup-parent PATH]\n\n"
	       "Removes the empty cgroup that a killed supervisor may have left.\n"},
};

int print_help(const char *command)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(texts[i].name, command) == 0)
			fputs(texts[i].text, stdout);
	return fflush(stdout) == 0 ? 0 : EXIT_REFUSED;
}
