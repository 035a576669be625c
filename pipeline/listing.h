/* Whether a kept folder still is as it was when it was kept, without reading what is in its files.
 *
 * The digest is SHA-256 over one line for each entry in the order of a walk with names sorted by
 * bytes, each ended by a NUL: "MODE SIZE MTIME CTIME NAME", and "u" where a folder ends. Whatever
 * changes a file, its mode or its place changes a ctime, which nobody sets (inode(7)); a copy has
 * others, too, and is none.
 */
#ifndef PINFOLD_PIPELINE_LISTING_H
#define PINFOLD_PIPELINE_LISTING_H

#include <stddef.h>

/* The names in dir, NULL-terminated, with all that is in them; one that is not there is no failure
 * and no line. 0, or -1 with errno: it could not be read, or is deeper than any tree that is kept.
 */
int listing_digest(int dir, const char *const *names, char digest[65]);

#endif
