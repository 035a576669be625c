#include "cgroup/cgroup.h"
#include "commands/commands.h"
#include "runtime/registry.h"

#include <stdio.h>
#include <string.h>

/* A name that somebody else holds is no run of ours. In doubt it is running. */
static bool is_running(const char *id, void *arg)
{
	(void)arg;
	struct registry_run run;
	struct err e = ERR_INIT;
	const int there = registry_holder(id, &run, &e);
	return there < 0 || (there && registry_own(&run));
}

int command_gc(const struct context *c)
{
	struct err e = ERR_INIT;
	unsigned removed = 0;
	const char *parent = NULL;
	if (c->argc == 2 && strcmp(c->argv[0], "--cgroup-parent") == 0) {
		parent = c->argv[1];
	} else if (c->argc > 0) {
		complain("gc: unexpected \"%s\"; usage: pinfold gc [--cgroup-parent PATH]",
			 c->argv[0]);
		return EXIT_REFUSED;
	}
	if (cgroup_gc(parent, is_running, NULL, &removed, &e) < 0) {
		complain("%s", e.msg);
		return EXIT_REFUSED;
	}
	printf("%u empty cgroup%s removed\n", removed, removed == 1 ? "" : "s");
	return 0;
}
