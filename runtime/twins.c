/* The kernel tells who shares a memory (kcmp), where it may be asked: not under every outer filter, and
 * only by our own numbers of the processes, which are found by walking down from pid 1 in our own /proc.
 * Elsewhere a vfork alone is recognised, by its parent's sleep. Equal figures are no proof: a fork has
 * them, and goes on having them if it wants to, so that a program could hide behind its children. */
#include "runtime/twins.h"

#include "base/fd.h"
#include "runtime/walk.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIDS_MAX = 65536 }; /* a tree that changes meanwhile may list one more than once */

static int by_pid(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

struct process *process_of(struct process *processes, size_t len, pid_t pid)
{
	const struct process key = {.pid = pid};
	return len ? bsearch(&key, processes, len, sizeof(key), by_pid) : NULL;
}

/* ---- our numbers of them ---- */

struct tree {
	int proc; /* ours */
	struct process *processes;
	size_t len;
	pid_t *pids; /* those found, in our numbers */
	size_t pids_len;
};

static bool add_children(int folder, const char *tid, void *arg)
{
	struct tree *tree = arg;
	char path[MM_NAME];
	int child;
	snprintf(path, sizeof(path), "%s/children", tid);
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	if (!file) {
		fd_close(&fd);
		return true;
	}
	while (tree->pids_len < PIDS_MAX && fscanf(file, "%d", &child) == 1)
		tree->pids[tree->pids_len++] = child;
	fclose(file);
	return true;
}

/* NSpid: a number for each namespace, the innermost last. A sandbox cannot nest another. */
static void note_outer(struct tree *tree, pid_t outer)
{
	char path[MM_NAME], text[4096];
	snprintf(path, sizeof(path), "%d/status", outer);
	if (fd_read_once(tree->proc, path, text, sizeof(text)) < 0)
		return;
	char *line = strstr(text, "\nNSpid:"), *end = line ? strchr(line + 1, '\n') : NULL;
	if (!end)
		return;
	*end = '\0';
	const char *last = strrchr(line, '\t');
	struct process *p =
		last ? process_of(tree->processes, tree->len, (pid_t)strtol(last, NULL, 10)) : NULL;
	if (p)
		p->outer = outer;
}

static void find_outer(const struct watch *w, struct process *processes, size_t len)
{
	autoclose int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct tree tree = {.proc = proc,
			    .processes = processes,
			    .len = len,
			    .pids = calloc(PIDS_MAX, sizeof(*tree.pids))};
	if (proc >= 0 && tree.pids && w->host_init > 0)
		tree.pids[tree.pids_len++] = w->host_init;
	for (size_t i = 0; i < tree.pids_len; i++) {
		char path[MM_NAME];
		snprintf(path, sizeof(path), "%d/task", tree.pids[i]);
		note_outer(&tree, tree.pids[i]);
		each_number(proc, path, add_children, &tree);
	}
	free(tree.pids);
}

/* ---- who has one memory ---- */

/* As kcmp(2) orders them: 0 equal, 1 less, 2 greater; -1 unknown. */
static int compare_memory(const struct process *a, const struct process *b)
{
	return (int)syscall(SYS_kcmp, a->outer, b->outer, KCMP_VM, 0, 0);
}

/* Those whose first thread has ended have none, and in that they are equal. What has one now had it
 * when it was compared: nobody gets one back. */
static bool has_memory(const struct watch *w, const struct process *p)
{
	char path[MM_NAME + 8], text[128];
	snprintf(path, sizeof(path), "%d/statm", p->pid);
	return fd_read_once(w->proc, path, text, sizeof(text)) > 0 && strtoull(text, NULL, 10) > 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void count_twin(struct twice *twice, struct process *one, const struct process *other)
{
	twice->private += smaller(one->private, other->private);
	twice->loose += smaller(one->loose, other->loose);
	if (other->private > one->private)
		one->private = other->private;
	if (other->loose > one->loose)
		one->loose = other->loose;
}

/* One of each memory, in kcmp's order. */
struct memories {
	struct process **one;
	size_t len;
};

/* False: the kernel does not say, or p is gone. *twin is NULL if p has a memory of its own. */
static bool find_twin(const struct watch *w, struct memories *m, struct process *p,
		      struct process **twin)
{
	size_t low = 0, high = m->len;
	*twin = NULL;
	/* The first is compared with itself: it tells whether we may. */
	int order = p->outer > 0 ? compare_memory(p, p) : -1;
	while (order >= 0 && low < high) {
		const size_t middle = low + (high - low) / 2;
		order = compare_memory(p, m->one[middle]);
		if (order == 0) {
			*twin = m->one[middle];
			return has_memory(w, p);
		}
		if (order == 1)
			high = middle;
		else
			low = middle + 1;
	}
	if (order < 0)
		return false;
	memmove(&m->one[low + 1], &m->one[low], (m->len - low) * sizeof(struct process *));
	m->one[low] = p;
	m->len++;
	return true;
}

/* A vfork is told by the same bounds, which execve chooses anew, and by the parent's sleep; for
 * each that sleeps one child is taken off, so that what is not there twice stays. */
static struct process *sleeping_parent(struct process *processes, size_t len, const struct process *p)
{
	struct process *parent = process_of(processes, len, p->parent);
	if (!parent || parent->twins_taken >= p->sleepers || parent->begin != p->begin ||
	    parent->end != p->end)
		return NULL;
	parent->twins_taken++;
	return parent;
}

struct twice twins_count(const struct watch *w, struct process *processes, size_t len)
{
	struct twice twice = {0};
	struct memories m = {calloc(len ? len : 1, sizeof(struct process *)), 0};
	if (!m.one)
		return twice;
	if (!w->outer)
		find_outer(w, processes, len);
	for (size_t i = 0; i < len; i++) {
		struct process *p = &processes[i], *twin;
		if (w->outer)
			p->outer = p->pid;
		if (!find_twin(w, &m, p, &twin))
			twin = sleeping_parent(processes, len, p);
		if (twin)
			count_twin(&twice, twin, p);
	}
	free(m.one);
	return twice;
}
