/* pid 1 of the sandbox: builds it, starts the program, then only reaps.
 *
 * The table below is the security argument: each row says why it stands where it stands. Until the
 * program is started pid 1 holds every capability in the sandbox's user namespace and nothing
 * outside; nobody else is there. Before the program runs it becomes undumpable, so that a program
 * with the same kuid can neither trace it nor read it; right after, it gives up every capability,
 * closes every fd but the control socket, its signalfd and root's slot lock, and loads a filter
 * that allows what the loop needs.
 *
 * It ends when the control socket closes, and with it every process of the namespace: a killed
 * supervisor takes the sandbox along. PDEATHSIG is the second string; credential changes clear it,
 * so it is set after them.
 */
#include "base/fd.h"
#include "base/pages.h"
#include "network/inside.h"
#include "network/network.h"
#include "runtime/caps.h"
#include "runtime/control.h"
#include "runtime/cpus.h"
#include "runtime/launch.h"
#include "runtime/tty.h"
#include "transfer/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct init {
	const struct launch *launch;
	pid_t helper;
	int proc;	    /* the host's /proc, for the helper */
	int network;	    /* the network namespace, when the helper has ended well */
	bool limited;	    /* and the limits of the user namespace are set */
	struct rootfs root; /* the launch's, with what is known here alone */
	char cpus_online[CPUS_TEXT];
	unsigned cpu; /* that pid 1 chose its cpus from */
	uint64_t ignored_signals;
	int tree; /* the image as root gave it, -1: rootfs/ makes its own */
	struct rootfs_view view;
	int64_t inputs_begun; /* how many, should one of them fail */
	int sysv;	      /* /proc/sysvipc/shm of this IPC namespace, for the memory watch */
	struct tty_pair tty;
	int null;     /* the sandbox's /dev/null, for a stdin that nobody asked for */
	int children; /* signalfd for SIGCHLD */
	pid_t program;
	int program_fd; /* its pidfd */
};

static int step_wait_go(struct init *in, struct err *e)
{
	struct record r;
	size_t nfds = 1;
	/* While a copy of the supervisor's end is open here, its death is no EOF, neither for us
	 * nor for the program; the death signal alone does not do, because it comes too late when
	 * the supervisor has died before. */
	close(in->launch->supervisor);
	if (in->launch->egress_peer >= 0)
		close(in->launch->egress_peer);
	if (in->launch->inputs_peer >= 0)
		close(in->launch->inputs_peer);
	int got = control_recv(in->launch->control, &r, &in->tree, &nfds);
	if (got < 0)
		return err_sys(e, "wait for the supervisor");
	if (got == 0 || r.type != RECORD_GO)
		_exit(125);
	if (nfds == 0)
		in->tree = -1;
	return 0;
}

/* With a single id the process is the program's id already; else pid 1 is 0 inside, which is nobody
 * on the host, so that the program (another id) can neither signal nor trace it. */
static int step_credentials(struct init *in, struct err *e)
{
	umask(0); /* modes are what we say; step_scheduling sets the program's */
	if (in->launch->ids.form == IDS_FORM_SINGLE)
		return 0;
	if (setgroups(0, NULL) < 0)
		return err_sys(e, "drop supplementary groups");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(e, "become id 0 of the sandbox");
	if (getgroups(0, NULL) != 0)
		return err_host(e, "supplementary groups are still there");
	return 0;
}

static int step_death(struct init *in, struct err *e)
{
	(void)in;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "set the parent death signal");
	return 0;
}

/* clone3 with CLONE_NEWCGROUP and CLONE_INTO_CGROUP would root the namespace at the supervisor's
 * cgroup: the kernel makes the namespace before it moves the child. */
static int step_cgroup_ns(struct init *in, struct err *e)
{
	(void)in;
	if (unshare(CLONE_NEWCGROUP) < 0)
		return err_sys(e, "unshare the cgroup namespace");
	return 0;
}

/* Whoever possesses the caller's session keyring reads its keys, whatever its ids. The default
 * filter has no keyctl(2) to do it with; a profile of the caller's may. */
static int step_keyring(struct init *in, struct err *e)
{
	if (!in->launch->filter.custom)
		return 0;
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
		return err_sys(e, "join a session keyring of its own");
	return 0;
}

