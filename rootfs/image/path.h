/* Names out of an archive: bytes that are taken apart, checked and never changed.
 *
 * Pure. A clean path has its components joined by single slashes, none of them empty, "." or "..",
 * and is relative to the root of the tree, which is "" itself.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_PATH_H
#define PINFOLD_ROOTFS_IMAGE_PATH_H

#include "base/err.h"

#include <stddef.h>

/* The kernel's, PATH_MAX with its NUL and NAME_MAX without one. */
enum { PATH_BYTES = 4096, NAME_BYTES = 255, SHOWN_BYTES = 256 };

struct path {
	size_t len;
	char text[PATH_BYTES];
};

/* An absolute name is taken from the root of the tree, as every unpacker does. A name that climbs, one
 * that is too long and one of more than depth_max components are refused: -1 and *e (ERR_USAGE). */
int path_clean(struct path *p, const char *name, unsigned depth_max, struct err *e);

/* Put the clean path dir/name together; dir may be the root. */
int path_join(struct path *p, const char *dir, const char *name, struct err *e);

/* The last component of a clean path that is not the root, and how long the part before it is. */
const char *path_base(const struct path *p);
size_t path_parent(const struct path *p);

/* name as a terminal may see it, for messages: what is not printable becomes \xHH, its end "...". */
const char *path_shown(char to[SHOWN_BYTES], const char *name);

#endif
