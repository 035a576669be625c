#include "base/fd.h"
#include "runtime/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program's end stays blocking; ours does not block. */
static int open_pipe(struct run *run, int slot, bool to_program, int *ours, struct err *e)
{
	const struct ids *ids = &run->plan.launch.ids;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "stdio: pipe");
	autoclose int theirs = ends[to_program ? 0 : 1];
	autoclose int mine = ends[to_program ? 1 : 0];
	if (fcntl(mine, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "stdio: make our end of a pipe non-blocking");
	/* /dev/stdout is a reopen of the pipe, which its mode 0600 allows the owner alone. */
	if (ids->form == IDS_FORM_SLOT && fchown(theirs, ids->kuid, ids->kgid) < 0)
		return err_sys(e, "stdio: give a pipe to the program");
	run->plan.launch.stdio[slot] = fd_take(&theirs);
	*ours = fd_take(&mine);
	return 0;
}

static int refuse_input(const char *path, struct err *e)
{
	err_sys(e, "stdio: open %s", path);
	e->kind = ERR_USAGE; /* the caller named it */
	return -1;
}

static int open_caller_file(const char *path, int flags, struct err *e)
{
	const int how = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	const bool output = (flags & O_ACCMODE) != O_RDONLY;
	int fd = output ? fd_open_output(path, how, 0666, e) : open(path, how);
	if (fd < 0 && output)
		return err_wrap(e, "stdio");
	if (fd < 0)
		return refuse_input(path, e);
	fcntl(fd, F_SETFL, flags & O_APPEND);
	return fd;
}

/* -1 and *e; -1 is no failure where there is no file. */
static int open_output_file(struct run *run, const char *file, struct err *e)
{
	if (!run->plan.launch.rehearsal)
		return file ? open_caller_file(file, O_WRONLY | O_CREAT | O_TRUNC, e) : -1;
	if (file && fd_check_output(file, e) < 0)
		return err_wrap(e, "stdio");
	const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, "stdio: open /dev/null") : fd;
}

static int open_output(struct run *run, int slot, const char *file, struct stream *s, struct err *e)
{
	autoclose int own = open_output_file(run, file, e);
	const int to = file || run->plan.launch.rehearsal ? own : slot;
	int from = -1;
	if (to < 0)
		return -1;
	if (run->spec->tty)
		return slot == 1 ? stream_open(s, -1, to, run->spec->limits.output_bytes, e) : 0;
	if (open_pipe(run, slot, false, &from, e) < 0)
		return -1;
	return stream_open(s, from, to, run->spec->limits.output_bytes, e);
}

/* What cannot be read would look like an empty input. name: NULL for the caller's stdin. */
static int check_input(int fd, const char *name, struct err *e)
{
	struct stat st;
	const int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "stdio: stat stdin");
	if (S_ISDIR(st.st_mode))
		return err_usage(e, "stdio: stdin %s is a folder", name ? name : "of the caller");
	if ((flags & O_PATH) || (flags & O_ACCMODE) == O_WRONLY)
		return err_usage(e, "stdio: stdin of the caller is not open for reading");
	return 0;
}

/* For a rehearsal, which leaves every byte of it to the run. */
static int check_input_file(const char *name, struct err *e)
{
	struct stat st;
	if (faccessat(AT_FDCWD, name, R_OK, AT_EACCESS) < 0)
		return refuse_input(name, e);
	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		return err_usage(e, "stdio: stdin %s is a folder", name);
	return 0;
}

static int open_input(struct run *run, struct err *e)
{
	const struct spec *s = run->spec;
	autoclose int file = -1;
	if (s->stdin_kind == STDIN_NULL || s->tty)
		return 0;
	if (run->plan.launch.rehearsal)
		return s->stdin_kind == STDIN_FILE ? check_input_file(s->stdin_file, e) : 0;
	if (s->stdin_kind == STDIN_FILE) {
		file = open_caller_file(s->stdin_file, O_RDONLY, e);
		if (file < 0)
			return -1;
	}
	const bool owned = file >= 0;
	int to = -1;
	if (check_input(owned ? file : STDIN_FILENO, s->stdin_file, e) < 0 ||
	    open_pipe(run, 0, true, &to, e) < 0)
		return -1;
	return feed_open(&run->feed, owned ? fd_take(&file) : 0, owned, to, e);
}

static int open_control(struct run *run, struct err *e)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, "control socket");
	run->control = run->plan.launch.supervisor = pair[0];
	run->plan.launch.control = pair[1];
	return 0;
}

/* Everything that would end or stop us arrives as a read; blocked before the sandbox exists. */
int open_signals(struct run *run, struct err *e)
{
	static const int caught[] = {SIGTERM, SIGINT,	 SIGHUP,  SIGQUIT, SIGUSR1,  SIGUSR2,
				     SIGALRM, SIGVTALRM, SIGPROF, SIGPIPE, SIGWINCH, SIGXFSZ,
				     SIGTTOU, SIGTTIN,	 SIGPOLL, SIGPWR,  SIGURG};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
		sigaddset(&set, caught[i]);
	/* SIGCHLD is for pid 1's loop, which inherits the mask. */
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(e, "block signals");
	sigdelset(&set, SIGCHLD);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? err_sys(e, "signalfd") : 0;
}

