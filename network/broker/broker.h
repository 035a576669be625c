/* Inside the parser: its state, and who does what with it.
 *
 *   parser.c      one epoll loop, timers, the supervisor's socket
 *   accept.c      what the program dialled, and which rule decides
 *   connection.c  one connection, from its first bytes to its end
 *   attempts.c    connecting out: happy eyeballs
 *   relay.c       bytes, one direction
 *   handshake.c   bytes, where each ClientHello is judged
 *   request.c     bytes, where each HTTP request is judged
 *   question.c    the resolver that the program sees
 *   datagram.c    udp: rules
 *   lookup.c      a name's addresses, from the dialer
 *   synthetic.c   names and their addresses
 *   dial.c        asking the dialer
 *   report.c      rows for the result
 *
 * Everything is bounded: pools of one size, a buffer for a connection only while its first bytes
 * are judged, a pipe only while one side is slower than the other or much is moved.
 */
#ifndef PINFOLD_NETWORK_BROKER_BROKER_H
#define PINFOLD_NETWORK_BROKER_BROKER_H

#include "base/clock.h"
#include "network/broker/endpoint.h"
#include "network/broker/parser.h"
#include "network/broker/synthetic.h"
#include "network/egress/address.h"
#include "network/egress/hello.h"
#include "network/egress/http.h"
#include "network/egress/name.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

/* "no connection within 10s", for a reason */
enum { LATE_BYTES = 96 };
#define NEVER INT64_MAX

enum {
	CONNECTIONS_MAX = EGRESS_CONNECTIONS_MAX, /* struct egress_config says how many */
	WAITING_MAX = 64,			  /* accepted, and no connection is free yet */
	FIRST_BYTES_MS = 10000,			  /* for a ClientHello or a request's head */
	STAGGER_MS = 250,			  /* RFC 8305: between one attempt and the next */
	DATAGRAM_IDLE_MS = 60000,		  /* or --egress-idle, if that is less */
	ATTEMPTS_MAX = 8,
	RELAY_CHUNK_BYTES = 64 << 10,
	RELAY_ROUNDS = 16, /* then others have their turn */
	LAST_MS = 50,	   /* for what the program had sent before it ended */
};

struct broker;

/* A descriptor in the epoll set. */
struct watch {
	int fd; /* -1: none */
	void (*ready)(struct broker *b, struct watch *w, uint32_t events);
	void *owner;
};

/* One end of a connection. */
struct side {
	struct watch watch;
	bool readable, writable; /* until the kernel says EAGAIN: the set is edge-triggered */
	bool ending;		 /* its end was announced: a short read is not the last */
};

/* Bytes in one direction. */
struct flow {
	unsigned char *held; /* judged, and to be written before anything else; malloc'ed */
	size_t held_at, held_len;
	int pipe[2]; /* -1: none yet */
	size_t in_pipe;
	uint64_t bytes; /* passed on */
	bool ended;	/* the source said so */
	bool shut;	/* and so did we, to the destination */
};

struct attempt {
	struct watch watch;
	struct address address;
};

enum connection_state {
	CONN_FREE,
	CONN_WAITING,	/* too many at once */
	CONN_JUDGING,	/* the first bytes are not all there */
	CONN_RESOLVING, /* the name is asked for */
	CONN_CONNECTING,
	CONN_RELAYING,
	CONN_GONE, /* closed; becomes FREE when this round of events is over */
};

/* Of a TLS connection: what is known of its hellos. */
enum handshake_state {
	HANDSHAKE_FIRST, /* the server has not answered the first */
	HANDSHAKE_AGAIN, /* it asked for another, which has not come */
	HANDSHAKE_OVER,	 /* there is none to come */
};

struct connection {
	enum connection_state state;
	struct broker *broker;
	struct side in, out; /* the program's, the world's */
	struct flow up, down;

	const struct egress_rule *rule;
	struct name name;
	bool has_name;
	struct address dialled; /* what the program dialled */
	struct address address; /* what we connected to */
	bool has_address;
	uint16_t port;

	enum egress_check check;
	unsigned char *buffer; /* HELLO_BYTES_MAX or HTTP_BUFFER_BYTES of it, while there is anything to judge */
	size_t buffer_len;
	enum handshake_state handshake;
	union {
		struct hello hello;
		struct http_reader http;
	};
	size_t pass_bytes;     /* judged, at the buffer's front */
	uint64_t splice_bytes; /* of HTTP: and unseen behind it */

