/* The guarantees by name: the rows of the ledger, and what --require takes. */
#ifndef PINFOLD_SPEC_GUARANTEE_H
#define PINFOLD_SPEC_GUARANTEE_H

#include <stdint.h>

enum guarantee_id {
	G_MEMORY,
	G_SWAP,
	G_PIDS,
	G_CPUS,
	G_CPU_TIME,
	G_IO,
	G_WALL,
	G_IDLE,
	G_SCRATCH,
	G_INODES,
	G_OUTPUT,
	G_NOFILE,
	G_CORE,
	G_USER_NS,
	G_PID_NS,
	G_NET_NS,
	G_MOUNT_NS,
	G_IPC_NS,
	G_UTS_NS,
	G_CGROUP_NS,
	G_ROOT_READ_ONLY,
	G_NO_NEW_PRIVS,
	G_CAPABILITIES,
	G_IDS,
	G_GROUPS,
	G_USER_QUOTAS,
	G_OWNERSHIP,
	G_PROC,
	G_SECCOMP,
	G_STDIO,
	G_KILL,
	G_EGRESS,
	G_COUNT,
};

enum guarantee_state { G_ABSENT, G_DEGRADED, G_ENFORCED };

/* One row. Text is plain ASCII of our own making. */
struct guarantee {
	enum guarantee_state state;
	char requested[32]; /* as the spec says it, "" if the caller has no say */
	char by[64];	    /* the mechanism: "memory.max", "RLIMIT_NPROC", "" if absent */
	char value[72]; /* a SHA-256 fits: what was read back from the kernel, "" if there is nothing to read */
	char not_covered[240]; /* where degraded or absent: what is not covered, comma separated */
	char why[200]; /* where degraded or absent: what is missing, with errno; "" if that goes without saying */
	char mend[160]; /* where degraded or absent: the command or file that mends it, for doctor */
};

/* "memory", "cpu-time", ... as they stand in the result. */
const char *guarantee_name(enum guarantee_id id);
const char *guarantee_state_name(enum guarantee_state state);

/* A name of the table, "cgroup" (memory swap pids cpus io cpu-time kill) or "all", as a bit set; 0 if unknown. */
uint64_t guarantee_set(const char *name);

/* Fill a row; a text too long for its field is cut visibly (text_fit()). */
void guarantee_enforced(struct guarantee *g, const char *by, const char *value);
void guarantee_degraded(struct guarantee *g, const char *by, const char *value,
			const char *not_covered, const char *mend);
void guarantee_absent(struct guarantee *g, const char *not_covered, const char *mend);

#endif
