/* Tar out: the POSIX (pax) form, for export and import. Names and attributes stay bytes. */
#ifndef PINFOLD_ROOTFS_IMAGE_TAR_OUT_H
#define PINFOLD_ROOTFS_IMAGE_TAR_OUT_H

#include "rootfs/image/record.h"

#include <stddef.h>
#include <stdint.h>

struct tar_out {
	int fd; /* borrowed */
	size_t used;
	uint64_t left; /* of the member's contents */
	unsigned pad;  /* behind them */
	char buf[128 * 1024];
};

void tar_open(struct tar_out *t, int fd);
/* A member; contents (of a file that is no hard link) follow by tar_data(), as many as r->size says.
 * hard: the path of an earlier member, NULL none. A path ends with '/' for a folder by itself. */
int tar_member(struct tar_out *t, const struct record_entry *r, const char *hard, struct err *e);
int tar_data(struct tar_out *t, const void *bytes, size_t len, struct err *e);
/* The same, read from a file, which must have exactly that many. name: for messages. */
int tar_file(struct tar_out *t, int from, const char *name, struct err *e);
int tar_close(struct tar_out *t, struct err *e);

/* ---- tree_out.c: in a jail whose root is the tree's folder in the store, or a folder to import ---- */

/* rootfs/ and record as a tar on fd; arg is a struct tree_out. */
struct tree_out {
	int fd;
	uint64_t skipped; /* import: sockets, devices */
};
int tree_export(int root, void *arg, struct err *e);
/* A folder as it is on disk. */
int tree_import(int root, void *arg, struct err *e);

#endif
