/* What a host's policy has to do with a failure, and the way out, in words. */
#ifndef PINFOLD_RUNTIME_HOST_H
#define PINFOLD_RUNTIME_HOST_H

#include "base/err.h"

#include <stdbool.h>

/* Whether errno sys, met while namespaces, id maps or mounts were made, is a host's policy rather than our fault. */
bool host_forbids(int sys);

/* *e came from there: add which sysctl or AppArmor rule is behind it, and the fix for this one
 * binary where there is one. Leaves e->kind and e->sys. */
void host_explain(struct err *e);

#endif
