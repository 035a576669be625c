/* Who is running, without a state file: each supervisor holds an abstract socket named after its
 * user and run, "\0pinfold/UID/ID". It disappears with the process, however that ends. See unix(7).
 * Where another user sits on that name, a run has "\0pinfold/UID/ID/RANDOM" instead.
 *
 * Anybody may bind an abstract name, and thousands of them. So there is one look for all that a
 * command wants to know: the kernel's list of sockets with their users (listener.h), of which what
 * is another user's is left out before anything is asked about it. Only where the kernel gives no
 * such list, as inside a sandbox, is /proc/net/unix read, and each name in it asked about.
 *
 * Who holds a name, a connection tells (SO_PEERCRED, which needs no accept). It needs room in the
 * holder's queue, which a stopped supervisor, or somebody's ill will, may have let fill up: then
 * it is looked for among the processes of this user, once for all such names. A name whose user
 * is not to be found out is taken for nobody's run.
 */
#ifndef PINFOLD_RUNTIME_REGISTRY_H
#define PINFOLD_RUNTIME_REGISTRY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the listening socket. ERR_USAGE if a run of this user's is alive under that id, or may
 * be. chosen: the id is not a random one, so that it may be another's too. */
int registry_enter(const char *id, bool chosen, struct err *e);

/* The socket is readable: let go of whoever asked (it has what it wanted from the kernel). */
void registry_answer(int fd);

enum {
	REGISTRY_ID = 64,
	REGISTRY_KEY = REGISTRY_ID + 1 + 16,
	REGISTRY_NAMES = 1024 /* that one look takes in at most */
};

struct registry_run {
	char id[REGISTRY_ID + 1];
	char key[REGISTRY_KEY + 1]; /* its name behind the user: ID or ID/RANDOM */
	uint32_t inode;		    /* of its socket; 0: not told */
	pid_t supervisor;	    /* 0: of another pid namespace, or not to be found out */
	uid_t uid;
	bool uid_known;
	bool answers; /* false: it takes no connections, because it is stopped or hangs */
};

/* The names as they were at one moment. */
struct registry {
	struct registry_run *runs;
	size_t len;
	bool told; /* the kernel said whose each name is: who is not here has none */
	bool cut;  /* a bound was reached: there may be more */
};

#define REGISTRY_INIT {.runs = NULL}

/* What to say of one that is cut. */
#define REGISTRY_CUT                                                                                   \
	"there may be more runs: this host has more unix sockets than are looked at (what one second " \
	"shows, and 1024 names); `ss -xl` lists them all"

/* The names of this user's runs, and with ids of those runs only, and then also who else holds the
 * plain name of one. On success registry_close() is the caller's. */
int registry_look(struct registry *r, const char *const *ids, size_t count, struct err *e);
void registry_close(struct registry *r);

/* The run of this user's under that id if there is one, else whoever holds the plain name, else NULL. */
const struct registry_run *registry_find(const struct registry *r, const char *id);

/* Whether its supervisor, found by that look, has the name still. */
bool registry_holds(const struct registry_run *run);

/* Whether that is a run of this user's. */
bool registry_own(const struct registry_run *run);

/* "uid 1000 (pid 4711)", for messages, as far as it is known. */
const char *registry_describe(const struct registry_run *run, char *buf, size_t size);

#endif
