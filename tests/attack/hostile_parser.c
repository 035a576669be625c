/* A parser that was taken over, in the very jail of the real one: this file's parser_run() stands
 * in for network/broker/parser.c, everything else of pinfold-egress is what is shipped.
 *
 * The first rule's name says which attempt to make (tests/attack/egress-parser.t): what comes of it
 * is reported as a row of the result, unless the filter ends the process. */
#include "base/fd.h"
#include "network/broker/broker.h"

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

struct act {
	const struct parser *p;
	char said[EGRESS_REASON_BYTES];
};

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

static int server_socket(struct act *a)
{
	struct dial_reply reply;
	int fd = -1;
	size_t len = 1;
	const struct dial_request q = {.kind = DIAL_RESOLVER, .transport = EGRESS_UDP};
	if (write(a->p->dialer, &q, sizeof(q)) < 0 ||
	    fd_recv(a->p->dialer, &reply, sizeof(reply), &fd, &len) != 1)
		_exit(9);
	return fd;
}

static void connect_again(struct act *a)
{
	say_errno(a, "connect",
		  connect(server_socket(a), (const struct sockaddr *)&loopback, sizeof(loopback)));
}

static void send_elsewhere(struct act *a)
{
	say_errno(a, "sendto",
		  sendto(server_socket(a), "x", 1, 0, (const struct sockaddr *)&loopback,
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
	say_errno(a, "sendmsg", sendmsg(server_socket(a), &m, 0));
}

static void bind_it(struct act *a)
{
	say_errno(a, "bind",
		  bind(server_socket(a), (const struct sockaddr *)&loopback, sizeof(loopback)));
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

/* ---- by the dialer ---- */

static void ask(struct act *a, const struct dial_request *q)
{
	struct dial_reply reply;
	int fd = -1;
	size_t len = 1;
	if (write(a->p->dialer, q, sizeof(*q)) < 0 ||
	    fd_recv(a->p->dialer, &reply, sizeof(reply), &fd, &len) != 1)
		snprintf(a->said, sizeof(a->said), "dial: the dialer is gone");
	else if (len == 1)
		snprintf(a->said, sizeof(a->said), "dial: done");
	else
		snprintf(a->said, sizeof(a->said), "dial: %s, %s",
			 address_verdict_text((enum address_verdict)reply.refused),
			 reply.sys ? strerrorname_np(reply.sys) : "no call");
}

static struct dial_request request(const char *address, uint16_t port)
{
	struct dial_request q = {.kind = DIAL_CONNECT, .transport = EGRESS_TCP, .port = port};
	if (!address_read(&q.address, address, strlen(address)))
		_exit(9);
	return q;
}

static void dial_as_a_rule_says(struct act *a)
{
	const struct dial_request q = request("93.184.216.10", 7000);
	ask(a, &q);
}

static void dial_loopback(struct act *a)
{
	const struct dial_request q = request("127.0.0.1", 7000);
	ask(a, &q);
}

static void dial_mapped_loopback(struct act *a)
{
	const struct dial_request q = request("64:ff9b::7f00:1", 7000);
	ask(a, &q);
}

static void dial_metadata(struct act *a)
{
	const struct dial_request q = request("169.254.169.254", 7000);
	ask(a, &q);
}

static void dial_private(struct act *a)
{
	const struct dial_request q = request("10.1.2.3", 7000);
	ask(a, &q);
}

static void dial_other_port(struct act *a)
{
	const struct dial_request q = request("93.184.216.10", 7001);
	ask(a, &q);
}

/* A denied name has no rule, so there is no number to ask by. */
static void dial_without_rule(struct act *a)
{
	struct dial_request q = request("93.184.216.66", 7000);
	q.index = 1;
	ask(a, &q);
}

static void dial_huge_rule(struct act *a)
{
	struct dial_request q = request("93.184.216.66", 7000);
	q.index = UINT32_MAX;
	ask(a, &q);
}

static void dial_udp(struct act *a)
{
	struct dial_request q = request("93.184.216.10", 7000);
	q.transport = EGRESS_UDP;
	ask(a, &q);
}

static void dial_odd_transport(struct act *a)
{
	struct dial_request q = request("93.184.216.10", 7000);
	q.transport = 200;
	ask(a, &q);
}

static void dial_odd_server(struct act *a)
{
	ask(a, &(struct dial_request){.kind = DIAL_RESOLVER, .index = 1000000});
}

static void dial_odd_kind(struct act *a)
{
	ask(a, &(struct dial_request){.kind = 77});
}

static void short_request(struct act *a)
{
	if (write(a->p->dialer, "x", 1) != 1)
		_exit(9);
	const struct dial_request q = request("93.184.216.10", 7000);
	ask(a, &q);
}

/* ---- lies to the supervisor ---- */

static void odd_row(struct act *a)
{
	struct egress_report r = {.type = EGRESS_ROW, .row = 9999, .verdict = 99};
	memset(r.name, 'x', sizeof(r.name));
	say_errno(a, "row", send(a->p->supervisor, &r, sizeof(r), MSG_NOSIGNAL));
}

/* A row like any other, but for a sum that no document may have. */
static void huge_sum(struct act *a)
{
	const struct egress_report r = {.type = EGRESS_ROW,
					.rule = EGRESS_NO_RULE,
					.count = 1,
					.sent_bytes = UINT64_MAX};
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

static const struct {
	const char *name;
	void (*run)(struct act *);
} acts[] = {
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
	{"dial-rule", dial_as_a_rule_says},
	{"dial-loopback", dial_loopback},
	{"dial-nat64-loopback", dial_mapped_loopback},
	{"dial-metadata", dial_metadata},
	{"dial-private", dial_private},
	{"dial-port", dial_other_port},
	{"dial-no-rule", dial_without_rule},
	{"dial-huge-rule", dial_huge_rule},
	{"dial-udp", dial_udp},
	{"dial-transport", dial_odd_transport},
	{"dial-server", dial_odd_server},
	{"dial-kind", dial_odd_kind},
	{"short-request", short_request},
	{"odd-row", odd_row},
	{"huge-sum", huge_sum},
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

void parser_run(const struct parser *p)
{
	struct act a = {.p = p};
	char end;
	const char *wanted = p->rules->rules[0].name.text;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		const size_t len = strlen(acts[i].name);
		if (strncmp(wanted, acts[i].name, len) == 0 && wanted[len] == '.')
			acts[i].run(&a);
	}
	report(p, &a);
	if (recv(p->supervisor, &end, 1, 0) < 0)
		_exit(9);
}
