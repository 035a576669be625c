/* Verbs that print what a program sees, for the host's half to judge. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int verb_nothing(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static int verb_cat(int argc, char **argv)
{
	char buf[65536];
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		ssize_t n;
		if (fd < 0) {
			printf("%s: %s\n", argv[i], strerrorname_np(errno));
			continue;
		}
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			fwrite(buf, 1, (size_t)n, stdout);
		close(fd);
	}
	return 0;
}

static int verb_list(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		if (!d) {
			printf("%s: %s\n", argv[i], strerrorname_np(errno));
			return 1;
		}
		for (struct dirent *e; (e = readdir(d));)
			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			    atoi(e->d_name) != dirfd(d))
				puts(e->d_name);
		closedir(d);
	}
	return 0;
}

static int verb_readlink(int argc, char **argv)
{
	char to[4096];
	for (int i = 1; i < argc; i++) {
		ssize_t n = readlink(argv[i], to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		printf("%s %s\n", argv[i], n < 0 ? strerrorname_np(errno) : to);
	}
	return 0;
}

/* What is open, without what opening the list opens. */
static int verb_fds(int argc, char **argv)
{
	char path[64], to[4096];
	(void)argc;
	(void)argv;
	for (int fd = 0; fd < 4096; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		printf("%d %s\n", fd, to);
	}
	return 0;
}

static int verb_words(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		printf("argument ");
		for (const char *c = argv[i]; *c; c++)
			printf("%02x", (unsigned char)*c);
		puts("");
	}
	return 0;
}

static int verb_create(int argc, char **argv)
{
	int sys = try_open(argc > 1 ? argv[1] : "", O_WRONLY | O_CREAT);
	puts(sys ? strerrorname_np(sys) : "0");
	return 0;
}

/* When a byte comes. */
static int verb_list_later(int argc, char **argv)
{
	char byte;
	puts("ready");
	fflush(stdout);
	return read(0, &byte, 1) < 0 ? 1 : verb_list(argc, argv);
}

/* after ROW VERB */
static int verb_after(int argc, char **argv)
{
	if (argc != 3 || run_matching(argv[1]) != 0)
		return 1;
	fflush(stdout);
	execl("/proc/self/exe", "probe", "do", argv[2], NULL);
	return 1;
}

/* The devices that stand behind two names, and whether what covers parts of proc is empty and shut. */
static int verb_null(int argc, char **argv)
{
	static const char *const masked[] = {"/proc/kallsyms", "/proc/keys", "/proc/interrupts"};
	struct stat null, zero;
	const char *verdict = "masked";
	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof(masked) / sizeof(*masked); i++)
		if (try_read(masked[i]) != ENODATA || try_open(masked[i], O_WRONLY) == 0)
			verdict = masked[i];
	if (stat("/dev/null", &null) < 0 || stat("/dev/zero", &zero) < 0)
		return errno;
	printf("%u:%u %u:%u %s\n", major(null.st_rdev), minor(null.st_rdev), major(zero.st_rdev),
	       minor(zero.st_rdev), verdict);
	return 0;
}

static int verb_environment(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (char **e = environ; *e; e++)
		puts(*e);
	return 0;
}

static int verb_folder(int argc, char **argv)
{
	char path[8192];
	(void)argc;
	(void)argv;
	puts(syscall(SYS_getcwd, path, sizeof(path)) < 0 ? strerrorname_np(errno) : path);
	return 0;
}

/* 0 if some privilege came with the exec of this file, else EPERM: for FS16. */
static int verb_privileged(int argc, char **argv)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	(void)argc;
	(void)argv;
	if (syscall(SYS_capget, &head, data) < 0)
		return errno;
	uint32_t caps = data[0].effective | data[1].effective | data[0].permitted | data[1].permitted;
	return geteuid() != getuid() || getegid() != getgid() || caps ? 0 : EPERM;
}

static void print_status(const char *path)
{
	static const char *const wanted[] = {"Cap",    "NoNewPrivs", "Seccomp:", "Uid",	   "Gid",
					     "Groups", "SigBlk",     "SigIgn",	 "SigCgt", "ShdPnd",
					     "SigPnd", "Umask",	     "TracerPid"};
	char line[4096];
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				fputs(line, stdout);
	if (f)
		fclose(f);
}

static int verb_status(int argc, char **argv)
{
	print_status(argc > 1 ? argv[1] : "/proc/self/status");
	printf("Securebits:\t%d\n", prctl(PR_GET_SECUREBITS));
	printf("Dumpable:\t%d\n", prctl(PR_GET_DUMPABLE));
	printf("Personality:\t%x\n", personality(0xffffffff));
	printf("Timerslack:\t%d\n", prctl(PR_GET_TIMERSLACK));
	printf("Nice:\t%d\n", getpriority(PRIO_PROCESS, 0));
	printf("Ioprio:\t%ld\n", syscall(SYS_ioprio_get, 1, 0));
	printf("Scheduler:\t%d\n", sched_getscheduler(0));
	printf("Getgroups:\t%d\n", getgroups(0, NULL));
	return 0;
}

static int verb_limits(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 16; i++) {
		struct rlimit r;
		if (getrlimit(i, &r) == 0)
			printf("%d %lld %lld\n", i, (long long)r.rlim_cur, (long long)r.rlim_max);
	}
	return 0;
}

/* ---- KI13: the filter is on every task ---- */

static void *print_tasks(void *arg)
{
	(void)arg;
	DIR *d = opendir("/proc/self/task");
	char path[300];
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", e->d_name);
		print_status(path);
	}
	if (d)
		closedir(d);
	return NULL;
}

static int verb_tasks(int argc, char **argv)
{
	pthread_t t;
	if (pthread_create(&t, NULL, print_tasks, NULL) != 0 || pthread_join(t, NULL) != 0)
		return 1;
	fflush(stdout);
	if (argc > 1)
		return 0;
	pid_t pid = vfork(); /* NOLINT: that is what is looked at */
	if (pid == 0) {
		execl("/proc/self/exe", argv[0], "do", argv[0], "again", NULL);
		_exit(1);
	}
	int status;
	return waitpid(pid, &status, 0) < 0 || status != 0;
}

static const struct verb verbs_facts_rows[] = {
	{"nothing", verb_nothing},
	{"cat", verb_cat},
	{"list", verb_list},
	{"readlink", verb_readlink},
	{"fds", verb_fds},
	{"words", verb_words},
	{"environment", verb_environment},
	{"folder", verb_folder},
	{"privileged", verb_privileged},
	{"status", verb_status},
	{"limits", verb_limits},
	{"tasks", verb_tasks},
	{"null", verb_null},
	{"create", verb_create},
	{"list-later", verb_list_later},
	{"after", verb_after},
};
const struct verb_group verbs_facts = {verbs_facts_rows,
				       sizeof(verbs_facts_rows) / sizeof(*verbs_facts_rows)};
