#include "runtime/walk.h"

#include "base/fd.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounds on what a hostile tree can make one walk cost; limits of ours that are lifted leave more room. */
enum { NUMBERS_MAX = 65536, DEPTH_MAX = 4096 };

bool each_number(int dir, const char *name, number_fn *visit, void *arg)
{
	int fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder) {
		fd_close(&fd);
		return false;
	}
	int left = NUMBERS_MAX;
	for (struct dirent *d; left > 0 && (d = readdir(folder));) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		left--;
		if (!visit(fd, d->d_name, arg))
			break;
	}
	closedir(folder);
	return true;
}

const char *read_stat(int dir, const char *pid, char text[STAT_TEXT])
{
	char path[32];
	snprintf(path, sizeof(path), "%s/stat", pid);
	const char *p = fd_read_once(dir, path, text, STAT_TEXT) < 0 ? NULL : strrchr(text, ')');
	return p && p[1] == ' ' ? p + 2 : NULL;
}

static pid_t parent_of(int proc, pid_t pid)
{
	char name[16], text[STAT_TEXT];
	int parent = 0;
	snprintf(name, sizeof(name), "%d", pid);
	const char *stat = read_stat(proc, name, text);
	return stat && sscanf(stat, "%*c %d", &parent) == 1 ? parent : 0;
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

struct walk {
	const struct watch *w;
	visit_fn *visit;
	void *arg;
};

static bool one_pid(int folder, const char *name, void *arg)
{
	struct walk *walk = arg;
	const pid_t pid = (pid_t)strtol(name, NULL, 10);
	(void)folder;
	if (walk->w->outer && !descends(walk->w, pid))
		return true;
	const struct visit v = {walk->w->proc, name, pid == walk->w->init, walk->arg};
	walk->visit(&v);
	return true;
}

bool each_pid(const struct watch *w, visit_fn *visit, void *arg)
{
	struct walk walk = {w, visit, arg};
	return each_number(w->proc, ".", one_pid, &walk);
}
