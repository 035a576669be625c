/* probe [--base DIR] ID...	run every row whose id is ID or begins with "ID.": "ID outcome
 * ERRNO" a line probe do VERB [ARG...]	print facts (probe_facts.c), or do harm (probe_acts.c)
 *
 * Outcomes: reached, blocked with the errno, died with the signal. A row that hangs dies of ALRM.
 */
#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct probe_group *const groups[] = {
	&probes_files,	&probes_mounts, &probes_proc,	  &probes_process,
	&probes_kernel, &probes_abi,	&probes_terminal, &probes_quota,
};

enum { HANG_SECONDS = 60 };

const char *base = "";

static const char *join(const char *dir, const char *below, const char *name)
{
	static char ring[16][4096];
	static unsigned next;
	char *path = ring[next++ % 16];
	snprintf(path, sizeof(ring[0]), "%s%s%s", dir, below, name);
	return path;
}

const char *at(const char *path)
{
	return join(base, "", path);
}

const char *work(const char *name)
{
	return *base ? join(base, "/work/", name) : join("/scratch/", "", name);
}

const char *given(const char *name)
{
	const char *value = getenv(name);
	if (!value) {
		fprintf(stderr, "probe: %s is not set\n", name);
		_exit(ENOANO);
	}
	return value;
}

int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int try_read_fd(int fd)
{
	char buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));
	int sys = n < 0 ? errno : ENODATA;
	close(fd);
	for (ssize_t i = 0; i < n; i++)
		if (buf[i])
			return 0;
	return sys;
}

int try_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? errno : try_read_fd(fd);
}

/* Unconfined, but for namespaces of its own for what would else stay on the host: mounts, host
 * name, IPC. An ordinary user's weak run has no such power, and needs no such care. */
static void stand_apart(void)
{
	if (!*base || geteuid() != 0)
		return;
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(base, base, NULL, MS_BIND, NULL) < 0) {
		perror("probe: namespaces for the weak run");
		_exit(1);
	}
}

static void run_row(const struct probe *p)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0) {
		printf("%s blocked FORK\n", p->id);
		return;
	}
	if (pid == 0) {
		setpgid(0, 0);
		/* In the background of a terminal it would be stopped, and hang. */
		signal(SIGTTOU, SIG_IGN);
		signal(SIGTTIN, SIG_IGN);
		alarm(HANG_SECONDS);
		stand_apart();
		_exit(p->run(p->arg));
	}
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* What the row left running. */
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		printf("%s died SIG%s\n", p->id, sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == 0)
		printf("%s reached 0\n", p->id);
	else
		printf("%s blocked %s\n", p->id, strerrorname_np(WEXITSTATUS(status)));
}

int run_matching(const char *id)
{
	const size_t len = strlen(id);
	int found = 0;
	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
		for (size_t i = 0; i < groups[g]->len; i++) {
			const struct probe *p = &groups[g]->rows[i];
			if (strncmp(p->id, id, len) == 0 &&
			    (p->id[len] == '\0' || p->id[len] == '.')) {
				run_row(p);
				found++;
			}
		}
	}
	if (!found)
		fprintf(stderr, "probe: no row %s\n", id);
	return found ? 0 : 1;
}

static int run_verb(int argc, char **argv)
{
	static const struct verb_group *const all[] = {&verbs_facts, &verbs_acts};
	for (size_t g = 0; g < sizeof(all) / sizeof(*all); g++)
		for (size_t i = 0; i < all[g]->len; i++)
			if (strcmp(all[g]->rows[i].name, argv[0]) == 0)
				return all[g]->rows[i].run(argc, argv);
	fprintf(stderr, "probe: no verb %s\n", argv[0]);
	return 1;
}

int main(int argc, char **argv)
{
	int i = 1, failed = 0;
	if (argc > 2 && strcmp(argv[1], "do") == 0)
		return run_verb(argc - 2, argv + 2);
	if (argc > 2 && strcmp(argv[1], "--base") == 0) {
		base = argv[2];
		i = 3;
	}
	for (; i < argc; i++)
		failed |= run_matching(argv[i]);
	return fflush(stdout) == 0 ? failed : 1;
}
