/* Files that lie deep in a sensitive place and have a second name elsewhere, as a backup by hard
 * links has: what is found of them tells such an input by its inode. Inside transfer/, for vet.c.
 */
#ifndef PINFOLD_TRANSFER_SECOND_H
#define PINFOLD_TRANSFER_SECOND_H

#include "transfer/vet.h"

enum {
	SECOND_NAMES_MAX = 20000, /* of one place; what is behind them is not known */
	SECOND_DEPTH_MAX = 16,
};

/* The place that a file of several names lies in, too; NULL: none that is known. The first question
 * about a file system is the one that reads the places on it. A file that is not to be seen is none
 * of this caller's. */
const struct vet_place *second_find(const struct vet *v, const struct stat *st);

#endif
