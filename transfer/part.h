/* What is being made in the artifacts folder has a name of its own until it is complete:
 * ".pinfold-PID-N-TRY.part".
 *
 * Whoever makes it has a flock(2) on it, which the kernel lets go when that process ends, however
 * it ends: what nobody has locked is left over from one that was killed, and goes with the next run
 * that collects into the folder.
 */
#ifndef PINFOLD_TRANSFER_PART_H
#define PINFOLD_TRANSFER_PART_H

#include "base/err.h"

#include <stdbool.h>

enum { PART_NAME_BYTES = 64 };

/* A new file of mode 0600, open to read and write, or folder of 0700, with its lock: an fd, and its
 * name. number: no other of this process has it. -1 and *e: nothing was made. */
int part_make(char name[PART_NAME_BYTES], int dir, unsigned number, bool folder, struct err *e);

/* Removes what is left over in dir and belongs to this user. What cannot be removed stays. */
void part_sweep(int dir);

#endif
