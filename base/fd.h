/* File descriptors: ownership, exact I/O, openat2, passing them over a socket.
 *
 * "No fd" is -1, never 0. Every fd is CLOEXEC at birth. A path travels as
 * (dirfd, name). Functions here keep errno as the system call left it.
 */
#ifndef PINFOLD_BASE_FD_H
#define PINFOLD_BASE_FD_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Close *fd if it is one; keeps errno. */
void fd_close(int *fd);
#define autoclose __attribute__((cleanup(fd_close)))

/* Every descriptor but these is closed; keep is sorted, -1 in it is none. For a child that goes on
 * without execve. 0, or -1 with errno (close_range(2)): then it must not go on. */
int fd_close_others(int *keep, size_t len);

/* Ownership moves, in one visible word: returns *fd and sets it to -1. */
int fd_take(int *fd);

/* openat2(2); resolve is a mask of RESOLVE_*. O_CLOEXEC is added. -1 and errno on failure. */
int fd_openat2(int dir, const char *name, uint64_t flags, uint64_t mode, uint64_t resolve);

/* Read a whole small file (procfs, sysfs, cgroupfs) into buf, NUL-terminated; a file that
 * does not fit is an error (E2BIG). Returns the length or -1 with errno. */
ssize_t fd_read_small(int dir, const char *name, char *buf, size_t size);

/* The same with a single read(2): for files that the kernel generates whole at the first read (one
 * record, less than a page), where a second read to see the end would be wasted. */
ssize_t fd_read_once(int dir, const char *name, char *buf, size_t size);

/* Write text to an existing file in one write(2). 0, or -1 with errno. */
int fd_write_small(int dir, const char *name, const char *text);

/* All of buf, through EINTR and short writes. 0, or -1 with errno. Blocks if fd does. */
int fd_write_all(int fd, const void *buf, size_t len);

/* The path of the folder that path's last component is in ("." where it says none), and where that begins. */
const char *fd_split(const char *path, char folder[PATH_MAX]);

/* path becomes what the link there leads to. False: it is no link. The kernel follows FD_LINKS_MAX of them. */
enum { FD_LINKS_MAX = 40 };
bool fd_follow(char path[PATH_MAX]);

/* open(2) of a file that the caller named to be written, as the kernel does with
 * fs.protected_symlinks, protected_regular and protected_fifos on (sysctl/fs.rst), whatever this
 * host has: in a folder that everybody may write to and that is sticky, a link is followed and an
 * existing file or FIFO taken only if it belongs to this user, to the folder's owner, or (a file)
 * to root; what a link leads to is held to the same. -1 and *e (ERR_USAGE: the caller named it). */
int fd_open_output(const char *path, int flags, mode_t mode, struct err *e);

/* The same for a folder that is there, to write into: another user's link there is not followed,
 * whether a slash stands behind it or not. Whose the folder is does not matter: names are made in
 * it, and none is replaced. */
int fd_open_output_folder(const char *path, struct err *e);

/* Whether that would work, without what opening may do: cut a file, wake the reader of a FIFO. */
int fd_check_output(const char *path, struct err *e);

/* Some of buf, without waiting for a reader, where the description is somebody else's and may block: -1 and
 * EAGAIN instead. For pipes, sockets and terminals; a regular file waits for its disk alone. */
ssize_t fd_write_now(int fd, const void *buf, size_t len);

/* All of buf, waiting for whoever reads for patience_ms in all. 0, or -1 with errno (ETIMEDOUT). */
int fd_write_within(int fd, const void *buf, size_t len, int patience_ms);

/* Exactly one record over a SOCK_SEQPACKET socket, with up to nfds descriptors.
 * send: 0 or -1. recv: 1 for a record of exactly len bytes, 0 for EOF, -1 for an error or a
 * record of another size (EPROTO) with every descriptor that came along closed. *nfds is
 * room in, received out; received ones are CLOEXEC. */
int fd_send(int sock, const void *record, size_t len, const int *fds, size_t nfds);
/* The same with patience: descriptors in flight are counted per user, so that one that nobody has
 * taken yet, in whatever socket of that user's, may be one too many (ETOOMANYREFS). Then again
 * until it goes, for some seconds. */
int fd_hand_over(int sock, const void *record, size_t len, const int *fds, size_t nfds);
int fd_recv(int sock, void *record, size_t len, int *fds, size_t *nfds);

enum { FD_PASS_MAX = 4 };

#endif
