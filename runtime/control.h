/* The control socket: one SOCK_SEQPACKET pair between supervisor and pid 1, one fixed record.
 *
 * supervisor -> pid 1:  GO (with the image tree as root), ACK
 * pid 1 -> supervisor:  READY, FAILED, STARTED, EXEC_FAILED, EXITED, ALL_GONE
 * program -> supervisor, between clone and exec: STARTING (with the filter's listener)
 *
 * FAILED: that step failed. EOF before STARTED: the sandbox died while it was set up, which is an
 * error. Every record is checked for its exact size and its range by control_recv().
 */
#ifndef PINFOLD_RUNTIME_CONTROL_H
#define PINFOLD_RUNTIME_CONTROL_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum record_type {
	RECORD_GO = 1,	    /* maps are written; fd: the image tree, as root */
	RECORD_READY,	    /* value: READY_* bits; fds: scratch, proc, and what the bits say */
	RECORD_STARTING,    /* all but execve is done; fd: the listener, if any */
	RECORD_ACK,	    /* timers are set, the listener is held: execve */
	RECORD_STARTED,	    /* execve succeeded; fd: the program's pidfd */
	RECORD_EXEC_FAILED, /* err says why */
	RECORD_FAILED,	    /* err says why, step where */
	RECORD_EXITED,	    /* the main process; value is its wait status */
	RECORD_ALL_GONE,    /* pid 1 has no child left */
	RECORD_TYPE_END,
};

enum ready_bits {
	READY_PROC_OUTER = 1, /* /proc is the outer one */
	READY_SYSV = 2,	      /* fd: /proc/sysvipc/shm of the sandbox's IPC namespace */
	READY_TTY = 4,	      /* fd: the pty's master */
	READY_CPU_SHIFT = 8,  /* above: the cpu from which pid 1 chose those of the run */
};

struct record {
	uint32_t type;
	uint32_t step; /* index into the step table of runtime/init.c */
	int64_t value;
	struct err err;
};

/* 0 or -1 with errno. Safe between clone and exec. */
int control_send(int sock, const struct record *r, const int *fds, size_t nfds);

/* 1: a record; 0: EOF; -1 with errno, EPROTO for one that is out of range. */
int control_recv(int sock, struct record *r, int *fds, size_t *nfds);

#endif
