/* `pinfold job`: the sibling that runs stages one after the other, out of the run path. */
#include "commands/commands.h"

int command_job(const struct context *c)
{
	return sibling_in_our_place("job", c);
}
