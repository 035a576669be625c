/* What the dialer opens, and for what it makes not even a socket. On this host's loopback alone. */
#include "network/broker/dialer.h"

#include "network/egress/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct address address(const char *text)
{
	struct address a;
	if (!address_read(&a, text, strlen(text)))
		fail_msg("%s is no address", text);
	return a;
}

struct world {
	struct arena arena;
	struct egress_list rules;
	struct dialer dialer;
	struct answered answered;
	struct name_server server;
	int listener;
	uint16_t port;
};

static uint16_t port_of(int fd)
{
	struct sockaddr_in own = {.sin_port = 0};
	socklen_t len = sizeof(own);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &len), 0);
	return ntohs(own.sin_port);
}

static int set_up(void **state)
{
	static struct world w;
	const struct sockaddr_in loopback = {.sin_family = AF_INET,
					     .sin_addr = {htonl(INADDR_LOOPBACK)}};
	w = (struct world){.arena = ARENA_INIT};
	w.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (w.listener < 0)
		return -1;
	assert_int_equal(bind(w.listener, (const struct sockaddr *)&loopback, sizeof(loopback)), 0);
	assert_int_equal(listen(w.listener, 8), 0);
	w.port = port_of(w.listener);
	w.server = (struct name_server){address("127.0.0.1"), w.port, w.port};
	w.dialer = (struct dialer){.rules = &w.rules,
				   .servers = &w.server,
				   .servers_len = 1,
				   .answered = &w.answered};
	w.answered.keep_ns = 1000000000;
	*state = &w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	close(w->listener);
	arena_free(&w->arena);
	return 0;
}

