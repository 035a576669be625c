/* The generated filters answer as filters do that libseccomp compiles from the same tables.
 *
 * libseccomp knows no "otherwise" of a single call: a rule of one call can only fall through to the
 * default action of the whole filter. So there is one oracle for the calls without rules, whose
 * default is the policy's, and one for each errno that rules fall through to.
 */
#include "seccomp_bpf.h"

#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct oracle {
	struct sock_filter insns[BPF_MAXINSNS];
	size_t len;
	const struct filter_variant *variant;
	const struct filter_code *code;
	uint32_t counted; /* as an action of libseccomp, which is the kernel's value */
	int otherwise;
	uint32_t nr; /* of the call that is being compared */
	size_t compared;
};

static uint32_t action(int answer)
{
	return answer == 0 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO((uint32_t)answer);
}

/* The rule that is being added, and libseccomp's form of it as far as it goes. */
struct adding {
	scmp_filter_ctx ctx;
	int call;
	enum policy_switch on;
	const struct policy_group *group;
	const struct policy_rule *rule;
	struct scmp_arg_cmp cmps[POLICY_CONDS_MAX];
};

/* Rules may overlap, and then the first decides; libseccomp wants them apart. */
static bool decided_here(const struct adding *a)
{
	uint64_t args[6] = {0};
	for (size_t i = 0; i < a->rule->conds_len; i++)
		args[a->cmps[i].arg] = a->cmps[i].datum_b;
	return group_answer(a->group, a->on, args) == a->rule->answer;
}

/* Every combination of one value for each condition from the i-th on. */
static void add_rule(struct adding *a, size_t i)
{
	const struct policy_rule *r = a->rule;
	if (i == r->conds_len) {
		if (decided_here(a))
			assert_int_equal(seccomp_rule_add_array(a->ctx, action(r->answer), a->call,
								(unsigned int)i, a->cmps),
					 0);
		return;
	}
	for (size_t k = 0; k < r->conds[i].values_len; k++) {
		a->cmps[i] = SCMP_CMP(r->conds[i].arg, SCMP_CMP_MASKED_EQ, r->conds[i].mask,
				      r->conds[i].values[k]);
		add_rule(a, i + 1);
	}
}

static void add_group(scmp_filter_ctx ctx, const struct oracle *o, const struct policy_group *g)
{
	struct adding a = {.ctx = ctx, .on = o->variant->on, .group = g};
	for (const char *const *name = g->names; *name; name++) {
		int call = seccomp_syscall_resolve_name(*name);
		/* A name that it does not know is left to the default, as the tables have it. */
		if (call == __NR_SCMP_ERROR) {
			assert_int_equal(g->answer, POLICY_DEFAULT);
			continue;
		}
		/* It would test for a number of its own. */
		if (syscall_number(o->variant->arch, *name) < 0)
			continue;
		bool constant = true;
		for (size_t i = 0; i < g->rules_len; i++) {
			if (!policy_rule_active(&g->rules[i], o->variant->on))
				continue;
			constant = false;
			a.call = call;
			a.rule = &g->rules[i];
			add_rule(&a, 0);
		}
		uint32_t act = policy_counted(g, o->variant->on) ? o->counted : action(g->answer);
		/* An action that is the default's is refused. */
		if (constant && act != action(o->otherwise))
			assert_int_equal(seccomp_rule_add_array(ctx, act, call, 0, NULL), 0);
	}
}

/* Is the group compared with this oracle? A group with rules: with that of its own "otherwise". */
static bool takes_part(const struct oracle *o, const struct policy_group *g)
{
	bool ruled = g->rules_len > 0 && !policy_counted(g, o->variant->on) &&
		     g->rules[0].conds_len > 0;
	return ruled ? g->answer == o->otherwise : o->otherwise == POLICY_DEFAULT;
}

static void export(struct oracle *o, scmp_filter_ctx ctx)
{
	int fd = memfd_create("oracle", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(seccomp_export_bpf(ctx, fd), 0);
	ssize_t size = pread(fd, o->insns, sizeof(o->insns), 0);
	assert_true(size > 0 && (size_t)size < sizeof(o->insns) &&
		    size % (ssize_t)sizeof(o->insns[0]) == 0);
	o->len = (size_t)size / sizeof(o->insns[0]);
	close(fd);
}

static void compile(struct oracle *o)
{
	scmp_filter_ctx ctx = seccomp_init(action(o->otherwise));
	assert_non_null(ctx);
	if (o->variant->arch != seccomp_arch_native()) {
		assert_int_equal(seccomp_arch_add(ctx, o->variant->arch), 0);
		assert_int_equal(seccomp_arch_remove(ctx, seccomp_arch_native()), 0);
	}
	assert_int_equal(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, o->counted), 0);
	for (size_t i = 0; i < policy_len; i++) {
		if (takes_part(o, &policy[i]))
			add_group(ctx, o, &policy[i]);
	}
	export(o, ctx);
	seccomp_release(ctx);
}

