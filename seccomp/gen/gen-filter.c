/* gen-filter: the tables of seccomp/policy.c as BPF, on standard output as C. Runs at build time.
 *
 * The kernel runs a filter once for every system call number when it is loaded, to know which are
 * allowed whatever their arguments. So the numbers are a shallow tree of ranges with equal outcome,
 * and arguments are looked at in its leaves only.
 */
#include "seccomp/gen/emit.h"
#include "seccomp/names.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1024 }; /* above the last system call of any kernel */

struct machine {
	const char *name; /* the compiler defines __NAME__ */
	uint32_t arch;
	bool x32; /* numbers with X32_BIT are another ABI's */
};
static const struct machine machines[] = {
	{"x86_64", AUDIT_ARCH_X86_64, true},
	{"aarch64", AUDIT_ARCH_AARCH64, false},
};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

static uint32_t outcome(int answer)
{
	return answer == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)answer;
}

static void place_group(const struct policy_group **slots, uint32_t arch,
			const struct policy_group *g)
{
	for (const char *const *name = g->names; *name; name++) {
		int nr = syscall_number(arch, *name);
		if (nr == SYSCALL_ABSENT)
			continue;
		if (nr < 0 || nr >= NUMBERS || slots[nr]) {
			fprintf(stderr, "gen-filter: %s is unknown, or twice in the policy\n", *name);
			exit(1);
		}
		slots[nr] = g;
	}
}

/* A group has rules of its own in this variant: where they begin. Else its one outcome. */
static struct target group_target(struct program *p, const struct policy_group *g,
				  enum policy_switch on, uint32_t counted)
{
	if (policy_counted(g, on))
		return TARGET_RET(counted);
	if (g->rules_len == 0)
		return TARGET_RET(outcome(g->answer));
	unsigned int label = emit_rules(p, g, on, outcome);
	const struct sock_filter *insn = &p->insns[BPF_MAXINSNS - 1 - label];
	return insn->code == (BPF_RET | BPF_K) ? TARGET_RET(insn->k) : TARGET_LABEL(label);
}

/* What becomes of each number: slots say which group it is in, if any. on and counted: for which variant. */
struct outcomes {
	enum policy_switch on;
	uint32_t counted;
	const struct policy_group *slots[NUMBERS];
	struct target targets[NUMBERS];
};

struct policy_table {
	const struct policy_group *groups;
	size_t len;
};

static void place_groups(struct program *p, const struct machine *m, const struct policy_table *t,
			 struct outcomes *o)
{
	for (size_t i = 0; i < t->len; i++)
		place_group(o->slots, m->arch, &t->groups[i]);
	for (size_t i = 0; i < t->len; i++) {
		struct target to = group_target(p, &t->groups[i], o->on, o->counted);
		for (int nr = 0; nr < NUMBERS; nr++) {
			if (o->slots[nr] == &t->groups[i])
				o->targets[nr] = to;
		}
	}
}

static size_t number_ranges(const struct outcomes *o, struct target unknown, struct range *ranges)
{
	size_t n = 0;
	for (uint32_t nr = 0; nr < NUMBERS; nr++)
		n = range_add(ranges, n, nr, o->slots[nr] ? o->targets[nr] : unknown);
	return range_add(ranges, n, NUMBERS, unknown);
}

static void build(struct program *p, const struct machine *m, enum policy_switch on, uint32_t counted)
{
	const struct policy_table table = {policy, policy_len};
	struct outcomes o = {.on = on, .counted = counted};
	struct range ranges[NUMBERS + 4];
	const struct target unknown = TARGET_RET(outcome(POLICY_DEFAULT));

	p->used = 0;
	place_groups(p, m, &table, &o);
	size_t n = number_ranges(&o, unknown, ranges);
	if (m->x32) {
		n = range_add(ranges, n, X32_BIT, TARGET_RET(counted));
		n = range_add(ranges, n, 2 * (uint32_t)X32_BIT, unknown); /* negative */
	}
	emit_head(p, m->arch, counted, emit_tree(p, ranges, n));
}

/* What is in no group kills, and so does another ABI. */
static void build_closed(struct program *p, const struct machine *m, const struct policy_table *t)
{
	struct outcomes o = {.on = WHEN_ALWAYS, .counted = SECCOMP_RET_ERRNO | EPERM};
	struct range ranges[NUMBERS + 2];
	const uint32_t kill = SECCOMP_RET_KILL_PROCESS;

	p->used = 0;
	place_groups(p, m, t, &o);
	const size_t n = number_ranges(&o, TARGET_RET(kill), ranges);
	emit_head(p, m->arch, kill, emit_tree(p, ranges, n));
}

