/* What a parser that was taken over tries: hostile_parser.c, hostile_dials.c. */
#ifndef PINFOLD_TESTS_ATTACK_HOSTILE_H
#define PINFOLD_TESTS_ATTACK_HOSTILE_H

#include "network/broker/broker.h"

struct act {
	const struct parser *p;
	uint32_t rule; /* whose name says which act it is */
	char said[EGRESS_REASON_BYTES];
};

struct hostile_act {
	const char *name;
	void (*run)(struct act *);
};

/* Those by the dialer. */
extern const struct hostile_act hostile_dials[];
extern const size_t hostile_dials_len;

#endif
