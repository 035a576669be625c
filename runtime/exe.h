/* The runtime's own binary, out of the program's reach.
 *
 * Between clone and exec the program's process runs our binary, and an image whose interpreter is
 * "/proc/self/exe" makes the program's exe ours. A program that owns the file, by its kuid, could
 * then fchmod it or, once nothing executes it, open it for writing through the link. So the first
 * thing that `run` does is to run again from a sealed memfd, unless the file belongs to root, who
 * is never mapped inside, and nobody else may write it. See memfd_create(2), proc(5).
 */
#ifndef PINFOLD_RUNTIME_EXE_H
#define PINFOLD_RUNTIME_EXE_H

#include "base/err.h"
/* Returns 0 when this process may go on as it is. Otherwise it copies itself into a sealed memfd
 * and executes that with argv and envp: then it does not return. -1 and *e if that fails. */
int exe_protect(char *const *argv, char *const *envp, struct err *e);

#endif
