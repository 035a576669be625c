/* Other programs of this host, by execve(2) and never through a shell: pinfold's siblings in
 * libexec, and tools such as mmdebstrap. */
#ifndef PINFOLD_RUNTIME_SIBLING_H
#define PINFOLD_RUNTIME_SIBLING_H

#include "base/err.h"

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/* In this process's place. path: of the program; held: signals that stay blocked, NULL for none.
 * Returns -1 and *e only; ENOENT says that it is not installed. */
int sibling_exec(const char *path, char *const *argv, const sigset_t *held, struct err *e);

/* As a child, to its end, with stdout_fd for its stdout. It is ended with this process. The exit
 * code, 128 and its number for a signal; -1 and *e. */
int sibling_run(const char *path, char *const *argv, int stdout_fd, struct err *e);

/* A descriptor of ours, and its number in the child. */
struct sibling_end {
	int fd, number;
};
enum { SIBLING_ENDS = 2 };

/* As a child that has nothing but these: its stdio is /dev/null, its environment empty, all other
 * descriptors are closed by the kernel. Every signal is blocked and at its default: a terminal's
 * Ctrl-C is for us, and we say when it ends. Its pid, which is ours to reap; -1 and *e. */
pid_t sibling_spawn(const char *path, char *const *argv,
		    const struct sibling_end ends[SIBLING_ENDS], struct err *e);

/* A child that goes on by itself, and is told to end (TERM) when this process is gone. */
struct sibling {
	const char *path;
	char *const *argv;
	int in, out, err; /* its standard descriptors; -1: /dev/null. Borrowed */
	const int *keep;  /* more that stay open in it, under their numbers; borrowed */
	size_t keep_len;
	pid_t pid;
	int pidfd; /* -1: it was not started, or was waited for */
};
#define SIBLING_INIT {.in = -1, .out = -1, .err = -1, .pidfd = -1}

int sibling_start(struct sibling *s, struct err *e);
void sibling_signal(const struct sibling *s, int number);
/* It has ended, or will: waits, and lets go of it. Its code as with sibling_run(). */
int sibling_wait(struct sibling *s);

#endif
