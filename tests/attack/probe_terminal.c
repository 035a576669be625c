/* Terminals and stdio: nothing is typed into the caller's terminal, nothing happens to the caller's files. */
#include "probe.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/kd.h>
#include <linux/tiocl.h>
#include <linux/vt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* "0", "1", "2" or a path. */
static int open_named(const char *name)
{
	if (name[0] >= '0' && name[0] <= '2' && !name[1])
		return fcntl(name[0] - '0', F_DUPFD_CLOEXEC, 3);
	return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* A pushed byte is there to be read: that is the proof, and takes it away again. */
static int type_into(const char *arg)
{
	int fd = open_named(arg);
	if (fd < 0)
		return errno;
	if (ioctl(fd, TIOCSTI, "\n") < 0)
		return errno;
	ioctl(fd, TCFLSH, TCIFLUSH);
	return 0;
}

static int type_into_high(const char *arg)
{
	int fd = open_named(arg);
	if (fd < 0)
		return errno;
	if (syscall(SYS_ioctl, fd, TIOCSTI | 0x123UL << 32, "\n") < 0)
		return errno;
	ioctl(fd, TCFLSH, TCIFLUSH);
	return 0;
}

/* number and fd 0; a bad pointer. Past is EFAULT, EINVAL or success. */
static int terminal_call(const char *arg)
{
	if (ioctl(0, strtoul(arg, NULL, 0), BAD) >= 0 || errno == EFAULT || errno == EINVAL)
		return 0;
	return errno;
}

static int paste(const char *arg)
{
	char sub = (char)atoi(arg);
	return ioctl(0, TIOCLINUX, &sub) >= 0 || errno == EINVAL ? 0 : errno;
}

static int line_discipline(const char *arg)
{
	int n = atoi(arg);
	return tried(ioctl(0, TIOCSETD, &n));
}

static int controlling_terminal(const char *arg)
{
	return try_open(arg, O_RDWR);
}

static int steal_terminal(const char *arg)
{
	int fd = open_named(arg);
	setsid();
	return fd < 0 ? errno : tried(ioctl(fd, TIOCSCTTY, 1));
}

static int foreground(const char *arg)
{
	int fd = open_named(arg);
	return fd < 0 ? errno : tried(tcsetpgrp(fd, getpgrp()));
}

/* ---- TT04, TT06: arg is a file descriptor 0 to 2; a weak run has a file of the host there ---- */

static const char *link_of(const char *fd)
{
	static char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%s", fd);
	return path;
}

/* Opening a pipe again is the program's right; a regular file is the host's. */
static int opened_file(int flags, const char *fd)
{
	struct stat st;
	int again = open(link_of(fd), flags | O_CLOEXEC | O_NONBLOCK);
	if (again < 0)
		return errno;
	return fstat(again, &st) < 0 ? errno : S_ISREG(st.st_mode) ? 0 : ESPIPE;
}

static int reopen_cut(const char *arg)
{
	return opened_file(O_WRONLY | O_TRUNC, arg);
}

static int reopen_both(const char *arg)
{
	return opened_file(O_RDWR, arg);
}

static int reopen_write(const char *arg)
{
	return opened_file(O_WRONLY, arg);
}

static int cut_fd(const char *arg)
{
	return tried(ftruncate(atoi(arg), 0));
}

static int is_host_file(const char *arg)
{
	struct stat st;
	return fstat(atoi(arg), &st) == 0 && S_ISREG(st.st_mode);
}

static int seek_back(const char *arg)
{
	int sys = tried(lseek(atoi(arg), 0, SEEK_SET));
	return sys ? sys : is_host_file(arg) ? 0 : ESPIPE;
}

static int change_mode(const char *arg)
{
	struct stat st;
	/* The same mode: a weak run may have anything of the host's there. */
	if (fstat(atoi(arg), &st) < 0 || fchmod(atoi(arg), st.st_mode & 07777) < 0)
		return errno;
	return S_ISREG(st.st_mode) ? 0 : ESPIPE;
}

static int change_owner(const char *arg)
{
	struct stat st;
	if (fstat(atoi(arg), &st) < 0 || fchown(atoi(arg), st.st_uid, st.st_gid) < 0)
		return errno;
	return S_ISREG(st.st_mode) ? 0 : ESPIPE;
}

static int change_xattr(const char *arg)
{
	return tried(fsetxattr(atoi(arg), "user.pinfold", "x", 1, 0));
}

static int change_times(const char *arg)
{
	int sys = tried(futimens(atoi(arg), NULL));
	return sys ? sys : is_host_file(arg) ? 0 : ESPIPE;
}

static int allocate(const char *arg)
{
	return tried(fallocate(atoi(arg), 0, 0, 8192));
}

static int map_shared(const char *arg)
{
	int fd = open(link_of(arg), O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0;
}

static int climb(const char *arg)
{
	char path[600];
	snprintf(path, sizeof(path), "/proc/self/fd/%s/..", arg);
	return try_open(path, O_RDONLY | O_DIRECTORY);
}

#define ON_EACH_FD(id, run, what)                             \
	{id ".0", run, "0", what}, {id ".1", run, "1", what}, \
	{                                                     \
		id ".2", run, "2", what                       \
	}

static const struct probe rows[] = {
	ON_EACH_FD("TT01.type", type_into, "a key stroke"),
	{"TT01.type.tty", type_into, "/dev/tty", "a key stroke"},
	ON_EACH_FD("TT01.high", type_into_high, "a key stroke, with a high half"),
	{"TT01.high.tty", type_into_high, "/dev/tty", "a key stroke, with a high half"},

	{"TT02.selection", paste, "2", "a selection"},
	{"TT02.paste", paste, "3", "pasting it"},
	{"TT02.tioccons", terminal_call, "0x541d", "the console's output"},
	{"TT02.discipline", line_discipline, "0", "the line discipline"},
	{"TT02.exclusive", terminal_call, "0x540c", "the terminal for itself"},
	{"TT02.packet", terminal_call, "0x5420", "packet mode"},

	{"TT03.open", controlling_terminal, "/dev/tty", "the controlling terminal"},
	{"TT03.steal", steal_terminal, "0", "somebody's terminal"},
	{"TT03.foreground", foreground, "/dev/tty", "the foreground"},

	ON_EACH_FD("TT04.cut", reopen_cut, "opening again to truncate"),
	ON_EACH_FD("TT04.both", reopen_both, "opening again for both"),
	ON_EACH_FD("TT04.write", reopen_write, "opening again to write"),

	ON_EACH_FD("TT06.seek", seek_back, "the offset"),
	ON_EACH_FD("TT06.cut", cut_fd, "the length"),
	ON_EACH_FD("TT06.chmod", change_mode, "the mode"),
	ON_EACH_FD("TT06.chown", change_owner, "the owner"),
	ON_EACH_FD("TT06.xattr", change_xattr, "an attribute"),
	ON_EACH_FD("TT06.times", change_times, "the times"),
	ON_EACH_FD("TT06.allocate", allocate, "the blocks"),
	ON_EACH_FD("TT06.map", map_shared, "the pages"),
	ON_EACH_FD("TT06.climb", climb, "the folder above"),
};
const struct probe_group probes_terminal = {rows, sizeof(rows) / sizeof(*rows)};
