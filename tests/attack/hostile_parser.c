/* A parser that was taken over, in the very jail of the real one: this file's parser_run() stands
 * in for network/broker/parser.c, everything else of pinfold-egress is what is shipped.
 *
 * The first name of the rules says which attempt to make (tests/attack/egress-parser.t): what comes
 * of it is reported as a row of the result, unless the filter ends the process. */
#include "tests/attack/hostile.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void say_errno(struct act *a, const char *what, long rc)
{
	snprintf(a->said, sizeof(a->said), "%s: %s", what, rc < 0 ? strerrorname_np(errno) : "done");
}

/* ---- system calls of its own ---- */

static void make_socket(struct act *a)
{
	say_errno(a, "socket", socket(AF_INET, SOCK_STREAM, 0));
}

static void make_unix_socket(struct act *a)
{
	say_errno(a, "socket", socket(AF_UNIX, SOCK_STREAM, 0));
}

static const struct sockaddr_in loopback = {.sin_family = AF_INET,
					    .sin_port = 7000 >> 8 | (7000 & 255) << 8,
					    .sin_addr = {0x0100007f}};

/* A connected one, by the dialer: of the first rule for a block that has UDP. */
static int outside_socket(struct act *a)
{
	struct dial_request q = {.kind = DIAL_CONNECT, .transport = EGRESS_UDP};
	struct dial_reply reply;
	int fd = -1;
	size_t len = 1;
	const struct egress_list *l = a->p->rules;
	while (q.index < l->len && (l->rules[q.index].target != EGRESS_BLOCK ||
				    l->rules[q.index].transport != EGRESS_UDP))
		q.index++;
	if (q.index == l->len)
		_exit(9);
	q.address = l->rules[q.index].network;
	q.port = l->rules[q.index].ports[0].first;
	if (write(a->p->dialer, &q, sizeof(q)) < 0 ||
	    fd_recv(a->p->dialer, &reply, sizeof(reply), &fd, &len) != 1 || len != 1)
		_exit(9);
	return fd;
}

static void connect_again(struct act *a)
{
	say_errno(a, "connect",
		  connect(outside_socket(a), (const struct sockaddr *)&loopback, sizeof(loopback)));
}

static void send_elsewhere(struct act *a)
{
	say_errno(a, "sendto",
		  sendto(outside_socket(a), "x", 1, 0, (const struct sockaddr *)&loopback,
			 sizeof(loopback)));
}

static void sendmsg_elsewhere(struct act *a)
{
	char byte = 0;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	const struct msghdr m = {.msg_name = (void *)(uintptr_t)&loopback,
				 .msg_namelen = sizeof(loopback),
				 .msg_iov = &part,
				 .msg_iovlen = 1};
	say_errno(a, "sendmsg", sendmsg(outside_socket(a), &m, 0));
}

static void bind_it(struct act *a)
{
	say_errno(a, "bind",
		  bind(outside_socket(a), (const struct sockaddr *)&loopback, sizeof(loopback)));
}

/* The socket to the dialer is one of the host's network namespace. */
static void abstract_name(struct act *a)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "\0pinfold-canary"};
	say_errno(a, "connect",
		  connect(a->p->dialer, (const struct sockaddr *)&to,
			  offsetof(struct sockaddr_un, sun_path) + 15));
}

static void abstract_sendto(struct act *a)
{
	const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "\0pinfold-canary"};
	say_errno(a, "sendto",
		  sendto(a->p->dialer, "x", 1, 0, (const struct sockaddr *)&to,
			 offsetof(struct sockaddr_un, sun_path) + 15));
}

static void open_file(struct act *a)
{
	say_errno(a, "open", open("/etc/passwd", O_RDONLY));
}

static void run_shell(struct act *a)
{
	char word[] = "true";
	char *const argv[] = {word, NULL};
	say_errno(a, "execve", execve("/bin/true", argv, NULL));
}

static void fork_it(struct act *a)
{
	const long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	say_errno(a, "fork", pid);
}

static void kill_parent(struct act *a)
{
	say_errno(a, "kill", kill(getppid(), 0));
}

static void trace_parent(struct act *a)
{
	say_errno(a, "ptrace", ptrace(PTRACE_SEIZE, getppid(), 0, 0));
}

static void make_code(struct act *a)
{
	say_errno(a, "mmap",
		  mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0) == MAP_FAILED
			  ? -1
			  : 0);
}

static void new_user_namespace(struct act *a)
{
	say_errno(a, "unshare", syscall(SYS_unshare, 0x10000000));
}

