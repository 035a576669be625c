#include "runtime/host.h"

#include "base/fd.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sources: user_namespaces(7); Debian's kernel patch for unprivileged_userns_clone; AppArmor's
 * apparmor_restrict_unprivileged_userns, which lets clone succeed and then denies the first mount or map. */
static const struct {
	const char *file;
	long bad;	 /* the value that forbids */
	const char *why; /* %s: the path of this binary */
} switches[] = {
	{"/proc/sys/user/max_user_namespaces", 0,
	 "user namespaces are off: sysctl user.max_user_namespaces is 0; as root: sysctl -w user.max_user_namespaces=16384"},
	{"/proc/sys/kernel/unprivileged_userns_clone", 0,
	 "sysctl kernel.unprivileged_userns_clone is 0; as root: sysctl -w kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	 "AppArmor restricts user namespaces; for this binary alone, as root: "
	 "printf 'abi <abi/4.0>,\\nprofile pinfold %s flags=(unconfined) {userns,}' | "
	 "tee /etc/apparmor.d/pinfold | apparmor_parser -r"},
};

/* A profile is attached by path. A copy in memory has none: then the word that we were called by
 * may lead to it. What would not fit into a message is left to the reader. */
static void binary_path(char path[64])
{
	char found[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", found, sizeof(found) - 1);
	const bool own = n > 0 && found[0] == '/' && strncmp(found, "/memfd:", 7) != 0;
	if (own)
		found[n] = '\0';
	const bool known = own || (strchr(program_invocation_name, '/') &&
				   realpath(program_invocation_name, found));
	snprintf(path, 64, "%s", known && strlen(found) < 64 ? found : "PATH_OF_PINFOLD");
}

bool host_forbids(int sys)
{
	return sys == EPERM || sys == EACCES || sys == ENOSPC || sys == ENOSYS || sys == EUSERS;
}

/* The %s of why, if it has one, is the path. */
static void say_switch(struct err *e, const char *why, const char *path, const char *old)
{
	const char *at = strstr(why, "%s");
	const size_t before = at ? (size_t)(at - why) : strlen(why);
	char said[2 * sizeof(e->msg)];
	snprintf(said, sizeof(said), "%.*s%s%s (%s)", (int)before, why, at ? path : "",
		 at ? at + 2 : "", old);
	text_fit(e->msg, sizeof(e->msg), said);
}

void host_explain(struct err *e)
{
	char text[32];
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		if (fd_read_once(AT_FDCWD, switches[i].file, text, sizeof(text)) < 0)
			continue;
		if (strtol(text, NULL, 10) != switches[i].bad)
			continue;
		char old[100], path[64];
		text_fit(old, sizeof(old), e->msg);
		binary_path(path);
		say_switch(e, switches[i].why, path, old);
		return;
	}
	/* Inside a container the outer runtime's filter or a locked mount table is the usual reason. */
	char said[sizeof(e->msg) + 80];
	if (e->sys != EPERM && e->sys != EACCES)
		return;
	snprintf(said, sizeof(said),
		 "%s; inside a container? its seccomp filter or masked /proc may forbid it", e->msg);
	text_fit(e->msg, sizeof(e->msg), said);
}
