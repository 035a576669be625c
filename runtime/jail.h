/* A jailed child: hostile bytes are read where they can do no harm.
 *
 * It has one folder as its whole file system, the descriptors that it was given, no network, no
 * other process to see, capabilities over files of its own user namespace alone, no new privileges,
 * and a filter (policy_jail in seccomp/policy.c) without sockets, processes, mounts or programs.
 * What a bug in a parser gains an attacker is that folder.
 *
 * Ids: as root every id is mapped to itself, so that chown(2) inside gives a file its owner on the
 * disk; the capabilities count for files alone, and nothing but the folder is there. For anybody
 * else one id, 0 inside, is the caller.
 *
 * See user_namespaces(7), mount_namespaces(7), seccomp(2).
 */
#ifndef PINFOLD_RUNTIME_JAIL_H
#define PINFOLD_RUNTIME_JAIL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jail {
	int root;      /* the folder that becomes "/"; borrowed */
	bool writable; /* else it is read-only */
	const int *fds; /* what the child keeps beside it, under the same numbers; -1 entries are passed over */
	size_t fds_len;
	/* Processor time that it may take, of all of its threads; where none is given, all that it needs. */
	uint64_t cpu_seconds;
	/* What it does; root is "/" of the jail. The child has a copy of the caller's memory. 0 or -1. */
	int (*run)(int root, void *arg, struct err *e);
	void *arg;
	/* What run() made of these bytes is what the caller has in them afterwards, if it returned 0. */
	void *report;
	size_t report_len;
	/* In the caller, while the child is at work; NULL: not called. */
	void (*tick)(void *arg);
	int tick_ms;
};

/* 0: run() returned 0. -1 and *e: what run() said, or that there is no jail to be had, or how the
 * child died. The child is gone in each case; report is untouched on failure. It dies with the caller. */
int jail_run(const struct jail *j, struct err *e);

#endif
