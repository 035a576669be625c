/* Who is running, without a state file: each supervisor holds an abstract socket named after its
 * user and run, "\0pinfold/UID/ID". It disappears with the process, however that ends. See unix(7).
 * Where another user sits on that name, a run has "\0pinfold/UID/ID/RANDOM" instead.
 *
 * Anybody may bind an abstract name; so whoever lists asks the kernel who holds it (SO_PEERCRED of
 * a connection, which needs no accept) and looks no further unless the uid is its own. A connection
 * needs room in the holder's queue, which a stopped supervisor, or somebody's ill will, may have
 * let fill up: then the kernel is asked about the socket (listener.h). A name whose holder neither
 * of the two shows is taken for nobody's run.
 */
#ifndef PINFOLD_RUNTIME_REGISTRY_H
#define PINFOLD_RUNTIME_REGISTRY_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Returns the listening socket. ERR_USAGE if a run of this user's is alive under that id, or may
 * be. chosen: the id is not a random one, so that it may be another's too. */
int registry_enter(const char *id, bool chosen, struct err *e);

/* The socket is readable: let go of whoever asked (it has what it wanted from the kernel). */
void registry_answer(int fd);

struct registry_run {
	char id[65];
	pid_t supervisor; /* 0: of another pid namespace, or not to be found out */
	uid_t uid;
	bool uid_known;
	bool answers; /* false: it takes no connections, because it is stopped or hangs */
};

/* Calls back for every living run of this user; stops when it returns false. */
int registry_list(bool (*found)(const struct registry_run *run, void *arg), void *arg, struct err *e);

/* Who holds the name of run id: the run of this user's if there is one, else whoever has taken the
 * plain name. 1 somebody, 0 nobody who listens, -1 error. */
int registry_holder(const char *id, struct registry_run *run, struct err *e);

/* Whether that is a run of this user's. */
bool registry_own(const struct registry_run *run);

/* "uid 1000 (pid 4711)", for messages, as far as it is known. */
const char *registry_describe(const struct registry_run *run, char *buf, size_t size);

#endif
