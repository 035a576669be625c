/* Attempts of a hostile program, as rows of tables.
 *
 * A row's function tries one thing and returns 0 when it reached what it attacks, else the errno
 * that stopped it. Every row runs in a process of its own, so that what it changes about itself
 * ends with it. Bad pointers, bad fds and opening without writing keep the attempts harmless where
 * they do reach.
 *
 * The same program runs twice: inside, where everything must be blocked, and unconfined ("weak"),
 * where it must reach. A weak run has --base DIR: a writable copy of the image that stands for "/".
 */
#ifndef PINFOLD_TESTS_ATTACK_PROBE_H
#define PINFOLD_TESTS_ATTACK_PROBE_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

struct probe {
	const char *id;
	int (*run)(const char *arg);
	const char *arg;
	const char *attacks;
};

struct probe_group {
	const struct probe *rows;
	size_t len;
};

extern const struct probe_group probes_files, probes_mounts, probes_proc, probes_process,
	probes_kernel, probes_abi, probes_terminal, probes_quota;

/* One verb of the program beside the probes: it prints facts that the host's half judges. */
struct verb {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name */
};
struct verb_group {
	const struct verb *rows;
	size_t len;
};
extern const struct verb_group verbs_facts, verbs_acts;

/* Run the rows whose id is id or begins with "id."; 0 if there are some. */
int run_matching(const char *id);

/* probe_quota.c: take as much as can be had of what is counted by user, and keep it. */
int verb_hold(int argc, char **argv);

/* probe_sweep.c: system calls by numbers from stdin. */
int verb_sweep(int argc, char **argv);
int verb_sweep_range(int argc, char **argv);

/* "" inside; the copy of the image in a weak run. */
extern const char *base;

/* path below base; the answer lives until the sixteenth call from here. */
const char *at(const char *path);
/* name in the one place that the program may write to. */
const char *work(const char *name);

/* An environment variable that the host's half must have set; exits where it has not. */
const char *given(const char *name);

/* rc of a system call as a row's result. */
static inline int tried(long rc)
{
	return rc < 0 ? errno : 0;
}

/* Open path, close it again. */
int try_open(const char *path, int flags);
/* Open path and read: reached if a byte comes that is not 0. */
int try_read(const char *path);
/* The same for a descriptor, which is closed. */
int try_read_fd(int fd);

/* -1 as any argument: a bad fd, a bad pointer. */
#define BAD ((void *)-1L)

#endif
