/* The default policy as tables, without any BPF: what gen/ turns into filters and what the unit
 * tests hold those filters against. Internal to this room.
 *
 * A call that no group names is answered with POLICY_DEFAULT. Of a group's rules the first whose
 * conditions all hold decides; if none does, the group's own answer stands. Conditions look at the
 * low 32 bits of an argument only, through a mask, and ask whether the rest is one of a few values:
 * the kernel truncates an int in the same way, so that high bits cannot make a difference between
 * what was checked and what is done.
 */
#ifndef PINFOLD_SECCOMP_POLICY_H
#define PINFOLD_SECCOMP_POLICY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libcs and runtimes fall back on ENOSYS and on nothing else. */
enum { POLICY_DEFAULT = ENOSYS };
enum { POLICY_CONDS_MAX = 3 };

/* The switches of struct filter_options that a rule may depend on. */
enum policy_switch {
	WHEN_ALWAYS = 0,
	WHEN_PIPE_SIZE = 1,
	WHEN_AFFINITY = 2,
	WHEN_ALL = WHEN_PIPE_SIZE | WHEN_AFFINITY,
};

/* (uint32_t)argument & mask is one of values, which are in no particular order. */
struct policy_cond {
	unsigned int arg;
	uint32_t mask;
	const uint32_t *values;
	size_t values_len;
};

struct policy_rule {
	struct policy_cond conds[POLICY_CONDS_MAX];
	size_t conds_len;	 /* 0: holds always */
	int answer;		 /* 0: the call is allowed; else its errno */
	enum policy_switch when; /* the rule is there only in filters with this switch */
};

struct policy_group {
	const char *const *names; /* NULL-terminated; a name that an architecture lacks is skipped there */
	int answer;		  /* 0: allowed; else the errno */
	const struct policy_rule *rules;
	size_t rules_len;
	const char *why;
};

extern const struct policy_group policy[];
extern const size_t policy_len;

/* All that pid 1 of a sandbox may call once it is set up; anything else kills it. */
extern const char *const policy_init[];

/* What a jailed reader of hostile bytes (runtime/jail.h) may call; anything else kills it. */
extern const struct policy_group policy_jail[];
extern const size_t policy_jail_len;
/* The same with the host's network: a client. */
extern const struct policy_group policy_client[];
extern const size_t policy_client_len;

/* The egress broker's processes (policy_broker.c): the one that connects, and those that read. */
extern const struct policy_group policy_dialer[];
extern const size_t policy_dialer_len;
extern const struct policy_group policy_parser[];
extern const size_t policy_parser_len;
extern const struct policy_group policy_resolver[];
extern const size_t policy_resolver_len;
/* Who collects artifacts, and who validates one (policy_broker.c too). */
extern const struct policy_group policy_collector[];
extern const size_t policy_collector_len;
extern const struct policy_group policy_validator[];
extern const size_t policy_validator_len;
/* Who reads an archive that is an input (policy_broker.c too). */
extern const struct policy_group policy_unpacker[];
extern const size_t policy_unpacker_len;

/* Does the rule take part in a filter with these switches? */
static inline bool policy_rule_active(const struct policy_rule *r, enum policy_switch on)
{
	return (r->when & on) == r->when;
}

/* Is every call of the group answered with EPERM whatever its arguments? Such calls are counted:
 * they return SECCOMP_RET_USER_NOTIF where there is a listener. (ENOSYS rows are probed by every
 * libc, and the errnos of argument rules would turn into ENOSYS once the listener is closed.) */
bool policy_counted(const struct policy_group *g, enum policy_switch on);

#endif