/* The filters that know no variants, by the name that comes after filter_. */
static const struct {
	const char *name, *member;
	struct policy_table table;
} closed[] = {
	{"init", "code", {&(const struct policy_group){.names = policy_init}, 1}},
	{"jail", "jail", {policy_jail, 0}},
	{"client", "client", {policy_client, 0}},
	{"dialer", "dialer", {policy_dialer, 0}},
	{"parser", "parser", {policy_parser, 0}},
	{"resolver", "resolver", {policy_resolver, 0}},
	{"collector", "collector", {policy_collector, 0}},
	{"validator", "validator", {policy_validator, 0}},
	{"unpacker", "unpacker", {policy_unpacker, 0}},
};
enum { CLOSED = sizeof(closed) / sizeof(closed[0]) };

/* Their lengths are other files' constants. */
static struct policy_table table_of(int i)
{
	const size_t lens[CLOSED] = {1,
				     policy_jail_len,
				     policy_client_len,
				     policy_dialer_len,
				     policy_parser_len,
				     policy_resolver_len,
				     policy_collector_len,
				     policy_validator_len,
				     policy_unpacker_len};
	return (struct policy_table){closed[i].table.groups, lens[i]};
}

static void print_program(const struct program *p, const char *name)
{
	printf("static const struct sock_filter %s[] = {\n", name);
	for (unsigned int i = BPF_MAXINSNS - p->used; i < BPF_MAXINSNS; i++) {
		const struct sock_filter *f = &p->insns[i];
		printf("\t{0x%02x, %u, %u, 0x%08x},\n", f->code, f->jt, f->jf, f->k);
	}
	printf("};\n");
}

static void print_code(const char *member, const char *name)
{
	printf("\t .%s = {%s, sizeof(%s) / sizeof(%s[0])},\n", member, name, name, name);
}

static void print_variants(void)
{
	printf("const struct filter_variant filter_variants[] = {\n");
	for (int m = 0; m < MACHINES; m++) {
		for (unsigned int on = 0; on <= WHEN_ALL; on++) {
			char name[48];
			printf("\t{.arch = 0x%08x, .on = %u,\n", machines[m].arch, on);
			snprintf(name, sizeof(name), "%s_%u_counting", machines[m].name, on);
			print_code("counting", name);
			snprintf(name, sizeof(name), "%s_%u_quiet", machines[m].name, on);
			print_code("quiet", name);
			printf("\t},\n");
		}
	}
	printf("};\nconst size_t filter_variants_len = %d;\n", MACHINES * (WHEN_ALL + 1));
	printf("const struct filter_tiny filter_tinies[] = {\n");
	for (int m = 0; m < MACHINES; m++) {
		char name[48];
		printf("\t{.arch = 0x%08x,\n", machines[m].arch);
		for (int i = 0; i < CLOSED; i++) {
			snprintf(name, sizeof(name), "%s_%s", machines[m].name, closed[i].name);
			print_code(closed[i].member, name);
		}
		printf("\t},\n");
	}
	printf("};\nconst size_t filter_tinies_len = %d;\n", MACHINES);
}

static void print_filter(const char *which, const char *machine)
{
	printf("const struct filter filter_%s = {\n\t.insns = %s_%s, .len = sizeof(%s_%s) / "
	       "sizeof(%s_%s[0])};\n",
	       which, machine, which, machine, which, machine, which);
}

/* What depends on the machine that the output is compiled for, which need not be the one we run on. */
static void print_native(void)
{
	for (int m = 0; m < MACHINES; m++) {
		const char *name = machines[m].name;
		printf("#%s defined(__%s__)\n", m == 0 ? "if" : "elif", name);
		printf("const uint32_t filter_native_arch = 0x%08x;\n", machines[m].arch);
		for (int i = 0; i < CLOSED; i++)
			print_filter(closed[i].name, name);
	}
	printf("#else\n#error \"no filter for this machine\"\n#endif\n");
}

int main(void)
{
	static struct program p;
	char name[48];

	printf("/* Generated from seccomp/policy.c by gen-filter. */\n");
	printf("#include \"seccomp/filter_data.h\"\n#include \"seccomp/seccomp.h\"\n");
	for (int m = 0; m < MACHINES; m++) {
		for (unsigned int on = 0; on <= WHEN_ALL; on++) {
			build(&p, &machines[m], on, SECCOMP_RET_USER_NOTIF);
			snprintf(name, sizeof(name), "%s_%u_counting", machines[m].name, on);
			print_program(&p, name);
			build(&p, &machines[m], on, SECCOMP_RET_ERRNO | EPERM);
			snprintf(name, sizeof(name), "%s_%u_quiet", machines[m].name, on);
			print_program(&p, name);
		}
		for (int i = 0; i < CLOSED; i++) {
			const struct policy_table table = table_of(i);
			build_closed(&p, &machines[m], &table);
			snprintf(name, sizeof(name), "%s_%s", machines[m].name, closed[i].name);
			print_program(&p, name);
		}
	}
	print_variants();
	print_native();
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
