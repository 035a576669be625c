#include "base/fd.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

void fd_close(int *fd)
{
	if (*fd < 0)
		return;
	int saved = errno;
	close(*fd);
	errno = saved;
	*fd = -1;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int fd_close_others(int *keep, size_t len)
{
	unsigned next = 0;
	qsort(keep, len, sizeof(*keep), by_number);
	for (size_t i = 0; i < len; i++) {
		if (keep[i] < 0 || (unsigned)keep[i] < next) /* none, or named twice */
			continue;
		if ((unsigned)keep[i] > next && close_range(next, (unsigned)keep[i] - 1, 0) < 0)
			return -1;
		next = (unsigned)keep[i] + 1;
	}
	return close_range(next, ~0U, 0);
}

int fd_take(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

int fd_openat2(int dir, const char *name, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve};
	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

ssize_t fd_read_small(int dir, const char *name, char *buf, size_t size)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	size_t used = 0;
	for (;;) {
		ssize_t n = read(fd, buf + used, size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		used += (size_t)n;
		if (used == size) {
			errno = E2BIG;
			return -1;
		}
	}
	buf[used] = '\0';
	return (ssize_t)used;
}

ssize_t fd_read_once(int dir, const char *name, char *buf, size_t size)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n;
	do
		n = read(fd, buf, size - 1);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

int fd_write_small(int dir, const char *name, const char *text)
{
	autoclose int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	size_t len = strlen(text);
	ssize_t n = write(fd, text, len);
	if (n < 0)
		return -1;
	if ((size_t)n != len) {
		errno = EIO;
		return -1;
	}
	return 0;
}

int fd_write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	while (len > 0) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * FD_PASS_MAX)];
};

const char *fd_split(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	return slash ? slash + 1 : path;
}

bool fd_follow(char path[PATH_MAX])
{
	char target[PATH_MAX], whole[2 * PATH_MAX], folder[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	fd_split(path, folder);
	snprintf(whole, sizeof(whole), "%s/%s", target[0] == '/' ? "" : folder, target);
	if (strlen(whole) >= PATH_MAX)
		return false;
	memcpy(path, whole, strlen(whole) + 1);
	return true;
}

/* Of the folder that path's last component is in: whether others may plant names there, and whose it is. */
static int shared_folder(const char *path, struct stat *st)
{
	char folder[PATH_MAX];
	fd_split(path, folder);
	if (stat(folder, st) < 0)
		return -1;
	return (st->st_mode & S_ISVTX) && (st->st_mode & S_IWOTH);
}

/* 1 yes, 0 no, -1 with errno; st is of the link or file in question. Whoever owns a FIFO may read
 * what comes, whoever owns a link says where it goes. A device or folder is nobody's to plant. */
static int is_trusted(const char *path, const struct stat *st)
{
	struct stat folder;
	if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode) && !S_ISLNK(st->st_mode))
		return 1;
	const int shared = shared_folder(path, &folder);
	if (shared <= 0)
		return shared < 0 ? -1 : 1;
	return st->st_uid == geteuid() || st->st_uid == folder.st_uid ||
	       (S_ISREG(st->st_mode) && st->st_uid == 0);
}

static int refuse_output(const char *path, struct err *e)
{
	err_sys(e, "open %s", path);
	e->kind = ERR_USAGE; /* the caller named it */
	return -1;
}

static int check_trust(const char *path, const struct stat *st, struct err *e)
{
	const int trusted = is_trusted(path, st);
	if (trusted == 1)
		return 0;
	if (trusted < 0)
		return refuse_output(path, e);
	return err_usage(e,
			 "open %s: it is %s of another user's in a folder that everybody may write to",
			 path,
			 S_ISLNK(st->st_mode)	 ? "a link"
			 : S_ISFIFO(st->st_mode) ? "a FIFO"
						 : "a file");
}

/* What a link led to, by the name that it has now. */
static int check_target(int fd, struct err *e)
{
	char proc[32], path[PATH_MAX];
	struct stat st;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(proc, path, sizeof(path) - 1);
	if (n < 0 || fstat(fd, &st) < 0)
		return refuse_output(proc, e);
	path[n] = '\0';
	return check_trust(path, &st, e);
}

static int open_descriptor(const char *path, int flags, mode_t mode, struct err *e)
{
	int fd = open(path, flags, mode);
	return fd < 0 ? refuse_output(path, e) : fd;
}

