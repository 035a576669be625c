/* From execve to three jailed processes.
 *
 * What is trusted is read first: the supervisor's config, /etc/resolv.conf. Then all parts' common
 * jail (runtime/confine.h), in the time that the kernel needs for the sandbox's network; then come the
 * sandbox's sockets, made by pid 1 before anything hostile runs; then the forks. This process becomes
 * the dialer, because the supervisor waits for it and it for the others, so that none is left; its
 * children become the resolver and the parser. Nothing hostile is read before all filters are loaded.
 */
#include "runtime/broker.h"

#include "base/arena.h"
#include "base/fd.h"
#include "network/broker/dialer.h"
#include "network/broker/parser.h"
#include "network/broker/resolver.h"
#include "runtime/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DIALER_DATA_BYTES = 4 << 20,
	PARSER_DATA_BYTES = 32 << 20,
	RESOLVER_DATA_BYTES = 16 << 20,
	/* Each of them has every rule: its name, its place in tables, its text and its ports. */
	RULE_DATA_BYTES = 512,
	RULE_DATA_TIMES = 4, /* so much for a byte of its text */
	DIALER_FILES = 1024, /* it holds the sandbox's datagram sockets, and one more at a time */
	PARSER_FILES = 4096,
	RESOLVER_FILES = 64,
};

/* The last address of a name is dialled so long after the name was known, at most: eight of them,
 * 250 ms apart, and whatever the parser was kept from meanwhile. */
#define DIALLING_NS 60000000000LL

struct broker_start {
	struct arena arena;
	struct egress_config config;
	struct egress_list rules;
	struct resolver *resolver;
	struct name_server servers[NAME_SERVERS_MAX];
	size_t servers_len;
	struct sandbox_socket sockets[SANDBOX_SOCKETS_MAX];
	size_t sockets_len;
	int datagram[SANDBOX_SOCKETS_MAX];
	size_t datagram_len;
	pid_t supervisor;
};

static int take_rule(struct broker_start *s, struct err *e)
{
	char text[EGRESS_RULE_BYTES_MAX + 1];
	const ssize_t n = recv(EGRESS_SUPERVISOR_FD, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return err_sys(e, "egress: take a rule from the supervisor");
	text[n] = '\0';
	return egress_list_add(&s->rules, text, &s->arena, e);
}

static int take_config(struct broker_start *s, struct err *e)
{
	const int got = fd_recv(EGRESS_SUPERVISOR_FD, &s->config, sizeof(s->config), NULL, NULL);
	if (got != 1 || s->config.size != sizeof(s->config) || s->config.rules > EGRESS_RULES_MAX)
		return err_host(e, "egress: no config, or another build's");
	egress_list_reserve(&s->rules, s->config.rules, &s->arena);
	for (uint32_t i = 0; i < s->config.rules; i++)
		if (take_rule(s, e) < 0)
			return -1;
	if (s->rules.len != s->config.rules)
		return err_bug(e, "egress: rules that are one");
	return 0;
}

static uint64_t data_bytes(const struct broker_start *s, uint64_t own)
{
	return own + (uint64_t)s->rules.len * RULE_DATA_BYTES +
	       (uint64_t)s->rules.bytes * RULE_DATA_TIMES;
}

static void drop_sockets(struct broker_start *s)
{
	while (s->sockets_len > 0)
		close(s->sockets[--s->sockets_len].fd);
	s->datagram_len = 0;
}

static int add_socket(struct broker_start *s, int *fd, uint16_t port, enum egress_transport t,
		      struct err *e)
{
	if (s->sockets_len == SANDBOX_SOCKETS_MAX)
		return err_bug(e, "egress: too many sockets of the sandbox");
	struct sandbox_socket *made = &s->sockets[s->sockets_len++];
	*made = (struct sandbox_socket){.fd = fd_take(fd), .port = port, .transport = t};
	if (t == EGRESS_UDP) {
		made->index = (uint32_t)s->datagram_len;
		s->datagram[s->datagram_len++] = made->fd;
	}
	return 0;
}

/* 1: more follow; 0: that was all. */
static int take_some(struct broker_start *s, struct err *e)
{
	struct egress_sockets r;
	int fds[FD_PASS_MAX] = {-1, -1, -1, -1};
	size_t len = FD_PASS_MAX;
	if (fd_recv(EGRESS_SANDBOX_FD, &r, sizeof(r), fds, &len) != 1)
		return err_host(e, "egress: the sandbox ended before it had handed out its sockets");
	if (r.type == EGRESS_SOCKETS_BEGIN)
		drop_sockets(s);
	int rc = r.count == len ? 0 : err_bug(e, "egress: sockets of the sandbox are missing");
	for (size_t i = 0; i < len; i++) {
		if (rc == 0)
			rc = add_socket(s, &fds[i], r.of[i].port,
					(enum egress_transport)r.of[i].transport, e);
		fd_close(&fds[i]);
	}
	return rc < 0 ? -1 : r.type != EGRESS_SOCKETS_DONE;
}

static int take_sockets(struct broker_start *s, struct err *e)
{
	int rc;
	do
		rc = take_some(s, e);
	while (rc == 1);
	close(EGRESS_SANDBOX_FD);
	return rc;
}

static int prepare(struct broker_start *s, struct err *e)
{
	if (take_config(s, e) < 0)
		return -1;
	s->resolver = resolver_open(e);
	if (!s->resolver)
		return -1;
	s->servers_len = resolver_servers(s->resolver, s->servers);
	/* A pipe or socket whose reader is gone is an errno here. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return err_sys(e, "egress: ignore SIGPIPE");
	if (confine_begin(s->config.uid, s->config.gid, e) < 0)
		return -1;
	return take_sockets(s, e);
}

static void say(enum egress_report_type type, const struct err *e)
{
	struct egress_report r = {.type = type};
	if (e)
		r.err = *e;
	if (send(EGRESS_SUPERVISOR_FD, &r, sizeof(r), MSG_NOSIGNAL) < 0)
		_exit(1); /* nobody is there to be told */
}

static _Noreturn void fail(const struct err *e)
{
	say(EGRESS_FAILED, e);
	_exit(1);
}

/* ---- the three parts ---- */

/* Both ends of what the dialer shares with another: [0] is the dialer's. */
struct link {
	int dial[2], names[2];
};

static int open_link(struct link *l, struct err *e)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->dial) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->names) < 0)
		return err_sys(e, "egress: socketpair");
	return 0;
}

