/* The record of a tree: what an unpacked image consists of, so that the tree can be held against it
 * (verify) and made into a layer again (export) without anything else.
 *
 * A text of bytes. The header is lines that begin with '#': the format and its version, whether the
 * owners were given to the files, and the names of the columns. Then one line a path, a folder
 * before what is in it, sorted by bytes with '/' before every other:
 *
 *   PATH GROUP TYPE MODE UID GID MTIME SIZE DIGEST TARGET XATTR...
 *
 * PATH is relative, "." the root. In PATH, TARGET and XATTR the bytes up to the space, '\', and
 * those from 0x7f on are \xHH. "-" stands for none. Paths of one GROUP are one inode (a group may
 * have lost all but one). TYPE is d f l p: folder, file, symbolic link, FIFO. MODE is octal, and as
 * it is on disk. UID and GID are the image's, on disk only as the header says. MTIME is
 * seconds.nanoseconds. DIGEST is sha256:HEX of a file's bytes, or holes-sha256:HEX for a file that
 * came with holes: over the blocks of 4096 bytes that are not all zero, each after its number as 8
 * bytes, the highest first. XATTR is NAME=VALUE, with '=' in NAME as \x3d; "!NAME=VALUE" where the
 * file system did not take it. Those of a GROUP are on its first line.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_RECORD_H
#define PINFOLD_ROOTFS_IMAGE_RECORD_H

#include "rootfs/image/digest.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	RECORD_XATTRS = 64,
	RECORD_XATTR_BYTES = 16 << 10, /* of one path, names and values */
	RECORD_LINE_BYTES = 128 << 10, /* more than the longest line: everything escaped fits */
	RECORD_READ_BYTES = 2 * RECORD_LINE_BYTES,
};

/* Which owners the files on disk have. */
struct record_owners {
	bool kept;    /* the image's; else all of them are whoever unpacked */
	uint32_t ids; /* kept: only ids below this; the others became RECORD_NOBODY */
};

enum { RECORD_NOBODY = 65534 };

/* What owner a file of the image's id has on disk, where owners are kept. */
uint32_t record_disk_id(const struct record_owners *o, uint32_t id);

struct record_xattr {
	const char *name, *value; /* the value is no string */
	size_t value_len;
	bool kept; /* on disk as well */
};

struct record_entry {
	const char *path; /* "" is the root */
	uint64_t group;	  /* 0: none */
	char type;
	mode_t mode;
	uint32_t uid, gid, mtime_nsec;
	int64_t mtime;
	uint64_t size;
	struct digest digest; /* of an f */
	bool holes;
	const char *target; /* of an l */
	size_t xattrs_len;
	struct record_xattr xattrs[RECORD_XATTRS];
};

/* The header into to, as a string; its length. */
size_t record_header(char *to, size_t size, const struct record_owners *o);
/* A line in its three parts, into to, without their newline or NUL; the number of bytes. The room
 * that each needs is bounded by RECORD_LINE_BYTES. */
size_t record_path(char *to, const char *path);
size_t record_fields(char *to, const struct record_entry *r); /* TYPE and what follows */
/* Take apart what record_fields() made (line is changed, and what *r points into), or a whole line. */
int record_read_fields(char *line, struct record_entry *r, struct err *e);
int record_read_line(char *line, struct record_entry *r, struct err *e);

/* Read a record from its beginning. */
struct record_reader {
	int fd; /* borrowed */
	struct record_owners owners;
	uint64_t line;
	size_t at, end;
	char bytes[RECORD_READ_BYTES];
};

int record_open(struct record_reader *r, int fd, struct err *e);
/* 1 and an entry that lives until the next call, 0 at the end, -1 for what is no record. */
int record_next(struct record_reader *r, struct record_entry *entry, struct err *e);

/* ---- holding a tree against its record: compare.c ---- */

struct record_difference {
	const char *path; /* "" is the root */
	const char *what; /* "mode 0644, in the record 0755" */
};

struct record_compare {
	/* Called for each difference; a value below 0 ends the comparison with it. */
	int (*differs)(void *arg, const struct record_difference *d, struct err *e);
	void *arg;
	uint64_t paths, bytes, differences;
};

/* Every path of the record against the tree at root, contents too, then what is in the tree alone.
 * The caller must be able to read all of it. -1 where the comparison itself could not be made. */
int record_compare(struct record_compare *c, int root, int record, struct err *e);

/* ---- contents: contents.c ---- */

enum { CONTENTS_BLOCK = 4096 };

/* The digest of a file's bytes, which come in order and perhaps with holes between. */
struct contents {
	struct hash hash;
	bool holes;
	uint64_t at;  /* holes: where block begins */
	size_t dirty; /* holes: bytes of block that were put there */
	unsigned char block[CONTENTS_BLOCK];
};

void contents_start(struct contents *c, bool holes);
/* offset is at or behind the end of what came before; without holes, at it. */
void contents_add(struct contents *c, uint64_t offset, const void *bytes, size_t len);
void contents_end(struct contents *c, struct digest *d);

#endif
