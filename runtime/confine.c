#include "runtime/confine.h"

#include "runtime/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- an empty root ---- */

/* The descriptors' folder of a process that is about to end: when it has ended, nothing is in
 * there, and nothing ever will be. The file system's state is shared with our parent. */
static int enter_empty(void *failed)
{
	if (chroot("/proc/self/fdinfo") < 0 || chdir("/") < 0)
		*(int *)failed = errno;
	return 0;
}

static int empty_root(struct err *e)
{
	static char stack[16 * 1024] __attribute__((aligned(16)));
	int failed = 0;
	const pid_t pid = clone(enter_empty, stack + sizeof(stack),
				CLONE_FS | CLONE_VM | CLONE_VFORK | SIGCHLD, &failed);
	if (pid < 0)
		return err_sys(e, "jail: clone for an empty root");
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = failed;
	if (failed)
		return err_sys(e, "jail: chroot to an empty folder");
	if (faccessat(AT_FDCWD, "/0", F_OK, 0) == 0 || faccessat(AT_FDCWD, "/proc", F_OK, 0) == 0)
		return err_host(e, "jail: its root is not empty");
	return 0;
}

static int become(uint32_t uid, uint32_t gid, struct err *e)
{
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_sys(e, "jail: become %u", uid);
	return 0;
}

/* ---- Landlock, by its own constants: the headers of older systems lack some ---- */

struct landlock_attributes {
	uint64_t files, network, scoped;
};

enum {
	ABI_REFER = 2,
	ABI_TRUNCATE = 3,
	ABI_NETWORK = 4,
	ABI_IOCTL = 5,
	ABI_SCOPE = 6,
	FILES_FIRST = (1 << 13) - 1,
	READ_FILES = 1 << 2 | 1 << 3,
	BIND_TCP = 1,
	CONNECT_TCP = 2,
	SCOPE_ABSTRACT_UNIX = 1,
	SCOPE_SIGNAL = 2,
};

int confine_landlock(void)
{
	const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U);
	return abi < 0 ? 0 : (int)abi;
}

static int restrict_by_landlock(bool connects, bool reads, struct err *e)
{
	const int abi = confine_landlock();
	size_t size = sizeof(uint64_t);
	struct landlock_attributes all = {.files = reads ? FILES_FIRST & ~READ_FILES : FILES_FIRST};
	if (abi == 0)
		return 0;
	for (int known = ABI_REFER; known <= ABI_IOCTL; known++)
		if (abi >= known && known != ABI_NETWORK)
			all.files |= 1ULL << (known < ABI_NETWORK ? 11 + known : 10 + known);
	if (abi >= ABI_NETWORK) {
		all.network = connects ? BIND_TCP : BIND_TCP | CONNECT_TCP;
		size += sizeof(uint64_t);
	}
	if (abi >= ABI_SCOPE) {
		all.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
		size += sizeof(uint64_t);
	}
	const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0U);
	if (rules < 0)
		return err_sys(e, "jail: make a Landlock ruleset");
	const long rc = syscall(SYS_landlock_restrict_self, rules, 0U);
	close(rules);
	return rc < 0 ? err_sys(e, "jail: restrict itself by Landlock") : 0;
}

/* The domain is one of both halves: the kernel asks Landlock about a death signal too, and of two
 * that parted first neither may signal the other. */
int confine_begin(uint32_t uid, uint32_t gid, struct err *e)
{
	if (uid != 0 && setgroups(0, NULL) < 0)
		return err_sys(e, "jail: drop supplementary groups");
	if (uid == 0 && unshare(CLONE_NEWUSER) < 0)
		return err_sys(e, "jail: unshare the user namespace");
	if (empty_root(e) < 0 || caps_limit(e) < 0)
		return -1;
	if (uid != 0 && become(uid, gid, e) < 0)
		return -1;
	if (caps_drop(e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "jail: no new privileges");
	return restrict_by_landlock(true, false, e);
}

static int keep_reading(struct err *e)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {
		{.effective = 1U << CAP_DAC_READ_SEARCH, .permitted = 1U << CAP_DAC_READ_SEARCH}};
	if (syscall(SYS_capset, &head, sets) < 0)
		return err_sys(e, "jail: set the capabilities");
	return 0;
}

int confine_join(int user_namespace, bool as_root, struct err *e)
{
	if (as_root && setgroups(0, NULL) < 0)
		return err_sys(e, "jail: drop supplementary groups");
	if (setns(user_namespace, CLONE_NEWUSER) < 0)
		return err_sys(e, "jail: join the sandbox's user namespace");
	if (empty_root(e) < 0 || caps_limit(e) < 0)
		return -1;
	if (as_root && become(0, 0, e) < 0)
		return -1;
	return keep_reading(e);
}

/* ---- the rest ---- */

static int limit(int resource, uint64_t most, struct err *e)
{
	struct rlimit l;
	if (getrlimit(resource, &l) < 0)
		return err_sys(e, "jail: read limit %d", resource);
	if (l.rlim_max == RLIM_INFINITY || l.rlim_max > most)
		l.rlim_max = most;
	l.rlim_cur = l.rlim_max;
	return setrlimit(resource, &l) < 0 ? err_sys(e, "jail: set limit %d", resource) : 0;
}

static int limits(const struct confine_end *c, struct err *e)
{
	if (limit(RLIMIT_CORE, 0, e) < 0 || limit(RLIMIT_FSIZE, 0, e) < 0 ||
	    limit(RLIMIT_NPROC, 0, e) < 0 || limit(RLIMIT_MEMLOCK, 0, e) < 0)
		return -1;
#ifndef __SANITIZE_ADDRESS__
	/* A sanitizer maps terabytes. */
	if (limit(RLIMIT_DATA, c->data_bytes, e) < 0)
		return -1;
#endif
	if (c->cpu_seconds && limit(RLIMIT_CPU, c->cpu_seconds, e) < 0)
		return -1;
	return limit(RLIMIT_NOFILE, c->files, e);
}

int confine_end(const struct confine_end *c, pid_t parent, struct err *e)
{
	if (limits(c, e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "jail: prctl");
	/* Who may connect has all of it from confine_begin(). */
	if (!c->connects && restrict_by_landlock(false, c->reads, e) < 0)
		return -1;
	/* After the last change of credentials, which clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "jail: set the parent death signal");
	if (getppid() != parent)
		return err_host(e, "jail: whoever made it is gone");
	return filter_load(c->filter, NULL, e);
}