static int step_names(struct init *in, struct err *e)
{
	const char *name = in->launch->spec->hostname;
	if (sethostname(name, strlen(name)) < 0)
		return err_sys(e, "set the host name %s", name);
	if (setdomainname("", 0) < 0)
		return err_sys(e, "clear the domain name");
	return 0;
}

static int make_network(const struct launch *l, int ns, struct err *e)
{
	if (unshare(CLONE_NEWNET) < 0)
		return err_sys(e, "unshare the network namespace");
	if (network_loopback_up(ns, e) < 0)
		return -1;
	return l->egress < 0 ? 0 : inside_open(&l->spec->egress.allow, l->egress, e);
}

/* How the helper's exit status tells what is left to do. */
enum help { HELPED, HELPED_WITH_NETWORK, HELPED_WITH_NOTHING };

static enum help help(const struct init *in, struct err *e)
{
	if (make_network(in->launch, in->network, e) < 0)
		return HELPED_WITH_NOTHING;
	/* Where the host's /proc/sys is read-only, as in a container, pid 1 has one of its own soon. */
	return rootfs_limit(&in->root, in->proc, e) < 0 ? HELPED_WITH_NETWORK : HELPED;
}

/* The kernel leaves a new process behind its parent where no cpu is idle at that moment, and the
 * supervisor's is busy for a little while yet. It may move back later. */
static void move_away(pid_t pid, const cpu_set_t *allowed)
{
	unsigned here;
	cpu_set_t others = *allowed;
	if (syscall(SYS_getcpu, &here, NULL, NULL) < 0 || here >= CPU_SETSIZE)
		return;
	CPU_CLR(here, &others);
	if (CPU_COUNT(&others) > 0)
		(void)sched_setaffinity(pid, sizeof(others), &others);
}

/* Of all namespaces this one costs the most to make, about as much as all that follows. So it is
 * not part of clone3: a process beside pid 1 makes it, and pid 1 joins it when it has built the
 * mounts. That one shares the descriptors, not the memory: with that, each page that either of them
 * writes to for the first time would interrupt the other's cpu. */
static int step_network(struct init *in, struct err *e)
{
	/* Out of the way, because the program is to be process 2. */
	const pid_t pid = 300;
	/* No exit signal: it is no child that the loop should hear of. */
	struct clone_args args = {.flags = CLONE_FILES, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};
	/* A number for the namespace's descriptor. */
	in->network = fcntl(in->launch->control, F_DUPFD_CLOEXEC, 3);
	if (in->network < 0)
		return err_sys(e, "a descriptor for the network namespace");
	/* Opened here, because pid 1 is about to mount over it. */
	in->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (in->proc < 0)
		return err_sys(e, "open /proc");
	in->helper = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (in->helper == 0)
		_exit(help(in, e));
	if (in->helper > 0)
		move_away(in->helper, &in->launch->cpus_allowed);
	return 0;
}

/* After the helper's start, which shares every page again. */
static int step_pages(struct init *in, struct err *e)
{
	(void)in;
	(void)e;
	pages_warm_text();
	pages_warm_stack(16 * 1024);
	return 0;
}

static int step_network_join(struct init *in, struct err *e)
{
	int status = -1;
	autoclose int network = fd_take(&in->network);
	fd_close(&in->proc);
	while (in->helper > 0 && waitpid(in->helper, &status, __WALL) < 0)
		if (errno != EINTR)
			return err_sys(e, "wait for the helper");
	const int told = WIFEXITED(status) ? WEXITSTATUS(status) : HELPED_WITH_NOTHING;
	in->limited = told == HELPED;
	/* Where there was no helper, or it failed, pid 1 can do it, or can say what is in the way. */
	const bool made = told == HELPED || told == HELPED_WITH_NETWORK;
	const int rc = made ? setns(network, CLONE_NEWNET) : make_network(in->launch, -1, e);
	if (made && rc < 0)
		err_sys(e, "join the network namespace");
	if (in->launch->egress >= 0)
		close(in->launch->egress);
	return rc;
}

static int step_mounts(struct init *in, struct err *e)
{
	if (rootfs_enter(&in->root, fd_take(&in->tree), &in->view, e) < 0)
		return -1;
	in->sysv = openat(in->view.proc, "sysvipc/shm", O_RDONLY | O_CLOEXEC);
	if (in->sysv < 0 && errno != ENOENT) /* ENOENT: a kernel without SysV IPC */
		return err_sys(e, "open sysvipc/shm of the sandbox");
	return 0;
}