/* A raw clone3: the child goes on in a copy of this very stack. */
static pid_t clone_init(struct run *run)
{
	struct clone_args args = {
		/* The network namespace is made beside pid 1, the cgroup namespace in the leaf; see init.c. */
		.flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
			 CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uintptr_t)&run->init_pidfd,
		/* No exit signal: a caller that ignores SIGCHLD would have the kernel reap pid 1 for us. */
		.exit_signal = 0,
	};
	if (run->cg.dir >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)run->cg.dir;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int explain_clone(struct err *e)
{
	const bool odd = errno == ENOSYS || errno == EINVAL;
	return err_sys(e, odd ? "clone3 with these namespaces is unknown to this kernel or forbidden by a filter"
			  : errno == EPERM
				  ? "make the namespaces (clone3; a process in a chroot may not)"
				  : "make the namespaces (clone3)");
}

/* A caller with a negative score (a service) must not shield the program from the OOM killer. */
static int reset_oom_score(int proc, struct err *e)
{
	char score[16];
	if (fd_read_once(proc, "oom_score_adj", score, sizeof(score)) < 0)
		return err_sys(e, "read oom_score_adj");
	if (score[0] == '-' && fd_write_small(proc, "oom_score_adj", "0") < 0)
		return err_sys(e, "raise oom_score_adj to 0");
	return 0;
}

/* As root the image comes idmapped from here: only the initial namespace's root may idmap it. */
static int open_tree_for(struct run *run, int proc, int *tree, struct err *e)
{
	const struct launch *l = &run->plan.launch;
	if (l->ids.form != IDS_FORM_SLOT || l->root.form == ROOTFS_HOST)
		return 0;
	autoclose int userns = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
	if (userns < 0)
		return err_sys(e, "open the sandbox's user namespace");
	*tree = rootfs_tree(&l->root, userns, &run->idmapped, e);
	if (*tree < 0)
		return -1;
	ledger_ownership(&run->plan, run->idmapped, run->r);
	return ledger_require(run->r, run->spec->require, e);
}

static int let_go(struct run *run, struct err *e)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", run->init);
	autoclose int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return err_sys(e, "open %s", path);
	autoclose int tree = -1;
	if (run->spec->artifacts.len > 0) {
		run->user_namespace = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
		if (run->user_namespace < 0)
			return err_sys(e, "open the sandbox's user namespace");
	}
	if (ids_map(&run->plan.launch.ids, run->init, proc, e) < 0 ||
	    open_tree_for(run, proc, &tree, e) < 0)
		return -1;
	const struct record go = {.type = RECORD_GO};
	if (control_send(run->control, &go, &tree, tree >= 0) < 0)
		return err_sys(e, "tell pid 1 to go");
	/* No program runs before our answer to STARTING. */
	return reset_oom_score(proc, e);
}

static void close_child_ends(struct launch *l)
{
	fd_close(&l->control);
	fd_close(&l->egress);
	fd_close(&l->inputs);
	l->egress_peer = -1;
	for (int i = 0; i < 3; i++)
		fd_close(&l->stdio[i]);
}

/* pid 1 may have been the first to fail, and then what went wrong here is a consequence: what it
 * said counts. It is dead, so that this meets a record or the end. */
static bool hear_pid_1(struct run *run, const char **stage, struct err *e)
{
	struct record r;
	if (control_recv(run->control, &r, NULL, NULL) != 1 || r.type != RECORD_FAILED)
		return false;
	*stage = init_step_name(r.step);
	*e = r.err;
	return true;
}

int spawn(struct run *run, const char **stage, struct err *e)
{
	const struct spec *s = run->spec;
	*stage = "spawn";
	if (open_input(run, e) < 0 || open_output(run, 1, s->stdout_file, &run->out, e) < 0 ||
	    open_output(run, 2, s->stderr_file, &run->err, e) < 0 || open_control(run, e) < 0 ||
	    egress_open(run, e) < 0 || inputs_open(run, e) < 0)
		return -1;
	run->plan.launch.egress_peer = run->egress.sandbox_end;
	run->init = clone_init(run);
	if (run->init < 0) {
		run->init = -1;
		return explain_clone(e);
	}
	if (run->init == 0)
		init_main(&run->plan.launch);
	close_child_ends(&run->plan.launch);
	run->plan.place.first = run->init;
	/* A scope is made around pid 1; a rehearsal has no leaf at all. */
	const bool scope = run->plan.place.source == CGROUP_SCOPE && !run->plan.launch.rehearsal;
	/* The broker starts while pid 1 is at work. */
	if ((!scope || make_leaf(run, e) == 0) && let_go(run, e) == 0 &&
	    inputs_start(run, e) == 0 && egress_start(run, e) == 0)
		return 0;
	/* Was it dead before, without a word, then that is what went wrong. */
	struct pollfd end = {.fd = run->init_pidfd, .events = POLLIN};
	const bool gone = poll(&end, 1, 0) == 1;
	pid_t dead;
	syscall(SYS_pidfd_send_signal, run->init_pidfd, SIGKILL, NULL, 0);
	do
		dead = waitpid(run->init, NULL, __WALL);
	while (dead < 0 && errno == EINTR);
	run->init = -1;
	if (!hear_pid_1(run, stage, e) && gone)
		err_host(e, "pid 1 of the sandbox was killed from outside during its set-up");
	return -1;
}
