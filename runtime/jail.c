#include "runtime/jail.h"

#include "base/fd.h"
#include "rootfs/rootfs.h"
#include "runtime/caps.h"
#include "seccomp/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MAP_TEXT = 4096,
	/* libarchive's window for zstd is 128 MiB at most; this is for what goes wrong. */
	ADDRESS_BYTES = 768 << 20,
};

/* What the child says at its end; the report follows. */
struct verdict {
	int rc;
	struct err err;
};

/* ---- in the child ---- */

struct inside {
	const struct jail *j;
	int go, verdict; /* its ends of the two pipes */
};

static int wait_go(const struct inside *in)
{
	char byte;
	ssize_t n;
	do
		n = read(in->go, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* The end: whoever made us is gone, and nobody wants the work. */
	return n == 1 ? 0 : -1;
}

static int become_root_inside(struct err *e)
{
	if (geteuid() == 0 && getgroups(0, NULL) > 0 && setgroups(0, NULL) < 0 && errno != EPERM)
		return err_sys(e, "jail: drop supplementary groups");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(e, "jail: become id 0 inside");
	/* Credential changes clear it, so it is set after them. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "jail: prctl");
	return 0;
}

static int close_others(const struct inside *in, struct err *e)
{
	const size_t len = in->j->fds_len;
	int *kept = malloc((len + 1) * sizeof(*kept));
	if (!kept)
		return err_host(e, "jail: out of memory");
	for (size_t i = 0; i < len; i++)
		kept[i] = in->j->fds[i];
	kept[len] = in->verdict;
	const int closed = fd_close_others(kept, len + 1);
	free(kept);
	return closed < 0 ? err_sys(e, "jail: close_range") : 0;
}

/* Words of the caller's are nobody's business here: tokens are among them more often than not. The
 * bytes go, too, of which this process has a copy. */
static void forget_environment(const char *const *kept)
{
	char **to = environ;
	for (char **from = environ; from && *from; from++) {
		const size_t len = strcspn(*from, "=");
		const char *const *name = kept;
		while (name && *name && (strlen(*name) != len || memcmp(*name, *from, len) != 0))
			name++;
		if (name && *name)
			*to++ = *from;
		else
			explicit_bzero(*from, strlen(*from));
	}
	if (to)
		*to = NULL;
}

/* To so much at most: who has less already keeps it. pid 0: the caller. */
static int lower(pid_t pid, int resource, uint64_t most)
{
	struct rlimit had;
	if (prlimit(pid, resource, NULL, &had) < 0)
		return -1;
	const struct rlimit now = {had.rlim_max < most ? had.rlim_max : most,
				   had.rlim_max < most ? had.rlim_max : most};
	return prlimit(pid, resource, &now, NULL);
}

static int limit_resources(const struct jail *j, struct err *e)
{
	if (lower(0, RLIMIT_CORE, 0) < 0)
		return err_sys(e, "jail: RLIMIT_CORE");
#ifndef __SANITIZE_ADDRESS__
	/* A sanitizer maps terabytes. */
	if (lower(0, RLIMIT_AS, ADDRESS_BYTES) < 0)
		return err_sys(e, "jail: RLIMIT_AS");
#endif
	/* At the hard limit the kernel kills; the first process of a namespace would not die of SIGXCPU. */
	if (j->cpu_seconds && lower(0, RLIMIT_CPU, j->cpu_seconds) < 0)
		return err_sys(e, "jail: RLIMIT_CPU");
	if (j->file_bytes && lower(0, RLIMIT_FSIZE, j->file_bytes) < 0)
		return err_sys(e, "jail: RLIMIT_FSIZE");
	return 0;
}

/* Over files of the mapped ids: to give them away, to fill folders without permissions, to set
 * modes and times. CAP_FSETID, because chmod(2) would drop the set-group-id bit without a word. */
static int keep_file_caps(enum jail_kind kind, struct err *e)
{
	const uint32_t file_caps = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER |
				   1U << CAP_FSETID;
	const uint32_t kept = kind == JAIL_READER ? file_caps : 0;
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {
		{.effective = kept, .permitted = kept}};
	if (caps_limit(e) < 0)
		return -1;
	if (syscall(SYS_capset, &head, sets) < 0)
		return err_sys(e, "jail: set the capabilities");
	return 0;
}

static int confine(const struct jail *j, struct err *e)
{
	if (j->root >= 0 && fchdir(j->root) < 0)
		return err_sys(e, "jail: enter its folder");
	if (unshare(CLONE_NEWNS) < 0)
		return err_sys(e, "jail: unshare the mount namespace");
	return j->root >= 0 ? rootfs_confine(j->writable, e)
			    : rootfs_confine_empty(j->fill, j->arg, e);
}

/* The order is the argument: the folder is entered before the mount namespace is made, which gives
 * the working directory its place in it; capabilities go after the mounts; the filter is the last. */
static int enter(const struct inside *in, int *root, struct err *e)
{
	forget_environment(in->j->environment);
	if (become_root_inside(e) < 0 || confine(in->j, e) < 0 || close_others(in, e) < 0)
		return -1;
	*root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*root < 0)
		return err_sys(e, "jail: open its root");
	umask(0);
	if (limit_resources(in->j, e) < 0 || keep_file_caps(in->j->kind, e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "jail: no_new_privs");
	return filter_load(in->j->kind == JAIL_CLIENT ? &filter_client : &filter_jail, NULL, e);
}

static _Noreturn void child(const struct inside *in)
{
	struct verdict v = {.rc = -1, .err = ERR_INIT};
	int root = -1;
	if (wait_go(in) < 0)
		_exit(1);
	if (enter(in, &root, &v.err) == 0)
		v.rc = in->j->run(root, in->j->arg, &v.err);
	if (fd_write_all(in->verdict, &v, sizeof(v)) == 0 && v.rc == 0 && in->j->report_len > 0)
		fd_write_all(in->verdict, in->j->report, in->j->report_len);
	_exit(0);
}

/* ---- in the caller ---- */

/* As root each id of ours is the same id inside: the second column counts as the first. */
static int own_map(const char *name, char *text, size_t size, struct err *e)
{
	char own[MAP_TEXT], path[32];
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	if (fd_read_small(AT_FDCWD, path, own, sizeof(own)) < 0)
		return err_sys(e, "jail: read %s", path);
	size_t used = 0;
	for (char *line = own; *line && used < size;) {
		char *end;
		const unsigned long inside = strtoul(line, &end, 10);
		strtoul(end, &end, 10);
		const unsigned long count = strtoul(end, &end, 10);
		used += (size_t)snprintf(text + used, size - used, "%lu %lu %lu\n", inside, inside,
					 count);
		line = *end == '\n' ? end + 1 : strchrnul(end, '\0');
	}
	return used < size ? 0 : err_host(e, "jail: %s has too many rows", path);
}

static int write_map(int proc, const char *name, enum jail_kind kind, struct err *e)
{
	char text[MAP_TEXT];
	const unsigned own_id = strcmp(name, "uid_map") == 0 ? geteuid() : getegid();
	if (geteuid() != 0 || kind == JAIL_CLIENT)
		snprintf(text, sizeof(text), "0 %u 1\n", own_id);
	else if (own_map(name, text, sizeof(text), e) < 0)
		return -1;
	if (fd_write_small(proc, name, text) < 0)
		return err_sys(e, "jail: write %s", name);
	return 0;
}

static int write_maps(pid_t pid, enum jail_kind kind, struct err *e)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", pid);
	autoclose int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return err_sys(e, "jail: open %s", path);
	if (geteuid() != 0 && fd_write_small(proc, "setgroups", "deny") < 0)
		return err_sys(e, "jail: write \"deny\" to setgroups");
	if (write_map(proc, "uid_map", kind, e) < 0)
		return -1;
	return write_map(proc, "gid_map", kind, e);
}

static pid_t clone_child(enum jail_kind kind, struct err *e)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
			 CLONE_NEWCGROUP | (kind == JAIL_READER ? CLONE_NEWNET : 0),
		/* No exit signal: a caller that ignores SIGCHLD would have the kernel reap it for us. */
		.exit_signal = 0,
	};
	const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return err_sys(e,
			       "jail: make its namespaces (clone3); `pinfold doctor` tells what is in the way");
	return pid;
}

