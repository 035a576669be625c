/* The artifacts folder: files get there complete or not at all, and nothing that is there is replaced. */
#ifndef PINFOLD_TRANSFER_STORE_H
#define PINFOLD_TRANSFER_STORE_H

#include "base/err.h"
#include "transfer/hash.h"
#include "transfer/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STORE_NAME_BYTES = 256 };

/* The folder, made with mode 0700 where it is not there; its parent must be. dry: nothing is made,
 * and -2 is what comes where it would be. ERR_USAGE, as the caller named it. */
int store_open(const char *path, bool dry, struct err *e);

/* A name for what lay at path: letters, digits, . _ - as they are, / as +, every other byte %XX, and so a
 * . or - in front; what would be too long ends in ~ and a part of its SHA-256. No two paths have one name. */
void store_name(char name[STORE_NAME_BYTES], const char *path);

struct store_file {
	int fd;			    /* -1: none */
	char temp[PART_NAME_BYTES]; /* its name until it is complete, "" where the file system knows files without */
};
#define STORE_FILE_INIT {.fd = -1}

/* A new file of mode 0600. number: no other file of this process has it. */
int store_begin(struct store_file *f, int dir, unsigned number, struct err *e);
int store_write(const struct store_file *f, const void *bytes, size_t len, uint64_t offset,
		struct err *e);
/* To that size, where what was written ends before, with a hole. */
int store_size(const struct store_file *f, uint64_t size, struct err *e);
/* On the disk, under its name. ERR_USAGE where there is a file of that name. The folder is not flushed yet. */
int store_publish(struct store_file *f, int dir, const char *name, struct err *e);
/* What was not published goes. */
void store_drop(struct store_file *f, int dir);

#endif
