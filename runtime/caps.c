#include "runtime/caps.h"

#include <cap-ng.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int caps_limit(struct err *e)
{
	/* NO_SETUID_FIXUP stays off: setresuid(2) to the program's uid is to clear the sets as well. */
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
				   SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_SETUID_FIXUP_LOCKED;
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_sys(e, "capabilities: set the secure bits");
	if ((unsigned long)prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != bits)
		return err_host(e, "capabilities: the secure bits read back differently");
	/* The kernel may know capabilities that this build does not: drop up to the first EINVAL. */
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return err_sys(e, "capabilities: drop number %lu from the bounding set", cap);
	return 0;
}

int caps_drop(struct err *e)
{
	capng_clear(CAPNG_SELECT_CAPS);
	if (capng_apply(CAPNG_SELECT_CAPS) != 0)
		return err_sys(e, "capabilities: empty the sets of pid 1");
	if (capng_get_caps_process() != 0)
		return err_sys(e, "capabilities: read the sets of pid 1 back");
	if (capng_have_capabilities(CAPNG_SELECT_BOTH) != CAPNG_NONE)
		return err_host(e, "capabilities: a set of pid 1 is not empty after the drop");
	return 0;
}

int caps_drop_raw(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
	return (int)syscall(SYS_capset, &head, none);
}