static void compare(struct oracle *o, const struct seccomp_data *d)
{
	uint32_t ours = code_run(o->code, d);
	uint32_t theirs = bpf_run(o->insns, o->len, d, NULL);
	o->compared++;
	if (ours != theirs)
		fail_msg("arch %x variant %d number %u args %llx %llx %llx %llx %llx: ours 0x%x, theirs 0x%x",
			 d->arch, o->variant->on, (unsigned int)d->nr, d->args[0], d->args[1],
			 d->args[2], d->args[3], d->args[4], ours, theirs);
}

static void compare_args(void *ctx, const uint64_t *args)
{
	struct oracle *o = ctx;
	struct seccomp_data d = {.arch = o->variant->arch, .nr = (int)o->nr};
	memcpy(d.args, args, sizeof(d.args));
	compare(o, &d);
}

static void compare_numbers(struct oracle *o)
{
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		const struct policy_group *g = policy_group_of(o->variant->arch, nr);
		o->nr = nr;
		if (!g ? o->otherwise == POLICY_DEFAULT : takes_part(o, g))
			for_args(g ? g : &policy[0], compare_args, o);
	}
}

/* libseccomp sends every negative number but -1 the way of x32; ours are unknown calls. */
static void compare_foreign(struct oracle *o)
{
	static const uint32_t odd[] = {0x3fffffff, 0x40000000, 0x40000001,
				       0x40000223, 0x7fffffff, UINT32_MAX};
	static const uint32_t arches[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386,
					  AUDIT_ARCH_ARM};
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		compare(o, &(struct seccomp_data){.arch = o->variant->arch, .nr = (int)odd[i]});
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		for (int nr = 0; nr < NUMBERS && arches[i] != o->variant->arch; nr++)
			compare(o, &(struct seccomp_data){.arch = arches[i], .nr = nr});
	}
}

static void against_libseccomp(const struct filter_variant *v, const struct filter_code *code,
			       uint32_t counted)
{
	static const int otherwise[] = {POLICY_DEFAULT, EPERM,	EAFNOSUPPORT,
					EOPNOTSUPP,	ENOTTY, EINVAL};
	struct oracle *o = calloc(1, sizeof(*o));
	size_t ruled = 0;
	assert_non_null(o);
	o->variant = v;
	o->code = code;
	o->counted = counted;
	for (size_t i = 0; i < sizeof(otherwise) / sizeof(otherwise[0]); i++) {
		o->otherwise = otherwise[i];
		compile(o);
		o->compared = 0;
		compare_numbers(o);
		assert_true(o->compared > 100);
		if (otherwise[i] == POLICY_DEFAULT)
			compare_foreign(o);
	}
	/* No group fell between the oracles. */
	for (size_t i = 0; i < policy_len; i++) {
		for (size_t k = 0; k < sizeof(otherwise) / sizeof(otherwise[0]); k++) {
			o->otherwise = otherwise[k];
			ruled += takes_part(o, &policy[i]);
		}
	}
	assert_int_equal(ruled, policy_len);
	free(o);
}

static void test_oracle(void **state)
{
	(void)state;
	/* Do not ask this kernel whether it knows USER_NOTIF: nothing is loaded. */
	seccomp_api_set(6);
	for (size_t i = 0; i < filter_variants_len; i++) {
		const struct filter_variant *v = &filter_variants[i];
		against_libseccomp(v, &v->counting, SCMP_ACT_NOTIFY);
		against_libseccomp(v, &v->quiet, SCMP_ACT_ERRNO(EPERM));
	}
}

/* That of pid 1, too. */
static void test_oracle_init(void **state)
{
	(void)state;
	for (size_t i = 0; i < filter_tinies_len; i++) {
		struct filter_variant v = {.arch = filter_tinies[i].arch};
		struct oracle *o = calloc(1, sizeof(*o));
		assert_non_null(o);
		scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
		assert_non_null(ctx);
		if (v.arch != seccomp_arch_native()) {
			assert_int_equal(seccomp_arch_add(ctx, v.arch), 0);
			assert_int_equal(seccomp_arch_remove(ctx, seccomp_arch_native()), 0);
		}
		assert_int_equal(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
				 0);
		for (const char *const *name = policy_init; *name; name++)
			assert_int_equal(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW,
								seccomp_syscall_resolve_name(*name),
								0, NULL),
					 0);
		export(o, ctx);
		seccomp_release(ctx);
		o->variant = &v;
		o->code = &filter_tinies[i].code;
		for (int nr = 0; nr < NUMBERS; nr++)
			compare(o, &(struct seccomp_data){.arch = v.arch, .nr = nr});
		compare_foreign(o);
		free(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_oracle_init),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
