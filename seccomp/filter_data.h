/* What the build generates from policy.c: one row for each machine and setting of the switches. */
#ifndef PINFOLD_SECCOMP_FILTER_DATA_H
#define PINFOLD_SECCOMP_FILTER_DATA_H

#include "seccomp/policy.h"

#include <linux/filter.h>
#include <stdint.h>

struct filter_code {
	const struct sock_filter *insns;
	unsigned short len;
};

struct filter_variant {
	uint32_t arch;
	enum policy_switch on;
	struct filter_code counting; /* counted rows and foreign ABIs go to the listener */
	struct filter_code quiet;    /* the same for who has no listener: EPERM in their place */
};
extern const struct filter_variant filter_variants[];
extern const size_t filter_variants_len;

/* This machine's AUDIT_ARCH_*. */
extern const uint32_t filter_native_arch;

/* The filters of pid 1, of jailed readers, of jailed clients and of the broker, for every machine:
 * seccomp.h's filter_init, filter_jail, filter_client, filter_dialer and so on are this one's. */
struct filter_tiny {
	uint32_t arch;
	struct filter_code code, jail, client, dialer, parser, resolver, collector, validator,
		unpacker;
};
extern const struct filter_tiny filter_tinies[];
extern const size_t filter_tinies_len;

#endif
