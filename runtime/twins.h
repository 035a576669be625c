/* Processes that have one memory between them: between vfork (posix_spawn, subprocess) and execve,
 * or for good after clone with CLONE_VM. What /proc says of it counts for each of them. */
#ifndef PINFOLD_RUNTIME_TWINS_H
#define PINFOLD_RUNTIME_TWINS_H

#include "runtime/watch.h"

#include <stddef.h>

enum { MM_NAME = 40 }; /* "PID/task/TID" */

struct process {
	pid_t pid, parent;
	pid_t outer;	     /* as we number it, 0: unknown */
	char mm[MM_NAME];    /* whose smaps are its, below /proc */
	uint64_t begin, end; /* of its address space */
	uint64_t private;    /* anonymous memory and swap */
	uint64_t shmem;	     /* mapped, of the scratch and of the kernel's tmpfs */
	uint64_t loose;	     /* of that, in files that nothing else counts: after the exact look */
	unsigned sleepers;   /* tasks of its parent that may sleep in vfork */
	unsigned twins_taken;
};

/* By rising pid, which is how processes are listed; NULL if it is not there. */
struct process *process_of(struct process *processes, size_t len, pid_t pid);

/* What of private and loose is there for the second time. Leaves in each process that has twins the
 * larger figure of them. */
struct twice {
	uint64_t private, loose;
};
struct twice twins_count(const struct watch *w, struct process *processes, size_t len);

#endif
