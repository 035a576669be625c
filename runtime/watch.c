#include "runtime/watch.h"

#include "runtime/walk.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_cpu(const struct visit *v)
{
	struct watch_cpu *ticks = v->arg;
	char text[STAT_TEXT];
	const char *stat = read_stat(v->proc, v->pid, text);
	unsigned long long user, system, child_user, child_system;
	if (!stat || sscanf(stat, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
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
