/* What the policy's tables say of a call, without any BPF: the right values for the sweeps.
 *
 * verdicts vectors		calls that stand at every edge of every argument rule, for stdin of
 * the other verdicts judge SWITCHES	"NR A0 .. A5" a line from stdin -> "allow" or the errno's
 * number verdicts names		"NR NAME" of every call that the tables name
 */
#include "seccomp/filter_data.h"
#include "seccomp/names.h"
#include "seccomp/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 6 };

static const struct policy_group *group_of(long nr)
{
	for (size_t i = 0; i < policy_len; i++)
		for (const char *const *name = policy[i].names; *name; name++)
			if (syscall_number(filter_native_arch, *name) == nr)
				return &policy[i];
	return NULL;
}

static bool cond_holds(const struct policy_cond *c, const unsigned long *a)
{
	for (size_t i = 0; i < c->values_len; i++)
		if (((uint32_t)a[c->arg] & c->mask) == c->values[i])
			return true;
	return false;
}

static bool rule_holds(const struct policy_rule *r, const unsigned long *a)
{
	for (size_t i = 0; i < r->conds_len; i++)
		if (!cond_holds(&r->conds[i], a))
			return false;
	return true;
}

static int verdict(long nr, const unsigned long *a, enum policy_switch on)
{
	const struct policy_group *g = group_of(nr);
	if (!g)
		return POLICY_DEFAULT;
	for (size_t i = 0; i < g->rules_len; i++)
		if (policy_rule_active(&g->rules[i], on) && rule_holds(&g->rules[i], a))
			return g->rules[i].answer;
	return g->answer;
}

static int judge(enum policy_switch on)
{
	char line[512];
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long a[ARGS] = {0};
		char *end;
		long nr = strtol(line, &end, 10);
		for (int i = 0; i < ARGS; i++)
			a[i] = strtoul(end, &end, 16);
		int answer = verdict(nr, a, on);
		if (answer)
			printf("%d\n", answer);
		else
			puts("allow");
	}
	return 0;
}

static void print_vector(int nr, const unsigned long *a)
{
	printf("%d", nr);
	for (int i = 0; i < ARGS; i++)
		printf(" %lx", a[i]);
	puts("");
}

/* One argument at the values of a condition and just beside them, with what the kernel's int would
 * drop; the others as the rule wants them. */
static void print_edges(int nr, const struct policy_rule *r, const struct policy_cond *c)
{
	static const unsigned long high[] = {0, 1UL << 32, 0xdeadUL << 32};
	unsigned long a[ARGS];
	for (int i = 0; i < ARGS; i++)
		a[i] = ~0UL;
	for (size_t i = 0; i < r->conds_len; i++)
		a[r->conds[i].arg] = r->conds[i].values[0];
	for (size_t i = 0; i < c->values_len; i++) {
		const uint32_t v = c->values[i];
		const uint32_t beside[] = {v, v + 1, v | ~c->mask, v ^ (c->mask & -c->mask),
					   v | c->mask};
		for (size_t k = 0; k < sizeof(beside) / sizeof(*beside); k++)
			for (size_t h = 0; h < sizeof(high) / sizeof(*high); h++) {
				a[c->arg] = beside[k] | high[h];
				print_vector(nr, a);
			}
	}
}

static int vectors(void)
{
	for (size_t i = 0; i < policy_len; i++) {
		const struct policy_group *g = &policy[i];
		for (const char *const *name = g->names; *name; name++) {
			const int nr = syscall_number(filter_native_arch, *name);
			for (size_t k = 0; nr >= 0 && k < g->rules_len; k++)
				for (size_t c = 0; c < g->rules[k].conds_len; c++)
					print_edges(nr, &g->rules[k], &g->rules[k].conds[c]);
		}
	}
	return 0;
}

static int names(void)
{
	for (size_t i = 0; i < policy_len; i++)
		for (const char *const *name = policy[i].names; *name; name++)
			if (syscall_number(filter_native_arch, *name) >= 0)
				printf("%d %s\n", syscall_number(filter_native_arch, *name), *name);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "vectors") == 0)
		return vectors();
	if (argc == 2 && strcmp(argv[1], "names") == 0)
		return names();
	if (argc == 3 && strcmp(argv[1], "judge") == 0)
		return judge((enum policy_switch)atoi(argv[2]));
	return 2;
}