static void add(struct world *w, const char *host)
{
	struct err e = ERR_INIT;
	const char *text = arena_printf(&w->arena, "%s:%u", host, w->port);
	if (egress_list_add(&w->rules, text, &w->arena, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
}

/* The number of the rule for host: they are sorted by their text. */
static uint32_t number(const struct world *w, const char *host)
{
	for (uint32_t i = 0; i < w->rules.len; i++)
		if (strncmp(w->rules.rules[i].text, host, strlen(host)) == 0)
			return i;
	fail_msg("there is no rule for %s", host);
	return 0;
}

static struct dial_reply ask(const struct world *w, const struct dial_request *q, int *fd)
{
	struct dial_reply reply;
	dialer_answer(&w->dialer, q, &reply, fd);
	return reply;
}

static void refused(const struct world *w, struct dial_request q, enum address_verdict why)
{
	int fd;
	const struct dial_reply reply = ask(w, &q, &fd);
	assert_int_equal(reply.refused, why);
	assert_int_equal(reply.sys, 0);
	assert_int_equal(fd, -1);
}

static void test_connects(void **state)
{
	struct world *w = *state;
	add(w, "private:127.0.0.1");
	int fd;
	const struct dial_reply reply = ask(w,
					    &(struct dial_request){.kind = DIAL_CONNECT,
								   .index = 0,
								   .transport = EGRESS_TCP,
								   .port = w->port,
								   .address = address("127.0.0.1")},
					    &fd);
	assert_int_equal(reply.refused, ADDRESS_PERMITTED);
	assert_true(fd >= 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	assert_int_equal(poll(&p, 1, 5000), 1);
	const int other = accept(w->listener, NULL, NULL);
	assert_true(other >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(other);
	close(fd);
}

static void test_refuses(void **state)
{
	struct world *w = *state;
	add(w, "host.example");
	add(w, "udp:time.example");
	add(w, "10.1.2.0/24");
	const struct dial_request good = {.kind = DIAL_CONNECT,
					  .index = number(w, "host.example"),
					  .transport = EGRESS_TCP,
					  .port = w->port};
	static const char *const bad[] = {"127.0.0.1",	   "10.1.2.3",	 "169.254.169.254",
					  "::1",	   "fe80::1",	 "64:ff9b::7f00:1",
					  "2002:7f00:1::", "198.18.1.0", "192.0.2.1"};
	struct dial_request q = good;
	for (size_t i = 0; i < LENGTH(bad); i++) {
		q.address = address(bad[i]);
		refused(w, q, ADDRESS_NOT_GLOBAL);
	}
	q.address = address("0.0.0.0");
	refused(w, q, ADDRESS_NEVER);
	q = good;
	q.address = address("93.184.216.34");
	q.port++;
	refused(w, q, ADDRESS_NO_PORT);
	q.port = 0;
	refused(w, q, ADDRESS_NO_PORT);
	q = good;
	q.index = (uint32_t)w->rules.len;
	refused(w, q, ADDRESS_NO_PORT);
	q.index = UINT32_MAX;
	refused(w, q, ADDRESS_NO_PORT);
	q = good;
	q.transport = EGRESS_UDP;
	refused(w, q, ADDRESS_NO_PORT);
	q.transport = 200;
	refused(w, q, ADDRESS_NO_PORT);
	q = good;
	q.index = number(w, "udp:time.example");
	refused(w, q, ADDRESS_NO_PORT);
	q.index = number(w, "10.1.2.0/24");
	q.address = address("10.1.3.3");
	refused(w, q, ADDRESS_OUTSIDE);
}

static void resolver_is_refused(const struct world *w, struct dial_request q, enum address_verdict why)
{
	struct dial_reply reply;
	int fd;
	dialer_answer_resolver(&w->dialer, &q, &reply, &fd);
	assert_int_equal(reply.refused, why);
	assert_int_equal(fd, -1);
}

/* The name servers are the resolver's alone, and nothing else is. */
static void test_servers(void **state)
{
	struct world *w = *state;
	add(w, "private:127.0.0.1");
	const struct dial_request server = {.kind = DIAL_SERVER, .transport = EGRESS_TCP},
				  other = {.kind = DIAL_CONNECT,
					   .transport = EGRESS_TCP,
					   .port = w->port,
					   .address = address("127.0.0.1")};
	struct dial_reply reply;
	int fd;
	dialer_answer_resolver(&w->dialer, &server, &reply, &fd);
	assert_int_equal(reply.refused, ADDRESS_PERMITTED);
	assert_true(fd >= 0);
	close(fd);
	refused(w, server, ADDRESS_NEVER);
	resolver_is_refused(w, other, ADDRESS_NEVER);
	resolver_is_refused(w, (struct dial_request){.kind = DIAL_SERVER, .index = 1},
			    ADDRESS_OUTSIDE);
	resolver_is_refused(w, (struct dial_request){.kind = DIAL_SERVER, .transport = 2},
			    ADDRESS_OUTSIDE);
	resolver_is_refused(w, (struct dial_request){.kind = 77}, ADDRESS_NEVER);
	refused(w, (struct dial_request){.kind = 77}, ADDRESS_NEVER);
	refused(w, (struct dial_request){.kind = 0}, ADDRESS_NEVER);
}

/* An address of the right class that no name of the rule was answered with. */
static void test_unanswered(void **state)
{
	struct world *w = *state;
	add(w, "host.example");
	add(w, "private:near.example");
	refused(w,
		(struct dial_request){.kind = DIAL_CONNECT,
				      .index = number(w, "host.example"),
				      .transport = EGRESS_TCP,
				      .port = w->port,
				      .address = address("93.184.216.34")},
		ADDRESS_UNANSWERED);
	refused(w,
		(struct dial_request){.kind = DIAL_CONNECT,
				      .index = number(w, "private:near.example"),
				      .transport = EGRESS_TCP,
				      .port = w->port,
				      .address = address("127.0.0.1")},
		ADDRESS_UNANSWERED);
}

static void test_answered(void **state)
{
	struct world *w = *state;
	add(w, "private:near.example");
	const struct dial_request q = {.kind = DIAL_CONNECT,
				       .transport = EGRESS_TCP,
				       .port = w->port,
				       .address = address("127.0.0.1")};
	struct name_question asked = {.port = w->port};
	struct server_question out;
	struct name_answer told;
	assert_int_equal(name_read(&asked.name, "near.example", 12), NAME_GOOD);
	assert_int_equal(answered_ask(&w->answered, &w->rules, &asked, &out), LOOKUP_FOUND);
	struct server_answer a = {.number = out.number, .life_ms = 1000, .len = 1};
	a.addresses[0] = q.address;
	/* The clock is the dialer's: an answer of long ago is over. */
	assert_true(answered_take(&w->answered, &w->rules, &a, -2000000000, &told));
	refused(w, q, ADDRESS_UNANSWERED);
	assert_int_equal(answered_ask(&w->answered, &w->rules, &asked, &out), LOOKUP_FOUND);
	a.number = out.number;
	assert_true(answered_take(&w->answered, &w->rules, &a, INT64_MAX / 2, &told));
	int fd;
	assert_int_equal(ask(w, &q, &fd).refused, ADDRESS_PERMITTED);
	assert_true(fd >= 0);
	close(fd);
}

/* A port that nobody listens at: nonblocking, so that the errno may come at once or by the socket. */
static void test_tells_the_errno(void **state)
{
	struct world *w = *state;
	add(w, "private:[::1]");
	int fd, error = 0;
	socklen_t len = sizeof(error);
	const struct dial_reply reply = ask(w,
					    &(struct dial_request){.kind = DIAL_CONNECT,
								   .index = 0,
								   .transport = EGRESS_TCP,
								   .port = w->port,
								   .address = address("::1")},
					    &fd);
	assert_int_equal(reply.refused, ADDRESS_PERMITTED);
	error = reply.sys;
	if (fd >= 0) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		assert_int_equal(poll(&p, 1, 5000), 1);
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
		close(fd);
	}
	/* A host without IPv6 has no way there. */
	assert_true(error == ECONNREFUSED || error == EADDRNOTAVAIL || error == EAFNOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_connects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refuses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_servers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unanswered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_answered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tells_the_errno, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
