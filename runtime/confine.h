/* A process of ours that has to do with hostile bytes and stays in the host's network: it gives up
 * files, ids, capabilities and system calls. In two acts, because what both halves of the broker
 * have in common is given up before they part.
 *
 * See user_namespaces(7), chroot(2), landlock(7), seccomp(2), docs/egress.md.
 */
#ifndef PINFOLD_RUNTIME_CONFINE_H
#define PINFOLD_RUNTIME_CONFINE_H

#include "base/err.h"
#include "seccomp/seccomp.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* An empty root, no capability, no_new_privs, Landlock as far as the kernel knows it; as an
 * ordinary user in a user namespace of its own, as root (uid not 0) with those ids. A single
 * thread; nothing is opened by a path from here on. */
int confine_begin(uint32_t uid, uint32_t gid, struct err *e);

/* The same, but in the user namespace that there is: with CAP_DAC_READ_SEARCH over what is mapped
 * there, and no other capability. as_root: its id 0 is mapped, and is to be ours. */
int confine_join(int user_namespace, bool as_root, struct err *e);

struct confine_end {
	const struct filter *filter;
	bool connects;	      /* else Landlock forbids TCP too */
	bool reads;	      /* files, below descriptors that it has; else none at all */
	uint64_t data_bytes;  /* RLIMIT_DATA */
	uint64_t files;	      /* RLIMIT_NOFILE, as far as the hard limit goes */
	uint64_t cpu_seconds; /* RLIMIT_CPU, the same; 0: none of its own */
};

/* Limits, the rest of Landlock, undumpable, the death signal, the filter last.
 * parent: who it is to die with; -1 and *e where that one is gone already. */
int confine_end(const struct confine_end *c, pid_t parent, struct err *e);

/* The version of Landlock that this kernel has, 0 none. */
int confine_landlock(void);

#endif
