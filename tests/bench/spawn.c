/* Times commands against each other, interleaved.
 *
 *	spawn [-n ROUNDS] [-w WARMUP] [-u UID] [-e STATUS] [-j | -m] COMMAND [ARG...] [::: COMMAND [ARG...]]...
 *
 * Each round runs every command once, in a new order each time, because what a command leaves to
 * the kernel's workers (namespaces are torn down behind its back) is paid for by whoever comes
 * next. A command is started by posix_spawn, which does not copy this process; what is measured
 * runs from before the spawn to after the wait. stdin, stdout and stderr are /dev/null. A command
 * that does not exit with STATUS (0) ends it all: a failure is no measurement. A first word
 * "mnt:FILE" is the mount namespace to start that command in; entering it is not measured. Prints
 * a line a command: median, 10th and 90th percentile and the ratio of the medians to the first
 * command's; with -j every time in nanoseconds, as a JSON array of arrays; with -m instead of all times
 * the largest resident set, in kB, that any process below this one had. That is for a small
 * process to ask: what is started by a large one has had its size for a moment.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 16, ROUNDS_MAX = 100000 };

struct command {
	char **argv;
	int mount_ns; /* -1: this process's own */
	int64_t *ns;  /* one a round */
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t run(const struct command *c, const posix_spawn_file_actions_t *actions, int expected)
{
	int status;
	pid_t pid;

	int64_t start = now_ns();

	int error = posix_spawnp(&pid, c->argv[0], actions, NULL, c->argv, environ);
	if (error)
		errx(1, "%s: %s", c->argv[0], strerror(error));
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	int64_t took = now_ns() - start;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
		errx(1, "%s: wait status 0x%x; run it by hand to see why", c->argv[0],
		     (unsigned)status);
	return took;
}

/* Fisher and Yates; the seed is fixed, so that two measurements have the same order. */
static void shuffle(unsigned *order, unsigned len)
{
	for (unsigned i = len; i > 1; i--) {
		unsigned j = (unsigned)random() % i, tmp = order[i - 1];
		order[i - 1] = order[j];
		order[j] = tmp;
	}
}

static int64_t run_in_its_place(const struct command *c, const posix_spawn_file_actions_t *actions,
				int expected, int own_ns)
{
	if (c->mount_ns < 0)
		return run(c, actions, expected);
	if (setns(c->mount_ns, CLONE_NEWNS) < 0)
		err(1, "enter the mount namespace for %s", c->argv[0]);
	int64_t ns = run(c, actions, expected);
	if (setns(own_ns, CLONE_NEWNS) < 0)
		err(1, "return to the own mount namespace");
	return ns;
}

static void measure(struct command *commands, unsigned len, long warmup, long rounds, int expected)
{
	int own_ns = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	posix_spawn_file_actions_t actions;
	unsigned order[COMMANDS_MAX];

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	for (unsigned i = 0; i < len; i++)
		order[i] = i;
	for (long round = -warmup; round < rounds; round++) {
		shuffle(order, len);
		for (unsigned i = 0; i < len; i++) {
			struct command *c = &commands[order[i]];
			int64_t ns = run_in_its_place(c, &actions, expected, own_ns);
			if (round >= 0)
				c->ns[round] = ns;
		}
	}
	posix_spawn_file_actions_destroy(&actions);
	close(own_ns);
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* ns[] is sorted. */
static double percentile_ms(const int64_t *ns, long rounds, long percent)
{
	long at = rounds * percent / 100;

	return (double)ns[at] / 1e6;
}

static void print_summary(struct command *commands, unsigned len, long rounds)
{
	double first = 0;

	printf("%9s %9s %9s %7s\n", "median ms", "p10", "p90", "ratio");
	for (unsigned i = 0; i < len; i++) {
		int64_t *ns = commands[i].ns;
		qsort(ns, (size_t)rounds, sizeof(*ns), compare_ns);
		double median = percentile_ms(ns, rounds, 50);
		if (i == 0)
			first = median;
		printf("%9.3f %9.3f %9.3f %7.3f  %s\n", median, percentile_ms(ns, rounds, 10),
		       percentile_ms(ns, rounds, 90), median / first, commands[i].argv[0]);
	}
}

static void print_json(const struct command *commands, unsigned len, long rounds)
{
	for (unsigned i = 0; i < len; i++) {
		printf("%s[", i ? "," : "[");
		for (long round = 0; round < rounds; round++)
			printf("%s%lld", round ? "," : "", (long long)commands[i].ns[round]);
		printf("]");
	}
	printf("]\n");
}

static void print_memory(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used) < 0)
		err(1, "getrusage");
	printf("%ld\n", used.ru_maxrss);
}

static int mount_ns(const char *word)
{
	static const char prefix[] = "mnt:";

	if (strncmp(word, prefix, strlen(prefix)) != 0)
		return -1;
	int fd = open(word + strlen(prefix), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", word);
	return fd;
}

static unsigned split(char **argv, struct command *commands, long rounds)
{
	unsigned len = 0;

	while (*argv) {
		if (len == COMMANDS_MAX)
			errx(2, "at most %d commands", COMMANDS_MAX);
		commands[len].mount_ns = mount_ns(*argv);
		if (commands[len].mount_ns >= 0)
			argv++;
		commands[len].argv = argv;
		commands[len].ns = calloc((size_t)rounds, sizeof(int64_t));
		if (!commands[len].ns)
			err(1, "calloc");
		while (*argv && strcmp(*argv, ":::") != 0)
			argv++;
		if (commands[len++].argv == argv)
			errx(2, "an empty command");
		if (*argv)
			*argv++ = NULL;
	}
	return len;
}

/* For good: an ordinary user pays for things that root does not. */
static void become(unsigned id)
{
	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		err(1, "become uid %u", id);
}

int main(int argc, char **argv)
{
	struct command commands[COMMANDS_MAX];
	long rounds = 100, warmup = 5;
	int json = 0, memory = 0, expected = 0, opt;

	while ((opt = getopt(argc, argv, "+n:w:u:e:jm")) != -1) {
		if (opt == 'n')
			rounds = strtol(optarg, NULL, 10);
		else if (opt == 'w')
			warmup = strtol(optarg, NULL, 10);
		else if (opt == 'u')
			become((unsigned)strtoul(optarg, NULL, 10));
		else if (opt == 'e')
			expected = (int)strtol(optarg, NULL, 10);
		else if (opt == 'j')
			json = 1;
		else if (opt == 'm')
			memory = 1;
		else
			return 2;
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || optind == argc)
		errx(2, "usage: spawn [-n ROUNDS] [-w WARMUP] [-u UID] [-e STATUS] [-j | -m] "
			"COMMAND [ARG...] [::: COMMAND...]...");
	unsigned len = split(argv + optind, commands, rounds);
	measure(commands, len, warmup, rounds, expected);
	if (memory)
		print_memory();
	else if (json)
		print_json(commands, len, rounds);
	else
		print_summary(commands, len, rounds);
	return 0;
}
