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

static void build(struct program *p, const struct machine *m, enum policy_switch on, uint32_t counted)
{
	const struct policy_group *slots[NUMBERS] = {NULL};
	struct target targets[sizeof(slots) / sizeof(slots[0])];
	struct range ranges[NUMBERS + 4];
	const struct target unknown = TARGET_RET(outcome(POLICY_DEFAULT));
	size_t n = 0;

	p->used = 0;
	for (size_t i = 0; i < policy_len; i++)
		place_group(slots, m->arch, &policy[i]);
	for (size_t i = 0; i < policy_len; i++) {
		struct target to = group_target(p, &policy[i], on, counted);
		for (int nr = 0; nr < NUMBERS; nr++) {
			if (slots[nr] == &policy[i])
				targets[nr] = to;
		}
	}
	for (uint32_t nr = 0; nr < NUMBERS; nr++)
		n = range_add(ranges, n, nr, slots[nr] ? targets[nr] : unknown);
	n = range_add(ranges, n, NUMBERS, unknown);
	if (m->x32) {
		n = range_add(ranges, n, X32_BIT, TARGET_RET(counted));
		n = range_add(ranges, n, 2 * (uint32_t)X32_BIT, unknown); /* negative */
	}
	emit_head(p, m->arch, counted, emit_tree(p, ranges, n));
}

static void build_init(struct program *p, const struct machine *m)
{
	bool allowed[NUMBERS] = {false};
	struct range ranges[NUMBERS + 1];
	const struct target kill = TARGET_RET(SECCOMP_RET_KILL_PROCESS);
	const struct target allow = TARGET_RET(SECCOMP_RET_ALLOW);
	size_t n = 0;

	p->used = 0;
	for (const char *const *name = policy_init; *name; name++) {
		int nr = syscall_number(m->arch, *name);
		if (nr >= 0)
			allowed[nr] = true;
	}
	for (uint32_t nr = 0; nr < NUMBERS; nr++)
		n = range_add(ranges, n, nr, allowed[nr] ? allow : kill);
	n = range_add(ranges, n, NUMBERS, kill);
	emit_head(p, m->arch, SECCOMP_RET_KILL_PROCESS, emit_tree(p, ranges, n));
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
		snprintf(name, sizeof(name), "%s_init", machines[m].name);
		print_code("code", name);
		printf("\t},\n");
	}
	printf("};\nconst size_t filter_tinies_len = %d;\n", MACHINES);
}

/* What depends on the machine that the output is compiled for, which need not be the one we run on. */
static void print_native(void)
{
	for (int m = 0; m < MACHINES; m++) {
		const char *name = machines[m].name;
		printf("#%s defined(__%s__)\n", m == 0 ? "if" : "elif", name);
		printf("const uint32_t filter_native_arch = 0x%08x;\n", machines[m].arch);
		printf("const struct filter filter_init = {\n");
		printf("\t.insns = %s_init, .len = sizeof(%s_init) / sizeof(%s_init[0])};\n", name,
		       name, name);
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
		build_init(&p, &machines[m]);
		snprintf(name, sizeof(name), "%s_init", machines[m].name);
		print_program(&p, name);
	}
	print_variants();
	print_native();
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
