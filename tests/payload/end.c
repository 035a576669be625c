/* Verbs about time, signals and the ways to end. */
#include "payload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

static int do_exit(int argc, char **argv)
{
	(void)argc;
	fflush(stdout);
	_exit((int)parse_number(argv[0]));
}

static int do_signal(int argc, char **argv)
{
	(void)argc;
	int number = (int)parse_number(argv[0]);
	signal(number, SIG_DFL);
	if (kill(getpid(), number) < 0)
		return fail("kill");
	return 0;
}

static int do_kill(int argc, char **argv)
{
	(void)argc;
	if (kill((pid_t)parse_number(argv[0]), (int)parse_number(argv[1])) < 0)
		return fail("kill");
	say("killed");
	return 0;
}

static int do_sleep(int argc, char **argv)
{
	(void)argc;
	sleep_ns(parse_nanoseconds(argv[0]));
	return 0;
}

static int do_echo(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("%s%s", i ? " " : "", argv[i]);
	say("%s", "");
	return 0;
}

static int ignore(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (signal((int)parse_number(argv[i]), SIG_IGN) == SIG_ERR)
			return fail("signal");
	say("ignoring");
	return 0;
}

static int ignore_term(int argc, char **argv)
{
	(void)argc, (void)argv;
	signal(SIGTERM, SIG_IGN);
	say("ignoring");
	return 0;
}

/* Block SIG, say so, and wait for it: no handler, no race. */
static int await(int number)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	say("waiting");
	int got;
	do
		got = sigwaitinfo(&set, NULL);
	while (got < 0 && errno == EINTR);
	return got;
}

static int do_await(int argc, char **argv)
{
	(void)argc;
	say("got %d", await((int)parse_number(argv[0])));
	return 0;
}

static int trap_term(int argc, char **argv)
{
	(void)argc;
	await(SIGTERM);
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail("open");
	dprintf(fd, "trapped\n");
	close(fd);
	say("trapped");
	return (int)parse_number(argv[1]);
}

static int stop_self(int argc, char **argv)
{
	(void)argc, (void)argv;
	say("stopping");
	kill(getpid(), SIGSTOP);
	say("continued");
	return 0;
}

/* A tracee that stops: wait(2) of the parent reports it even without WUNTRACED. */
static int ptrace_stop(int argc, char **argv)
{
	(void)argc, (void)argv;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		say("error ptrace %s", errno_name(errno));
	return stop_self(0, NULL);
}

static int tick(int argc, char **argv)
{
	(void)argc;
	long count = parse_number(argv[0]);
	int64_t ns = parse_nanoseconds(argv[1]);
	for (long i = 0; i < count; i++) {
		say("tick %ld", i);
		sleep_ns(ns);
	}
	return 0;
}

static int exec(int argc, char **argv)
{
	(void)argc;
	fflush(stdout);
	execv(argv[0], argv);
	return fail("execv");
}

const struct verb verbs_end[] = {
	{"exit", 1, do_exit, "CODE"},
	{"signal", 1, do_signal, "NUMBER: to itself, default action"},
	{"kill", 2, do_kill, "PID NUMBER"},
	{"sleep", 1, do_sleep, "SECONDS"},
	{"echo", 0, do_echo, "WORD..."},
	{"ignore", 1, ignore, "NUMBER..."},
	{"ignore-term", 0, ignore_term, ""},
	{"await", 1, do_await, "NUMBER: block it, say \"waiting\", wait for it"},
	{"trap-term", 2, trap_term, "FILE CODE: on SIGTERM write FILE and end with CODE"},
	{"stop-self", 0, stop_self, "SIGSTOP"},
	{"ptrace-stop", 0, ptrace_stop, "PTRACE_TRACEME, then SIGSTOP"},
	{"tick", 2, tick, "COUNT SECONDS: a line, then a pause"},
	{"exec", 1, exec, "PATH [ARG...]: argv[0] is PATH"},
	{NULL, 0, NULL, NULL},
};
