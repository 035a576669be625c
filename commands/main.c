#include "base/pages.h"
#include "commands/commands.h"
#include "runtime/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int command_help(const struct context *c);
static int command_version(const struct context *c);

static const struct {
	const char *name;
	int (*run)(const struct context *);
	const char *help;
} commands[] = {
	{"run", command_run, "run a program in a fresh sandbox"},
	{"explain", command_explain, "print what run would do, with the same arguments"},
	{"doctor", command_doctor,
	 "tell what this host can enforce for this user, and how to mend the rest"},
	{"ps", command_ps, "list your running sandboxes"},
	{"kill", command_kill, "end a running sandbox"},
	{"gc", command_gc, "remove what a killed supervisor may have left: empty cgroups"},
	{"completion", command_completion, "print a completion script for bash"},
	{"version", command_version, "print the version"},
	{"help", command_help, "print this"},
};

static int command_help(const struct context *c)
{
	(void)c;
	printf("Usage: pinfold COMMAND [ARGUMENT...]\n\n"
	       "Runs programs that nobody trusts, each in a fresh sandbox.\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("\n`pinfold COMMAND --help` tells more. A first try:\n"
	       "  pinfold run @host python3 -c 'print(6 * 7)'\n");
	return fflush(stdout) == 0 ? 0 : EXIT_REFUSED;
}

static int command_version(const struct context *c)
{
	(void)c;
	printf("pinfold " PINFOLD_VERSION "\n");
	return fflush(stdout) == 0 ? 0 : EXIT_REFUSED;
}

/* Whoever started us with stdin, stdout or stderr closed must not find a file of ours there.
 * Nothing else is opened before, so the number is the lowest that is free. */
static int fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", O_RDWR) != fd) {
			complain("fd %d is closed, and /dev/null cannot stand in: %s", fd,
				 strerrordesc_np(errno));
			return -1;
		}
	}
	return 0;
}

static int dispatch(const char *name, const struct context *c)
{
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return command_help(c);
	if (strcmp(name, "--version") == 0)
		return command_version(c);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(c);
	complain("%s: no such command; `pinfold help` lists them", name);
	return EXIT_REFUSED;
}

int main(int argc, char **argv)
{
	const int64_t begun = now_ns();
	pages_warm_text();
	pages_warm_stack(24 * 1024);
	/* One brk(2) instead of ten: room that is not used is not resident. */
	mallopt(M_TOP_PAD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	if (fill_standard_fds() < 0)
		return EXIT_REFUSED;
	if (argc < 2) {
		complain("no command; `pinfold help` lists them");
		return EXIT_REFUSED;
	}
	const struct context c = {.argc = argc - 2,
				  .argv = argv + 2,
				  .whole_argv = argv,
				  .begun_ns = begun};
	int code = dispatch(argv[1], &c);
	/* Every command has flushed what it printed; the handlers of libraries have nothing of ours to do. */
	_exit(code);
}
