/* `pinfold report`: the sibling that makes a page of a result, out of the run path. */
#include "commands/commands.h"

int command_report(const struct context *c)
{
	return sibling_in_our_place("report", c);
}