/* All that the child has to say, up to size bytes. Returns how many, -1 on an error. */
static ssize_t hear(const struct jail *j, int from, char *to, size_t size)
{
	size_t used = 0;
	for (;;) {
		struct pollfd p = {.fd = from, .events = POLLIN};
		const int ready = poll(&p, 1, j->tick ? j->tick_ms : -1);
		if (ready == 0 && j->tick)
			j->tick(j->arg);
		if (ready == 0 || (ready < 0 && errno == EINTR))
			continue;
		if (ready < 0)
			return -1;
		const ssize_t n = read(from, to + used, size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || used + (size_t)n == size)
			return n < 0 ? -1 : (ssize_t)used + n;
		used += (size_t)n;
	}
}

/* How the child ended. */
struct end {
	int status;
	struct rusage used;
};

/* The kernel counts the time against the limit in ticks, and tells it in another way, so about as
 * much is meant. */
static bool ran_out_of_time(const struct jail *j, const struct end *end)
{
	const uint64_t used = (uint64_t)end->used.ru_utime.tv_sec +
			      (uint64_t)end->used.ru_stime.tv_sec;
	return j->cpu_seconds && WTERMSIG(end->status) == SIGKILL &&
	       used + 2 >= j->cpu_seconds - j->cpu_seconds / 8;
}

