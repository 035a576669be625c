/* `pinfold scan`: the sibling that knows source code, out of the run path. */
#include "commands/commands.h"
#include "runtime/sibling.h"

#include <string.h>
#include <unistd.h>

int command_scan(const struct context *c)
{
	autoarena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct sandbox_options o = {.events = -1};
	options_from_environment(&o, &arena);
	if (!o.libexec) {
		complain("scan: the folder of the sibling programs is not known; set PINFOLD_EXEC_PATH");
		return EXIT_REFUSED;
	}
	char **argv = arena_alloc(&arena, ((size_t)c->argc + 2) * sizeof(*argv));
	argv[0] = arena_strdup(&arena, "pinfold-scan");
	memcpy(argv + 1, c->argv, (size_t)c->argc * sizeof(*argv));
	sibling_exec(arena_printf(&arena, "%s/%s", o.libexec, argv[0]), argv, environ, &e);
	complain("scan: %s", e.msg);
	return EXIT_REFUSED;
}