/* /dev/stdout and its like (ELOOP) lead to what the caller opened already, wherever that lies. */
static int open_through_link(const char *path, int flags, mode_t mode, struct err *e)
{
	autoclose int fd = fd_openat2(AT_FDCWD, path, (uint64_t)flags, flags & O_CREAT ? mode : 0,
				      RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return errno == ELOOP ? open_descriptor(path, flags, mode, e)
				      : refuse_output(path, e);
	return check_target(fd, e) == 0 ? fd_take(&fd) : -1;
}

static int open_trusted(const char *path, int flags, mode_t mode, struct err *e)
{
	struct stat st;
	autoclose int fd = open(path, flags | O_NOFOLLOW, mode);
	if (fd >= 0) {
		if (fstat(fd, &st) < 0)
			return refuse_output(path, e);
		return check_trust(path, &st, e) == 0 ? fd_take(&fd) : -1;
	}
	/* ELOOP for a link; newer kernels say EACCES to one in such a folder. */
	const int error = errno;
	const bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	errno = error;
	if (!link)
		return refuse_output(path, e);
	return check_trust(path, &st, e) == 0 ? open_through_link(path, flags, mode, e) : -1;
}

int fd_open_output(const char *path, int flags, mode_t mode, struct err *e)
{
	struct stat st;
	/* Cut only when it is known to be the right one. */
	autoclose int fd = open_trusted(path, (flags & ~O_TRUNC) | O_CLOEXEC, mode, e);
	if (fd < 0)
		return -1;
	if ((flags & O_TRUNC) && (fstat(fd, &st) < 0 || (S_ISREG(st.st_mode) && ftruncate(fd, 0) < 0)))
		return refuse_output(path, e);
	return fd_take(&fd);
}

int fd_open_output_folder(const char *path, struct err *e)
{
	char plain[PATH_MAX];
	size_t len = strlen(path);
	if (len >= sizeof(plain)) {
		errno = ENAMETOOLONG;
		return refuse_output(path, e);
	}
	/* A link with a slash behind it is followed whatever the flags say. */
	while (len > 1 && path[len - 1] == '/')
		len--;
	memcpy(plain, path, len);
	plain[len] = '\0';
	autoclose int fd = open_trusted(plain, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, e);
	if (fd < 0)
		return -1;
	return faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0 ? fd_take(&fd)
								: refuse_output(path, e);
}

/* faccessat(2) says nothing of append-only, which a file may be opened with only to append. */
static int check_writable(const char *path, const struct stat *st, struct err *e)
{
	struct statx more = {0};
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
		return refuse_output(path, e);
	statx(AT_FDCWD, path, 0, 0, &more);
	errno = S_ISDIR(st->st_mode) ? EISDIR : more.stx_attributes & STATX_ATTR_APPEND ? EPERM : 0;
	return errno == 0 ? 0 : refuse_output(path, e);
}

static int check_new(const char *path, struct err *e)
{
	char at[PATH_MAX], folder[PATH_MAX];
	snprintf(at, sizeof(at), "%s", path);
	for (int links = 0; links < FD_LINKS_MAX && fd_follow(at); links++)
		;
	fd_split(at, folder);
	return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : refuse_output(path, e);
}

int fd_check_output(const char *path, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) == 0 && check_trust(path, &st, e) < 0)
		return -1;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? check_new(path, e) : refuse_output(path, e);
	autoclose int file = fd_openat2(AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_MAGICLINKS);
	if (file >= 0 && check_target(file, e) < 0)
		return -1;
	return check_writable(path, &st, e);
}

ssize_t fd_write_now(int fd, const void *buf, size_t len)
{
	/* Pipes take RWF_NOWAIT since 6.4; before, and for terminals, poll promises room for some
	 * bytes, as long as nobody else writes. */
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)buf,
				  .iov_len = len < PIPE_BUF ? len : PIPE_BUF};
	ssize_t n = pwritev2(fd, &iov, 1, -1, RWF_NOWAIT);
	if (n >= 0 || errno != EOPNOTSUPP)
		return n;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	if (poll(&p, 1, 0) == 1)
		return write(fd, iov.iov_base, iov.iov_len);
	errno = EAGAIN;
	return -1;
}

int fd_write_within(int fd, const void *buf, size_t len, int patience_ms)
{
	struct stat st;
	const char *at = buf;
	if (fstat(fd, &st) < 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return fd_write_all(fd, buf, len);
	const int64_t until = monotonic_ms() + patience_ms;
	while (len > 0) {
		ssize_t n = fd_write_now(fd, at, len);
		if (n >= 0) {
			at += n;
			len -= (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -1;
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		const int64_t left = until - monotonic_ms();
		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		poll(&p, 1, (int)left);
	}
	return 0;
}

enum { IN_FLIGHT_MS = 2, IN_FLIGHT_TURNS = 2000 };

int fd_send(int sock, const void *record, size_t len, const int *fds, size_t nfds)
{
	if (nfds > FD_PASS_MAX) {
		errno = EINVAL;
		return -1;
	}
	struct iovec iov = {.iov_base = (void *)(uintptr_t)record, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control;
	if (nfds > 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
	}
	ssize_t n;
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n != len) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}

/* No event tells that somebody took one. */
int fd_hand_over(int sock, const void *record, size_t len, const int *fds, size_t nfds)
{
	int rc = fd_send(sock, record, len, fds, nfds);
	for (int i = 0; rc < 0 && errno == ETOOMANYREFS && i < IN_FLIGHT_TURNS; i++) {
		poll(NULL, 0, IN_FLIGHT_MS);
		rc = fd_send(sock, record, len, fds, nfds);
	}
	return rc;
}

static size_t take_fds(struct msghdr *msg, int *fds, size_t room)
{
	size_t got = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (got < room)
				fds[got++] = fd;
			else
				close(fd);
		}
	}
	return got;
}

int fd_recv(int sock, void *record, size_t len, int *fds, size_t *nfds)
{
	struct iovec iov = {.iov_base = record, .iov_len = len};
	union control control;
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t n;
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	size_t room = nfds ? *nfds : 0;
	size_t got = take_fds(&msg, fds, room);
	if (n == 0 && got == 0) {
		if (nfds)
			*nfds = 0;
		return 0;
	}
	if ((size_t)n != len || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		while (got > 0)
			close(fds[--got]);
		errno = EPROTO;
		return -1;
	}
	if (nfds)
		*nfds = got;
	return 1;
}
