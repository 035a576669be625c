/* Verbs that use cpu, or make processes and threads. */
#include "payload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *burn_thread(void *ns)
{
	burn_ns(*(int64_t *)ns);
	return NULL;
}

static int burn(int argc, char **argv)
{
	int64_t ns = parse_nanoseconds(argv[0]);
	long threads = argc > 1 ? parse_number(argv[1]) : 1;
	pthread_t t[256];
	for (long i = 1; i < threads && i < 256; i++)
		if ((errno = pthread_create(&t[i], NULL, burn_thread, &ns)))
			return fail("pthread_create");
	burn_ns(ns);
	for (long i = 1; i < threads && i < 256; i++)
		pthread_join(t[i], NULL);
	say("burn %ld", threads);
	return 0;
}

/* Children that burn one after the other and are never waited for: their cpu time is in no
 * RUSAGE_CHILDREN. */
static int forkburn(int argc, char **argv)
{
	int64_t ns = parse_nanoseconds(argv[0]);
	long count = argc > 1 ? parse_number(argv[1]) : 10;
	signal(SIGCHLD, SIG_IGN);
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return fail("fork");
		if (pid == 0) {
			burn_ns(ns / count);
			_exit(0);
		}
		/* SIGCHLD is ignored: this comes back with ECHILD when the child is gone. */
		waitpid(pid, NULL, 0);
	}
	signal(SIGCHLD, SIG_DFL);
	say("forkburn %ld", count);
	return 0;
}

/* Children that stay. */
static int fork_bomb(int argc, char **argv)
{
	(void)argc;
	long count = parse_number(argv[0]), done = 0;
	for (; done < count; done++) {
		pid_t pid = fork();
		if (pid < 0)
			break;
		if (pid == 0)
			for (;;)
				pause();
	}
	say("forked %ld %s", done, errno_name(done < count ? errno : 0));
	return done < count ? 1 : 0;
}

/* for (;;) { if (fork()) exit; setsid; }: a chain that is never at the same place twice. */
static int fork_chain(int argc, char **argv)
{
	(void)argc;
	int64_t ns = parse_nanoseconds(argv[0]);
	pid_t pid = fork();
	if (pid < 0)
		return fail("fork");
	if (pid == 0) {
		for (;;) {
			if (fork() > 0)
				_exit(0);
			setsid();
		}
	}
	sleep_ns(ns);
	return 0;
}

static void *wait_thread(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int threads(int argc, char **argv)
{
	(void)argc;
	long count = parse_number(argv[0]), done = 0;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	int error = 0;
	/* Signals are for the first thread: one that it is about to wait for would end the program here. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; done < count; done++) {
		pthread_t t;
		error = pthread_create(&t, &attr, wait_thread, NULL);
		if (error)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	say("threads %ld %s", done, errno_name(error));
	return error ? 1 : 0;
}

/* Children that have ended and that nobody reaps while this program lives. */
static int zombies(int argc, char **argv)
{
	(void)argc;
	long count = parse_number(argv[0]), done = 0;
	for (; done < count; done++) {
		pid_t pid = fork();
		if (pid < 0)
			break;
		if (pid == 0)
			_exit(0);
		siginfo_t info;
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	}
	say("zombies %ld %s", done, errno_name(done < count ? errno : 0));
	return done < count ? 1 : 0;
}

/* A grandchild that ends when its parent has gone and been reaped, so that pid 1 has to reap it. 0,
 * or the errno of the fork that failed. */
static int one_orphan(void)
{
	int hold[2], status = 0;
	if (pipe2(hold, O_CLOEXEC) < 0)
		return errno;
	const pid_t pid = fork();
	if (pid == 0) {
		const pid_t grandchild = fork();
		if (grandchild == 0) {
			char byte;
			close(hold[1]);
			_exit((int)read(hold[0], &byte, 1));
		}
		_exit(grandchild < 0 ? errno : 0);
	}
	const int sys = pid < 0 ? errno : 0;
	if (pid > 0)
		waitpid(pid, &status, 0);
	close(hold[0]);
	close(hold[1]);
	return sys ? sys : WEXITSTATUS(status);
}

/* Where they come faster than pid 1 reaps them the number of tasks is reached, and room comes only by its reaping. */
static int orphans(int argc, char **argv)
{
	(void)argc;
	const long count = parse_number(argv[0]);
	for (long i = 0; i < count;) {
		errno = one_orphan();
		if (errno == EAGAIN)
			sched_yield();
		else if (errno)
			return fail("orphan");
		else
			i++;
	}
	say("orphans %ld", count);
	return 0;
}

/* How many processes in /proc are zombies; given time to be reaped. */
static int count_zombies(int argc, char **argv)
{
	int64_t patience = argc > 0 ? parse_nanoseconds(argv[0]) : 0;
	long count;
	do {
		count = 0;
		DIR *d = opendir("/proc");
		if (!d)
			return fail("opendir");
		const struct dirent *de;
		while ((de = readdir(d))) {
			char path[300], text[300] = "";
			if (atoi(de->d_name) <= 0)
				continue;
			snprintf(path, sizeof(path), "/proc/%s/stat", de->d_name);
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				continue;
			if (read(fd, text, sizeof(text) - 1) > 0) {
				const char *end = strrchr(text, ')');
				count += end && end[1] == ' ' && end[2] == 'Z';
			}
			close(fd);
		}
		closedir(d);
		if (count)
			sleep_ns(10000000);
		patience -= 10000000;
	} while (count && patience > 0);
	say("zombies-left %ld", count);
	return 0;
}

static int in_background(int argc, char **argv)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0)
		return fail("fork");
	if (pid == 0)
		_exit(run_chain(argc, argv));
	return 0;
}

