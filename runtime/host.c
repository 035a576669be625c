#include "runtime/host.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sources: user_namespaces(7); Debian's kernel patch for unprivileged_userns_clone; AppArmor's
 * apparmor_restrict_unprivileged_userns, which lets clone succeed and then denies the first mount or map. */
static const struct {
	const char *file;
	long bad; /* the value that forbids */
	const char *why;
} switches[] = {
	{"/proc/sys/user/max_user_namespaces", 0,
	 "user namespaces are off: sysctl user.max_user_namespaces is 0; as root: sysctl -w user.max_user_namespaces=16384"},
	{"/proc/sys/kernel/unprivileged_userns_clone", 0,
	 "sysctl kernel.unprivileged_userns_clone is 0; as root: sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	 "AppArmor restricts user namespaces; for this binary alone, as root: install docs/apparmor/pinfold as "
	 "/etc/apparmor.d/pinfold (make install does), then apparmor_parser -r /etc/apparmor.d/pinfold"},
};

bool host_forbids(int sys)
{
	return sys == EPERM || sys == EACCES || sys == ENOSPC || sys == ENOSYS || sys == EUSERS;
}

void host_explain(struct err *e)
{
	char text[32];
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		if (fd_read_once(AT_FDCWD, switches[i].file, text, sizeof(text)) < 0)
			continue;
		if (strtol(text, NULL, 10) != switches[i].bad)
			continue;
		char old[100];
		snprintf(old, sizeof(old), "%.99s", e->msg);
		snprintf(e->msg, sizeof(e->msg), "%s (%.60s)", switches[i].why, old);
		return;
	}
	/* Inside a container the outer runtime's filter or a locked mount table is the usual reason. */
	size_t used = strlen(e->msg);
	if (e->sys == EPERM || e->sys == EACCES)
		snprintf(e->msg + used, sizeof(e->msg) - used,
			 "; inside a container? its seccomp filter or masked /proc may forbid it");
}
