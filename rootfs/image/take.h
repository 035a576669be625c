/* Taking images in: what a layout, a docker-archive or a tar of a tree is made of, as blobs.
 *
 * For a jailed child (runtime/jail.h), whose root is an empty folder: it reads what is hostile,
 * writes the blobs that make up one image into blobs/HEX, and says which they are. Those of a layout
 * that is a folder stay where they are: the caller gave the files, and copies what is chosen. Whoever
 * believes it must hold the bytes against the digests (store_put_blob(), store_copy_blob()).
 */
#ifndef PINFOLD_ROOTFS_IMAGE_TAKE_H
#define PINFOLD_ROOTFS_IMAGE_TAKE_H

#include "rootfs/image/layer.h"
#include "rootfs/image/manifest.h"

enum { TAKEN_NAME_BYTES = 256 };

/* One image: plain values, so that it crosses a pipe. */
struct taken {
	struct descriptor document; /* the manifest */
	struct descriptor config;   /* its digest is the image's id */
	struct descriptor layers[LAYERS_MAX];
	uint32_t layers_len;
	char name[TAKEN_NAME_BYTES]; /* what it calls itself; "" nothing */
};

/* A blob of a layout that is a folder; the fd is for reading. */
struct take_blob {
	char hex[DIGEST_HEX + 1];
	int fd;
};

/* What an archive is read as: its members tell, or the caller does. */
enum take_as { TAKE_ANY, TAKE_TREE, TAKE_LAYOUT, TAKE_DOCKER };

struct take {
	int input; /* a file that can seek; of a layout that is a folder, its index.json */
	const struct take_blob *blobs; /* NULL: input is an archive */
	size_t blobs_len;
	enum take_as as;
	const char *ref; /* which of several images; NULL: there is one */
	struct platform platform;
	struct unpack_limits limits;
	struct taken *taken; /* filled */
};

/* In the jail; arg is a struct take. ERR_USAGE: it is no image, or one that is refused. */
int take_in(int root, void *arg, struct err *e);

/* In the caller: whether all of it is in range, since it came from the jail. ERR_BUG otherwise. */
int taken_check(const struct taken *t, struct err *e);

/* ---- take_archive.c, take_documents.c: inside ---- */

enum { MEMBERS_MAX = 16384, MEMBER_NAME_MAX = 200 };

struct member {
	const char *name; /* without a leading "./" */
	const char *link; /* another member's name, NULL: a file */
	uint64_t size;
};

struct taker {
	const struct take *take;
	int root; /* m/N are the members' files, by their index, blobs/HEX what is chosen */
	struct arena *arena;
	struct member *members;
	size_t members_len;
	uint64_t bytes; /* written */
	struct hash hash;
};

enum taken_form { TAKEN_ARCHIVE, TAKEN_TREE };

/* Read the archive: its members' files, which mean nothing where it is a tar of a tree.
 * *compression is what it was packed with, if that is one of a layer's; else -1. */
int archive_take(struct taker *t, enum taken_form *form, int *compression, struct err *e);

/* For reading, links followed; ERR_USAGE where there is no such member. */
int member_open(struct taker *t, const char *name, uint64_t *size, struct err *e);
int member_read(struct taker *t, const char *name, struct json_bytes *bytes, struct err *e);
/* Make it the blob of that digest; in a folder, see that it is there. */
int member_keep(struct taker *t, const char *name, const struct digest *d, struct err *e);
/* A blob out of bytes; fills digest and size of d. */
int blob_write(struct taker *t, const char *text, size_t len, struct descriptor *d, struct err *e);
/* Copy input from its beginning into (root, name), hashing; fills digest and size. */
int blob_copy(struct taker *t, int from, const char *name, struct descriptor *d, struct err *e);

int take_layout(struct taker *t, struct taken *out, struct err *e);
int take_docker(struct taker *t, struct taken *out, struct err *e);
int take_tree(struct taker *t, int compression, struct taken *out, struct err *e);

#endif
