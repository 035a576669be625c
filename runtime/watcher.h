/* Who looks at the memory: a thread of its own. One read of /proc walks all the mappings and page
 * tables of a process within the kernel, for as long as the program has made them many: no slice of
 * a poll loop is small enough, and signals, time limits and streams do not wait for it. */
#ifndef PINFOLD_RUNTIME_WATCHER_H
#define PINFOLD_RUNTIME_WATCHER_H

#include "base/err.h"
#include "runtime/watch.h"

#include <pthread.h>

struct watcher {
	pthread_t thread;
	bool started, looking;
	int go, done; /* eventfds: look; a look has ended */
	const struct watch *watch;
	uint64_t limit;
	struct watch_pace pace;
	bool seen_all; /* the thread's while looking, as is seen */
	struct watch_seen seen;
	int64_t begun_ns;
	unsigned passes_before; /* this look */
	unsigned pass; /* the last that watcher_pass_cost() knows of, and when it heard of it */
	int64_t pass_ns, pass_cpu_ns;
};
#define WATCHER_INIT {.go = -1, .done = -1}

/* Begin a look; its end makes done readable. Starts the thread if need be. Borrows *w. 0, or -1 and *e. */
int watcher_look(struct watcher *r, const struct watch *w, uint64_t limit, struct err *e);

/* How long the look that is going on has taken for its present pass, since this was asked for the
 * first time in that: by the clock, and of the thread's cpu time. True for an exact pass. */
bool watcher_pass_cost(struct watcher *r, int64_t *elapsed_ns, int64_t *cpu_ns);

/* done is readable. True: *seen is what was seen; false: nothing could be. */
bool watcher_take(struct watcher *r, struct watch_seen *seen);

/* A look that is going on ends soon, and nobody asks for its result. Does not wait. */
void watcher_stop(struct watcher *r);
/* Waits for it: what a read of /proc holds of the sandbox is let go. */
void watcher_close(struct watcher *r);

#endif
