/* Verbs that do what a program does to last, to hurt, or to be misunderstood. */
#include "probe.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void wait_forever(void)
{
	for (;;)
		pause();
}

/* A daemon by the book, which writes its pid's namespace-free proof into stdout first. */
static int verb_survive(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return errno;
		if (pid > 0) {
			if (i == 0)
				waitpid(pid, NULL, 0);
			_exit(0);
		}
		setsid();
	}
	prctl(PR_SET_NAME, "kworker/0:1");
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int fd = 0; fd < 256; fd++)
		close(fd);
	wait_forever();
}

/* Every signal to pid 1, which must not notice; then sleeps until it is ended. */
static int verb_signal_init(int argc, char **argv)
{
	int refused = 0;
	(void)argc;
	(void)argv;
	for (int sig = 1; sig <= 64; sig++)
		if (kill(1, sig) < 0)
			refused++;
	printf("refused %d\n", refused);
	fflush(stdout);
	wait_forever();
}

static int verb_stop(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (fork() == 0)
		for (;;)
			kill(getppid(), SIGSTOP);
	raise(SIGSTOP);
	wait_forever();
}

/* Looks like a stop of a traced process to its parent. */
static int verb_trace_me(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("traceme %s\n",
	       ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? strerrorname_np(errno) : "0");
	fflush(stdout);
	raise(SIGSTOP);
	execl("/proc/self/exe", argv[0], "do", "sleep", NULL);
	return 1;
}

static int verb_sleep(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	wait_forever();
}

static int verb_kill_everybody(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	pid_t pid = fork();
	if (pid == 0)
		wait_forever();
	printf("kill %s\n", kill(-1, SIGKILL) < 0 ? strerrorname_np(errno) : "0");
	int status;
	waitpid(pid, &status, 0);
	printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}

static int verb_crash(int argc, char **argv)
{
	struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
	(void)argc;
	(void)argv;
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = core.rlim_max;
		setrlimit(RLIMIT_CORE, &core);
	}
	static char secret[1 << 20];
	memset(secret, 's', sizeof(secret));
	raise(SIGSEGV);
	return 1;
}

/* flood N ROW...: N calls that the filter counts, then rows. */
static int verb_flood(int argc, char **argv)
{
	int failed = 0;
	for (long n = argc > 1 ? atol(argv[1]) : 0; n > 0; n--)
		syscall(SYS_ptrace, -1, 0, 0, 0);
	printf("last %s\n", syscall(SYS_ptrace, -1, 0, 0, 0) < 0 ? strerrorname_np(errno) : "0");
	for (int i = 2; i < argc; i++)
		failed |= run_matching(argv[i]);
	return failed;
}

/* Children until the kernel says no, forever: a bomb. The count is what was reached at once. */
static int verb_bomb(int argc, char **argv)
{
	long children = 0;
	(void)argc;
	(void)argv;
	for (int refused = 0; refused < 20;) {
		pid_t pid = fork();
		if (pid == 0)
			for (;;)
				if (fork() < 0)
					usleep(1000);
		if (pid > 0)
			children++;
		else
			refused++;
	}
	printf("children %ld\n", children);
	fflush(stdout);
	wait_forever();
}

/* Each child stops its parent (vfork) and goes on, until the kernel says no: nobody in it can be
 * scheduled but the last. The glibc wrapper, because nothing of a parent's stack may be used again:
 * none ever returns. */
static int verb_vfork_chain(int argc, char **argv)
{
	volatile long depth = 0;
	(void)argc;
	(void)argv;
	/* What is warned of is what it is here for. */
	while (vfork() == 0) /* NOLINT */
		depth++;     /* NOLINT */
	dprintf(STDOUT_FILENO, "children %ld\n", depth);
	wait_forever();
}

/* One process that is another program all the time. */
static int verb_exec_chain(int argc, char **argv)
{
	(void)argc;
	execl("/bin/probe", "probe", "do", argv[0], NULL);
	return errno;
}