/* Out of the session, without descriptors, under another name; the child never ends. */
static int setsid_daemon(int argc, char **argv)
{
	pid_t pid = fork();
	if (pid < 0)
		return fail("fork");
	if (pid == 0) {
		setsid();
		if (fork() > 0)
			_exit(0);
		prctl(PR_SET_NAME, argc > 0 ? argv[0] : "kworker/0:1");
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
		for (int n = 1; n < NSIG; n++)
			signal(n, SIG_IGN);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, 0);
	say("daemon");
	return 0;
}

struct chain {
	int argc;
	char **argv;
};

static void *run_in_thread(void *arg)
{
	const struct chain *chain = arg;
	int code = run_chain(chain->argc - 1, chain->argv + 1);
	sleep_ns(code ? 0 : parse_nanoseconds(chain->argv[0]));
	exit(code);
}

/* The first thread ends, and becomes a zombie; another goes on. */
static int leader_exits(int argc, char **argv)
{
	static struct chain chain;
	chain = (struct chain){argc, argv};
	pthread_t t;
	if ((errno = pthread_create(&t, NULL, run_in_thread, &chain)))
		return fail("pthread_create");
	syscall(SYS_exit, 0);
	return 1;
}

static void *run_with_own_table(void *arg)
{
	/* Closes nothing: it is for the flag. */
	if (close_range(1000000, 1000000, CLOSE_RANGE_UNSHARE) < 0)
		exit(fail("close_range"));
	return run_in_thread(arg);
}

static int own_table(int argc, char **argv)
{
	struct chain chain = {argc, argv};
	pthread_t t;
	if ((errno = pthread_create(&t, NULL, run_with_own_table, &chain)))
		return fail("pthread_create");
	pthread_join(t, NULL);
	return 1;
}

static int undumpable(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? fail("prctl") : 0;
}

static int sleep_in_clone(void *ns)
{
	sleep_ns(*(int64_t *)ns);
	return 0;
}

/* As vfork does, and posix_spawn: the child takes its time, in its parent's memory, and the parent waits. */
static int vfork_slowly(int argc, char **argv)
{
	static char stack[65536];
	(void)argc;
	int64_t ns = parse_nanoseconds(argv[0]);
	pid_t pid = clone(sleep_in_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			  &ns);
	if (pid < 0)
		return fail("clone");
	waitpid(pid, NULL, 0);
	say("vfork");
	return 0;
}

/* Children in the memory of their parent, which goes on. */
static int share_memory(int argc, char **argv)
{
	enum { STACK = 65536 };
	static int64_t ns;
	long count = argc > 1 ? parse_number(argv[1]) : 1;
	ns = parse_nanoseconds(argv[0]);
	for (long i = 0; i < count; i++) {
		char *stack = malloc(STACK);
		if (!stack || clone(sleep_in_clone, stack + STACK, CLONE_VM | SIGCHLD, &ns) < 0)
			return fail("clone");
	}
	say("sharing %ld", count);
	return 0;
}

const struct verb verbs_process[] = {
	{"burn", 1, burn, "SECONDS [THREADS]: cpu time of each thread"},
	{"forkburn", 1, forkburn, "SECONDS [COUNT]: in children that nobody waits for"},
	{"fork-bomb", 1, fork_bomb, "COUNT children that stay"},
	{"fork-chain", 1, fork_chain,
	 "SECONDS: a process that forks, ends and leaves its session for ever"},
	{"threads", 1, threads, "COUNT threads that stay"},
	{"zombies", 1, zombies, "COUNT children that ended and are not reaped"},
	{"orphans", 1, orphans, "COUNT grandchildren that end after their parents"},
	{"count-zombies", 0, count_zombies, "[SECONDS]: zombies in /proc, at most after so long"},
	{"bg", 1, in_background, "VERB [ARG...]: in a child, without waiting"},
	{"leader-exits", 2, leader_exits,
	 "SECONDS VERB [ARG...]: in a thread that stays so long, while the first one ends"},
	{"own-table", 2, own_table,
	 "SECONDS VERB [ARG...]: in a thread that stays so long, with descriptors of its own"},
	{"undumpable", 0, undumpable, "makes the program so"},
	{"vfork", 1, vfork_slowly, "SECONDS that the child has its parent's memory"},
	{"share-memory", 1, share_memory, "SECONDS [COUNT]: children that have their parent's memory"},
	{"setsid-daemon", 0, setsid_daemon,
	 "[NAME]: a process that nothing but a kill of the tree finds"},
	{NULL, 0, NULL, NULL},
};
