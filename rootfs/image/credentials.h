/* A registry's credentials out of a file in the form of ~/.docker/config.json. Internal to the registry.
 * Only what is in the file itself: programs that it names (credHelpers, credsStore) are not run.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_CREDENTIALS_H
#define PINFOLD_ROOTFS_IMAGE_CREDENTIALS_H

#include "base/arena.h"
#include "rootfs/image/registry.h"

struct credentials {
	const char *basic;    /* base64 of USER:PASSWORD, as it stands in a header; NULL: none */
	const char *why_none; /* a few words for whoever misses them */
};

/* Those of the entry in o->auth_file that names most of HOST/REPOSITORY. A file that is missing is
 * an error unless it may be; one that cannot be understood always is. */
int credentials_read(struct credentials *c, const struct registry_options *o,
		     const struct reference *ref, struct arena *a, struct err *e);

#endif
