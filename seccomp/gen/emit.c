#include "seccomp/gen/emit.h"

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { REACH = 255, VALUES_MAX = 64 };

/* The low half of an argument: both machines are little-endian. */
static uint32_t low_half(unsigned int arg)
{
	return offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);
}

static const struct sock_filter *at(const struct program *p, unsigned int label)
{
	return &p->insns[BPF_MAXINSNS - 1 - label];
}

static unsigned int emit(struct program *p, struct sock_filter insn)
{
	if (p->used == BPF_MAXINSNS) {
		fprintf(stderr, "gen-filter: the program has more than %d instructions\n",
			BPF_MAXINSNS);
		exit(1);
	}
	p->insns[BPF_MAXINSNS - 1 - p->used] = insn;
	return p->used++;
}

/* How far a jump written as the next instruction but `ahead` has to go. */
static unsigned int distance(const struct program *p, unsigned int label, unsigned int ahead)
{
	return p->used + ahead - label - 1;
}

static bool same(struct target a, struct target b)
{
	return a.is_label == b.is_label && a.value == b.value;
}

/* A label within reach for a jump that follows after at most `ahead` more instructions. */
static unsigned int near(struct program *p, struct target to, unsigned int ahead)
{
	const struct sock_filter ret = BPF_STMT(BPF_RET | BPF_K, to.value);
	if (to.is_label) {
		if (distance(p, to.value, ahead) <= REACH)
			return to.value;
		const struct sock_filter jump = BPF_STMT(BPF_JMP | BPF_JA, distance(p, to.value, 0));
		return emit(p, jump);
	}
	for (unsigned int back = 1; back <= p->used; back++) {
		unsigned int label = p->used - back;
		if (distance(p, label, ahead) > REACH)
			break;
		if (at(p, label)->code == ret.code && at(p, label)->k == ret.k)
			return label;
	}
	return emit(p, ret);
}

static unsigned int branch(struct program *p, unsigned short test, uint32_t k, struct target yes,
			   struct target no)
{
	unsigned int t = near(p, yes, 1); /* the other one may need a stepping stone */
	unsigned int f = near(p, no, 0);
	struct sock_filter insn = BPF_JUMP(BPF_JMP | test | BPF_K, k, distance(p, t, 0),
					   distance(p, f, 0));
	return emit(p, insn);
}

size_t range_add(struct range *r, size_t n, uint32_t from, struct target to)
{
	if (n > 0 && same(r[n - 1].to, to))
		return n;
	r[n] = (struct range){.from = from, .to = to};
	return n + 1;
}

static struct target subtree(struct program *p, const struct range *r, size_t n)
{
	if (n == 1)
		return r[0].to;
	/* one number that differs from what is around it */
	if (n == 3 && same(r[0].to, r[2].to) && r[1].from + 1 == r[2].from)
		return TARGET_LABEL(branch(p, BPF_JEQ, r[1].from, r[1].to, r[0].to));
	size_t middle = n / 2;
	struct target above = subtree(p, r + middle, n - middle);
	struct target below = subtree(p, r, middle);
	return TARGET_LABEL(branch(p, BPF_JGE, r[middle].from, above, below));
}

unsigned int emit_tree(struct program *p, const struct range *r, size_t n)
{
	return near(p, subtree(p, r, n), 0);
}

static int compare_values(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Load the argument, mask it, and go to yes if the rest is one of the values. */
static unsigned int emit_cond(struct program *p, const struct policy_cond *c, struct target yes,
			      struct target no)
{
	uint32_t values[VALUES_MAX];
	struct range ranges[2 * VALUES_MAX + 1];
	size_t n = 0;
	if (c->values_len == 0 || c->values_len > VALUES_MAX) {
		fprintf(stderr, "gen-filter: a condition with %zu values\n", c->values_len);
		exit(1);
	}
	for (size_t i = 0; i < c->values_len; i++)
		values[i] = c->values[i];
	qsort(values, c->values_len, sizeof(values[0]), compare_values);
	if (values[0] != 0)
		n = range_add(ranges, n, 0, no);
	for (size_t i = 0; i < c->values_len; i++) {
		n = range_add(ranges, n, values[i], yes);
		bool last = i + 1 == c->values_len;
		if (last ? values[i] != UINT32_MAX : values[i + 1] > values[i] + 1)
			n = range_add(ranges, n, values[i] + 1, no);
	}
	unsigned int label = emit_tree(p, ranges, n);
	/* Only what was emitted last can be fallen into. */
	if (label + 1 != p->used)
		emit(p, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, distance(p, label, 0)));
	if (c->mask != UINT32_MAX)
		emit(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, c->mask));
	return emit(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_half(c->arg)));
}

unsigned int emit_rules(struct program *p, const struct policy_group *g, enum policy_switch on,
			uint32_t (*outcome)(int answer))
{
	struct target next = TARGET_RET(outcome(g->answer));
	for (size_t i = g->rules_len; i-- > 0;) {
		const struct policy_rule *r = &g->rules[i];
		if (!policy_rule_active(r, on))
			continue;
		struct target yes = TARGET_RET(outcome(r->answer));
		for (size_t j = r->conds_len; j-- > 0;)
			yes = TARGET_LABEL(emit_cond(p, &r->conds[j], yes, next));
		next = yes;
	}
	return near(p, next, 0);
}

unsigned int emit_head(struct program *p, uint32_t arch, uint32_t foreign, unsigned int tree)
{
	const struct sock_filter load_nr = BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	const struct sock_filter load_arch = BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						      offsetof(struct seccomp_data, arch));
	if (tree + 1 != p->used)
		emit(p, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, distance(p, tree, 0)));
	unsigned int number = emit(p, load_nr);
	branch(p, BPF_JEQ, arch, TARGET_LABEL(number), TARGET_RET(foreign));
	return emit(p, load_arch);
}