static void filter_socket(struct act *a)
{
	const int on = 1;
	say_errno(a, "setsockopt", setsockopt(a->p->dialer, SOL_SOCKET, SO_MARK, &on, sizeof(on)));
}

/* ---- lies to the supervisor ---- */

static void odd_row(struct act *a)
{
	struct egress_report r = {.type = EGRESS_ROW, .row = 9999, .verdict = 99};
	memset(r.name, 'x', sizeof(r.name));
	say_errno(a, "row", send(a->p->supervisor, &r, sizeof(r), MSG_NOSIGNAL));
}

/* A row like any other, but for a sum that, with another of its kind, no document may have. */
static void huge_sum(struct act *a)
{
	const struct egress_report r = {.type = EGRESS_ROW,
					.rule = EGRESS_NO_RULE,
					.count = 1,
					.sent_bytes = INT64_MAX};
	say_errno(a, "row", send(a->p->supervisor, &r, sizeof(r), MSG_NOSIGNAL));
}

/* A row of what has none of its own, which yet says what it is. */
static void odd_others(struct act *a)
{
	const struct egress_report r = {.type = EGRESS_ROW,
					.rule = EGRESS_NO_RULE,
					.others = true,
					.name = "evil.example",
					.count = 1};
	say_errno(a, "row", send(a->p->supervisor, &r, sizeof(r), MSG_NOSIGNAL));
}

/* What never happened. */
static void no_count(struct act *a)
{
	const struct egress_report r = {.type = EGRESS_ROW, .rule = EGRESS_NO_RULE};
	say_errno(a, "row", send(a->p->supervisor, &r, sizeof(r), MSG_NOSIGNAL));
}

/* More than a broker that is well ever says. */
static void flood(struct act *a)
{
	const struct egress_report r = {.type = EGRESS_ROW, .rule = EGRESS_NO_RULE, .count = 1};
	long sent = 0;
	while (send(a->p->supervisor, &r, sizeof(r), MSG_NOSIGNAL) == sizeof(r) && sent < 1000000)
		sent++;
	snprintf(a->said, sizeof(a->said), "flood: %ld", sent);
}

static void odd_record(struct act *a)
{
	say_errno(a, "record", send(a->p->supervisor, "x", 1, MSG_NOSIGNAL));
}

static const struct hostile_act acts[] = {
	{"socket", make_socket},
	{"unix-socket", make_unix_socket},
	{"connect", connect_again},
	{"sendto", send_elsewhere},
	{"sendmsg", sendmsg_elsewhere},
	{"bind", bind_it},
	{"abstract-connect", abstract_name},
	{"abstract-sendto", abstract_sendto},
	{"open", open_file},
	{"execve", run_shell},
	{"fork", fork_it},
	{"kill", kill_parent},
	{"ptrace", trace_parent},
	{"mmap", make_code},
	{"unshare", new_user_namespace},
	{"setsockopt", filter_socket},
	{"odd-row", odd_row},
	{"huge-sum", huge_sum},
	{"odd-others", odd_others},
	{"no-count", no_count},
	{"odd-record", odd_record},
	{"flood", flood},
};

static void report(const struct parser *p, const struct act *a)
{
	struct egress_report r = {.type = EGRESS_ROW, .rule = EGRESS_NO_RULE, .count = 1};
	memcpy(r.reason, a->said, sizeof(a->said));
	if (send(p->supervisor, &r, sizeof(r), MSG_NOSIGNAL) < 0)
		_exit(9);
}

static void run_named(struct act *a, const struct hostile_act *all, size_t len, const char *wanted)
{
	for (size_t i = 0; i < len; i++) {
		const size_t at = strlen(all[i].name);
		if (strncmp(wanted, all[i].name, at) == 0 && wanted[at] == '.')
			all[i].run(a);
	}
}

void parser_run(const struct parser *p)
{
	struct act a = {.p = p};
	char end;
	while (a.rule < p->rules->len && p->rules->rules[a.rule].target != EGRESS_NAME)
		a.rule++;
	if (a.rule == p->rules->len)
		_exit(9);
	const char *wanted = p->rules->rules[a.rule].name->text;
	run_named(&a, acts, sizeof(acts) / sizeof(acts[0]), wanted);
	run_named(&a, hostile_dials, hostile_dials_len, wanted);
	report(p, &a);
	if (recv(p->supervisor, &end, 1, 0) < 0)
		_exit(9);
}