/* Children that end at once and leave children that end at once, forever: nothing but exits to reap. */
static int verb_exit_storm(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (;;) {
		const pid_t pid = fork();
		if (pid == 0) {
			for (int i = 0; i < 8; i++)
				if (fork() == 0)
					_exit(0);
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* 0, or the errno of the fork that failed. */
static int one_orphan(void)
{
	int status;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(fork() >= 0 ? 0 : errno);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/* Faster than pid 1 reaps them the number of tasks is reached, and room comes only by its reaping. */
static int verb_orphans(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 1000;
	while (left > 0) {
		const int sys = one_orphan();
		if (sys != 0 && sys != EAGAIN)
			return sys;
		if (sys == 0)
			left--;
		else
			sched_yield();
	}
	return 0;
}

static int verb_deep(int argc, char **argv)
{
	char name[256];
	long depth = argc > 1 ? atol(argv[1]) : 1000;
	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (long i = 0; i < depth; i++)
		if (mkdir(name, 0700) < 0 || chdir(name) < 0) {
			printf("%ld %s\n", i, strerrorname_np(errno));
			return 1;
		}
	printf("%ld\n", depth);
	return 0;
}

/* ---- PR13: everything that changes a file, but for its bytes where it executes ---- */

static int touch(const char *path)
{
	struct stat st;
	int done = 0;
	if (stat(path, &st) < 0)
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		done += fchmod(fd, st.st_mode & 07777) == 0;
		done += futimens(fd, NULL) == 0;
		done += fsetxattr(fd, "user.pinfold", "x", 1, 0) == 0;
		close(fd);
	}
	done += chmod(path, st.st_mode & 07777) == 0;
	done += utimensat(AT_FDCWD, path, NULL, 0) == 0;
	done += chown(path, st.st_uid, st.st_gid) == 0;
	done += linkat(AT_FDCWD, path, AT_FDCWD, "/scratch/linked", AT_SYMLINK_FOLLOW) == 0;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done += fd >= 0;
	if (fd >= 0)
		close(fd);
	return done;
}

static int verb_touch_file(int argc, char **argv)
{
	return argc > 1 && touch(argv[1]) > 0 ? 0 : 1;
}

static int verb_touch_exe(int argc, char **argv)
{
	char path[64], to[4096] = "";
	snprintf(path, sizeof(path), "/proc/%s/exe", argc > 1 ? argv[1] : "self");
	if (readlink(path, to, sizeof(to) - 1) < 0)
		printf("%s\n", strerrorname_np(errno));
	printf("%s %d\n", to, touch(path));
	return 0;
}

/* Held as a place only, it could be opened for writing once nobody executes it. */
static int touch_later(const char *path)
{
	char again[64];
	int place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return 0;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	int done = touch(again);
	close(place);
	return done;
}

static int touch_every_process(void)
{
	static const char *const names[] = {"exe", "task/1/exe", "root/proc/self/exe",
					    "cwd/../proc/1/exe"};
	struct stat own, st;
	char path[300];
	int touched = 0;
	DIR *proc = opendir("/proc");
	stat("/proc/self/exe", &own);
	for (struct dirent *d; proc && (d = readdir(proc));) {
		if (!isdigit((unsigned char)d->d_name[0]) && strcmp(d->d_name, "self") != 0)
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			snprintf(path, sizeof(path), "/proc/%s/%s", d->d_name, names[i]);
			if (stat(path, &st) == 0 && st.st_dev == own.st_dev && st.st_ino == own.st_ino)
				continue;
			int done = touch(path) + touch_later(path);
			if (done)
				printf("touched %s\n", path);
			touched += done;
		}
	}
	if (proc)
		closedir(proc);
	return touched;
}

/* touch-binaries MILLISECONDS: again and again, beside a child that execs and ends all the time. */
static int verb_touch_binaries(int argc, char **argv)
{
	struct timespec now, end;
	int touched = 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (argc > 1 ? atol(argv[1]) : 100) * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		pid_t pid = fork();
		if (pid == 0) {
			execl("/bin/shebang", "shebang", "version", NULL);
			_exit(1);
		}
		touched += touch_every_process();
		waitpid(pid, NULL, 0);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	if (!touched)
		puts("touched nothing");
	return 0;
}

/* traps FOLDER: what makes trouble for whoever walks or removes the scratch carelessly. */
static int verb_traps(int argc, char **argv)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
	const char *host = argc > 1 ? argv[1] : "/etc";
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	if (s < 0 || mkdir("closed", 0700) < 0 || mkdir("closed/inner", 0700) < 0 ||
	    symlink(host, "closed/inner/link") < 0 || symlink(host, "link") < 0 ||
	    symlink("/", "root") < 0 || symlink("loop", "loop") < 0 || mkfifo("fifo", 0600) < 0 ||
	    bind(s, (struct sockaddr *)&name, sizeof(name)) < 0 || mkdir("-rf", 0700) < 0 ||
	    mkdir("\n\033[2J", 0700) < 0 || chmod("closed/inner", 0) < 0 ||
	    chmod("closed", 0) < 0 || chmod(".", 0) < 0) {
		perror("traps");
		return 1;
	}
	return 0;
}

static const struct verb verbs_acts_rows[] = {
	{"survive", verb_survive},
	{"signal-init", verb_signal_init},
	{"stop", verb_stop},
	{"trace-me", verb_trace_me},
	{"sleep", verb_sleep},
	{"kill-everybody", verb_kill_everybody},
	{"crash", verb_crash},
	{"bomb", verb_bomb},
	{"flood", verb_flood},
	{"traps", verb_traps},
	{"touch-file", verb_touch_file},
	{"touch-exe", verb_touch_exe},
	{"touch-binaries", verb_touch_binaries},
	{"hold", verb_hold},
	{"vfork-chain", verb_vfork_chain},
	{"exec-chain", verb_exec_chain},
	{"exit-storm", verb_exit_storm},
	{"orphans", verb_orphans},
	{"deep", verb_deep},
	{"sweep", verb_sweep},
	{"sweep-range", verb_sweep_range},
};
const struct verb_group verbs_acts = {verbs_acts_rows,
				      sizeof(verbs_acts_rows) / sizeof(*verbs_acts_rows)};
