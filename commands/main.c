#include "base/pages.h"
#include "commands/commands.h"
#include "runtime/deadline.h"
#include "spec/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int command_help(const struct context *c);
static int command_version(const struct context *c);

static const struct command {
	const char *name;
	int (*run)(const struct context *);
	const char *help;
	bool alone;    /* it takes no words */
	bool own_help; /* it knows --help itself */
} commands[] = {
	{"run", command_run, "run a program in a fresh sandbox"},
	{"explain", command_explain, "print what run would do, with the same arguments"},
	{"doctor", command_doctor,
	 "tell what this host can enforce for this user, and how to mend the rest"},
	{"image", command_image, "pull, load, list and remove images", .own_help = true},
	{"job", command_job, "fetch, look at, build and run code that nobody trusts",
	 .own_help = true},
	{"scan", command_scan, "look into source code before it runs", .own_help = true},
	{"ps", command_ps, "list your running sandboxes"},
	{"kill", command_kill, "end a running sandbox"},
	{"gc", command_gc, "remove what a killed supervisor may have left: empty cgroups"},
	{"audit", command_audit, "print the records of --audit"},
	{"report", command_report, "make a page to read of a result", .own_help = true},
	{"completion", command_completion, "print a completion script for bash", true},
	{"version", command_version, "print the version", true},
	{"help", command_help, "print this, or what `pinfold COMMAND --help` tells"},
};

static const struct command *find_command(const char *name)
{
	unsigned int distance = WORD_NEAR;
	const char *near = NULL;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
		if (word_is_near(name, commands[i].name, &distance))
			near = commands[i].name;
	}
	if (near)
		complain("%s: no such command; did you mean %s?", name, near);
	else
		complain("%s: no such command; `pinfold help` lists them", name);
	return NULL;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int help_on(const char *name)
{
	const struct command *command = find_command(name);
	static char help[] = "--help";
	char *words[] = {help, NULL};
	if (command && command->own_help)
		return command->run(&(struct context){.argc = 1, .argv = words});
	return command ? print_help(name) : EXIT_REFUSED;
}

static int command_help(const struct context *c)
{
	if (c->argc > 1) {
		complain("help: unexpected \"%s\"; usage: pinfold help [COMMAND]", c->argv[1]);
		return EXIT_REFUSED;
	}
	if (c->argc == 1)
		return help_on(c->argv[0]);
	printf("Usage: pinfold COMMAND [ARGUMENT...]\n\n"
	       "Runs programs that nobody trusts, each in a fresh sandbox.\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("\n`pinfold COMMAND --help` tells more. A first try:\n"
	       "  pinfold run @host python3 -c 'print(6 * 7)'\n");
	return 0;
}

static int command_version(const struct context *c)
{
	(void)c;
	printf("pinfold " PINFOLD_VERSION "\n");
	return 0;
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

/* A write that fails is an error to report, not a death without a result: over RLIMIT_FSIZE it
 * would be SIGXFSZ, to a reader that went away SIGPIPE. And a run that is told to stop before it has begun
 * has a result too. Blocked, not ignored: the program's mask is emptied, what is ignored it might keep. */
static int block_signals(bool result)
{
	sigset_t set;
	sigemptyset(&set);
	if (result)
		stop_signals(&set);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		return 0;
	complain("block signals: %s", strerrordesc_np(errno));
	return -1;
}

static int dispatch(const char *name, const struct context *c)
{
	name = is_help(name) ? "help" : strcmp(name, "--version") == 0 ? "version" : name;
	const struct command *command = find_command(name);
	if (!command)
		return EXIT_REFUSED;
	if (c->argc > 0 && is_help(c->argv[0]) && !command->own_help)
		return print_help(name);
	if (command->alone && c->argc > 0) {
		complain("%s: unexpected \"%s\"; it takes no words", name, c->argv[0]);
		return EXIT_REFUSED;
	}
	return command->run(c);
}

int main(int argc, char **argv)
{
	const int64_t begun = now_ns();
	if (block_signals(has_result(argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL)) < 0)
		return EXIT_REFUSED;
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
	/* The handlers of libraries have nothing of ours to do. */
	_exit(finish_printing(dispatch(argv[1], &c)));
}
