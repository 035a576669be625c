/* The emitter alone: programs so long that conditional jumps do not reach, as the policy's are not. */
#include "seccomp_bpf.h"

#include "seccomp/gen/emit.c" /* not in the library: the build's own generator */

enum { RANGES = 900 };

/* A table of ranges of uneven width, each with an outcome that few others share. */
static size_t fill(struct range *r, size_t n, unsigned int outcomes, struct target (*to)(uint32_t))
{
	size_t len = 0;
	uint32_t from = 0;
	for (uint32_t i = 0; i < n; i++) {
		len = range_add(r, len, from, to(i % outcomes));
		from += 1 + (i * 37) % 5;
	}
	return len;
}

static struct target errno_ret(uint32_t i)
{
	return TARGET_RET(SECCOMP_RET_ERRNO | i);
}

static void check_tree(const struct program *p, const struct range *r, size_t n,
		       const struct target *want)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t last = i + 1 < n ? r[i + 1].from - 1 : UINT32_MAX;
		const uint32_t ends[] = {r[i].from, last};
		for (int k = 0; k < 2; k++) {
			struct seccomp_data d = {.nr = (int)ends[k]};
			uint32_t got = bpf_run(&p->insns[BPF_MAXINSNS - p->used], p->used, &d, NULL);
			if (got != want[i].value)
				fail_msg("%u: 0x%x, not 0x%x", ends[k], got, want[i].value);
		}
	}
}

static void load_number(struct program *p, unsigned int tree)
{
	const struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	if (tree + 1 != p->used)
		emit(p, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, distance(p, tree, 0)));
	emit(p, load);
}

static struct program p;
static struct range ranges[RANGES + 1];
static struct target want[RANGES + 1];

static void test_returns(void **state)
{
	(void)state;
	static const unsigned int outcomes[] = {1, 2, 3, 7, 300, RANGES};
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		p.used = 0;
		size_t n = fill(ranges, RANGES, outcomes[i], errno_ret);
		assert_int_equal(n, outcomes[i] == 1 ? 1 : RANGES);
		for (size_t k = 0; k < n; k++)
			want[k] = ranges[k].to;
		load_number(&p, emit_tree(&p, ranges, n));
		check_tree(&p, ranges, n, want);
	}
}

/* Far blocks as targets, which cannot be copied: stepping stones are unconditional jumps. */
static void test_blocks(void **state)
{
	(void)state;
	static unsigned int blocks[RANGES];
	size_t n = 0, jumps = 0;
	p.used = 0;
	for (uint32_t i = 0; i < RANGES; i++)
		blocks[i] = emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								  SECCOMP_RET_ERRNO | i));
	for (uint32_t i = 0; i < RANGES; i++) {
		uint32_t block = (i * 7) % RANGES;
		want[n] = errno_ret(block);
		n = range_add(ranges, n, 3 * i, TARGET_LABEL(blocks[block]));
	}
	load_number(&p, emit_tree(&p, ranges, n));
	check_tree(&p, ranges, n, want);
	for (unsigned int i = 0; i < p.used; i++)
		jumps += p.insns[BPF_MAXINSNS - 1 - i].code == (BPF_JMP | BPF_JA);
	assert_true(jumps > 100);
}

/* The ends of what an argument can be. */
static void test_cond_ends(void **state)
{
	(void)state;
	static const uint32_t values[][3] = {{0, 0, 0},
					     {UINT32_MAX, UINT32_MAX, UINT32_MAX},
					     {0, 1, UINT32_MAX},
					     {UINT32_MAX - 1, 5, UINT32_MAX},
					     {7, 5, 6}};
	static const uint32_t tries[] =
		{0, 1, 2, 4, 5, 6, 7, 8, UINT32_MAX - 2, UINT32_MAX - 1, UINT32_MAX};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct policy_cond c = {.arg = 5,
					      .mask = UINT32_MAX,
					      .values = values[i],
					      .values_len = 3};
		p.used = 0;
		emit_cond(&p, &c, TARGET_RET(1), TARGET_RET(2));
		for (size_t k = 0; k < sizeof(tries) / sizeof(tries[0]); k++) {
			struct seccomp_data d = {.args = {[5] = tries[k] | 0xdeadULL << 32}};
			uint32_t got = bpf_run(&p.insns[BPF_MAXINSNS - p.used], p.used, &d, NULL);
			bool in = tries[k] == values[i][0] || tries[k] == values[i][1] ||
				  tries[k] == values[i][2];
			assert_int_equal(got, in ? 1 : 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_cond_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
