/* What the parent prepared and pid 1 applies. Const from clone3 on; pid 1 has its own copy of the memory. */
#ifndef PINFOLD_RUNTIME_LAUNCH_H
#define PINFOLD_RUNTIME_LAUNCH_H

#include "rootfs/rootfs.h"
#include "runtime/ids.h"
#include "seccomp/seccomp.h"
#include "spec/spec.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

enum {
	COOL_MS = 100, /* a run that lasts longer gives the pages of its text back: most never pay for it */
};

/* What the program gets: rlimits.c has cut it to what the caller may give. */
struct rlimit_row {
	int resource;
	rlim_t soft, hard;
	bool inherited; /* it is what this process has: nothing to set */
};

struct launch {
	const struct spec *spec;
	struct rootfs root;
	struct ids ids;
	struct filter filter;

	int control;	/* pid 1's end */
	int supervisor; /* the other end, for pid 1 to close */
	int egress; /* where pid 1 hands the sandbox's sockets to, -1: nothing is allowed to leave */
	int egress_peer; /* its other end, for pid 1 to close */
	int inputs;	 /* the stream of inputs, for pid 1 to read; -1: none */
	int inputs_peer; /* its other end, for pid 1 to close */
	int stdio[3]; /* the program's ends of the pipes; -1: the sandbox's /dev/null (stdin), or the pty */
	cpu_set_t cpus_allowed; /* the caller's */
	unsigned cpus; /* how many of them; pid 1 takes them from where it runs, if set_affinity */
	bool set_affinity;
	int nice;

	struct rlimit_row rlimits[RLIM_NLIMITS];

	char **argv, **envp; /* copies: title, where the caller's words are, is written over */
	char *title;	     /* what /proc/PID/cmdline shows of this process, and its room */
	size_t title_len;
	bool rehearsal; /* up to the program's execve, which does not come: see sandbox_rehearse() */
	const char **candidates; /* what execve tries, in order; NULL-terminated */
};

/* In the new process, after clone3: apply the step table, start the program, reap. Never returns. */
_Noreturn void init_main(const struct launch *l);

/* "mounts", "network", ...: the step's name; "setup" when out of range. */
const char *init_step_name(uint32_t step);

/* Between clone and exec, on a stack of its own in pid 1's memory: only raw system calls. Writes *sys and
 * *stage and exits when something fails. stage: the call that failed, NULL for execve itself. */
struct program {
	const struct launch *launch;
	int terminal;		  /* the pty's slave, -1 none */
	int null;		  /* for a stdin that nobody asked for, -1 none */
	uint64_t ignored_signals; /* dispositions to reset: bit N-1 is signal N */
	int sys;
	const char *stage;
	const char *path; /* the candidate that sys is about */
};
int program_main(void *program);

#endif
