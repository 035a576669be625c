/* Where in its file system something lies that was opened, whatever it was mounted by: a bind mount shows a
 * folder or a file of a file system without those above it. See proc_pid_mountinfo(5), statx(2).
 */
#ifndef PINFOLD_TRANSFER_MOUNTED_H
#define PINFOLD_TRANSFER_MOUNTED_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

struct mounted {
	unsigned major, minor;
	bool whole; /* its mount shows the file system from its root on: ".." leads through all folders */
	char place[2 * PATH_MAX]; /* from there on, without a slash at its end */
};

/* fd: O_PATH is enough. ERR_HOST where its place cannot be told. */
int mounted_find(struct mounted *m, int fd, struct err *e);

/* Whether it is the other, or lies in it. */
bool mounted_within(const struct mounted *m, const struct mounted *other);

#endif
