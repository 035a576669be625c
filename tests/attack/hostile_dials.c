/* The part of hostile_parser.c that goes by the dialer: names that no rule has, addresses that
 * nobody answered, the name servers themselves. */
#include "tests/attack/hostile.h"

#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	/* Of one rule, or the first of two: its name stands before "udp:". */
	struct dial_request q = {.kind = DIAL_CONNECT, .transport = EGRESS_TCP, .port = port};
	if (!address_read(&q.address, address, strlen(address)))
		_exit(9);
	return q;
}

/* ---- names, by the dialer ---- */

static struct name_question question(const struct act *a, const char *name)
{
	struct name_question q = {.rule = a->rule};
	q.port = a->p->rules->rules[a->rule].ports[0].first;
	q.name.len = (unsigned char)strlen(name);
	memcpy(q.name.text, name, q.name.len);
	return q;
}

/* What the name servers say of it; false: it was not asked for. */
static bool ask_name(struct act *a, const void *q, size_t len, struct name_answer *answer)
{
	if (write(a->p->names, q, len) < 0 ||
	    fd_recv(a->p->names, answer, sizeof(*answer), NULL, NULL) != 1) {
		snprintf(a->said, sizeof(a->said), "name: the dialer is gone");
		return false;
	}
	snprintf(a->said, sizeof(a->said), "name: %s",
		 answer->failure == LOOKUP_NO_RULE ? "no rule"
		 : answer->failure == LOOKUP_FOUND ? "done"
						   : "failed");
	return answer->failure == LOOKUP_FOUND;
}

static void ask_text(struct act *a, const char *name)
{
	const struct name_question q = question(a, name);
	struct name_answer answer;
	ask_name(a, &q, sizeof(q), &answer);
}

/* Its own name with something before and behind it. */
static void ask_variant(struct act *a, const char *before, const char *behind)
{
	char name[NAME_BYTES_MAX + 1];
	snprintf(name, sizeof(name), "%s%s%s", before, a->p->rules->rules[a->rule].name->text, behind);
	ask_text(a, name);
}

static void ask_own(struct act *a)
{
	ask_variant(a, "", "");
}

static void ask_denied(struct act *a)
{
	ask_text(a, "secret.evil.example");
}

static void ask_below(struct act *a)
{
	ask_variant(a, "secret.", "");
}

static void ask_behind(struct act *a)
{
	ask_variant(a, "", ".secret.evil.example");
}

static void ask_dot(struct act *a)
{
	ask_variant(a, "", ".");
}

/* 0x20: a bit for each letter. */
static void ask_case(struct act *a)
{
	char name[NAME_BYTES_MAX + 1];
	snprintf(name, sizeof(name), "%s", a->p->rules->rules[a->rule].name->text);
	name[0] = (char)(name[0] - 'a' + 'A');
	ask_text(a, name);
}

static void ask_nul(struct act *a)
{
	struct name_question q = question(a, a->p->rules->rules[a->rule].name->text);
	struct name_answer answer;
	memcpy(q.name.text + q.name.len + 1, "secret.evil.example", 19);
	q.name.len = (unsigned char)(q.name.len + 20);
	ask_name(a, &q, sizeof(q), &answer);
}

/* Behind the name's end, where nobody looks. */
static void ask_hidden(struct act *a)
{
	struct name_question q = question(a, a->p->rules->rules[a->rule].name->text);
	struct name_answer answer;
	memcpy(q.name.text + q.name.len + 1, "secret.evil.example", 19);
	ask_name(a, &q, sizeof(q), &answer);
}

static void ask_long(struct act *a)
{
	struct name_question q = question(a, "secret.evil.example");
	struct name_answer answer;
	q.name.len = 255;
	ask_name(a, &q, sizeof(q), &answer);
}

static void ask_wire(struct act *a)
{
	ask_text(a, "\6secret\4evil\7example");
}

static void ask_by_other_rule(struct act *a)
{
	struct name_question q = question(a, "secret.evil.example");
	struct name_answer answer;
	q.rule = UINT32_MAX;
	ask_name(a, &q, sizeof(q), &answer);
}

static void ask_other_port(struct act *a)
{
	struct name_question q = question(a, a->p->rules->rules[a->rule].name->text);
	struct name_answer answer;
	q.port++;
	ask_name(a, &q, sizeof(q), &answer);
}

/* Questions without end, and no answer is taken: both wait for each other then. */
static void ask_flood(struct act *a)
{
	const struct name_question q = question(a, "secret.evil.example");
	while (write(a->p->names, &q, sizeof(q)) == sizeof(q))
		;
	snprintf(a->said, sizeof(a->said), "name: the dialer is gone");
}

/* A record of another size: two questions in one, or what the resolver takes. */
static void ask_twice_in_one(struct act *a)
{
	const struct name_question two[2] = {question(a, a->p->rules->rules[a->rule].name->text),
					     question(a, "secret.evil.example")};
	struct name_answer answer;
	ask_name(a, two, sizeof(two), &answer);
}

