/* `pinfold image`: the sibling that knows archives and registries, out of the run path. */
#include "commands/commands.h"

int command_image(const struct context *c)
{
	return sibling_in_our_place("image", c);
}
