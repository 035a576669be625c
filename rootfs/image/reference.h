/* The names of images as their users write them: [HOST[:PORT]/]PATH[:TAG][@DIGEST].
 *
 * Pure. The first part is a host if it has a dot or a port, or is localhost; nothing stands for a
 * host that is not written, so a name without one is a local name, which nobody can pull.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_REFERENCE_H
#define PINFOLD_ROOTFS_IMAGE_REFERENCE_H

#include "base/arena.h"
#include "base/err.h"

struct reference {
	const char *registry;	/* "host" or "host:port", in lower case; NULL: a local name */
	const char *repository; /* "library/debian" */
	const char *tag;	/* NULL where only a digest is given; "latest" where neither is */
	const char *digest;	/* "sha256:...", or NULL */
};

/* text is the caller's. ERR_USAGE says which part is wrong; an id alone is no name. The parts live
 * in the arena. */
int reference_parse(struct reference *r, const char *text, struct arena *a, struct err *e);

/* The whole name, written out: what is the same image has the same text. */
char *reference_format(const struct reference *r, struct arena *a);

/* 0 if it names a registry; else ERR_USAGE that says how such a name looks. */
int reference_remote(const struct reference *r, struct err *e);

#endif
