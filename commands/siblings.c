/* What heavy subcommands have in common: `pinfold NAME` is pinfold-NAME of the libexec folder. */
#include "commands/commands.h"
#include "runtime/sibling.h"

#include <string.h>
#include <unistd.h>

int sibling_in_our_place(const char *name, const struct context *c)
{
	autoarena arena = ARENA_INIT;
	struct err e = ERR_INIT;
	struct sandbox_options o = {.events = -1};
	options_from_environment(&o, &arena);
	if (!o.libexec) {
		complain("%s: the folder of the sibling programs is not known; set "
			 "PINFOLD_EXEC_PATH",
			 name);
		return EXIT_REFUSED;
	}
	char **argv = arena_alloc(&arena, ((size_t)c->argc + 2) * sizeof(*argv));
	argv[0] = arena_printf(&arena, "pinfold-%s", name);
	memcpy(argv + 1, c->argv, (size_t)c->argc * sizeof(*argv));
	sigset_t held;
	sigemptyset(&held);
	if (has_result(name, c->argc > 0 ? c->argv[0] : NULL))
		stop_signals(&held);
	sibling_exec(arena_printf(&arena, "%s/%s", o.libexec, argv[0]), argv, &held, &e);
	complain("%s: %s", name, e.msg);
	return EXIT_REFUSED;
}
