/* What /proc tells about a sandbox whose cgroup has no controller: memory and cpu time, as far as
 * they can be seen.
 *
 * Everything is read through the sandbox's own /proc (an fd that pid 1 handed out), which lists its
 * processes and no others. The numbers are a lower bound: what they miss is named in the ledger.
 */
#ifndef PINFOLD_RUNTIME_WATCH_H
#define PINFOLD_RUNTIME_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watch {
	int proc;	 /* the sandbox's /proc; -1: nothing can be seen */
	pid_t init;	 /* pid 1 of the sandbox, as this /proc numbers it */
	pid_t host_init; /* the same as we number it, 0: unknown */
	bool outer;  /* proc is an outer one and lists strangers: only descendants of init count */
	int sysv;    /* its /proc/sysvipc/shm, -1 */
	int scratch; /* root of the scratch tmpfs, -1 */
};
#define WATCH_INIT {.proc = -1, .init = 1, .sysv = -1, .scratch = -1}

/* Anonymous memory and swap of every process, shared memory that one maps, the scratch, memfds that
 * an fd holds, SysV segments: bytes, each page once. What costs little says at most this much and
 * at least that: *bytes is the latter unless the former is above the limit, which makes it look
 * closer, as often as it takes to be sure. How long that takes is for the program to choose: it is for a
 * thread of its own (watcher.h). false where nothing could be read, or it was told to stop. */
struct watch_pace {
	atomic_bool stop;   /* nobody waits for the result any more */
	atomic_uint passes; /* over all the processes, that were begun */
};
bool watch_memory(const struct watch *w, uint64_t limit, struct watch_pace *pace, uint64_t *bytes);

/* User and system time of the living and of those that were waited for, clock ticks turned to usec. */
struct watch_cpu {
	uint64_t user_usec, system_usec;
};
bool watch_cpu(const struct watch *w, struct watch_cpu *cpu);

/* Tasks of the program, pid 1 not counted. */
bool watch_pids(const struct watch *w, uint64_t *tasks);

/* What one look at the memory saw. */
struct watch_seen {
	uint64_t bytes, tasks;
};

#endif
