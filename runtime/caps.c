#include "runtime/caps.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int caps_limit(struct err *e)
{
	/* NO_SETUID_FIXUP stays off: setresuid(2) to the program's uid is to clear the sets as well. */
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED |
				   SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED;
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_sys(e, "capabilities: set the secure bits");
	if ((unsigned long)prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != bits)
		return err_host(e, "capabilities: the secure bits read back differently");
	/* The kernel may know capabilities that this build does not: drop up to the first EINVAL. */
	unsigned long cap = 0;
	while (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
		cap++;
	if (errno != EINVAL || cap <= CAP_CHECKPOINT_RESTORE)
		return err_sys(e, "capabilities: drop number %lu from the bounding set", cap);
	return 0;
}

int caps_check_limit(const char *status, struct err *e)
{
	if (!strstr(status, "\nCapBnd:\t0000000000000000\n"))
		return err_host(e, "capabilities: the bounding set is not empty after the drop");
	return 0;
}

int caps_drop(struct err *e)
{
	capng_clear(CAPNG_SELECT_CAPS);
	if (capng_apply(CAPNG_SELECT_CAPS) != 0)
		return err_sys(e, "capabilities: empty the sets of pid 1");
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &head, now) < 0)
		return err_sys(e, "capabilities: read the sets of pid 1 back");
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (now[i].effective || now[i].permitted || now[i].inheritable)
			return err_host(e,
					"capabilities: a set of pid 1 is not empty after the drop");
	return 0;
}

int caps_drop_raw(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	return (int)syscall(SYS_capset, &head, none);
}
