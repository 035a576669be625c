/* Who listens at an abstract name, told by the kernel without a connection: sock_diag(7), whose names
 * are bytes, where /proc/net/unix prints them raw and a name can look like lines of the file. */
#ifndef PINFOLD_RUNTIME_LISTENER_H
#define PINFOLD_RUNTIME_LISTENER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct listener {
	bool any_state;	  /* in: of whoever has the name, not only of who listens */
	const char *name; /* in: with its leading NUL */
	size_t len;
	uint32_t inode; /* out */
	uid_t uid;	/* out: who made the socket */
};

/* The SOCK_STREAM listener of l->name in this network namespace. 1 found, 0 none, -1 where the
 * kernel does not tell (it needs CONFIG_UNIX_DIAG). */
int listener_find(struct listener *l, struct err *e);

/* The process that has it among its descriptors, as far as this user may look: a pid, or 0. */
pid_t listener_holder(const struct listener *l);

#endif
