/* The terminal: a pty of the sandbox's own, and the caller's put to raw and back. See pty(7), termios(3). */
#ifndef PINFOLD_RUNTIME_TTY_H
#define PINFOLD_RUNTIME_TTY_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct tty_pair {
	int master, slave;
};
#define TTY_PAIR_INIT {.master = -1, .slave = -1}

/* pid 1, after the pivot: a pair from /dev/pts, the slave given to uid:gid. */
int tty_open_pair(struct tty_pair *pair, uint32_t uid, uint32_t gid, struct err *e);

/* Supervisor. The caller's terminal on fd, if it is one: remember its settings and go raw. */
struct tty_caller {
	int fd; /* -1: none, nothing to restore */
	struct termios saved;
};
#define TTY_CALLER_INIT {.fd = -1}
int tty_raw(struct tty_caller *t, int fd, struct err *e);
void tty_restore(struct tty_caller *t);

/* Copy the window size of one to the other; false if from is not a terminal. */
bool tty_copy_size(int from, int to);

#endif
