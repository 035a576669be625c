/* What the program can see of itself. */
#include "payload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static int show_env(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (char **e = environ; *e; e++)
		say("%s", *e);
	return 0;
}

static int show_argv(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		say("%d %zu %.200s", i, strlen(argv[i]), argv[i]);
	return 0;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return atoi((*a)->d_name) - atoi((*b)->d_name);
}

/* "fd N TARGET TYPE-AND-MODE FLAGS" for each but the one that lists. */
static int show_fds(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct dirent **names;
	int len = scandir("/proc/self/fd", &names, NULL, by_number);
	if (len < 0)
		return fail("scandir");
	for (int i = 0; i < len; i++) {
		char target[PATH_MAX];
		struct stat st;
		int fd = atoi(names[i]->d_name);
		/* scandir has closed the folder again: its fd is gone by now. */
		if (names[i]->d_name[0] == '.' || fstat(fd, &st) < 0)
			continue;
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		say("fd %d %s %o %o", fd, target, st.st_mode, fcntl(fd, F_GETFL));
	}
	return 0;
}

static int show_ids(int argc, char **argv)
{
	(void)argc, (void)argv;
	uid_t r, e, s;
	gid_t gr, ge, gs, groups[64];
	getresuid(&r, &e, &s);
	getresgid(&gr, &ge, &gs);
	say("uid %u %u %u %d", r, e, s, setfsuid((uid_t)-1));
	say("gid %u %u %u %d", gr, ge, gs, setfsgid((gid_t)-1));
	int len = getgroups(64, groups);
	printf("groups");
	for (int i = 0; i < len; i++)
		printf(" %u", groups[i]);
	say("%s", "");
	return 0;
}

/* The lines of /proc/self/status that begin with one of the words; without words, all. */
static int print_status(int len, const char *const words[])
{
	FILE *f = fopen("/proc/self/status", "re");
	if (!f)
		return fail("open");
	char line[1024];
	while (fgets(line, sizeof(line), f)) {
		bool wanted = len == 0;
		for (int i = 0; i < len; i++)
			wanted |= strncmp(line, words[i], strlen(words[i])) == 0;
		if (wanted)
			fputs(line, stdout);
	}
	fclose(f);
	return 0;
}

static int status_lines(int argc, char **argv)
{
	return print_status(argc, (const char *const *)argv);
}

static int show_caps(int argc, char **argv)
{
	(void)argc, (void)argv;
	static const char *const words[] = {"Cap", "NoNewPrivs", "Seccomp:"};
	int code = print_status(3, words);
	say("securebits %d", prctl(PR_GET_SECUREBITS));
	return code;
}

static int show_signals(int argc, char **argv)
{
	(void)argc, (void)argv;
	sigset_t blocked;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int n = 1; n < NSIG; n++) {
		struct sigaction sa;
		if (sigaction(n, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL)
			say("handled %d %s", n, sa.sa_handler == SIG_IGN ? "ignored" : "caught");
		if (sigismember(&blocked, n) == 1)
			say("blocked %d", n);
	}
	static const char *const words[] = {"Sig", "Shd"};
	return print_status(2, words);
}

static int show_rlimits(int argc, char **argv)
{
	(void)argc, (void)argv;
	static const char *const names[RLIM_NLIMITS] = {
		[RLIMIT_CPU] = "cpu",		[RLIMIT_FSIZE] = "fsize",
		[RLIMIT_DATA] = "data",		[RLIMIT_STACK] = "stack",
		[RLIMIT_CORE] = "core",		[RLIMIT_RSS] = "rss",
		[RLIMIT_NPROC] = "nproc",	[RLIMIT_NOFILE] = "nofile",
		[RLIMIT_MEMLOCK] = "memlock",	[RLIMIT_AS] = "as",
		[RLIMIT_LOCKS] = "locks",	[RLIMIT_SIGPENDING] = "sigpending",
		[RLIMIT_MSGQUEUE] = "msgqueue", [RLIMIT_NICE] = "nice",
		[RLIMIT_RTPRIO] = "rtprio",	[RLIMIT_RTTIME] = "rttime",
	};
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit lim;
		/* -1 is RLIM_INFINITY. */
		if (getrlimit(i, &lim) == 0)
			say("%s %lld %lld", names[i], (long long)lim.rlim_cur,
			    (long long)lim.rlim_max);
	}
	return 0;
}

