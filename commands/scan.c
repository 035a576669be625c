/* `pinfold scan`: the sibling that knows source code, out of the run path. */
#include "commands/commands.h"

int command_scan(const struct context *c)
{
	return sibling_in_our_place("scan", c);
}
