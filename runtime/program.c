/* The program's process between clone and exec.
 *
 * It shares pid 1's memory (CLONE_VM) while pid 1 sleeps (CLONE_VFORK), which is what makes the
 * start cheap: no page table is copied twice. So it makes raw system calls only, allocates nothing
 * and writes to nothing but its own stack and struct program. The glibc wrappers used are thin
 * ones; setres*id and setgroups are not (they signal every thread), hence syscall(2).
 */
#include "runtime/caps.h"
#include "runtime/control.h"
#include "runtime/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEFAULT_TIMER_SLACK_NS = 50000 };

static int step_session(struct program *p)
{
	if (setsid() < 0)
		return -1;
	return p->terminal < 0 ? 0 : ioctl(p->terminal, TIOCSCTTY, 0);
}

static int step_stdio(struct program *p)
{
	for (int i = 0; i < 3; i++) {
		int from = p->launch->stdio[i];
		if (from < 0)
			from = p->terminal >= 0 ? p->terminal : p->null;
		if (dup2(from, i) < 0)
			return -1;
	}
	/* Closed here, not at execve: while execve looks its path up, a link in the image may lead
	 * through /proc/self/fd/N, and some of what we inherited are folders of the host. The
	 * control socket is still needed; it is no folder, and CLOEXEC. */
	const unsigned control = (unsigned)p->launch->control;
	if (control > 3 && close_range(3, control - 1, 0) < 0)
		return -1;
	return close_range(control + 1, ~0U, 0);
}

/* A handler cannot survive execve, an ignored signal does: programs under nohup or Python would inherit it. */
static int step_signals(struct program *p)
{
	for (int sig = 1; sig < 65; sig++) {
		struct {
			void (*handler)(int);
			unsigned long flags;
			void (*restorer)(void);
			uint64_t mask;
		} action = {.handler = SIG_DFL};
		if ((p->ignored_signals >> (sig - 1) & 1) &&
		    syscall(SYS_rt_sigaction, sig, &action, NULL, sizeof(action.mask)) < 0 &&
		    errno != EINVAL)
			return -1;
	}
	return 0;
}

static int step_rlimits(struct program *p)
{
	for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
		const struct rlimit_row *row = &p->launch->rlimits[i];
		const struct rlimit want = {.rlim_cur = row->soft, .rlim_max = row->hard};
		struct rlimit got;
		if (row->inherited)
			continue;
		if (prlimit(0, row->resource, &want, NULL) < 0 ||
		    prlimit(0, row->resource, NULL, &got) < 0)
			return -1;
		if (got.rlim_cur != want.rlim_cur || got.rlim_max != want.rlim_max) {
			errno = EPROTO;
			return -1;
		}
	}
	return prctl(PR_SET_TIMERSLACK, DEFAULT_TIMER_SLACK_NS, 0, 0, 0);
}

static int step_credentials(struct program *p)
{
	const uint32_t uid = p->launch->ids.uid, gid = p->launch->ids.gid;
	if (p->launch->ids.form != IDS_FORM_SINGLE &&
	    (syscall(SYS_setresgid, gid, gid, gid) < 0 || syscall(SYS_setresuid, uid, uid, uid) < 0))
		return -1;
	/* With a single id, or uid 0, no change of uid clears the sets. */
	return caps_drop_raw();
}

static int step_no_new_privs(struct program *p)
{
	(void)p;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}

static int step_mask(struct program *p)
{
	(void)p;
	const uint64_t none = 0;
	return (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* Last: whatever comes after it is in the policy. The listener goes to the supervisor, which
 * answers when it holds it and has set its timers; without that answer nothing runs. */
static int step_seccomp(struct program *p)
{
	struct record r = {.type = RECORD_STARTING};
	struct err e;
	int listener = -1;
	if (filter_load(&p->launch->filter, &listener, &e) < 0) {
		errno = e.sys;
		return -1;
	}
	if (control_send(p->launch->control, &r, &listener, listener >= 0) < 0)
		return -1;
	int got = control_recv(p->launch->control, &r, NULL, NULL);
	if (got == 1 && r.type == RECORD_ACK)
		return 0;
	if (got >= 0)
		errno = EPIPE;
	return -1;
}

/* What execve looks at first, without it. */
static int look_at(const char *path)
{
	struct stat st;
	if (syscall(SYS_faccessat2, AT_FDCWD, path, X_OK, AT_EACCESS) < 0 || stat(path, &st) < 0)
		return -1;
	errno = EACCES;
	return S_ISREG(st.st_mode) ? 0 : -1;
}

/* Only a rehearsal comes back from a candidate that will do. */
static int attempt(const struct launch *l, const char *path)
{
	return l->rehearsal ? look_at(path) : execve(path, l->argv, l->envp);
}

static void try_exec(struct program *p)
{
	int denied = 0;
	for (const char **path = p->launch->candidates; *path; path++) {
		if (attempt(p->launch, *path) == 0)
			return;
		if (errno == EACCES && !denied) {
			denied = EACCES;
			p->path = *path;
		} else if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
			p->path = *path;
			p->sys = errno;
			return;
		}
	}
	p->sys = denied ? denied : ENOENT;
}

static int step_rehearsal(struct program *p)
{
	if (p->launch->rehearsal)
		try_exec(p);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct program *);
} steps[] = {
	{"session", step_session}, /* first: no signal of the caller's terminal reaches us */
	{"stdio", step_stdio},	   /* before the credentials: a pty may be root's */
	{"signals", step_signals}, /* any time before the mask opens */
	{"rlimits", step_rlimits}, /* any time before the filter: no hard limit is raised */
	{"credentials", step_credentials},   /* after everything that needs a capability */
	{"no-new-privs", step_no_new_privs}, /* seccomp(2) demands it of the unprivileged */
	{"signal-mask", step_mask},
	{"rehearsal", step_rehearsal}, /* before the filter, which need not let anybody look */
	{"seccomp", step_seccomp},     /* last: then execve or _exit */
};

int program_main(void *program)
{
	struct program *p = program;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (steps[i].run(p) < 0) {
			p->sys = errno;
			p->stage = steps[i].name;
			_exit(125);
		}
	}
	if (!p->launch->rehearsal)
		try_exec(p);
	_exit(p->sys ? 127 : 0);
}
