#include "runtime/watch.h"

#include "base/fd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Bounds on what a hostile tree can make one look cost. */
enum { PIDS_MAX = 4096, FDS_MAX = 4096, DEPTH_MAX = 4096 };

struct visit {
	int proc;
	const char *pid;
	bool is_init;
	void *arg;
};
typedef void visit_fn(const struct visit *v);

/* Field 4 of /proc/PID/stat, 0 if it is gone. The second field is the program's to choose and may
 * hold anything: start behind its last ")". */
static pid_t parent_of(int proc, pid_t pid)
{
	char path[32], text[1024];
	int parent = 0;
	snprintf(path, sizeof(path), "%d/stat", pid);
	const char *p = fd_read_once(proc, path, text, sizeof(text)) < 0 ? NULL : strrchr(text, ')');
	return p && sscanf(p + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Orphans of a pid namespace go to its pid 1, so that every process of the sandbox descends from it. Its
 * namespace itself is not to be asked for: pid 1 is undumpable, and an ordinary user may not look. */
static bool descends(const struct watch *w, pid_t pid)
{
	for (int depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		if (pid == w->init)
			return true;
		pid = parent_of(w->proc, pid);
	}
	return false;
}

/* Every process of the sandbox, pid 1 included. */
static bool each_pid(const struct watch *w, visit_fn *visit, void *arg)
{
	int fd = w->proc < 0 ? -1 : openat(w->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return false;
	}
	int seen = 0;
	for (struct dirent *d; seen < PIDS_MAX && (d = readdir(dir));) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		const pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);
		if (w->outer && !descends(w, pid))
			continue;
		const struct visit v = {w->proc, d->d_name, pid == w->init, arg};
		visit(&v);
		seen++;
	}
	closedir(dir);
	return true;
}

static uint64_t field_kib(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* One memfd may be open in many processes: count an inode once. */
struct memory_sum {
	uint64_t bytes;
	struct {
		dev_t dev;
		ino_t ino;
	} seen[FDS_MAX];
	unsigned seen_len;
};

static void add_memfd(struct memory_sum *sum, int dir, const char *name)
{
	char link[64];
	ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);
	if (n < 7 || memcmp(link, "/memfd:", 7) != 0)
		return;
	struct stat st;
	if (fstatat(dir, name, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return;
	for (unsigned i = 0; i < sum->seen_len; i++)
		if (sum->seen[i].ino == st.st_ino && sum->seen[i].dev == st.st_dev)
			return;
	if (sum->seen_len == FDS_MAX)
		return;
	sum->seen[sum->seen_len].dev = st.st_dev;
	sum->seen[sum->seen_len++].ino = st.st_ino;
	sum->bytes += (uint64_t)st.st_blocks * 512;
}

static void add_memfds(struct memory_sum *sum, int proc, const char *pid)
{
	char path[32];
	snprintf(path, sizeof(path), "%s/fd", pid);
	int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		fd_close(&fd);
		return;
	}
	int left = FDS_MAX;
	for (struct dirent *d; left > 0 && (d = readdir(dir)); left--)
		if (isdigit((unsigned char)d->d_name[0]))
			add_memfd(sum, fd, d->d_name);
	closedir(dir);
}

static void add_memory(const struct visit *v)
{
	struct memory_sum *sum = v->arg;
	char path[40], text[4096];
	snprintf(path, sizeof(path), "%s/smaps_rollup", v->pid);
	if (v->is_init || fd_read_small(v->proc, path, text, sizeof(text)) < 0)
		return;
	/* Shared memory is counted where it lives: scratch, memfd, SysV segment. */
	sum->bytes += field_kib(text, "Pss_Anon:") + field_kib(text, "SwapPss:");
	add_memfds(sum, v->proc, v->pid);
}

static uint64_t sysv_bytes(const struct watch *w)
{
	char text[16384];
	ssize_t n = w->sysv < 0 ? -1 : pread(w->sysv, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	uint64_t sum = 0;
	/* key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap */
	for (char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		unsigned long long rss, swap;
		if (sscanf(line + 1,
			   "%*d %*d %*o %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu %llu",
			   &rss, &swap) == 2)
			sum += rss + swap;
	}
	return sum;
}

bool watch_memory(const struct watch *w, uint64_t *bytes)
{
	struct memory_sum *sum = calloc(1, sizeof(*sum));
	if (!sum)
		return false;
	bool seen = each_pid(w, add_memory, sum);
	uint64_t total = sum->bytes + sysv_bytes(w);
	free(sum);
	struct statfs fs;
	if (w->scratch >= 0 && fstatfs(w->scratch, &fs) == 0)
		total += (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
	*bytes = total;
	return seen;
}

static void add_cpu(const struct visit *v)
{
	struct watch_cpu *ticks = v->arg;
	char path[32], text[1024];
	snprintf(path, sizeof(path), "%s/stat", v->pid);
	if (fd_read_once(v->proc, path, text, sizeof(text)) < 0)
		return;
	/* The second field is the program's to choose and may hold anything: start behind its last ")". */
	char *p = strrchr(text, ')');
	unsigned long long user, system, child_user, child_system;
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
			 &user, &system, &child_user, &child_system) != 4)
		return;
	ticks->user_usec += user + child_user;
	ticks->system_usec += system + child_system;
}

bool watch_cpu(const struct watch *w, struct watch_cpu *cpu)
{
	const uint64_t tick_usec = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	*cpu = (struct watch_cpu){0};
	if (!each_pid(w, add_cpu, cpu))
		return false;
	cpu->user_usec *= tick_usec;
	cpu->system_usec *= tick_usec;
	return true;
}

static void add_tasks(const struct visit *v)
{
	uint64_t *tasks = v->arg;
	char path[32];
	struct stat st;
	snprintf(path, sizeof(path), "%s/task", v->pid);
	if (!v->is_init && fstatat(v->proc, path, &st, 0) == 0 && st.st_nlink > 2)
		*tasks += st.st_nlink - 2; /* a folder for each task */
}

bool watch_pids(const struct watch *w, uint64_t *tasks)
{
	*tasks = 0;
	return each_pid(w, add_tasks, tasks);
}
