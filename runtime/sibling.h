/* Other programs of this host, by execve(2) and never through a shell: pinfold's siblings in
 * libexec, and tools such as mmdebstrap. */
#ifndef PINFOLD_RUNTIME_SIBLING_H
#define PINFOLD_RUNTIME_SIBLING_H

#include "base/err.h"

/* In this process's place. path: of the program. Returns -1 and *e only; ENOENT says that it is not
 * installed. */
int sibling_exec(const char *path, char *const *argv, char *const *envp, struct err *e);

/* As a child, to its end, with stdout_fd for its stdout. It is ended with this process. The exit
 * code, 128 and its number for a signal; -1 and *e. */
int sibling_run(const char *path, char *const *argv, int stdout_fd, struct err *e);

#endif
