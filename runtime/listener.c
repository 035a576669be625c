#include "runtime/listener.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	ANSWER_BYTES = 32 * 1024, /* what the kernel puts into one message of a dump at most */
	LOOK_SECONDS = 1,
};

static struct timespec deadline(void)
{
	struct timespec t = {0};
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += LOOK_SECONDS;
	return t;
}

static bool is_past(const struct timespec *until)
{
	struct timespec t = {0};
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec > until->tv_sec || (t.tv_sec == until->tv_sec && t.tv_nsec > until->tv_nsec);
}

/* ---- whose the names are ---- */

static int ask(int fd, bool bound_too)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} message = {
		.head = {.nlmsg_len = sizeof(message),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.req = {.sdiag_family = AF_UNIX,
			.udiag_states = 1U << TCP_LISTEN | (bound_too ? 1U << TCP_CLOSE : 0),
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID},
	};
	return send(fd, &message, sizeof(message), 0) == sizeof(message) ? 0 : -1;
}

/* False: a socket of another type, or one that has no name. */
static bool read_listener(struct listener *l, const struct nlmsghdr *head)
{
	const struct unix_diag_msg *msg = NLMSG_DATA(head);
	bool owned = false;
	int left = (int)NLMSG_PAYLOAD(head, sizeof(*msg));
	if (left < 0 || msg->udiag_type != SOCK_STREAM)
		return false;
	*l = (struct listener){.inode = msg->udiag_ino};
	for (const struct rtattr *a = (const struct rtattr *)(msg + 1); RTA_OK(a, left);
	     a = RTA_NEXT(a, left)) {
		if (a->rta_type == UNIX_DIAG_NAME) {
			l->name = RTA_DATA(a);
			l->len = RTA_PAYLOAD(a);
		} else if (a->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(a) == sizeof(l->uid)) {
			memcpy(&l->uid, RTA_DATA(a), sizeof(l->uid));
			owned = true;
		}
	}
	return l->name && owned;
}

enum { MORE = 2 }; /* beside what listener_each() returns */

static int read_message(const struct nlmsghdr *head, uint32_t left,
			bool (*each)(const struct listener *l, void *arg), void *arg)
{
	struct listener l;
	for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
		const struct nlmsgerr *refusal = NLMSG_DATA(head);
		if (head->nlmsg_type == NLMSG_DONE)
			return 1;
		if (head->nlmsg_type == NLMSG_ERROR) {
			errno = -refusal->error;
			return -1;
		}
		if (read_listener(&l, head) && !each(&l, arg))
			return 0;
	}
	return MORE;
}

int listener_each(bool bound_too, bool (*each)(const struct listener *l, void *arg), void *arg,
		  struct err *e)
{
	const struct timespec until = deadline();
	struct nlmsghdr *answer = malloc(ANSWER_BYTES);
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int rc = answer && fd >= 0 && ask(fd, bound_too) == 0 ? MORE : -1;
	while (rc == MORE) {
		const ssize_t n = recv(fd, answer, ANSWER_BYTES, 0);
		if (n >= 0)
			rc = read_message(answer, (uint32_t)n, each, arg);
		else if (errno != EINTR)
			rc = -1;
		if (rc == MORE && is_past(&until))
			rc = 0;
	}
	free(answer);
	if (rc < 0)
		return err_sys(e, "registry: ask the kernel about unix sockets (CONFIG_UNIX_DIAG)");
	return rc;
}

/* ---- who has them ---- */

static DIR *open_list(int dir, const char *name)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	if (list)
		fd_take(&fd);
	return list;
}

/* The inode in "socket:[INODE]"; 0 for a descriptor of another kind. */
static uint32_t socket_inode(int dir, const char *name)
{
	static const char kind[] = "socket:[";
	char to[64];
	const ssize_t n = readlinkat(dir, name, to, sizeof(to) - 1);
	if (n < 0)
		return 0;
	to[n] = '\0';
	if (strncmp(to, kind, sizeof(kind) - 1) != 0)
		return 0;
	return (uint32_t)strtoul(to + sizeof(kind) - 1, NULL, 10);
}

/* How many of the wanted it has that nobody seen before has. */
static size_t match_descriptors(DIR *list, pid_t pid, struct listener_holder *wanted, size_t count)
{
	size_t found = 0;
	const int fds = dirfd(list);
	for (const struct dirent *d; fds >= 0 && (d = readdir(list));) {
		const uint32_t inode = socket_inode(fds, d->d_name);
		for (size_t i = 0; inode && i < count; i++) {
			if (wanted[i].inode != inode || wanted[i].pid)
				continue;
			wanted[i].pid = pid;
			found++;
		}
	}
	return found;
}

/* Folders of /proc/PID itself belong to the effective user, dumpable or not: nobody can put a
 * process of theirs with any number of descriptors in the way. */
static size_t match_process(int proc, const char *name, struct listener_holder *wanted, size_t count)
{
	char fds[32];
	struct stat st;
	const long pid = strtol(name, NULL, 10);
	if (pid <= 0 || fstatat(proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid())
		return 0;
	snprintf(fds, sizeof(fds), "%.16s/fd", name);
	DIR *list = open_list(proc, fds);
	if (!list)
		return 0;
	const size_t found = match_descriptors(list, (pid_t)pid, wanted, count);
	closedir(list);
	return found;
}

bool listener_holders(struct listener_holder *wanted, size_t count)
{
	const struct timespec until = deadline();
	size_t left = count;
	bool in_time = true;
	DIR *proc = open_list(AT_FDCWD, "/proc");
	for (const struct dirent *d; proc && left && in_time && (d = readdir(proc));) {
		left -= match_process(dirfd(proc), d->d_name, wanted, count);
		in_time = !is_past(&until);
	}
	if (proc)
		closedir(proc);
	return in_time || !left;
}

bool listener_is_held(uint32_t inode, pid_t pid)
{
	char name[16];
	struct listener_holder wanted = {.inode = inode};
	snprintf(name, sizeof(name), "%d", pid);
	autoclose int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return proc >= 0 && match_process(proc, name, &wanted, 1) == 1;
}
