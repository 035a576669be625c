/* A registry's credentials out of a file in the form of ~/.docker/config.json.
 * Only what is in the file itself: programs that it names (credHelpers, credsStore) are not run.
 *
 * The file has those of other registries, too. A jailed process of its own reads it and hands what
 * is this registry's to the client through a pipe: whoever starts the two never has any of it, nor
 * has what he starts later.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_CREDENTIALS_H
#define PINFOLD_ROOTFS_IMAGE_CREDENTIALS_H

#include "rootfs/image/reference.h"

enum { CREDENTIALS_BYTES = 16 << 10 };

/* Plain values: they cross a pipe. */
struct credentials {
	char basic[CREDENTIALS_BYTES]; /* base64 of USER:PASSWORD, as it stands in a header; "": none */
	char why_none[128];	       /* a few words for whoever misses them */
};

/* Those of the entry that names most of HOST/REPOSITORY, in the file fd, called path; fd -1: it is
 * missing, and may be. A file that cannot be understood is an error, which quotes none of it. */
int credentials_read(struct credentials *c, int fd, const char *path, const struct reference *ref,
		     struct err *e);

/* What credentials_read() found, into a pipe and out of it. */
int credentials_send(const struct credentials *c, int to, struct err *e);
int credentials_receive(struct credentials *c, int from, struct err *e);

#endif