/* These calls tell no failure; with an id that there is none of they change nothing and say what is set. */
static int set_file_ids(uint32_t uid, uint32_t gid, struct err *e)
{
	setfsgid(gid);
	setfsuid(uid);
	if ((gid_t)setfsgid((gid_t)-1) != gid || (uid_t)setfsuid((uid_t)-1) != uid)
		return err_host(e, "inputs: the file system ids read back differently");
	return 0;
}

/* Its own files are the program's from the start: made with its ids, and without a capability over files. */
static int step_inputs(struct init *in, struct err *e)
{
	const struct launch *l = in->launch;
	const bool other = l->ids.form != IDS_FORM_SINGLE;
	if (l->inputs < 0)
		return 0;
	if (other && set_file_ids(l->ids.uid, l->ids.gid, e) < 0)
		return -1;
	const int rc = inputs_receive(l->inputs, in->view.scratch, &in->inputs_begun, e);
	if (other && set_file_ids(0, 0, e) < 0)
		return -1;
	close(l->inputs);
	return rc;
}

static int step_seal(struct init *in, struct err *e)
{
	return rootfs_seal(&in->root, &in->view, in->limited, e);
}

static int step_workdir(struct init *in, struct err *e)
{
	return rootfs_workdir(&in->root, e);
}

/* A pipe made by an ordinary user's supervisor belongs to inner 0; the program may reopen what it owns. */
static int step_stdio(struct init *in, struct err *e)
{
	const struct launch *l = in->launch;
	if (l->spec->tty && tty_open_pair(&in->tty, l->ids.uid, l->ids.gid, e) < 0)
		return -1;
	if (!l->spec->tty && l->stdio[0] < 0) {
		in->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (in->null < 0)
			return err_sys(e, "open /dev/null of the sandbox");
	}
	for (int i = 0; i < 3; i++)
		if (l->ids.form == IDS_FORM_RANGE && l->stdio[i] >= 0 &&
		    fchown(l->stdio[i], l->ids.uid, l->ids.gid) < 0)
			return err_sys(e, "give pipe %d to the program", i);
	return 0;
}

/* From the cpu that it runs on, so that nothing has to move: the kernel put pid 1 where there was room. */
static int step_cpus(struct init *in, struct err *e)
{
	const struct launch *l = in->launch;
	cpu_set_t window, got;
	if (syscall(SYS_getcpu, &in->cpu, NULL, NULL) < 0)
		return err_sys(e, "getcpu");
	cpus_window(&window, &l->cpus_allowed, l->cpus, in->cpu);
	cpus_list(in->cpus_online, sizeof(in->cpus_online) - 1, &window);
	const size_t len = strlen(in->cpus_online);
	in->cpus_online[len] = '\n';
	in->cpus_online[len + 1] = '\0';
	if (!l->set_affinity)
		return 0;
	if (sched_setaffinity(0, sizeof(window), &window) < 0 ||
	    sched_getaffinity(0, sizeof(got), &got) < 0)
		return err_sys(e, "set the cpu affinity");
	if (!CPU_EQUAL(&got, &window))
		return err_host(e, "the cpu affinity reads back differently");
	return 0;
}

static int step_scheduling(struct init *in, struct err *e)
{
	const struct launch *l = in->launch;
	umask(022);
	if (personality(PER_LINUX) < 0)
		return err_sys(e, "reset the personality");
	if (l->nice && setpriority(PRIO_PROCESS, 0, l->nice) < 0)
		return err_sys(e, "set nice to %d", l->nice);
	return 0;
}

static int step_signals(struct init *in, struct err *e)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	in->children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (in->children < 0)
		return err_sys(e, "signalfd");
	/* An ignored SIGCHLD would reap the program before we could read its status. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR)
		return err_sys(e, "reset SIGCHLD");
	return 0;
}

/* nohup, Python and others start us with signals ignored; the program must not inherit that. */
static uint64_t ignored_signals(const char *status)
{
	const char *line = strstr(status, "\nSigIgn:");
	return line ? strtoull(line + 8, NULL, 16) : UINT64_MAX; /* in doubt each is reset */
}

