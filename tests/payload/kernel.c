/* Verbs that knock on the kernel: raw system calls, sockets, foreign ABIs. */
#include "payload.h"
#include "abi.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* "syscall NR RETURN ENAME" */
static int raw(int argc, char **argv)
{
	long a[6] = {0};
	for (int i = 1; i < argc && i <= 6; i++)
		a[i - 1] = parse_number(argv[i]);
	errno = 0;
	long got = syscall(parse_number(argv[0]), a[0], a[1], a[2], a[3], a[4], a[5]);
	say("syscall %s %ld %s", argv[0], got, errno_name(errno));
	return 0;
}

static int foreign(int argc, char **argv)
{
	(void)argc;
	long got = abi_foreign(argv[0], parse_number(argv[1]));
	say("foreign %s %s %ld", argv[0], argv[1], got);
	return 0;
}

/* "connect ADDRESS PORT ENAME", within a second. */
static int do_connect(int argc, char **argv)
{
	(void)argc;
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)parse_number(argv[1]))};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = v4.sin_port};
	bool six = inet_pton(AF_INET6, argv[0], &v6.sin6_addr) == 1;
	if (!six && inet_pton(AF_INET, argv[0], &v4.sin_addr) != 1)
		return fail("inet_pton");
	int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail("socket");
	int error = 0;
	if (connect(fd, six ? (void *)&v6 : (void *)&v4, six ? sizeof(v6) : sizeof(v4)) < 0)
		error = errno;
	if (error == EINPROGRESS) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		socklen_t len = sizeof(error);
		if (poll(&p, 1, 1000) != 1)
			error = ETIMEDOUT;
		else
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
	say("connect %s %s %s", argv[0], argv[1], errno_name(error));
	close(fd);
	return 0;
}

/* A name that begins with @ is abstract. */
static int connect_unix(int argc, char **argv)
{
	(void)argc;
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t len = strlen(argv[0]);
	if (len >= sizeof(un.sun_path))
		return 99;
	memcpy(un.sun_path, argv[0], len);
	if (un.sun_path[0] == '@')
		un.sun_path[0] = '\0';
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail("socket");
	int error = connect(fd, (void *)&un,
			    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0
			    ? errno
			    : 0;
	say("connect-unix %s %s", argv[0], errno_name(error));
	close(fd);
	return 0;
}

/* A server and a client in one program: one byte over loopback. */
static int echo_over(int family, const char *name)
{
	struct sockaddr_storage addr = {.ss_family = (sa_family_t)family};
	socklen_t len = family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	if (family == AF_INET6)
		((struct sockaddr_in6 *)&addr)->sin6_addr = in6addr_loopback;
	else
		((struct sockaddr_in *)&addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int server = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0 || client < 0 || bind(server, (void *)&addr, len) < 0 ||
	    listen(server, 1) < 0 || getsockname(server, (void *)&addr, &len) < 0 ||
	    connect(client, (void *)&addr, len) < 0)
		return fail(name);
	int peer = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	char byte = 0;
	if (peer < 0 || send(client, "x", 1, 0) != 1 || recv(peer, &byte, 1, 0) != 1 || byte != 'x')
		return fail(name);
	close(peer);
	close(client);
	close(server);
	say("loopback %s ok", name);
	return 0;
}

static int loopback(int argc, char **argv)
{
	(void)argc, (void)argv;
	int code = echo_over(AF_INET, "127.0.0.1");
	return echo_over(AF_INET6, "::1") | code;
}

/* "socket FAMILY TYPE PROTOCOL ENAME" */
static int do_socket(int argc, char **argv)
{
	(void)argc;
	int fd = socket((int)parse_number(argv[0]), (int)parse_number(argv[1]),
			(int)parse_number(argv[2]));
	say("socket %s %s %s %s", argv[0], argv[1], argv[2], errno_name(fd < 0 ? errno : 0));
	if (fd >= 0)
		close(fd);
	return 0;
}

const struct verb verbs_kernel[] = {
	{"syscall", 1, raw, "NR [ARG...]: return value and errno"},
	{"foreign", 2, foreign, "i386|x32 NR: a system call of another ABI, all arguments -1"},
	{"connect", 2, do_connect, "ADDRESS PORT"},
	{"connect-unix", 1, connect_unix, "PATH|@NAME"},
	{"loopback", 0, loopback, "a connection to itself over 127.0.0.1 and ::1"},
	{"socket", 3, do_socket, "FAMILY TYPE PROTOCOL, as numbers"},
	{NULL, 0, NULL, NULL},
};