static void close_end(const struct link *l, int end)
{
	close(l->dial[end]);
	close(l->names[end]);
}

/* So that `ps` tells them apart. */
static void be_called(const char *name)
{
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

static _Noreturn void be_resolver(const struct broker_start *s, const struct link *l, pid_t parent)
{
	struct err e = ERR_INIT;
	const struct confine_end jail = {.filter = &filter_resolver,
					 .data_bytes = data_bytes(s, RESOLVER_DATA_BYTES),
					 .files = RESOLVER_FILES};
	be_called("egress-resolver");
	int keep[] = {EGRESS_SUPERVISOR_FD, l->dial[1], l->names[1]};
	if (fd_close_others(keep, sizeof(keep) / sizeof(keep[0])) < 0) {
		err_sys(&e, "egress: close what is the others'");
		fail(&e);
	}
	if (confine_end(&jail, parent, &e) < 0)
		fail(&e);
	close(EGRESS_SUPERVISOR_FD);
	/* Its jail is said to be shut. */
	if (write(l->dial[1], "", 1) != 1)
		_exit(1);
	resolver_run(s->resolver, l->dial[1], l->names[1]);
	_exit(0);
}

static _Noreturn void be_parser(const struct broker_start *s, const struct link *l, pid_t parent)
{
	struct err e = ERR_INIT;
	char ready;
	const struct confine_end jail = {.filter = &filter_parser,
					 .data_bytes = data_bytes(s, PARSER_DATA_BYTES),
					 .files = PARSER_FILES};
	be_called("egress-parser");
	if (confine_end(&jail, parent, &e) < 0)
		fail(&e);
	/* The others' jails are said to be shut. */
	if (read(l->dial[1], &ready, 1) != 1)
		_exit(1);
	say(EGRESS_READY, NULL);
	parser_run(&(struct parser){.rules = &s->rules,
				    .config = &s->config,
				    .sockets = s->sockets,
				    .sockets_len = s->sockets_len,
				    .dialer = l->dial[1],
				    .names = l->names[1],
				    .supervisor = EGRESS_SUPERVISOR_FD});
	_exit(0);
}

static void close_listeners(const struct broker_start *s)
{
	for (size_t i = 0; i < s->sockets_len; i++)
		if (s->sockets[i].transport == EGRESS_TCP)
			close(s->sockets[i].fd);
}

static _Noreturn void be_dialer(const struct broker_start *s, const struct link *resolver,
				const struct link *parser)
{
	static struct answered answered;
	struct err e = ERR_INIT;
	char ready;
	const struct confine_end jail = {.filter = &filter_dialer,
					 .connects = true,
					 .data_bytes = data_bytes(s, DIALER_DATA_BYTES),
					 .files = DIALER_FILES};
	be_called("egress-dialer");
	close_listeners(s);
	if (confine_end(&jail, s->supervisor, &e) < 0)
		fail(&e);
	answered.keep_ns = DIALLING_NS;
	if (fd_recv(resolver->dial[0], &ready, 1, NULL, NULL) == 1 &&
	    fd_send(parser->dial[0], "", 1, NULL, 0) == 0)
		dialer_run(&(struct dialer){.rules = &s->rules,
					    .servers = s->servers,
					    .servers_len = s->servers_len,
					    .datagram = s->datagram,
					    .datagram_len = s->datagram_len,
					    .parser = {.dial = parser->dial[0],
						       .names = parser->names[0]},
					    .resolver = {.dial = resolver->dial[0],
							 .names = resolver->names[0]},
					    .answered = &answered});
	/* So that they see the end too. */
	close_end(resolver, 0);
	close_end(parser, 0);
	while (wait4(-1, NULL, 0, NULL) > 0 || errno == EINTR)
		;
	_exit(0);
}

static pid_t part(struct err *e)
{
	const pid_t pid = fork();
	if (pid < 0)
		err_sys(e, "egress: fork");
	return pid;
}

int broker_main(void)
{
	static struct broker_start s;
	struct err e = ERR_INIT;
	struct link resolver, parser;
	s.supervisor = getppid();
	/* Before it has a jail it dies with the supervisor by these two: the signal, and its socket. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (prepare(&s, &e) < 0 || open_link(&resolver, &e) < 0 || open_link(&parser, &e) < 0)
		fail(&e);
	const pid_t self = getpid();
	pid_t child = part(&e);
	if (child == 0)
		be_resolver(&s, &resolver, self);
	close_end(&resolver, 1);
	if (child > 0)
		child = part(&e);
	if (child < 0)
		fail(&e);
	if (child == 0) {
		close_end(&resolver, 0);
		close_end(&parser, 0);
		be_parser(&s, &parser, self);
	}
	close_end(&parser, 1);
	be_dialer(&s, &resolver, &parser);
}
