/* The supervisor's end of the egress broker: start it, take its reports, end it. docs/egress.md. */
#ifndef PINFOLD_RUNTIME_EGRESS_H
#define PINFOLD_RUNTIME_EGRESS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct run;

struct egress_link {
	pid_t broker;		  /* -1: none */
	int sock;		  /* to the broker; -1: none, or it is gone */
	int its_end, sandbox_end; /* for the broker, until it is started */
	bool ready;
	bool start_held; /* the program waits for the broker to be ready */
	int held_listener;
	bool told_to_end;
	unsigned events;
	int64_t rows; /* records that were rows */
};
#define EGRESS_LINK_INIT \
	{.broker = -1, .sock = -1, .its_end = -1, .sandbox_end = -1, .held_listener = -1}

/* Whether the broker is installed. */
int egress_check(const char *libexec, struct err *e);

/* Before pid 1 is cloned: the sockets between it and the broker. Nothing where nothing is allowed. */
int egress_open(struct run *run, struct err *e);
/* After it: pinfold-egress is executed, and told the rules. */
int egress_start(struct run *run, struct err *e);
/* The program may begin: its sockets are held. */
bool egress_is_ready(const struct run *run);
void on_egress(struct run *run, short revents);
/* The sandbox ends: what the broker still knows, and its end. It is gone when its socket is. */
void egress_end(struct run *run);
/* It did not end in time. */
void egress_kill(struct run *run);
void egress_close(struct run *run);

#endif
