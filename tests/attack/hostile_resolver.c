/* A resolver that was taken over, in the very jail of the real one: this file's resolver_run()
 * stands in for network/broker/resolver.c, everything else of pinfold-egress is what is shipped.
 *
 * The first label of the name that it is asked for says what it tries, and what came of it is told
 * by the address that it answers with: 93.184.216.10 the attempt got through, .11 it was refused.
 * See tests/attack/egress-resolver.t. */
#include "network/broker/resolver.h"

#include "base/fd.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct end {
	int dial, names;
};

static int dial_out(const struct end *e, const struct dial_request *q)
{
	struct dial_reply reply;
	int fd = -1;
	size_t len = 1;
	if (write(e->dial, q, sizeof(*q)) != sizeof(*q) ||
	    fd_recv(e->dial, &reply, sizeof(reply), &fd, &len) != 1)
		_exit(9);
	return len == 1 ? fd : -1;
}

static bool dials(const struct end *e, const struct dial_request *q)
{
	return dial_out(e, q) >= 0;
}

static const struct dial_request server = {.kind = DIAL_SERVER, .transport = EGRESS_UDP};

static bool own_server(const struct end *e)
{
	return dials(e, &server);
}

static bool other_server(const struct end *e)
{
	return dials(e, &(struct dial_request){.kind = DIAL_SERVER, .index = 1});
}

static bool connects(const struct end *e, const char *address)
{
	struct dial_request q = {.kind = DIAL_CONNECT, .port = 7000};
	address_read(&q.address, address, strlen(address));
	return dials(e, &q);
}

static bool connects_out(const struct end *e)
{
	return connects(e, "93.184.216.10");
}

static bool connects_home(const struct end *e)
{
	return connects(e, "127.0.0.1");
}

/* A datagram into the sandbox is the parser's to send: who has no answer to wait for learns nothing. */
static bool replies(const struct end *e)
{
	return dials(e, &(struct dial_request){.kind = DIAL_REPLY});
}

static bool makes_socket(const struct end *e)
{
	(void)e;
	return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static bool opens(const struct end *e)
{
	(void)e;
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool sends_elsewhere(const struct end *e)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = 7000 >> 8 | (7000 & 255) << 8,
				       .sin_addr = {0x0100007f}};
	const int fd = dial_out(e, &server);
	if (fd < 0)
		_exit(9);
	return sendto(fd, "x", 1, 0, (const struct sockaddr *)&to, sizeof(to)) >= 0;
}

static const struct {
	const char *name;
	bool (*gets_through)(const struct end *);
} acts[] = {
	{"server", own_server},	   {"other-server", other_server},
	{"connect", connects_out}, {"home", connects_home},
	{"reply", replies},	   {"socket", makes_socket},
	{"open", opens},	   {"sendto", sends_elsewhere},
};

/* Lies about the name that was asked for, or about one that was not. */
static const struct {
	const char *name, *address;
	uint32_t more; /* than the number that was asked as */
} lies[] = {
	{"loopback", "127.0.0.1", 0},	   {"metadata", "169.254.169.254", 0},
	{"mapped", "64:ff9b::7f00:1", 0},  {"unasked", "93.184.216.10", 1},
	{"huge", "93.184.216.10", 100000},
};

static bool is_about(const struct name *n, const char *act)
{
	const size_t len = strlen(act);
	return strncmp(n->text, act, len) == 0 && n->text[len] == '.';
}

static void answer(const struct end *e, const struct server_question *q)
{
	const char *address = "93.184.216.11";
	struct server_answer a = {.number = q->number, .life_ms = 1000, .len = 1};
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (is_about(&q->name, acts[i].name) && acts[i].gets_through(e))
			address = "93.184.216.10";
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		if (is_about(&q->name, lies[i].name)) {
			address = lies[i].address;
			a.number += lies[i].more;
		}
	address_read(&a.addresses[0], address, strlen(address));
	if (write(e->names, &a, sizeof(a)) != sizeof(a))
		_exit(9);
}

void resolver_run(struct resolver *r, int dial, int names)
{
	const struct end e = {dial, names};
	struct server_question q;
	(void)r;
	while (fd_recv(names, &q, sizeof(q), NULL, NULL) == 1)
		answer(&e, &q);
}