static int show_cwd(int argc, char **argv)
{
	(void)argc, (void)argv;
	char buf[PATH_MAX];
	/* The raw call: glibc hides "(unreachable)". */
	if (syscall(SYS_getcwd, buf, sizeof(buf)) < 0)
		return fail("getcwd");
	say("cwd %s", buf);
	return 0;
}

static int show_sched(int argc, char **argv)
{
	(void)argc, (void)argv;
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return fail("sched_getaffinity");
	mode_t mask = umask(0);
	umask(mask);
	say("affinity %d", CPU_COUNT(&set));
	say("online %ld", sysconf(_SC_NPROCESSORS_ONLN));
	say("nice %d", getpriority(PRIO_PROCESS, 0));
	say("policy %d", sched_getscheduler(0));
	say("ioprio %ld", syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0));
	say("umask %o", mask);
	say("personality %x", personality(0xffffffff));
	say("timerslack %d", prctl(PR_GET_TIMERSLACK));
	say("dumpable %d", prctl(PR_GET_DUMPABLE));
	return 0;
}

static int show_tty(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct winsize size = {0};
	for (int fd = 0; fd < 3; fd++)
		say("isatty %d %d", fd, isatty(fd));
	if (ioctl(0, TIOCGWINSZ, &size) == 0)
		say("size %d %d", size.ws_row, size.ws_col);
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	say("ctty %s", fd < 0 ? errno_name(errno) : "yes");
	say("session %d pgrp %d foreground %d", getsid(0), getpgrp(), tcgetpgrp(0));
	if (fd >= 0)
		close(fd);
	return 0;
}

static int show_uname(int argc, char **argv)
{
	(void)argc, (void)argv;
	struct utsname u;
	uname(&u);
	say("node %s", u.nodename);
	say("domain %s", u.domainname);
	say("machine %s", u.machine);
	say("release %s", u.release);
	return 0;
}

static int show_ns(int argc, char **argv)
{
	(void)argc, (void)argv;
	static const char *const names[] = {"user", "pid", "net",    "mnt",
					    "ipc",  "uts", "cgroup", "time"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[64], target[64];
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		say("ns %s %s", names[i], target);
	}
	return 0;
}

/* The pids in /proc. */
static int show_pids(int argc, char **argv)
{
	(void)argc, (void)argv;
	DIR *d = opendir("/proc");
	if (!d)
		return fail("opendir");
	const struct dirent *de;
	while ((de = readdir(d)))
		if (atoi(de->d_name) > 0)
			say("pid %s", de->d_name);
	closedir(d);
	return 0;
}

const struct verb verbs_show[] = {
	{"env", 0, show_env, "the environment"},
	{"argv", 0, show_argv, "ARG...: index, length and text of each (first verb only)"},
	{"fds", 0, show_fds, "open descriptors: number, target, mode, flags (octal)"},
	{"ids", 0, show_ids, "real, effective, saved, file system ids; groups"},
	{"caps", 0, show_caps, "capability sets, no_new_privs, seccomp mode, securebits"},
	{"status", 0, status_lines, "[WORD...]: lines of /proc/self/status that begin so"},
	{"signals", 0, show_signals, "dispositions and masks that are not the default"},
	{"rlimits", 0, show_rlimits, "name, soft, hard; -1 is none"},
	{"cwd", 0, show_cwd, "the working directory as the kernel says it"},
	{"sched", 0, show_sched, "affinity, cpus, nice, umask, personality and the like"},
	{"tty", 0, show_tty, "terminals, size, session"},
	{"uname", 0, show_uname, "node, domain, machine, release"},
	{"ns", 0, show_ns, "the namespaces"},
	{"pids", 0, show_pids, "every pid in /proc"},
	{NULL, 0, NULL, NULL},
};
