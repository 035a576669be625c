#include "cgroup/cgroup.h"
#include "commands/commands.h"
#include "runtime/registry.h"

#include <stdio.h>
#include <string.h>

/* A name that somebody else holds is no run of ours. What began after the look, or was left out by
 * one that is cut, has the lock on its leaf. */
static bool is_running(const char *id, void *arg)
{
	const struct registry_run *run = registry_find(arg, id);
	return run && registry_own(run);
}

static int sweep(const char *parent, struct registry *r, struct err *e)
{
	unsigned removed = 0;
	if (cgroup_gc(parent, is_running, r, &removed, e) < 0)
		return -1;
	printf("%u empty cgroup%s removed\n", removed, removed == 1 ? "" : "s");
	return 0;
}

int command_gc(const struct context *c)
{
	struct err e = ERR_INIT;
	const char *parent = NULL;
	static const char option[] = "--cgroup-parent=";
	if (c->argc == 1 && strncmp(c->argv[0], option, strlen(option)) == 0) {
		parent = c->argv[0] + strlen(option);
	} else if (c->argc == 2 && strcmp(c->argv[0], "--cgroup-parent") == 0) {
		parent = c->argv[1];
	} else if (c->argc > 0) {
		complain("gc: unexpected \"%s\"; usage: pinfold gc [--cgroup-parent PATH]",
			 c->argv[0]);
		return EXIT_REFUSED;
	}
	struct registry r = REGISTRY_INIT;
	const bool done = registry_look(&r, NULL, 0, &e) == 0 && sweep(parent, &r, &e) == 0;
	if (!done)
		complain("%s", e.msg);
	registry_close(&r);
	return done ? 0 : EXIT_REFUSED;
}
