/* Filters: from rule tables to BPF, and the user notification that counts denials.
 *
 * The default filter is generated at build time from seccomp/policy.c (tables, a reason on each
 * row) by build/gen-filter as a binary tree of ranges and linked in as data; at run time only a
 * variant is chosen. A custom one (OCI/Docker JSON) is compiled by libseccomp and cached by digest.
 * See seccomp(2), seccomp_unotify(2).
 */
#ifndef PINFOLD_SECCOMP_SECCOMP_H
#define PINFOLD_SECCOMP_SECCOMP_H

#include "base/arena.h"
#include "base/err.h"
#include "spec/result.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

struct filter {
	const struct sock_filter *insns;
	unsigned short len;
	bool notify; /* it has rows that return SECCOMP_RET_USER_NOTIF */
	bool custom;
	/* with notify: the same filter with EPERM in the place of SECCOMP_RET_USER_NOTIF */
	const struct sock_filter *quiet;
	unsigned short quiet_len;
	char digest[65]; /* SHA-256 of the profile file, custom only */
};

/* What the variant depends on. */
struct filter_options {
	bool pipe_size; /* F_SETPIPE_SZ allowed: not with a single id (pipe pages are the caller's) */
	bool affinity;	       /* sched_setaffinity allowed: only where cpu.max holds */
	const char *profile;   /* --seccomp FILE; NULL: the default filter */
	const char *cache_dir; /* a folder of ours, 0700, made if absent; NULL: no cache */
	uint32_t arch;	       /* AUDIT_ARCH_*, 0: this machine's */
};

/* Parent. The filter to load; insns are the arena's or static. Without a profile a and r are not
 * used. With one, warnings (names that the library does not know, other architectures, rows that
 * contradict each other) go to r. Under any profile a foreign ABI is denied and the two switches
 * above hold, and what it answers with EPERM is counted as in the default filter. ERR_USAGE:
 * profile unreadable, malformed or ambiguous (line and column), a stricter row with an unknown
 * name, or no way to start a program under it. */
int filter_build(struct filter *f, const struct filter_options *o, struct arena *a,
		 struct result *r, struct err *e);

/* Child; raw system calls only, no memory but the stack. no_new_privs must be set. With f->notify
 * the listener is returned in *listener (CLOEXEC), with WAIT_KILLABLE_RECV where the kernel knows
 * it; else *listener is -1. It is -1 with f->notify too where the kernel refuses a listener,
 * because a filter around the whole of us has one (EBUSY): the quiet form is loaded then, nothing
 * is counted, and a foreign ABI is denied without ending the run. */
int filter_load(const struct filter *f, int *listener, struct err *e);

/* The tiny filter of pid 1 after set-up: what runtime/init.c needs and nothing else. */
extern const struct filter filter_init;
/* Those of a jailed child which reads hostile bytes, out of files and from the network: see runtime/jail.h. */
extern const struct filter filter_jail;
extern const struct filter filter_client;
/* Those of the egress broker: network/broker/dialer.h, parser.h, resolver.h. */
extern const struct filter filter_dialer, filter_parser, filter_resolver;
/* Those of who collects artifacts and who validates one: runtime/collect.h. */
extern const struct filter filter_collector, filter_validator;
/* That of who reads an archive: transfer/unpack/unpack.h. */
extern const struct filter filter_unpacker;

/* ---- supervisor: counting denials ---- */

enum { NOTIFY_BUDGET = 1000 }; /* after so many notifications the listener is closed */

struct notify {
	int listener; /* -1: none (any more) */
	int64_t seen;
	uint32_t notif_size, resp_size; /* SECCOMP_GET_NOTIF_SIZES */
	struct {
		uint32_t arch;
		int32_t nr;
		int64_t count;
	} rows[DENIED_MAX];
	uint32_t rows_len;
	int64_t more;
	bool complete;
};

#define NOTIFY_INIT {.listener = -1, .complete = true}

/* takes listener. */
int notify_open(struct notify *n, int listener, struct err *e);

/* The listener is readable: receive one, count it, answer with its errno (EPERM). Never looks at
 * memory or arguments. Returns 0; 1 if the call came from a foreign ABI (the run must end:
 * *arch and *nr say what; it is left unanswered); 2 if a new row was added (for an event). -1 and
 * *e on an error other than a vanished caller. Never blocks. When the budget is spent the listener
 * is closed here, n->listener is -1 and n->complete false. */
int notify_handle(struct notify *n, uint32_t *arch, int32_t *nr, struct err *e);
void notify_close(struct notify *n);

/* Rows into the result, by name, sorted by count. */
void notify_report(const struct notify *n, struct result *r);

/* "openat" for (AUDIT_ARCH_*, nr) into buf; "syscall_N" if unknown. */
void syscall_name(uint32_t arch, int32_t nr, char *buf, size_t size);
const char *arch_name(uint32_t arch);
/* The same, and "x32" for that ABI, which shares its AUDIT_ARCH with x86-64. */
const char *abi_name(uint32_t arch, int32_t nr);

#endif
