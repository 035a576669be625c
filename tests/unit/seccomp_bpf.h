/* What the tests of the filters share: an interpreter of classic BPF as seccomp(2) runs it, the
 * answer of the tables to a call, and the arguments worth trying on a rule. */
#ifndef PINFOLD_TESTS_UNIT_SECCOMP_BPF_H
#define PINFOLD_TESTS_UNIT_SECCOMP_BPF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "seccomp/filter_data.h"
#include "seccomp/names.h"
#include "seccomp/seccomp.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>

enum { NUMBERS = 1024, SETS_MAX = 4096 };

/* What one instruction does to the accumulator and the program counter; false: it returned *acc. */
static bool bpf_step(const struct sock_filter *insn, const struct seccomp_data *data, uint32_t *acc,
		     size_t *pc)
{
	*pc += 1;
	switch (insn->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		assert_true(insn->k % 4 == 0 && insn->k < sizeof(*data));
		memcpy(acc, (const char *)data + insn->k, 4);
		return true;
	case BPF_ALU | BPF_AND | BPF_K:
		*acc &= insn->k;
		return true;
	case BPF_JMP | BPF_JA:
		*pc += insn->k;
		return true;
	case BPF_JMP | BPF_JEQ | BPF_K:
		*pc += *acc == insn->k ? insn->jt : insn->jf;
		return true;
	case BPF_JMP | BPF_JGE | BPF_K:
		*pc += *acc >= insn->k ? insn->jt : insn->jf;
		return true;
	case BPF_JMP | BPF_JGT | BPF_K:
		*pc += *acc > insn->k ? insn->jt : insn->jf;
		return true;
	case BPF_RET | BPF_K:
		*acc = insn->k;
		return false;
	default:
		fail_msg("an instruction that the interpreter does not know: 0x%02x", insn->code);
		return false;
	}
}

/* The filter's verdict; *steps, if given, is how many instructions it took. */
static uint32_t bpf_run(const struct sock_filter *insns, size_t len,
			const struct seccomp_data *data, size_t *steps)
{
	uint32_t acc = 0;
	size_t pc = 0, n = 1;
	for (;; n++) {
		if (pc >= len)
			fail_msg("control leaves the program at %zu of %zu", pc, len);
		if (!bpf_step(&insns[pc], data, &acc, &pc))
			break;
	}
	if (steps)
		*steps = n;
	return acc;
}

static inline uint32_t code_run(const struct filter_code *c, const struct seccomp_data *data)
{
	return bpf_run(c->insns, c->len, data, NULL);
}

static inline uint32_t answer_ret(int answer)
{
	return answer == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)answer;
}

static inline const struct policy_group *policy_group_of(uint32_t arch, uint32_t nr)
{
	for (size_t i = 0; i < policy_len; i++) {
		for (const char *const *name = policy[i].names; *name; name++) {
			int n = syscall_number(arch, *name);
			if (n >= 0 && (uint32_t)n == nr)
				return &policy[i];
		}
	}
	return NULL;
}

static inline bool cond_holds(const struct policy_cond *c, const uint64_t *args)
{
	for (size_t i = 0; i < c->values_len; i++) {
		if (((uint32_t)args[c->arg] & c->mask) == c->values[i])
			return true;
	}
	return false;
}

static inline int group_answer(const struct policy_group *g, enum policy_switch on,
			       const uint64_t *args)
{
	for (size_t i = 0; i < g->rules_len; i++) {
		const struct policy_rule *r = &g->rules[i];
		bool holds = policy_rule_active(r, on);
		for (size_t j = 0; j < r->conds_len; j++)
			holds = holds && cond_holds(&r->conds[j], args);
		if (holds)
			return r->answer;
	}
	return g->answer;
}

/* Values worth trying as an argument: what is compared with and the ends; wide: its neighbours and
 * every other bit of it flipped as well. Returns whether any rule looks at the argument. */
struct value_set {
	uint32_t values[SETS_MAX];
	size_t len;
};

static inline void value_add(struct value_set *s, uint32_t v)
{
	for (size_t i = 0; i < s->len; i++) {
		if (s->values[i] == v)
			return;
	}
	assert_true(s->len < SETS_MAX);
	s->values[s->len++] = v;
}

static inline void value_add_around(struct value_set *s, uint32_t v)
{
	value_add(s, v - 1);
	value_add(s, v + 1);
	for (int bit = 0; bit < 32; bit++)
		value_add(s, v ^ (1U << bit));
}

static inline bool value_set_fill(struct value_set *s, const struct policy_group *g,
				  unsigned int arg, bool wide)
{
	bool looked_at = false;
	s->len = 0;
	value_add(s, 0);
	for (size_t i = 0; i < g->rules_len; i++) {
		for (size_t j = 0; j < g->rules[i].conds_len; j++) {
			const struct policy_cond *c = &g->rules[i].conds[j];
			for (size_t k = 0; c->arg == arg && k < c->values_len; k++) {
				looked_at = true;
				value_add(s, UINT32_MAX);
				value_add(s, c->values[k]);
				if (wide)
					value_add_around(s, c->values[k]);
			}
		}
	}
	return looked_at;
}

/* Call fn with every combination of worthwhile arguments 0 to 4, of which one after the other is
 * wide, and every high half on all of them. */
typedef void (*args_fn)(void *ctx, const uint64_t *args);

static inline void for_high_halves(const uint32_t *low, args_fn fn, void *ctx)
{
	static const uint64_t highs[] = {0, 1ULL << 32, 0xdeadULL << 32, 0xffffffffULL << 32};
	for (size_t h = 0; h < sizeof(highs) / sizeof(highs[0]); h++) {
		uint64_t args[6];
		for (int i = 0; i < 6; i++)
			args[i] = highs[h] | low[i];
		fn(ctx, args);
	}
}

static inline void for_args_from(const struct value_set *sets, unsigned int arg, uint32_t *low,
				 args_fn fn, void *ctx)
{
	if (arg == 6) {
		for_high_halves(low, fn, ctx);
		return;
	}
	for (size_t i = 0; i < sets[arg].len; i++) {
		low[arg] = sets[arg].values[i];
		for_args_from(sets, arg + 1, low, fn, ctx);
	}
}

static inline void for_args(const struct policy_group *g, args_fn fn, void *ctx)
{
	static struct value_set sets[6];
	uint32_t low[6];
	for (unsigned int wide = 0; wide < 6; wide++) {
		bool worth = wide == 0; /* once at least */
		for (unsigned int arg = 0; arg < 6; arg++)
			worth |= value_set_fill(&sets[arg], g, arg, arg == wide) && arg == wide;
		if (worth)
			for_args_from(sets, 0, low, fn, ctx);
	}
}

#endif