static int explain_death(const struct jail *j, const struct end *end, struct err *e)
{
	if (!WIFSIGNALED(end->status))
		return err_host(e, "jail: the child ended without a word");
	if (WTERMSIG(end->status) == SIGSYS)
		return err_host(e,
				"jail: the child was ended by its filter: it made a system call "
				"that %s does not need",
				j->kind == JAIL_CLIENT ? "a registry's client" : "reading");
	if (ran_out_of_time(j, end))
		return err_usage(e,
				 "it takes more than %llu seconds of processor time (--limit-time)",
				 (unsigned long long)j->cpu_seconds);
	return err_host(e, "jail: the child was ended by signal %d (%s)", WTERMSIG(end->status),
			sigabbrev_np(WTERMSIG(end->status)));
}

static struct end reap(pid_t pid)
{
	struct end end = {.status = 0};
	while (wait4(pid, &end.status, __WALL, &end.used) < 0 && errno == EINTR)
		;
	return end;
}

/* The verdict in said (len bytes of it came), and how the child ended. */
static int conclude(const struct jail *j, const char *said, ssize_t len, const struct end *end,
		    struct err *e)
{
	struct verdict v;
	if (len < (ssize_t)sizeof(v))
		return explain_death(j, end, e);
	memcpy(&v, said, sizeof(v));
	if (v.rc != 0) {
		v.err.msg[sizeof(v.err.msg) - 1] = '\0';
		if (v.err.kind < ERR_USAGE || v.err.kind > ERR_BUG)
			return err_bug(e, "jail: a failure without a reason");
		*e = v.err;
		return -1;
	}
	if ((size_t)len != sizeof(v) + j->report_len)
		return explain_death(j, end, e);
	if (j->report_len > 0)
		memcpy(j->report, said + sizeof(v), j->report_len);
	return 0;
}

int jail_start(struct jail_child *c, const struct jail *j, struct err *e)
{
	int go[2], verdict[2];
	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(e, "jail: pipe");
	autoclose int go_from = go[0];
	autoclose int go_to = go[1];
	if (pipe2(verdict, O_CLOEXEC) < 0)
		return err_sys(e, "jail: pipe");
	autoclose int verdict_from = verdict[0];
	autoclose int verdict_to = verdict[1];
	const pid_t pid = clone_child(j->kind, e);
	if (pid == 0) {
		close(go_to); /* ours would hide the caller's death */
		child(&(struct inside){j, go_from, verdict_to});
	}
	if (pid < 0)
		return -1;
	if (write_maps(pid, j->kind, e) < 0) {
		fd_close(&go_to);
		reap(pid);
		return -1;
	}
	/* If it is dead by now, how it ended is what jail_finish() tells. */
	if (write(go_to, "g", 1) < 0 && errno != EPIPE) {
		fd_close(&go_to);
		reap(pid);
		return err_sys(e, "jail: let it begin");
	}
	*c = (struct jail_child){pid, fd_take(&verdict_from)};
	return 0;
}

int jail_finish(struct jail_child *c, const struct jail *j, struct err *e)
{
	const size_t size = sizeof(struct verdict) + j->report_len;
	char *said = malloc(size + 1);
	if (!said) {
		jail_kill(c);
		return err_host(e, "jail: out of memory");
	}
	const ssize_t len = hear(j, c->said, said, size + 1);
	const struct end end = reap(c->pid);
	c->pid = 0;
	fd_close(&c->said);
	const int rc = conclude(j, said, len, &end, e);
	free(said);
	return rc;
}

int jail_limit(const struct jail_child *c, struct jail *j, uint64_t file_bytes,
	       uint64_t cpu_seconds, struct err *e)
{
	if (lower(c->pid, RLIMIT_FSIZE, file_bytes) < 0 || lower(c->pid, RLIMIT_CPU, cpu_seconds) < 0)
		return err_sys(e, "jail: limit it further");
	j->file_bytes = file_bytes;
	j->cpu_seconds = cpu_seconds;
	return 0;
}

/* One that is in exit_group(2) keeps the status that it ends with. */
void jail_stop(const struct jail_child *c)
{
	if (c->pid > 0)
		kill(c->pid, SIGKILL);
}

void jail_kill(struct jail_child *c)
{
	jail_stop(c);
	if (c->pid > 0)
		reap(c->pid);
	c->pid = 0;
	fd_close(&c->said);
}

int jail_run(const struct jail *j, struct err *e)
{
	struct jail_child c = JAIL_CHILD_INIT;
	return jail_start(&c, j, e) < 0 ? -1 : jail_finish(&c, j, e);
}