/* A query with an option of EDNS that holds something, as large as a question is. */
static void ask_as_dns(struct act *a)
{
	static const unsigned char query[] = "\1\1\1\0\0\1\0\0\0\0\0\1"
					     "\6secret\4evil\7example\0\0\1\0\1"
					     "\0\0\051\4\320\0\0\0\0\0\012\375\351\0\6secret";
	unsigned char record[sizeof(struct name_question)] = {0};
	struct name_answer answer;
	memcpy(record, query, sizeof(query) - 1);
	ask_name(a, record, sizeof(record), &answer);
}

static void ask_as_the_dialer(struct act *a)
{
	struct server_question q = {.number = 0};
	struct name_answer answer;
	q.name.len = 19;
	memcpy(q.name.text, "secret.evil.example", q.name.len);
	ask_name(a, &q, sizeof(q), &answer);
}

/* An answer that nobody gave. */
static void answer_as_the_resolver(struct act *a)
{
	struct server_answer lie = {.len = 1};
	struct name_answer answer;
	address_read(&lie.addresses[0], "93.184.216.66", 13);
	ask_name(a, &lie, sizeof(lie), &answer);
}

/* A query as DNS has it, for a denied name, to the name server: the control is a rule that opens
 * port 53 of that address. */
static void query_at(struct act *a, uint8_t transport)
{
	static const unsigned char framed[] = "\0\045\1\1\1\0\0\1\0\0\0\0\0\0"
					      "\6secret\4evil\7example\0\0\1\0\1";
	struct dial_request q = {.kind = DIAL_CONNECT, .transport = transport, .port = 53};
	struct dial_reply reply;
	int fd = -1;
	size_t len = 1;
	char back;
	address_read(&q.address, "93.184.216.1", 12);
	for (q.index = 0; q.index < a->p->rules->len && fd < 0; q.index++) {
		len = 1;
		if (write(a->p->dialer, &q, sizeof(q)) < 0 ||
		    fd_recv(a->p->dialer, &reply, sizeof(reply), &fd, &len) != 1)
			_exit(9);
	}
	if (fd < 0) {
		snprintf(a->said, sizeof(a->said), "query: no socket");
		return;
	}
	/* Nonblocking, and perhaps not connected yet. */
	const size_t from = transport == EGRESS_TCP ? 0 : 2;
	while (send(fd, framed + from, sizeof(framed) - 1 - from, MSG_NOSIGNAL) < 0 && errno == EAGAIN)
		;
	while (recv(fd, &back, 1, 0) < 0 && errno == EAGAIN)
		;
	snprintf(a->said, sizeof(a->said), "query: done");
}

static void query_by_udp(struct act *a)
{
	query_at(a, EGRESS_UDP);
}

static void query_by_tcp(struct act *a)
{
	query_at(a, EGRESS_TCP);
}

/* ---- addresses ---- */

static void dial_as_a_rule_says(struct act *a)
{
	const struct name_question name = question(a, a->p->rules->rules[a->rule].name->text);
	struct dial_request q = {.kind = DIAL_CONNECT, .index = a->rule, .port = name.port};
	struct name_answer answer;
	if (!ask_name(a, &name, sizeof(name), &answer))
		return;
	q.address = answer.addresses[0];
	ask(a, &q);
}

/* Global, at the rule's port, and no name server said it. */
static void dial_unanswered(struct act *a)
{
	const struct dial_request q = request("93.184.216.66", 7000);
	ask(a, &q);
}

/* The same once some address was answered. */
static void dial_beside(struct act *a)
{
	const struct dial_request q = request("93.184.216.66", 7000);
	dial_as_a_rule_says(a);
	ask(a, &q);
}

/* An answer with a bad address opens none of its good ones. */
static void dial_mixed(struct act *a)
{
	const struct name_question name = question(a, a->p->rules->rules[a->rule].name->text);
	const struct dial_request q = request("93.184.216.66", 7000);
	struct name_answer answer;
	ask_name(a, &name, sizeof(name), &answer);
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

/* The name servers are the resolver's. */
static void dial_server(struct act *a)
{
	for (uint32_t i = 0; i < 8; i++) {
		ask(a,
		    &(struct dial_request){.kind = DIAL_SERVER, .index = i / 2, .transport = i % 2});
		if (!strstr(a->said, "no call"))
			return;
	}
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

const struct hostile_act hostile_dials[] = {
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
	{"dial-server", dial_server},
	{"dial-unanswered", dial_unanswered},
	{"dial-beside", dial_beside},
	{"dial-mixed", dial_mixed},
	{"ask-own", ask_own},
	{"ask-denied", ask_denied},
	{"ask-below", ask_below},
	{"ask-behind", ask_behind},
	{"ask-dot", ask_dot},
	{"ask-case", ask_case},
	{"ask-nul", ask_nul},
	{"ask-hidden", ask_hidden},
	{"ask-long", ask_long},
	{"ask-wire", ask_wire},
	{"ask-rule", ask_by_other_rule},
	{"ask-port", ask_other_port},
	{"ask-dns", ask_as_dns},
	{"ask-flood", ask_flood},
	{"ask-two", ask_twice_in_one},
	{"ask-dialer", ask_as_the_dialer},
	{"ask-answer", answer_as_the_resolver},
	{"query-udp", query_by_udp},
	{"query-tcp", query_by_tcp},
	{"dial-kind", dial_odd_kind},
	{"short-request", short_request},
};
const size_t hostile_dials_len = sizeof(hostile_dials) / sizeof(hostile_dials[0]);
