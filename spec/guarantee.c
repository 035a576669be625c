#include "spec/guarantee.h"

#include "base/text.h"

#include <string.h>

static const char *const names[G_COUNT] = {
	[G_MEMORY] = "memory",
	[G_SWAP] = "swap",
	[G_PIDS] = "pids",
	[G_CPUS] = "cpus",
	[G_CPU_TIME] = "cpu-time",
	[G_IO] = "io",
	[G_WALL] = "wall",
	[G_IDLE] = "idle",
	[G_SCRATCH] = "scratch",
	[G_INODES] = "inodes",
	[G_OUTPUT] = "output",
	[G_NOFILE] = "nofile",
	[G_CORE] = "core",
	[G_USER_NS] = "user-ns",
	[G_PID_NS] = "pid-ns",
	[G_NET_NS] = "net-ns",
	[G_MOUNT_NS] = "mount-ns",
	[G_IPC_NS] = "ipc-ns",
	[G_UTS_NS] = "uts-ns",
	[G_CGROUP_NS] = "cgroup-ns",
	[G_ROOT_READ_ONLY] = "root-read-only",
	[G_NO_NEW_PRIVS] = "no-new-privs",
	[G_CAPABILITIES] = "capabilities",
	[G_IDS] = "ids",
	[G_GROUPS] = "groups",
	[G_USER_QUOTAS] = "user-quotas",
	[G_OWNERSHIP] = "ownership",
	[G_PROC] = "proc",
	[G_SECCOMP] = "seccomp",
	[G_STDIO] = "stdio",
	[G_KILL] = "kill",
	[G_EGRESS] = "egress",
};

_Static_assert(G_COUNT < 64, "a set of guarantees is 64 bits");

static const char *const state_names[] = {
	[G_ABSENT] = "absent",
	[G_DEGRADED] = "degraded",
	[G_ENFORCED] = "enforced",
};

#define BIT(id) (1ULL << (id))

static const struct {
	const char *name;
	uint64_t set;
} groups[] = {
	{"cgroup", BIT(G_MEMORY) | BIT(G_SWAP) | BIT(G_PIDS) | BIT(G_CPUS) | BIT(G_IO) |
			   BIT(G_CPU_TIME) | BIT(G_KILL)},
	{"all", BIT(G_COUNT) - 1},
};

const char *guarantee_name(enum guarantee_id id)
{
	return names[id];
}

const char *guarantee_state_name(enum guarantee_state state)
{
	return state_names[state];
}

uint64_t guarantee_set(const char *name)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (strcmp(groups[i].name, name) == 0)
			return groups[i].set;
	}
	for (int i = 0; i < G_COUNT; i++) {
		if (strcmp(names[i], name) == 0)
			return BIT(i);
	}
	return 0;
}

/* What was asked for stays: it is the spec's, not the mechanism's. */
static void fill(struct guarantee *g, enum guarantee_state state, const char *by, const char *value)
{
	g->state = state;
	text_fit(g->by, sizeof(g->by), by);
	text_fit(g->value, sizeof(g->value), value);
	g->not_covered[0] = '\0';
	g->why[0] = '\0';
	g->mend[0] = '\0';
}

void guarantee_enforced(struct guarantee *g, const char *by, const char *value)
{
	fill(g, G_ENFORCED, by, value);
}

void guarantee_degraded(struct guarantee *g, const char *by, const char *value,
			const char *not_covered, const char *mend)
{
	fill(g, G_DEGRADED, by, value);
	text_fit(g->not_covered, sizeof(g->not_covered), not_covered);
	text_fit(g->mend, sizeof(g->mend), mend);
}

void guarantee_absent(struct guarantee *g, const char *not_covered, const char *mend)
{
	fill(g, G_ABSENT, "", "");
	text_fit(g->not_covered, sizeof(g->not_covered), not_covered);
	text_fit(g->mend, sizeof(g->mend), mend);
}