static int step_limit_caps(struct init *in, struct err *e)
{
	char status[4096];
	if (caps_limit(e) < 0)
		return -1;
	/* One record, and generated anew for each read. */
	if (fd_read_once(in->view.proc, "self/status", status, sizeof(status)) < 0)
		return err_sys(e, "capabilities: read the bounding set back");
	in->ignored_signals = ignored_signals(status);
	return caps_check_limit(status, e);
}

static int step_undumpable(struct init *in, struct err *e)
{
	(void)in;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(e, "become undumpable");
	if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_host(e, "pid 1 is still dumpable");
	return 0;
}

/* The supervisor's words name files of the host (results, inputs, the image), and everybody may
 * read them in /proc/1/cmdline. The memory is pid 1's own copy. */
static int step_title(struct init *in, struct err *e)
{
	const struct launch *l = in->launch;
	const char *id = l->spec->id;
	char title[96];
	(void)e;
	int len = snprintf(title, sizeof(title), "pinfold: init%s%s", id ? " " : "", id ? id : "");
	for (size_t i = 0; i < l->title_len; i++)
		l->title[i] = i < (size_t)len ? title[i] : '\0';
	return 0;
}

static int step_ready(struct init *in, struct err *e)
{
	struct record r = {.type = RECORD_READY, .value = (int64_t)in->cpu << READY_CPU_SHIFT};
	int fds[FD_PASS_MAX] = {in->view.scratch, in->view.proc};
	size_t nfds = 2;
	if (in->view.proc_outer)
		r.value |= READY_PROC_OUTER;
	if (in->sysv >= 0) {
		r.value |= READY_SYSV;
		fds[nfds++] = in->sysv;
	}
	if (in->tty.master >= 0) {
		r.value |= READY_TTY;
		fds[nfds++] = in->tty.master;
	}
	if (control_send(in->launch->control, &r, fds, nfds) < 0)
		return err_sys(e, "hand out the scratch");
	return 0;
}

static const struct step {
	const char *name;
	int (*run)(struct init *, struct err *);
} steps[] = {
	{"network",
	 step_network}, /* first, because it takes longest; nothing before its join needs it */
	{"pages", step_pages},
	{"names", step_names},	   /* waits for nobody either */
	{"wait-go", step_wait_go}, /* no id is mapped before the supervisor wrote the maps */
	{"credentials", step_credentials}, /* files that we make must have mapped owners */
	{"death-signal", step_death},  /* after the last change of credentials, which clears it */
	{"cgroup-ns", step_cgroup_ns}, /* before /sys/fs/cgroup is mounted */
	{"keyring", step_keyring},     /* after the credentials, whose it is to be */
	{"cpus", step_cpus},	       /* after the helper's start; /sys tells of them */
	{"mounts", step_mounts},       /* from here on no path of the host exists */
	{"inputs", step_inputs},   /* the workdir may be one of them; the program is not there */
	{"workdir", step_workdir}, /* after the pivot, verified to be below the root */
	{"stdio", step_stdio},	   /* the pty comes from the sandbox's own devpts */
	{"scheduling", step_scheduling}, /* inherited by the program */
	{"child-signals", step_signals},
	{"network-join", step_network_join}, /* pid 1 is alone again */
	{"seal", step_seal}, /* no namespace can be made any more: after the last one */
	{"capability-limits", step_limit_caps}, /* needs CAP_SETPCAP; reads the new /proc back */
	{"undumpable", step_undumpable},	/* before another process exists */
	{"title", step_title}, /* after the last use of a word of the spec, before anybody can look */
	{"ready", step_ready},
};

const char *init_step_name(uint32_t step)
{
	return step < sizeof(steps) / sizeof(*steps) ? steps[step].name : "program";
}

static _Noreturn void fail(const struct init *in, enum record_type type, uint32_t step,
			   const struct err *e)
{
	struct record r = {.type = type, .step = step, .value = in->inputs_begun, .err = *e};
	control_send(in->launch->control, &r, NULL, 0);
	_exit(125);
}

/* After the program is off: give up everything. Nothing here needs a capability. */
static int retire(struct init *in, struct err *e)
{
	const struct launch *l = in->launch;
	int keep[4] = {l->control, in->children, l->ids.slot_lock, in->program_fd};
	if (caps_drop(e) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, "no_new_privs of pid 1");
	if (fd_close_others(keep, 4) < 0)
		return err_sys(e, "close what pid 1 does not need");
	int none;
	return filter_load(&filter_init, &none, e);
}