	int lookup; /* of RESOLVING, -1 none */
	struct attempt attempts[ATTEMPTS_MAX];
	struct address candidates[ATTEMPTS_MAX];
	size_t candidates_len, tried;
	int64_t next_attempt_ns;
	int last_sys;

	int64_t begun_ns, deadline_ns;
	bool told;  /* there is a row for it, since it is connected */
	bool again; /* has more to do, without a new event */
};

struct report;
struct lookup_set;
struct question_set;
struct datagram_set;

struct broker {
	const struct parser *p;
	int epoll;
	int64_t now_ns, wake_ns; /* wake_ns: no deadline is earlier */
	bool over;
	int64_t end_ns; /* the run ended: what the program had sent is passed on until then; NEVER */
	bool again;	/* some connection has more to do */
	bool gone;	/* some is closed, and not yet free */
	bool paused;	/* no descriptor is free: nothing is accepted for a moment */

	struct watch supervisor, dialer, answers;
	struct watch sockets[SANDBOX_SOCKETS_MAX];
	struct synthetic names;
	struct connection connections[CONNECTIONS_MAX + WAITING_MAX];
	unsigned busy, waiting;
	uint64_t left_bytes; /* of --egress-bytes; LIMIT_NONE */
	bool limit_reached;
	struct report *report;
	struct lookup_set *lookups;
	struct question_set *questions;
	struct datagram_set *datagrams;
	unsigned char chunk[RELAY_CHUNK_BYTES];
	unsigned char datagram[DIAL_DATAGRAM_BYTES];
};

/* ---- parser.c ---- */
void watch_add(struct broker *b, struct watch *w, uint32_t events);
/* Another set of events for one that is there. */
void watch_change(struct broker *b, struct watch *w, uint32_t events);
void watch_close(struct watch *w);
/* Something is due then. */
void wake_at(struct broker *b, int64_t at_ns);
int64_t in_ms(const struct broker *b, int64_t ms);
/* The same for what may be any time at all, and LIMIT_NONE: NEVER. */
int64_t in_ns(const struct broker *b, uint64_t ns);
/* "no connection within 10s" */
void late_text(char text[LATE_BYTES], const char *what, uint64_t ns);

/* Accept nothing for a moment: there is no descriptor, or no memory of the kernel's. */
void pause_accepting(struct broker *b);

/* ---- accept.c ---- */
void on_listener(struct broker *b, struct watch *w, uint32_t events);
void on_datagram(struct broker *b, struct watch *w, uint32_t events);

/* ---- connection.c ---- */
/* What was dialled is a name or a literal of rule. */
struct dialled {
	const struct egress_rule *rule;
	const struct name *name; /* NULL: a literal */
	struct address address;
	uint16_t port;
};
/* to->address and port are set: the name that it stands for, and the rule. False: there is none. */
bool find_rule(const struct broker *b, struct dialled *to, enum egress_transport t);
/* takes fd, unless it is false: there is no place. */
bool connection_open(struct broker *b, int fd, const struct dialled *to);
void connection_look(struct connection *c); /* do what can be done now */
void connection_time(struct connection *c); /* its deadline may be over */
/* Cut both sides by RST, and report. sys: an errno, 0 none. */
void connection_cut(struct connection *c, enum egress_verdict verdict, const char *reason, int sys);
/* RST from one side: it crosses. */
void connection_reset(struct connection *c);
/* Both directions have ended well. */
void connection_done(struct connection *c);
/* RESOLVING: its name is asked for, or waits until there is room for one more (lookup is -1). */
void connection_resolve(struct connection *c);
/* The lookup that it waits for is over. */
void connection_resolved(struct connection *c);
/* out.watch.fd is: from now on it may be idle for so long. */
void connection_connected(struct connection *c);
void connection_relay(struct connection *c);
void connections_end(struct broker *b);
/* Some connection has yet to pass on what the program sent. */
bool connections_sending(const struct broker *b);
/* A place is free again: who waits longest has it. */
void connections_admit(struct broker *b);

/* ---- attempts.c ---- */
/* candidates are set. */
void attempts_begin(struct connection *c);
void attempts_time(struct connection *c);
void attempts_end(struct connection *c);

