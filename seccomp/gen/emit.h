/* Classic BPF, written from its last instruction to its first.
 *
 * BPF jumps only forward, so that whoever writes backwards knows every target: a label is the
 * distance of an instruction from the end. Conditional jumps reach 255 instructions; a target that
 * is farther away gets a stepping stone: another copy if it is a return, else an unconditional jump.
 */
#ifndef PINFOLD_SECCOMP_GEN_EMIT_H
#define PINFOLD_SECCOMP_GEN_EMIT_H

#include "seccomp/policy.h"

#include <linux/filter.h>

struct program {
	struct sock_filter insns[BPF_MAXINSNS]; /* filled from the end */
	unsigned int used;
};

/* Where control goes: a return value, or an instruction that is there already. */
struct target {
	bool is_label;
	uint32_t value;
};
#define TARGET_RET(k)	((struct target){.is_label = false, .value = (k)})
#define TARGET_LABEL(l) ((struct target){.is_label = true, .value = (l)})

/* Numbers from `from` up to the next range's, all with the same outcome. The first begins at 0. */
struct range {
	uint32_t from;
	struct target to;
};

/* The accumulator is in one of n ranges: a balanced tree of comparisons. Returns its root's label. */
unsigned int emit_tree(struct program *p, const struct range *r, size_t n);

/* Append to ranges, which has n, extending the last one where the outcome is the same. */
size_t range_add(struct range *r, size_t n, uint32_t from, struct target to);

/* A group's rules; outcome(answer) is the return value for an answer. Loads what it looks at. */
unsigned int emit_rules(struct program *p, const struct policy_group *g, enum policy_switch on,
			uint32_t (*outcome)(int answer));

/* Load the architecture; another one than arch ends in foreign; load the number; go on at tree. */
unsigned int emit_head(struct program *p, uint32_t arch, uint32_t foreign, unsigned int tree);

#endif
