/* A jailed child: hostile bytes are read where they can do no harm.
 *
 * It has one folder as its whole file system, the descriptors that it was given, nothing of the
 * caller's environment that is not named, no other process to see, and no new privileges.
 *
 * A reader has no network, capabilities over files of its own user namespace alone, and a filter
 * (policy_jail in seccomp/policy.c) without sockets, processes, mounts or programs. What a bug in a
 * parser gains an attacker is that folder.
 *
 * A client has the host's network, no capability at all, and a filter (policy_client) with which it
 * can read files, write to descriptors, and speak TCP and UDP: no other socket, and so nothing that
 * listens under an abstract name. What a bug gains an attacker is the network as the caller has it.
 *
 * Ids: for a reader of root's every id is mapped to itself, so that chown(2) inside gives a file
 * its owner on the disk; the capabilities count for files alone, and nothing but the folder is
 * there. For anybody else, and for a client, one id, 0 inside, is the caller.
 *
 * See user_namespaces(7), mount_namespaces(7), seccomp(2).
 */
#ifndef PINFOLD_RUNTIME_JAIL_H
#define PINFOLD_RUNTIME_JAIL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum jail_kind { JAIL_READER, JAIL_CLIENT };

struct jail {
	enum jail_kind kind;
	int root;      /* the folder that becomes "/"; borrowed. -1: an empty one, read-only */
	bool writable; /* else it is read-only */
	/* Puts files into an empty root, in the child, before it is jailed: it reads nothing hostile. May be NULL. */
	int (*fill)(int root, void *arg, struct err *e);
	const int *fds; /* what the child keeps beside it, under the same numbers; -1 entries are passed over */
	size_t fds_len;
	const char *const *environment; /* the names that it keeps, NULL-terminated; NULL: none */
	/* Processor time that it may take, of all of its threads; where none is given, all that it needs. */
	uint64_t cpu_seconds;
	bool fixed;	     /* no option of the caller's gives it more time: for the message */
	uint64_t file_bytes; /* how far into a file it may write; 0: no limit of the jail's */
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

/* The same in two steps, for a child that is spoken with in between. */
struct jail_child {
	pid_t pid; /* 0: none */
	int said;
};
#define JAIL_CHILD_INIT {.pid = 0, .said = -1}

int jail_start(struct jail_child *c, const struct jail *j, struct err *e);
int jail_finish(struct jail_child *c, const struct jail *j, struct err *e);
/* Less than it was given: j's limits are these from now on. */
int jail_limit(const struct jail_child *c, struct jail *j, uint64_t file_bytes,
	       uint64_t cpu_seconds, struct err *e);
/* Kill it, if it is not at its end: what it has said by now is what jail_finish() hears. */
void jail_stop(const struct jail_child *c);
/* End it, if there is one, without a word. */
void jail_kill(struct jail_child *c);
#define autojail __attribute__((cleanup(jail_kill))) struct jail_child

#endif
