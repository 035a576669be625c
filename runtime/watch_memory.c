/* How much memory a sandbox has, from its /proc, where no controller counts.
 *
 * Private memory is easy: the kernel divides a page by the number of those that map it. Shared
 * memory lies in one of two file systems, the scratch and the kernel's own tmpfs (memfds, SysV
 * segments, shared anonymous memory), whether it is mapped or not, so that a sum over mappings and
 * a sum over files both miss something and overlap. A cheap look takes the larger of the two for
 * what there is at least, and their sum for what there is at most. Only where the limit lies
 * between does it take the exact look, which reads every mapping and leaves out those of files that
 * were counted as files.
 *
 * Nothing stands still meanwhile. What is above the limit is therefore looked at again, and the
 * smallest of the looks counts: a program below its limit is never to be killed.
 */
#include "base/fd.h"
#include "runtime/twins.h"
#include "runtime/walk.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LOOKS = 3 };

/* A file in memory, or a part of one. */
struct part {
	dev_t dev;
	ino_t ino;
	uint64_t begin, end;
};

struct look {
	int proc;
	bool exact;
	bool failed;
	struct watch_pace *pace;
	uint64_t private, shmem;
	uint64_t opaque; /* anonymous memory of the largest process that does not let us look */
	dev_t kernel_tmpfs;
	struct part *held; /* memfds behind descriptors, end is what they occupy */
	size_t held_len, held_room;
	struct part *loose; /* mapped parts of files that nothing else counts */
	size_t loose_len, loose_room;
	struct process *processes; /* by rising pid */
	size_t processes_len, processes_room;
};

/* Room for one more. */
static bool grow(struct look *look, void **list, size_t len, size_t *room, size_t size)
{
	if (len < *room)
		return true;
	const size_t more = *room ? *room * 2 : 64;
	void *grown = reallocarray(*list, more, size);
	if (!grown) {
		look->failed = true;
		return false;
	}
	*list = grown;
	*room = more;
	return true;
}

static void look_close(struct look *look)
{
	free(look->held);
	free(look->loose);
	free(look->processes);
}

static int by_file(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	const int file = by_file(left, right);
	return file ? file : (a->begin > b->begin) - (a->begin < b->begin);
}

static void sort_parts(struct part *parts, size_t len)
{
	if (len > 1)
		qsort(parts, len, sizeof(*parts), by_place);
}

/* ---- memfds behind descriptors ---- */

