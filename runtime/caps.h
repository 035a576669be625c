/* Capabilities: none, in any set, for good. See capabilities(7), cap_ng(3). */
#ifndef PINFOLD_RUNTIME_CAPS_H
#define PINFOLD_RUNTIME_CAPS_H

#include "base/err.h"

/* pid 1, while it still holds CAP_SETPCAP: empty the bounding set and lock the secure bits (no capabilities
 * for uid 0, none ambient). What is permitted now stays until caps_drop() or execve. */
int caps_limit(struct err *e);
/* Whether that holds, by this process's /proc/PID/status. */
int caps_check_limit(const char *status, struct err *e);

/* pid 1, for itself: empty every set, read back. */
int caps_drop(struct err *e);

/* Between clone and exec: empty the sets of this task by capset(2) alone. 0, or -1 with errno. */
int caps_drop_raw(void);

#endif
