/* Where a job keeps what its stages make: folders of this user's alone in the store.
 *
 *	STORE/jobs/work/ID/         one job's, as long as it runs; flock(2) on it says that it does
 *	STORE/jobs/work/ID/N/       one run of a stage: outputs/, stdout, stderr
 *	STORE/jobs/cache/KEY/       the same, complete, with entry.json; flock(2) while it is used
 *	STORE/jobs/archives         digests of archives that were seen first here
 *
 * What is made in a work folder comes into the cache by one rename. A killed job leaves its work
 * folder, whose lock the kernel let go of: the next job and `pinfold job gc` take it.
 */
#ifndef PINFOLD_PIPELINE_WORK_H
#define PINFOLD_PIPELINE_WORK_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct work {
	int jobs;	  /* STORE/jobs; -1: not open */
	int cache;	  /* STORE/jobs/cache */
	int works;	  /* STORE/jobs/work */
	int own;	  /* this job's, locked; -1: none */
	const char *path; /* of STORE/jobs; the arena's */
	char id[65];	  /* name of own in works */
};
#define WORK_INIT {.jobs = -1, .cache = -1, .works = -1, .own = -1}

/* The folders, made with mode 0700 where they are not there. store must be absolute. */
int work_open(struct work *w, const char *store, struct arena *a, struct err *e);
/* A work folder named id. What other jobs left, and nobody holds, goes first. */
int work_begin(struct work *w, const char *id, struct err *e);
/* A folder in own, and its path. -1 and *e. */
int work_folder(struct work *w, const char *name, const char **path, struct arena *a, struct err *e);
/* All of own goes; -1 and *e where it does not. Nothing is open any more in any case. */
int work_close(struct work *w, struct err *e);

/* What gc did: bytes are of files, as far as they were seen. */
struct work_swept {
	uint64_t works, entries, bytes;
	uint64_t strays; /* files where only folders belong */
	bool failed;	 /* something could not be removed: *e says what */
};
/* What is no folder, work folders that nobody holds, and cache entries that nobody uses: those that
 * were not used for older_ns, the longest unused first while all together are more than most_bytes;
 * LIMIT_NONE (UINT64_MAX) each for not by that. */
int work_gc(struct work *w, uint64_t older_ns, uint64_t most_bytes, struct work_swept *swept,
	    struct err *e);

#endif