/* clone(2) with the program on a small stack of its own; pid 1 sleeps until execve or _exit. *pidfd is for the
 * supervisor: pid 1 has no capability to signal another uid, whoever owns the user namespace has. */
static pid_t start_program(struct program *p, int *pidfd, struct err *e)
{
	const size_t size = 64 * 1024;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return err_sys(e, "stack for the program's start");
	pid_t pid = clone(program_main, stack + size,
			  CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, p, pidfd);
	if (pid < 0)
		return err_sys(e, "start the program");
	munmap(stack, size);
	return pid;
}

static void report_exit(const struct init *in, int status)
{
	struct record r = {.type = RECORD_EXITED, .value = status};
	control_send(in->launch->control, &r, NULL, 0);
}

/* Reap whatever is there. False when no child is left. */
static bool reap(const struct init *in)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			return errno == EINTR;
		if (pid == 0)
			return true;
		/* No WUNTRACED, and a ptrace stop that is reported all the same is neither of these. */
		if (pid == in->program && (WIFEXITED(status) || WIFSIGNALED(status)))
			report_exit(in, status);
	}
}

static _Noreturn void loop(const struct init *in)
{
	struct pollfd fds[] = {{.fd = in->launch->control, .events = POLLIN},
			       {.fd = in->children, .events = POLLIN}};
	bool told = false;
	int wait_ms = COOL_MS;
	for (;;) {
		if (!reap(in) && !told) {
			struct record r = {.type = RECORD_ALL_GONE};
			control_send(in->launch->control, &r, NULL, 0);
			told = true;
		}
		int ready = poll(fds, 2, wait_ms);
		if (ready < 0 && errno != EINTR)
			_exit(125);
		if (ready == 0) {
			pages_cool_text();
			wait_ms = -1;
			continue;
		}
		struct signalfd_siginfo info[8];
		if (fds[1].revents && read(in->children, info, sizeof(info)) < 0 && errno != EAGAIN)
			_exit(125);
		if (fds[0].revents)
			_exit(125); /* the supervisor is gone, or not itself: so is the sandbox */
	}
}

/* Why execve failed, in words. pid 1 has no capability left: it parses the file's head without privilege. */
static _Noreturn void fail_exec(const struct init *in, const struct program *p)
{
	struct err e = ERR_INIT;
	const char *path = p->path;
	for (const char **c = in->launch->candidates; !path && *c; c++)
		if (faccessat(AT_FDCWD, *c, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			path = *c;
	if (path) {
		rootfs_explain_exec(path, p->sys, &e);
	} else {
		err_host(&e, "%s: not found in the image%s", in->launch->argv[0],
			 strchr(in->launch->argv[0], '/') ? "" : " (PATH was searched)");
		e.sys = ENOENT;
	}
	fail(in, RECORD_EXEC_FAILED, 0, &e);
}

_Noreturn void init_main(const struct launch *l)
{
	struct init in = {.launch = l,
			  .root = l->root,
			  .proc = -1,
			  .network = -1,
			  .tree = -1,
			  .view = ROOTFS_VIEW_INIT,
			  .sysv = -1,
			  .tty = TTY_PAIR_INIT,
			  .null = -1,
			  .children = -1,
			  .program_fd = -1};
	struct err e = ERR_INIT;
	in.root.cpus_online = in.cpus_online;
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i].run(&in, &e) < 0)
			fail(&in, RECORD_FAILED, i, &e);

	struct program p = {.launch = l,
			    .terminal = in.tty.slave,
			    .null = in.null,
			    .ignored_signals = in.ignored_signals};
	in.program = start_program(&p, &in.program_fd, &e);
	if (in.program < 0)
		fail(&in, RECORD_FAILED, ~0U, &e);
	if (p.stage) {
		errno = p.sys;
		err_sys(&e, "program: %s", p.stage);
		fail(&in, RECORD_FAILED, ~0U, &e);
	}
	if (p.sys) {
		if (caps_drop(&e) < 0)
			fail(&in, RECORD_FAILED, ~0U, &e);
		fail_exec(&in, &p);
	}
	if (retire(&in, &e) < 0)
		fail(&in, RECORD_FAILED, ~0U, &e);
	struct record r = {.type = RECORD_STARTED};
	control_send(l->control, &r, &in.program_fd, 1); /* if it fails, the loop sees why */
	fd_close(&in.program_fd);
	loop(&in);
}
