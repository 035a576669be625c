/* Who is running, without a state file: each supervisor holds an abstract socket named after its
 * user and run, "\0pinfold/UID/ID". It disappears with the process, however that ends. See unix(7).
 *
 * Anybody may bind an abstract name; so whoever lists asks the kernel who holds it (SO_PEERCRED of
 * a connection, which needs no accept) and looks no further unless the uid is its own.
 */
#ifndef PINFOLD_RUNTIME_REGISTRY_H
#define PINFOLD_RUNTIME_REGISTRY_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Returns the listening socket. ERR_USAGE if a run of that id is alive. */
int registry_enter(const char *id, struct err *e);

/* The socket is readable: let go of whoever asked (it has what it wanted from the kernel). */
void registry_answer(int fd);

struct registry_run {
	char id[65];
	pid_t supervisor;
};

/* Calls back for every living run of this user; stops when it returns false. */
int registry_list(bool (*found)(const struct registry_run *run, void *arg), void *arg, struct err *e);

/* The run of that id. 1 found, 0 none, -1 error. */
int registry_find(const char *id, struct registry_run *run, struct err *e);

#endif
