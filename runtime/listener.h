/* Who listens at which abstract name, told by the kernel without a connection: sock_diag(7), whose
 * names are bytes, where /proc/net/unix prints them raw and a name can look like lines of the file.
 *
 * Anybody may make any number of sockets. So it is one pass over all of them, however many names
 * somebody wants to know of, with a bound in time (one second) that is said when it was reached.
 */
#ifndef PINFOLD_RUNTIME_LISTENER_H
#define PINFOLD_RUNTIME_LISTENER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct listener {
	const char *name; /* an abstract one with its leading NUL; lives as long as the call */
	size_t len;
	uint32_t inode;
	uid_t uid; /* who made the socket */
};

/* Calls back for every SOCK_STREAM socket of this network namespace that has a name and listens, or
 * with bound_too has not come to that yet. 1 that were all, 0 there may be more: the callback said
 * false or time was up, -1 where the kernel does not tell (it needs CONFIG_UNIX_DIAG). */
int listener_each(bool bound_too, bool (*each)(const struct listener *l, void *arg), void *arg,
		  struct err *e);

struct listener_holder {
	uint32_t inode; /* in */
	pid_t pid; /* in: 0. out: a process of this user's that has it, 0 if none is to be seen */
};

/* One pass over the descriptors of this user's processes. False: time was up before all were found. */
bool listener_holders(struct listener_holder *wanted, size_t count);

/* Whether that process has it, as far as this user may look. */
bool listener_is_held(uint32_t inode, pid_t pid);

#endif