static bool add_memfd(int folder, const char *name, void *arg)
{
	struct look *look = arg;
	char link[64];
	const ssize_t n = readlinkat(folder, name, link, sizeof(link) - 1);
	if (n < 7 || memcmp(link, "/memfd:", 7) != 0)
		return true;
	struct stat st;
	if (fstatat(folder, name, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return true;
	if (!grow(look, (void **)&look->held, look->held_len, &look->held_room, sizeof(*look->held)))
		return false;
	look->held[look->held_len++] = (struct part){st.st_dev, st.st_ino, 0,
						     (uint64_t)st.st_blocks * 512};
	return true;
}

struct tasks {
	struct look *look;
	struct process *p;
	const char *pid;
};

static bool add_task_memfds(int folder, const char *tid, void *arg)
{
	struct tasks *tasks = arg;
	char path[MM_NAME];
	snprintf(path, sizeof(path), "%s/fd", tid);
	if (strcmp(tid, tasks->pid) != 0)
		each_number(folder, path, add_memfd, tasks->look);
	return true;
}

/* A thread may have a table of its own, and what tells (kcmp) is not for everybody: each is read. */
static void add_memfds(struct look *look, const char *pid)
{
	char path[MM_NAME];
	struct stat st;
	struct tasks tasks = {look, NULL, pid};
	snprintf(path, sizeof(path), "%s/fd", pid);
	each_number(look->proc, path, add_memfd, look);
	snprintf(path, sizeof(path), "%s/task", pid);
	if (fstatat(look->proc, path, &st, 0) == 0 && st.st_nlink > 3) /* a folder for each */
		each_number(look->proc, path, add_task_memfds, &tasks);
}

/* Many may hold one memfd: each counts once. */
static uint64_t held_bytes(struct look *look)
{
	uint64_t sum = 0;
	sort_parts(look->held, look->held_len);
	for (size_t i = 0; i < look->held_len; i++)
		if (i == 0 || by_file(&look->held[i - 1], &look->held[i]) != 0)
			sum += look->held[i].end;
	return sum;
}

static bool is_held(const struct look *look, const struct part *part)
{
	return look->held_len > 0 &&
	       bsearch(part, look->held, look->held_len, sizeof(*look->held), by_file);
}

/* ---- processes ---- */

static uint64_t field_kib(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static bool read_rollup(int proc, const char *mm, struct process *p)
{
	char path[MM_NAME + 16], text[4096];
	unsigned long long begin, end;
	snprintf(path, sizeof(path), "%s/smaps_rollup", mm);
	if (fd_read_small(proc, path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%llx-%llx", &begin, &end) != 2)
		return false;
	snprintf(p->mm, sizeof(p->mm), "%s", mm);
	p->begin = begin;
	p->end = end;
	p->private = field_kib(text, "Pss_Anon:") + field_kib(text, "SwapPss:");
	p->shmem = field_kib(text, "Pss_Shmem:");
	return true;
}

static bool read_task_rollup(int folder, const char *tid, void *arg)
{
	struct tasks *tasks = arg;
	char mm[MM_NAME];
	(void)folder;
	snprintf(mm, sizeof(mm), "%.12s/task/%.12s", tasks->pid, tid);
	return !read_rollup(tasks->look->proc, mm, tasks->p);
}

/* A main thread that has ended has no memory to show, while others of the process do. */
static bool read_process(struct look *look, const char *pid, struct process *p)
{
	char path[MM_NAME];
	struct tasks tasks = {look, p, pid};
	if (read_rollup(look->proc, pid, p))
		return true;
	snprintf(path, sizeof(path), "%s/task", pid);
	each_number(look->proc, path, read_task_rollup, &tasks);
	return p->end > 0;
}

/* A program that an ordinary user may execute and not read hides its mappings from him. What its status
 * says is not divided by those that share it, so that no sum of them would be sure: the largest is. */
static void add_opaque(struct look *look, const char *pid)
{
	char path[MM_NAME], text[4096];
	snprintf(path, sizeof(path), "%s/status", pid);
	if (fd_read_once(look->proc, path, text, sizeof(text)) < 0)
		return;
	/* The name, in the first line, is the program's to choose, but a newline in it is escaped. */
	const uint64_t bytes = field_kib(text, "\nRssAnon:") + field_kib(text, "\nVmSwap:");
	if (bytes > look->opaque)
		look->opaque = bytes;
}

static bool count_sleeper(int folder, const char *tid, void *arg)
{
	unsigned *sleepers = arg;
	char text[STAT_TEXT];
	const char *stat = read_stat(folder, tid, text);
	if (stat && *stat == 'D')
		(*sleepers)++;
	return true;
}

static void read_parent(struct look *look, const char *pid, struct process *p)
{
	char path[MM_NAME], text[STAT_TEXT];
	const char *stat = read_stat(look->proc, pid, text);
	if (!stat || sscanf(stat, "%*c %d", &p->parent) != 1)
		return;
	snprintf(path, sizeof(path), "%d/task", p->parent);
	each_number(look->proc, path, count_sleeper, &p->sleepers);
}

static void add_process(const struct visit *v)
{
	struct look *look = v->arg;
	struct process p = {.pid = (pid_t)strtol(v->pid, NULL, 10)};
	if (v->is_init || atomic_load(&look->pace->stop))
		return;
	if (look->exact) /* before its memory: whoever sleeps in vfork now did so when the child was new */
		read_parent(look, v->pid, &p);
	if (read_process(look, v->pid, &p)) {
		look->private += p.private;
		look->shmem += p.shmem;
		if (look->exact && grow(look, (void **)&look->processes, look->processes_len,
					&look->processes_room, sizeof(p)))
			look->processes[look->processes_len++] = p;
	} else {
		add_opaque(look, v->pid);
	}
	add_memfds(look, v->pid);
}

/* ---- lines of a file that may be long ---- */

typedef void line_fn(const char *line, void *arg);

/* A line that is too long for the buffer is cut. false if it was told to stop. */
static bool each_line(int fd, struct watch_pace *pace, line_fn *visit, void *arg)
{
	char text[8192];
	size_t used = 0;
	off_t at = 0;
	bool rest = false;
	for (ssize_t n; (n = pread(fd, text + used, sizeof(text) - 1 - used, at)) > 0; at += n) {
		char *line = text;
		used += (size_t)n;
		text[used] = '\0';
		for (char *end; (end = strchr(line, '\n')); line = end + 1, rest = false) {
			*end = '\0';
			if (!rest)
				visit(line, arg);
		}
		used -= (size_t)(line - text);
		memmove(text, line, used + 1);
		if (used == sizeof(text) - 1) {
			if (!rest)
				visit(text, arg);
			rest = true;
			used = 0;
		}
		if (atomic_load(&pace->stop))
			return false;
	}
	return true;
}

/* key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap */
static void add_segment(const char *line, void *arg)
{
	uint64_t *sum = arg;
	unsigned long long rss, swap;
	if (sscanf(line, "%*d %*d %*o %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu %llu", &rss,
		   &swap) == 2)
		*sum += rss + swap;
}

static uint64_t sysv_bytes(const struct watch *w, struct watch_pace *pace)
{
	uint64_t sum = 0;
	if (w->sysv >= 0)
		each_line(w->sysv, pace, add_segment, &sum);
	return sum;
}

static uint64_t scratch_bytes(const struct watch *w)
{
	struct statfs fs;
	if (w->scratch < 0 || fstatfs(w->scratch, &fs) < 0)
		return 0;
	return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

/* ---- mappings, for the exact look ---- */

struct mappings {
	struct look *look;
	struct process *p;
	struct part part; /* the mapping that is being read; ino 0: none of those we look for */
	uint64_t pss, anonymous;
};

static void end_mapping(struct mappings *m)
{
	struct look *look = m->look;
	/* A private mapping has copied pages too, which the process's sum has; how much they are
	 * when divided is not said, but no more than they are, and no more than that sum. */
	const uint64_t copied = m->anonymous < m->p->private ? m->anonymous : m->p->private;
	if (m->part.ino && m->pss > copied &&
	    grow(look, (void **)&look->loose, look->loose_len, &look->loose_room,
		 sizeof(*look->loose))) {
		m->p->loose += m->pss - copied;
		look->loose[look->loose_len++] = m->part;
	}
	m->part.ino = 0;
}

/* Of the kernel's tmpfs, and neither a SysV segment nor a memfd that was counted: shared anonymous memory
 * and memfds that nobody holds. The scratch is counted whole; any other file system is not the sandbox's. */
static void begin_mapping(struct mappings *m, const char *line)
{
	unsigned long long begin, end, offset, ino;
	unsigned major, minor;
	int name = 0;
	if (sscanf(line, "%llx-%llx %*s %llx %x:%x %llu %n", &begin, &end, &offset, &major, &minor,
		   &ino, &name) != 6)
		return;
	m->part = (struct part){makedev(major, minor), ino, offset, offset + (end - begin)};
	m->pss = m->anonymous = 0;
	if (m->part.dev != m->look->kernel_tmpfs || strncmp(line + name, "/SYSV", 5) == 0 ||
	    is_held(m->look, &m->part))
		m->part.ino = 0;
}

static void on_smaps_line(const char *line, void *arg)
{
	struct mappings *m = arg;
	if (isdigit((unsigned char)*line) || islower((unsigned char)*line)) {
		end_mapping(m);
		begin_mapping(m, line);
	} else if (m->part.ino && strncmp(line, "Pss:", 4) == 0) {
		m->pss = field_kib(line, "Pss:");
	} else if (m->part.ino && strncmp(line, "Anonymous:", 10) == 0) {
		m->anonymous = field_kib(line, "Anonymous:");
	}
}

static bool add_mappings(struct look *look, struct process *p)
{
	char path[MM_NAME + 8];
	struct mappings m = {.look = look, .p = p};
	snprintf(path, sizeof(path), "%s/smaps", p->mm);
	autoclose int fd = openat(look->proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true; /* gone */
	const bool all = each_line(fd, look->pace, on_smaps_line, &m);
	end_mapping(&m);
	return all;
}

/* Each part once, however many map it. */
static uint64_t loose_extent(struct look *look)
{
	uint64_t sum = 0, end = 0;
	sort_parts(look->loose, look->loose_len);
	for (size_t i = 0; i < look->loose_len; i++) {
		const struct part *part = &look->loose[i];
		if (i == 0 || by_file(part - 1, part) != 0)
			end = 0;
		if (part->end > end)
			sum += part->end - (part->begin > end ? part->begin : end);
		end = part->end > end ? part->end : end;
	}
	return sum;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The device that memfds, SysV segments and shared anonymous memory are on. */
static bool find_kernel_tmpfs(struct look *look)
{
	struct stat st;
	autoclose int fd = memfd_create("device", MFD_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	look->kernel_tmpfs = st.st_dev;
	return true;
}

static bool look_exactly(const struct watch *w, struct watch_pace *pace, uint64_t *bytes)
{
	struct look look = {.proc = w->proc, .exact = true, .pace = pace};
	uint64_t loose = 0;
	atomic_fetch_add(&pace->passes, 1);
	bool seen = find_kernel_tmpfs(&look) && each_pid(w, add_process, &look);
	const uint64_t held = held_bytes(&look);
	for (size_t i = 0; seen && i < look.processes_len; i++) {
		struct process *p = &look.processes[i];
		seen = p->shmem == 0 || add_mappings(&look, p);
		loose += p->loose;
	}
	const struct twice twice = twins_count(w, look.processes, look.processes_len);
	*bytes = look.private - twice.private + look.opaque +
		 smaller(loose - twice.loose, loose_extent(&look)) + held + scratch_bytes(w) +
		 sysv_bytes(w, pace);
	seen = seen && !look.failed;
	look_close(&look);
	return seen;
}

static bool look_cheaply(const struct watch *w, struct watch_pace *pace, uint64_t *least,
			 uint64_t *most)
{
	struct look look = {.proc = w->proc, .pace = pace};
	atomic_fetch_add(&pace->passes, 1);
	const bool seen = each_pid(w, add_process, &look) && !look.failed;
	const uint64_t files = held_bytes(&look) + scratch_bytes(w) + sysv_bytes(w, pace);
	const uint64_t private = look.private + look.opaque;
	*least = private + (files > look.shmem ? files : look.shmem);
	*most = private + files + look.shmem;
	look_close(&look);
	return seen;
}

bool watch_memory(const struct watch *w, uint64_t limit, struct watch_pace *pace, uint64_t *bytes)
{
	uint64_t least, most, exact;
	if (!look_cheaply(w, pace, &least, &most))
		return false;
	*bytes = least;
	for (int i = 0; i < LOOKS && most > limit; i++) {
		/* What cannot be read mapping by mapping is judged by what there is at least. */
		if (!look_exactly(w, pace, &exact))
			break;
		*bytes = i == 0 ? exact : smaller(*bytes, exact);
		most = *bytes;
	}
	return !atomic_load(&pace->stop);
}
