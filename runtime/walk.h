/* A walk over the processes of a sandbox, as its /proc lists them: who is there, nothing about what they
 * use. Supervisor's side; everything it reads was written by a hostile tree, so that each walk is bounded. */
#ifndef PINFOLD_RUNTIME_WALK_H
#define PINFOLD_RUNTIME_WALK_H

#include "runtime/watch.h"

/* Every entry of the folder `name` in dir that is a number (processes, tasks, descriptors), until
 * visit says false. It gets the folder itself. false if the folder cannot be read. */
typedef bool number_fn(int folder, const char *name, void *arg);
bool each_number(int dir, const char *name, number_fn *visit, void *arg);

struct visit {
	int proc;
	const char *pid;
	bool is_init;
	void *arg;
};
typedef void visit_fn(const struct visit *v);

/* Every process of the sandbox, pid 1 included, by rising number. */
bool each_pid(const struct watch *w, visit_fn *visit, void *arg);

/* What follows the name in DIR/stat ("S 1 ..."), NULL if the process is gone. The name, in
 * brackets, is the program's to choose and may hold anything: this starts behind the last ")". */
enum { STAT_TEXT = 1024 };
const char *read_stat(int dir, const char *pid, char text[STAT_TEXT]);

#endif
