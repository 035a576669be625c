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
#include <unistd.h>

enum { ANSWER_BYTES = 32 * 1024 }; /* what the kernel puts into one message of a dump at most */

static int ask(int fd, bool any_state)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} message = {
		.head = {.nlmsg_len = sizeof(message),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.req = {.sdiag_family = AF_UNIX,
			.udiag_states = any_state ? ~0U : 1U << TCP_LISTEN,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID},
	};
	return send(fd, &message, sizeof(message), 0) == sizeof(message) ? 0 : -1;
}

/* Whether the message is about l, which has the answer then. */
static bool is_about(struct listener *l, const struct nlmsghdr *head)
{
	const struct unix_diag_msg *msg = NLMSG_DATA(head);
	bool named = false, owned = false;
	int left = (int)NLMSG_PAYLOAD(head, sizeof(*msg));
	if (left < 0 || msg->udiag_type != SOCK_STREAM)
		return false;
	for (const struct rtattr *a = (const struct rtattr *)(msg + 1); RTA_OK(a, left);
	     a = RTA_NEXT(a, left)) {
		if (a->rta_type == UNIX_DIAG_NAME)
			named = RTA_PAYLOAD(a) == l->len && memcmp(RTA_DATA(a), l->name, l->len) == 0;
		owned = owned || (a->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(a) == sizeof(l->uid));
		if (a->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(a) == sizeof(l->uid))
			memcpy(&l->uid, RTA_DATA(a), sizeof(l->uid));
	}
	l->inode = msg->udiag_ino;
	return named && owned;
}

/* 1 found, 0 not here, 2 that was the last message, -1 the kernel refused. */
static int look_through(struct listener *l, const struct nlmsghdr *head, uint32_t left)
{
	for (; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
		const struct nlmsgerr *refusal = NLMSG_DATA(head);
		if (head->nlmsg_type == NLMSG_DONE)
			return 2;
		if (head->nlmsg_type == NLMSG_ERROR) {
			errno = -refusal->error;
			return -1;
		}
		struct listener seen = *l;
		if (!is_about(&seen, head))
			continue;
		*l = seen;
		return 1;
	}
	return 0;
}

int listener_find(struct listener *l, struct err *e)
{
	struct nlmsghdr *answer = malloc(ANSWER_BYTES);
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int rc = answer && fd >= 0 ? ask(fd, l->any_state) : -1;
	while (rc == 0) {
		const ssize_t n = recv(fd, answer, ANSWER_BYTES, 0);
		if (n >= 0)
			rc = look_through(l, answer, (uint32_t)n);
		else if (errno != EINTR)
			rc = -1;
	}
	free(answer);
	if (rc < 0)
		return err_sys(e, "registry: ask the kernel about unix sockets (CONFIG_UNIX_DIAG)");
	return rc == 1;
}

static DIR *open_list(int dir, const char *name)
{
	autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	if (list)
		fd_take(&fd);
	return list;
}

/* Whether the process of that folder in proc has a descriptor that shows as link. */
static bool has_descriptor(int proc, const char *pid, const char *link)
{
	char name[64], to[64];
	bool found = false;
	snprintf(name, sizeof(name), "%.16s/fd", pid);
	DIR *list = open_list(proc, name);
	if (!list)
		return false;
	for (const struct dirent *d; !found && (d = readdir(list));) {
		const ssize_t n = readlinkat(dirfd(list), d->d_name, to, sizeof(to));
		found = n > 0 && (size_t)n == strlen(link) && memcmp(to, link, (size_t)n) == 0;
	}
	closedir(list);
	return found;
}

pid_t listener_holder(const struct listener *l)
{
	char link[40];
	pid_t holder = 0;
	snprintf(link, sizeof(link), "socket:[%u]", l->inode);
	DIR *list = open_list(AT_FDCWD, "/proc");
	if (!list)
		return 0;
	for (const struct dirent *d; !holder && (d = readdir(list));) {
		const long pid = strtol(d->d_name, NULL, 10);
		if (pid > 0 && has_descriptor(dirfd(list), d->d_name, link))
			holder = (pid_t)pid;
	}
	closedir(list);
	return holder;
}