/* ---- relay.c ---- */
enum relay_end {
	RELAY_STALLED, /* nothing more without another event */
	RELAY_MORE,    /* others have their turn */
	RELAY_BROKEN,  /* one of the two sides is reset */
	RELAY_LIMIT,   /* --egress-bytes is used up */
};
/* connection.c: what the program has sent goes into the buffer, up to size bytes in all. */
enum fill {
	FILL_SOME,
	FILL_NOTHING, /* for now */
	FILL_RESET,
	FILL_END,
};
enum fill buffer_fill(struct connection *c, size_t size);
/* connection.c: the judged bytes at the buffer's front go out. MORE: all of them have. */
enum relay_end buffer_pass(struct connection *c);
void flow_init(struct flow *f);
void flow_close(struct flow *f);
/* How much may be read now of what is wanted: --egress-bytes. */
size_t relay_allowance(const struct broker *b, size_t want);
void relay_count(struct broker *b, struct flow *f, size_t len);
/* Write what is held and in the pipe. 1 all, 0 would block, -1 broken. */
int relay_flush(struct flow *f, struct side *to);
/* Move bytes until one side would block; *limit (if not NULL) is how many at most, and counts down. */
enum relay_end relay_move(struct broker *b, struct flow *f, struct side *from, struct side *to,
			  uint64_t *limit);

/* ---- handshake.c ---- */
/* The program's side of a TLS connection, out.watch.fd is connected. */
enum relay_end handshake_move(struct connection *c);
/* Before that: 1 the first ClientHello is judged and held, 0 more bytes are needed, -1 cut already. */
int hello_first(struct connection *c);
/* Nothing may be taken from the server but by handshake_move(). */
bool handshake_awaits_answer(const struct connection *c);

/* ---- request.c ---- */
/* The program's requests of an HTTP connection, out.watch.fd is connected. */
enum relay_end requests_move(struct connection *c);
/* Before that: 1 a first request is judged, 0 more bytes are needed, -1 cut already. */
int requests_first(struct connection *c);

/* ---- question.c ---- */
struct datagram {
	const struct sandbox_socket *socket; /* it came by, and its answer goes by */
	struct address from, to;
	uint16_t from_port;
	unsigned char *bytes;
	size_t len;
};
struct question_set *questions_open(void);
void questions_take(struct broker *b, const struct datagram *d);
/* takes fd: TCP. */
void questions_accept(struct broker *b, int fd);
void questions_time(struct broker *b);

/* ---- datagram.c ---- */
struct datagram_set *datagrams_open(void);
void datagrams_take(struct broker *b, const struct datagram *d);
void datagrams_resolved(struct broker *b, int lookup);
void datagrams_time(struct broker *b);
void datagrams_end(struct broker *b);
bool datagrams_sending(const struct broker *b);

/* ---- lookup.c ---- */
struct answer {
	struct address addresses[LOOKUP_ADDRESSES_MAX]; /* judged, in the order to be tried in */
	size_t len;
	enum address_verdict verdict; /* of the rule's; not PERMITTED: bad is which */
	struct address bad;
	const char *failure; /* the name has no address; NULL: none of that */
};
struct lookup_set *lookups_open(void);
/* The number of a lookup of name under rule, which may be over already (lookup_answer()); -1: too many. */
int lookup_ask(struct broker *b, const struct name *name, const struct egress_rule *rule,
	       uint16_t port);
/* NULL: it is not over. Valid until the next call of lookup_ask(). */
const struct answer *lookup_answer(const struct broker *b, int lookup);
void on_names(struct broker *b, struct watch *w, uint32_t events);

/* ---- dial.c ---- */
/* A nonblocking socket that is connecting, or -1: *reply says why. */
int dial(const struct broker *b, const struct dial_request *q, struct dial_reply *reply);
/* A datagram to the program. */
void dial_answer(const struct broker *b, const struct dial_request *q, const void *bytes, size_t len);

/* ---- report.c ---- */
struct report *report_open(void);
struct fact {
	enum egress_verdict verdict;
	enum egress_route route;
	const struct egress_rule *rule; /* NULL: none */
	const char *name;		/* NULL: a literal */
	const struct address *address;	/* NULL: none */
	uint16_t port;
	const char *reason; /* NULL: none */
	int sys;
	uint64_t sent_bytes, received_bytes;
	int64_t duration_ns;
	enum {
		FACT_WHOLE,
		FACT_BEGINS,
		FACT_ENDS
	} part; /* ENDS: of a row that BEGINS made, and counted */
};
void report_fact(struct broker *b, const struct fact *f);
/* Rows that changed, once a second; all: now. */
void report_flush(struct broker *b, bool all);
void report_limit(struct broker *b);

#endif
