/* Files: the image is read-only, the old root is gone, no devices, no privileged files. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fanotify.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- FS01: the root is read-only. The program owns the image's files, so only the mount stands in its way. ---- */

static int create(const char *arg)
{
	return try_open(at(arg), O_WRONLY | O_CREAT | O_EXCL);
}

static int append(const char *arg)
{
	return try_open(at(arg), O_WRONLY | O_APPEND);
}

static int change_mode(const char *arg)
{
	return tried(chmod(at(arg), 0755));
}

static int change_mode_fd(const char *arg)
{
	int fd = open(at(arg), O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : tried(fchmod(fd, 0755));
}

static int change_owner(const char *arg)
{
	return tried(lchown(at(arg), getuid(), getgid()));
}

static int change_times(const char *arg)
{
	return tried(utimensat(AT_FDCWD, at(arg), NULL, 0));
}

static int change_xattr(const char *arg)
{
	return tried(setxattr(at(arg), "user.pinfold", "x", 1, 0));
}

static int cut(const char *arg)
{
	return tried(truncate(at(arg), 0));
}

static int move_away(const char *arg)
{
	return tried(rename(at(arg), at("/data/moved")));
}

static int swap(const char *arg)
{
	return tried(syscall(SYS_renameat2, AT_FDCWD, at(arg), AT_FDCWD, at("/data/swapped"),
			     RENAME_EXCHANGE));
}

static int remove_file(const char *arg)
{
	return tried(unlink(at(arg)));
}

static int remove_dir(const char *arg)
{
	return tried(rmdir(at(arg)));
}

static int make_dir(const char *arg)
{
	return tried(mkdir(at(arg), 0700));
}

static int make_link(const char *arg)
{
	return tried(link(at("/data/file"), at(arg)));
}

static int make_symlink(const char *arg)
{
	return tried(symlink("/etc", at(arg)));
}

static int make_fifo(const char *arg)
{
	return tried(mkfifo(at(arg), 0600));
}

static int unnamed_file(const char *arg)
{
	return try_open(at(arg), O_TMPFILE | O_WRONLY);
}

static int set_flags(const char *arg)
{
	int fd = open(at(arg), O_RDONLY | O_CLOEXEC), flags = 0;
	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return errno;
	flags |= FS_NODUMP_FL;
	return tried(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

/* ---- FS02: nothing of the old root can be named ---- */

#define UP4  "/../../../.."
#define UP64 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4 UP4

/* The canary is a file of the host; the host's half gives its path. */
static int read_canary(const char *before)
{
	char path[8192];
	snprintf(path, sizeof(path), "%s%s", before, given("CANARY"));
	return try_read(path);
}

/* Through a link of pid 1's, which in a weak run is a process that the host's half started. */
static int read_canary_of_init(const char *arg)
{
	char via[300];
	snprintf(via, sizeof(via), "/proc/%s/%s" UP64, *base ? given("TARGET") : "1", arg);
	return read_canary(via);
}

/* Through every link of every process: arg is "root", "cwd" or "fd". */
static int read_canary_through(const char *arg)
{
	char dir[300], via[1200];
	int sys = ENOENT;
	DIR *proc = opendir("/proc");
	if (!proc)
		return errno;
	for (struct dirent *d; (d = readdir(proc));) {
		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		snprintf(dir, sizeof(dir), "/proc/%s/%s", d->d_name, arg);
		if (strcmp(arg, "fd") != 0) {
			snprintf(via, sizeof(via), "%s" UP64, dir);
			sys = read_canary(via);
			if (sys == 0)
				return 0;
			continue;
		}
		DIR *fds = opendir(dir);
		for (struct dirent *f; fds && (f = readdir(fds));) {
			snprintf(via, sizeof(via), "%s/%s" UP64, dir, f->d_name);
			if (f->d_name[0] != '.' && read_canary(via) == 0)
				return 0;
		}
		if (fds)
			closedir(fds);
	}
	return sys;
}

/* A second chroot moves the root below the working directory, which can then climb. */
static int chroot_dance(const char *arg)
{
	(void)arg;
	if (*base && chroot(base) < 0)
		return errno;
	const char *dir = *base ? "/work/dance" : "/scratch/dance";
	if (mkdir(dir, 0700) < 0 || chroot(dir) < 0)
		return errno;
	for (int i = 0; i < 64; i++)
		if (chdir("..") < 0)
			return errno;
	return chroot(".") < 0 ? errno : read_canary("");
}

/* A file handle needs no path: guess the one of the file system's root. */
static int open_by_handle(const char *arg)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.h = {.handle_bytes = MAX_HANDLE_SZ}};
	int mount_id, dir = open(at(arg), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno;
	if (name_to_handle_at(dir, "", &u.h, &mount_id, AT_EMPTY_PATH) < 0) {
		if (errno != EOPNOTSUPP)
			return errno;
		/* Denied; inode 2 is the root of an ext4. */
		u.h.handle_bytes = 8;
		u.h.handle_type = 1;
		memcpy(u.h.f_handle, "\2\0\0\0\0\0\0", 8);
	}
	return tried(open_by_handle_at(dir, &u.h, O_RDONLY));
}

/* ---- FS15, FS16: what a file system can carry that gives power ---- */

static int make_node(const char *arg)
{
	unsigned major = 0, minor = 0;
	char kind;
	if (sscanf(arg, "%c %u:%u", &kind, &major, &minor) != 3)
		return EINVAL;
	unlink(work("node"));
	return tried(mknod(work("node"), (kind == 'c' ? S_IFCHR : S_IFBLK) | 0666,
			   makedev(major, minor)));
}

/* The image ships the node. Only /dev/full's answer tells that it was the device that spoke. */
static int use_node(const char *arg)
{
	int fd = open(at(arg), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	return write(fd, "x", 1) < 0 && errno == ENOSPC ? 0 : ENODEV;
}

/* Leaves a 0:0 device behind. */
static int whiteout(const char *arg)
{
	(void)arg;
	int fd = open(work("covered"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	return tried(syscall(SYS_renameat2, AT_FDCWD, work("covered"), AT_FDCWD, work("moved"),
			     RENAME_WHITEOUT));
}

/* arg is a copy of this program with a privilege on it, which says by its exit code whether it has that. */
static int run_privileged(const char *arg)
{
	pid_t pid = fork();
	if (pid < 0)
		return errno;
	if (pid == 0) {
		if (geteuid() == 0 && *base &&
		    (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
			_exit(errno);
		const char *path = at(arg);
		execl(path, path, "do", "privileged", NULL);
		_exit(errno);
	}
	int status;
	if (waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/* ---- FS22: what a reader of an image can do to its other readers ---- */

static int lease(const char *arg)
{
	int fd = open(at(arg), O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : tried(fcntl(fd, F_SETLEASE, F_RDLCK));
}

static int directory_notify(const char *arg)
{
	int fd = open(at(arg), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? errno : tried(fcntl(fd, F_NOTIFY, DN_ACCESS | DN_MULTISHOT));
}

/* Reached: what another process opens there is told of. */
static int inotify(const char *arg)
{
	char path[128], event[512];
	const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	snprintf(path, sizeof(path), "%s", at(arg));
	if (fd < 0 || inotify_add_watch(fd, path, IN_OPEN) < 0)
		return errno;
	printf("ready\n");
	fflush(stdout);
	(void)getchar(); /* the other has had its turn */
	return tried(read(fd, event, sizeof(event)));
}

static int fanotify(const char *arg)
{
	(void)arg;
	/* the kind that needs no privilege since 5.13 */
	return tried(fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY));
}

static int signal_owner(const char *arg)
{
	int fd = open(at(arg), O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : tried(fcntl(fd, F_SETOWN, getpid()));
}

/* ---- FS23: a socket and a FIFO in the image, with somebody of the host at their other ends ---- */

static int connect_to(const char *arg)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", at(arg));
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return s < 0 ? errno : tried(connect(s, (struct sockaddr *)&name, sizeof(name)));
}

/* Without a reader on this very pipe: ENXIO. */
static int write_to_fifo(const char *arg)
{
	int fd = open(at(arg), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? errno : tried(write(fd, "probe", 5));
}

static int lock_file(const char *arg)
{
	int fd = open(at(arg), O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : tried(flock(fd, LOCK_EX | LOCK_NB));
}

static const struct probe rows[] = {
	{"FS01.create-root", create, "/pinfold-probe", "a file in /"},
	{"FS01.create-usr", create, "/usr/pinfold-probe", "a file in /usr"},
	{"FS01.create-etc", create, "/etc/pinfold-probe", "a file in /etc"},
	{"FS01.create-dev", create, "/dev/pinfold-probe", "a file in /dev"},
	{"FS01.tmpfile", unnamed_file, "/data", "a file without a name"},
	{"FS01.append", append, "/data/file", "appending"},
	{"FS01.append-passwd", append, "/etc/passwd", "an account"},
	{"FS01.chmod", change_mode, "/data/file", "a mode"},
	{"FS01.fchmod", change_mode_fd, "/data/file", "a mode by descriptor"},
	{"FS01.chmod-root", change_mode, "/", "the mode of /"},
	{"FS01.chown", change_owner, "/data/file", "an owner"},
	{"FS01.utimes", change_times, "/data/file", "times"},
	{"FS01.setxattr", change_xattr, "/data/file", "an attribute"},
	{"FS01.truncate", cut, "/data/file", "truncation"},
	{"FS01.rename", move_away, "/data/movable", "a name"},
	{"FS01.exchange", swap, "/data/swap", "two names at once"},
	{"FS01.link", make_link, "/data/link", "a second name"},
	{"FS01.unlink", remove_file, "/data/other", "removal"},
	{"FS01.rmdir", remove_dir, "/data/dir", "removal of a folder"},
	{"FS01.mkdir", make_dir, "/data/made", "a folder"},
	{"FS01.symlink", make_symlink, "/data/symlink", "a symbolic link"},
	{"FS01.mkfifo", make_fifo, "/data/fifo", "a FIFO"},
	{"FS01.setflags", set_flags, "/data/flags", "inode flags"},

	{"FS02.direct", read_canary, "", "a file of the host by its name"},
	{"FS02.dotdot", read_canary, UP64, "climbing out of /"},
	{"FS02.proc-1-root", read_canary_of_init, "root", "pid 1's root"},
	{"FS02.proc-1-cwd", read_canary_of_init, "cwd", "pid 1's working directory"},
	{"FS02.proc-self-root", read_canary, "/proc/self/root" UP64, "its own root"},
	{"FS02.every-root", read_canary_through, "root", "everybody's root"},
	{"FS02.every-cwd", read_canary_through, "cwd", "everybody's working directory"},
	{"FS02.every-fd", read_canary_through, "fd", "everybody's open folders"},
	{"FS02.chroot", chroot_dance, NULL, "a chroot in a chroot"},
	{"FS02.handle", open_by_handle, "/data", "a file handle"},

	{"FS15.mknod-null", make_node, "c 1:3", "a character device"},
	{"FS15.mknod-mem", make_node, "c 1:1", "/dev/mem"},
	{"FS15.mknod-disk", make_node, "b 8:0", "a disk"},
	{"FS15.mknod-whiteout", make_node, "c 0:0", "an overlay's whiteout"},
	{"FS15.rename-whiteout", whiteout, NULL, "the same by renameat2"},
	{"FS15.image-node", use_node, "/data/full", "a device node of the image"},

	{"FS16.setuid", run_privileged, "/bin/probe-setuid", "a set-user-id program of root's"},
	{"FS16.setgid", run_privileged, "/bin/probe-setgid", "a set-group-id program of root's"},
	{"FS16.file-capability", run_privileged, "/bin/probe-capable",
	 "a program with file capabilities"},

	{"FS22.lease", lease, "/data/file", "a lease on a file of the image"},
	{"FS22.dnotify", directory_notify, "/data", "directory notification"},
	{"FS22.inotify", inotify, "/data/file", "what others open"},
	{"FS22.fanotify", fanotify, NULL, "fanotify"},
	{"FS23.socket", connect_to, "/data/socket", "whoever listens on a socket of the image"},
	{"FS23.fifo", write_to_fifo, "/data/fifo", "whoever reads a FIFO of the image"},
	{"FS23.flock", lock_file, "/data/locked", "a lock that somebody waits for"},

	{"FS22.setown", signal_owner, "/data/file", "signals by a descriptor"},
};
const struct probe_group probes_files = {rows, sizeof(rows) / sizeof(*rows)};
