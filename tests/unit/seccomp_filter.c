/* The generated filters answer every call as the tables do, and as it was written down by hand. */
#include "seccomp_bpf.h"

#include <stdio.h>

static const uint32_t other_arches[] = {AUDIT_ARCH_X86_64,
					AUDIT_ARCH_AARCH64,
					AUDIT_ARCH_I386,
					AUDIT_ARCH_ARM,
					EM_X86_64 | __AUDIT_ARCH_LE /* how x32 might call itself */,
					0,
					UINT32_MAX};

/* Both forms of a variant, with what they return for a counted call. */
struct form {
	const struct filter_variant *variant;
	const struct filter_code *code;
	uint32_t counted;
};

static void for_forms(void (*fn)(const struct form *))
{
	assert_int_equal(filter_variants_len, 8);
	for (size_t i = 0; i < filter_variants_len; i++) {
		const struct filter_variant *v = &filter_variants[i];
		fn(&(struct form){v, &v->counting, SECCOMP_RET_USER_NOTIF});
		fn(&(struct form){v, &v->quiet, SECCOMP_RET_ERRNO | EPERM});
	}
}

static uint32_t expected(const struct form *f, const struct policy_group *g, const uint64_t *args)
{
	if (!g)
		return SECCOMP_RET_ERRNO | ENOSYS;
	if (policy_counted(g, f->variant->on))
		return f->counted;
	return answer_ret(group_answer(g, f->variant->on, args));
}

/* ---- every number ---- */

static void numbers_of(const struct form *f)
{
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		const struct policy_group *g = policy_group_of(f->variant->arch, nr);
		struct seccomp_data d = {.arch = f->variant->arch, .nr = (int)nr};
		for (int ones = 0; ones < 2; ones++) {
			memset(d.args, ones ? 0xff : 0, sizeof(d.args));
			uint64_t args[6];
			memcpy(args, d.args, sizeof(args));
			if (code_run(f->code, &d) != expected(f, g, args))
				fail_msg("arch %x variant %d number %u: 0x%x", d.arch,
					 f->variant->on, nr, code_run(f->code, &d));
		}
	}
}

static void test_numbers(void **state)
{
	(void)state;
	for_forms(numbers_of);
}

static void odd_numbers_of(const struct form *f)
{
	bool x86 = f->variant->arch == AUDIT_ARCH_X86_64;
	const uint32_t unknown = SECCOMP_RET_ERRNO | ENOSYS;
	const uint32_t x32 = x86 ? f->counted : unknown; /* that bit means nothing on aarch64 */
	const struct {
		uint32_t nr, ret;
	} rows[] = {
		{1024, unknown},       {5000, unknown},	      {0x3fffffff, unknown},
		{0x40000000, x32},     {0x40000200, x32},     {0x40000221, x32},
		{0x7fffffff, x32},     {0x80000000, unknown}, {0xc0000000, unknown},
		{0xfffffffe, unknown}, {0xffffffff, unknown},
	};
	struct seccomp_data d = {.arch = f->variant->arch};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		d.nr = (int)rows[i].nr;
		assert_int_equal(code_run(f->code, &d), rows[i].ret);
	}
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		d.nr = (int)(nr | 0x40000000);
		assert_int_equal(code_run(f->code, &d), x32);
		d.nr = (int)(nr | 0x80000000);
		assert_int_equal(code_run(f->code, &d), unknown);
	}
}

static void test_odd_numbers(void **state)
{
	(void)state;
	for_forms(odd_numbers_of);
}

static void other_arches_of(const struct form *f)
{
	for (size_t i = 0; i < sizeof(other_arches) / sizeof(other_arches[0]); i++) {
		struct seccomp_data d = {.arch = other_arches[i]};
		if (d.arch == f->variant->arch)
			continue;
		for (uint32_t nr = 0; nr < NUMBERS; nr++) {
			d.nr = (int)nr;
			assert_int_equal(code_run(f->code, &d), f->counted);
			d.nr = (int)(nr | 0x40000000);
			assert_int_equal(code_run(f->code, &d), f->counted);
		}
	}
}

static void test_other_arches(void **state)
{
	(void)state;
	for_forms(other_arches_of);
}

/* ---- every rule ---- */

struct rule_try {
	const struct form *form;
	const struct policy_group *group;
	uint32_t nr;
	size_t allowed, refused;
};

static void try_args(void *ctx, const uint64_t *args)
{
	struct rule_try *t = ctx;
	struct seccomp_data d = {.arch = t->form->variant->arch, .nr = (int)t->nr};
	memcpy(d.args, args, sizeof(d.args));
	uint32_t ret = code_run(t->form->code, &d);
	if (ret != expected(t->form, t->group, args))
		fail_msg("arch %x variant %d number %u args %llx %llx %llx %llx %llx: 0x%x", d.arch,
			 t->form->variant->on, t->nr, d.args[0], d.args[1], d.args[2], d.args[3],
			 d.args[4], ret);
	if (ret == SECCOMP_RET_ALLOW)
		t->allowed++;
	else
		t->refused++;
}

static void rules_of(const struct form *f)
{
	size_t seen = 0;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		struct rule_try t = {.form = f,
				     .group = policy_group_of(f->variant->arch, nr),
				     .nr = nr};
		if (!t.group || t.group->rules_len == 0)
			continue;
		for_args(t.group, try_args, &t);
		seen++;
		/* The arguments tried reach both sides, but for the one rule that has none. */
		if (t.group->rules[0].conds_len > 0)
			assert_true(t.allowed > 0 && t.refused > 0);
	}
	assert_int_equal(seen, f->variant->arch == AUDIT_ARCH_X86_64 ? 23 : 21);
}

static void test_rules(void **state)
{
	(void)state;
	for_forms(rules_of);
}

/* ---- by hand: x86-64 numbers and kernel constants written out ---- */

enum { ALLOWED = 0, COUNTED = -1 };

static const struct {
	long nr;
	uint64_t args[6];
	long answer;
} by_hand[] = {
	{0, {0}, ALLOWED},			     /* read */
	{59, {0}, ALLOWED},			     /* execve */
	{231, {0}, ALLOWED},			     /* exit_group */
	{452, {0}, ALLOWED},			     /* fchmodat2 */
	{165, {0}, COUNTED},			     /* mount */
	{272, {0}, COUNTED},			     /* unshare */
	{101, {0}, COUNTED},			     /* ptrace */
	{321, {0}, COUNTED},			     /* bpf */
	{250, {0}, COUNTED},			     /* keyctl */
	{169, {0}, COUNTED},			     /* reboot */
	{278, {0}, COUNTED},			     /* vmsplice */
	{435, {0}, ENOSYS},			     /* clone3 */
	{425, {0}, ENOSYS},			     /* io_uring_setup */
	{317, {0}, ENOSYS},			     /* seccomp */
	{323, {0}, ENOSYS},			     /* userfaultfd */
	{438, {0}, ENOSYS},			     /* pidfd_getfd */
	{457, {0}, ENOSYS},			     /* statmount, younger than libseccomp */
	{303, {0}, EOPNOTSUPP},			     /* name_to_handle_at */
	{335, {0}, ENOSYS},			     /* uretprobe */
	{56, {0x3d0f00}, ALLOWED},		     /* clone: pthread_create's flags */
	{56, {0x4111}, ALLOWED},		     /* vfork by clone */
	{56, {0x10000011}, EPERM},		     /* CLONE_NEWUSER */
	{56, {0x00020011}, EPERM},		     /* CLONE_NEWNS */
	{56, {0x02000011}, EPERM},		     /* CLONE_NEWCGROUP */
	{56, {0x40000000 | 1ULL << 32}, EPERM},	     /* CLONE_NEWNET */
	{41, {1, 1 | 02000000 | 04000, 0}, ALLOWED}, /* AF_UNIX stream, CLOEXEC, NONBLOCK */
	{41, {2, 2, 0}, ALLOWED},		     /* AF_INET datagram */
	{41, {10, 1, 6}, ALLOWED},		     /* AF_INET6 TCP */
	{41, {2, 3, 1}, EAFNOSUPPORT},		     /* AF_INET raw */
	{41, {16, 3, 0}, ALLOWED},		     /* NETLINK_ROUTE */
	{41, {16, 3, 12}, EAFNOSUPPORT},	     /* NETLINK_NETFILTER */
	{41, {16, 3, 12ULL | 1ULL << 32}, EAFNOSUPPORT},
	{41, {17, 3, 0}, EAFNOSUPPORT},		     /* AF_PACKET */
	{41, {38, 5, 0}, EAFNOSUPPORT},		     /* AF_ALG */
	{41, {40, 1, 0}, EAFNOSUPPORT},		     /* AF_VSOCK */
	{41, {40 | 1ULL << 32, 1, 0}, EAFNOSUPPORT}, /* AF_VSOCK past a 64-bit inequality */
	{41, {1 | 1ULL << 32, 1, 0}, ALLOWED},	     /* the kernel sees AF_UNIX */
	{53, {2, 1, 0}, EAFNOSUPPORT},		     /* socketpair AF_INET */
	{53, {1, 1, 0}, ALLOWED},
	{46, {0, 0, 1}, EOPNOTSUPP},	/* sendmsg MSG_OOB */
	{46, {0, 0, 0x4000}, ALLOWED},	/* sendmsg MSG_NOSIGNAL: hands out the listener */
	{45, {0, 0, 0, 1}, EOPNOTSUPP}, /* recvfrom MSG_OOB */
	{16, {0, 0x5401}, ALLOWED},	/* TCGETS */
	{16, {0, 0x5412}, EPERM},	/* TIOCSTI */
	{16, {0, 0x5412 | 1ULL << 32}, EPERM},
	{16, {0, 0x541c}, EPERM},	   /* TIOCLINUX */
	{16, {0, 0x5450}, ALLOWED},	   /* FIONCLEX */
	{16, {0, 0x40049409}, EOPNOTSUPP}, /* FICLONE */
	{16, {0, 0xb701}, ENOTTY},	   /* NS_GET_USERNS */
	{16, {0, 0xae01}, ENOTTY},	   /* KVM_CREATE_VM */
	{16, {0, 0x8933}, ALLOWED},	   /* SIOCGIFINDEX */
	{16, {0, 0x8914}, ENOTTY},	   /* SIOCSIFFLAGS */
	{72, {0, 7}, ALLOWED},		   /* F_SETLKW */
	{72, {0, 8}, EPERM},		   /* F_SETOWN */
	{72, {0, 10}, EPERM},		   /* F_SETSIG */
	{72, {0, 1024}, EPERM},		   /* F_SETLEASE */
	{72, {0, 1026}, EPERM},		   /* F_NOTIFY */
	{72, {0, 1031}, EPERM},		   /* F_SETPIPE_SZ */
	{72, {0, 1030}, ALLOWED},	   /* F_DUPFD_CLOEXEC */
	{72, {0, 1037}, EINVAL},
	{157, {15}, ALLOWED},	  /* PR_SET_NAME */
	{157, {22}, EINVAL},	  /* PR_SET_SECCOMP */
	{157, {35}, EINVAL},	  /* PR_SET_MM */
	{157, {59}, EINVAL},	  /* PR_SET_SYSCALL_USER_DISPATCH */
	{158, {0x1002}, ALLOWED}, /* ARCH_SET_FS */
	{158, {0x1012}, EINVAL},  /* ARCH_SET_CPUID */
	{135, {0xffffffff}, ALLOWED},
	{135, {0x0400000}, EPERM}, /* READ_IMPLIES_EXEC */
	{135, {0x0040000}, EPERM}, /* ADDR_NO_RANDOMIZE */
	{302, {0}, ALLOWED},	   /* prlimit64 of oneself */
	{302, {1}, EPERM},
	{133, {0, 0010644}, ALLOWED},	   /* mknod of a FIFO */
	{133, {0, 0020644}, EPERM},	   /* of a character device */
	{259, {0, 0, 0060644}, EPERM},	   /* mknodat of a block device */
	{316, {0, 0, 0, 0, 1}, ALLOWED},   /* renameat2 RENAME_NOREPLACE */
	{316, {0, 0, 0, 0, 4}, EPERM},	   /* RENAME_WHITEOUT */
	{319, {0, 1}, ALLOWED},		   /* memfd_create MFD_CLOEXEC */
	{319, {0, 4}, EPERM},		   /* MFD_HUGETLB */
	{9, {0, 4096, 3, 0x22}, ALLOWED},  /* mmap MAP_PRIVATE, MAP_ANONYMOUS */
	{9, {0, 4096, 3, 0x40022}, EPERM}, /* MAP_HUGETLB */
	{29, {0, 4096, 01600}, ALLOWED},   /* shmget IPC_CREAT */
	{29, {0, 4096, 05600}, EPERM},	   /* SHM_HUGETLB */
	{203, {0}, COUNTED},		   /* sched_setaffinity */
};

static void test_by_hand(void **state)
{
	(void)state;
	struct filter_options o = {.arch = AUDIT_ARCH_X86_64};
	struct filter f;
	struct err e = ERR_INIT;
	assert_int_equal(filter_build(&f, &o, NULL, NULL, &e), 0);
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
		struct seccomp_data d = {.arch = AUDIT_ARCH_X86_64, .nr = (int)by_hand[i].nr};
		memcpy(d.args, by_hand[i].args, sizeof(d.args));
		uint32_t want = by_hand[i].answer == COUNTED ? SECCOMP_RET_USER_NOTIF
							     : answer_ret((int)by_hand[i].answer);
		uint32_t got = bpf_run(f.insns, f.len, &d, NULL);
		if (got != want)
			fail_msg("row %zu, number %d: 0x%x, not 0x%x", i, d.nr, got, want);
		got = bpf_run(f.quiet, f.quiet_len, &d, NULL);
		assert_int_equal(got,
				 by_hand[i].answer == COUNTED ? SECCOMP_RET_ERRNO | EPERM : want);
	}
}

static uint32_t ask(const struct filter_options *o, int nr, uint64_t arg1)
{
	struct filter f;
	struct err e = ERR_INIT;
	struct seccomp_data d = {.arch = o->arch, .nr = nr, .args = {0, arg1}};
	assert_int_equal(filter_build(&f, o, NULL, NULL, &e), 0);
	assert_true(f.notify && !f.custom);
	return bpf_run(f.insns, f.len, &d, NULL);
}

static void test_switches(void **state)
{
	(void)state;
	const struct {
		uint32_t arch;
		int fcntl, affinity;
	} rows[] = {{AUDIT_ARCH_X86_64, 72, 203}, {AUDIT_ARCH_AARCH64, 25, 122}};
	for (size_t i = 0; i < 2; i++) {
		struct filter_options o = {.arch = rows[i].arch, .pipe_size = true};
		assert_int_equal(ask(&o, rows[i].fcntl, 1031), SECCOMP_RET_ALLOW);
		assert_int_equal(ask(&o, rows[i].affinity, 0), SECCOMP_RET_USER_NOTIF);
		o = (struct filter_options){.arch = rows[i].arch, .affinity = true};
		assert_int_equal(ask(&o, rows[i].fcntl, 1031), SECCOMP_RET_ERRNO | EPERM);
		assert_int_equal(ask(&o, rows[i].affinity, 0), SECCOMP_RET_ALLOW);
	}
	struct filter_options o = {.arch = AUDIT_ARCH_I386};
	struct filter f = {.len = 7};
	struct err e = ERR_INIT;
	assert_int_equal(filter_build(&f, &o, NULL, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_HOST);
	assert_int_equal(f.len, 7);
}

/* ---- the tables themselves ---- */

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < policy_len; i++) {
		for (const char *const *name = policy[i].names; *name; name++) {
			if (syscall_number(AUDIT_ARCH_X86_64, *name) == SYSCALL_UNKNOWN)
				fail_msg("%s is no system call", *name);
			assert_non_null(policy[i].why);
		}
	}
	assert_int_equal(syscall_number(AUDIT_ARCH_AARCH64, "openat"), 56);
	assert_int_equal(syscall_number(AUDIT_ARCH_AARCH64, "open"), SYSCALL_ABSENT);
	assert_int_equal(syscall_number(AUDIT_ARCH_AARCH64, "uretprobe"), SYSCALL_ABSENT);
	assert_int_equal(syscall_number(AUDIT_ARCH_AARCH64, "mseal"), 462);
	assert_int_equal(syscall_number(AUDIT_ARCH_X86_64, "no_such_call"), SYSCALL_UNKNOWN);
}

/* Calls of Linux 6.1 for which ENOSYS by default was chosen, not forgotten. */
static const char *const left_to_default[] = {
	"set_thread_area", "get_thread_area", /* 32-bit programs' */
	"map_shadow_stack",		      /* libcs do without */
};

static void test_nothing_forgotten(void **state)
{
	(void)state;
	for (int nr = 0; nr <= 456; nr++) {
		char name[64], unknown[64];
		syscall_name(AUDIT_ARCH_X86_64, nr, name, sizeof(name));
		snprintf(unknown, sizeof(unknown), "syscall_%d", nr);
		if (policy_group_of(AUDIT_ARCH_X86_64, (uint32_t)nr) || strcmp(name, unknown) == 0)
			continue;
		bool chosen = nr == 335 ||
			      nr == 336; /* uretprobe, uprobe: trampolines of the kernel */
		for (size_t i = 0; i < sizeof(left_to_default) / sizeof(left_to_default[0]); i++)
			chosen = chosen || strcmp(name, left_to_default[i]) == 0;
		if (!chosen)
			fail_msg("the policy says nothing of %s", name);
	}
}

static void shape_of(const struct form *f)
{
	assert_true(f->code->len <= 400);
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		const struct policy_group *g = policy_group_of(f->variant->arch, nr);
		struct seccomp_data d = {.arch = f->variant->arch, .nr = (int)nr};
		size_t steps;
		bpf_run(f->code->insns, f->code->len, &d, &steps);
		if ((!g || g->rules_len == 0) && steps > 14)
			fail_msg("number %u takes %zu instructions", nr, steps);
	}
}

/* The kernel walks the filter for every number when it is loaded. */
static void test_shape(void **state)
{
	(void)state;
	for_forms(shape_of);
}

/* ---- pid 1 ---- */

static bool init_may(uint32_t arch, uint32_t nr)
{
	static const int x86[] = {0, 1, 3, 7, 15, 28, 39, 46, 47, 60, 61, 219, 231, 247, 271};
	static const int arm[] = {57, 63, 64, 73, 93, 94, 95, 128, 139, 172, 211, 212, 233, 260};
	const int *list = arch == AUDIT_ARCH_X86_64 ? x86 : arm;
	size_t len = arch == AUDIT_ARCH_X86_64 ? sizeof(x86) / sizeof(int)
					       : sizeof(arm) / sizeof(int);
	for (size_t i = 0; i < len; i++) {
		if (list[i] == (int)nr)
			return true;
	}
	return false;
}

static void test_init(void **state)
{
	(void)state;
	assert_int_equal(filter_tinies_len, 2);
	for (size_t i = 0; i < filter_tinies_len; i++) {
		const struct filter_tiny *t = &filter_tinies[i];
		for (uint32_t nr = 0; nr < NUMBERS; nr++) {
			struct seccomp_data d = {.arch = t->arch, .nr = (int)nr};
			assert_int_equal(code_run(&t->code, &d), init_may(t->arch, nr)
									 ? SECCOMP_RET_ALLOW
									 : SECCOMP_RET_KILL_PROCESS);
			d.nr = (int)(nr | 0x40000000);
			assert_int_equal(code_run(&t->code, &d), SECCOMP_RET_KILL_PROCESS);
			d = (struct seccomp_data){.arch = AUDIT_ARCH_I386, .nr = (int)nr};
			assert_int_equal(code_run(&t->code, &d), SECCOMP_RET_KILL_PROCESS);
		}
	}
	assert_false(filter_init.notify);
}

/* ---- a client ---- */

/* Numbers are those of the kernel's headers, by hand. */
static const struct {
	const char *call;
	uint64_t args[3];
	uint32_t action;
} client_rows[] = {
	{"socket", {2, 1 | 02000000, 6}, SECCOMP_RET_ALLOW}, /* AF_INET, SOCK_STREAM|SOCK_CLOEXEC */
	{"socket", {10, 2 | 04000, 0}, SECCOMP_RET_ALLOW}, /* AF_INET6, SOCK_DGRAM|SOCK_NONBLOCK */
	{"socket", {1, 1, 0}, SECCOMP_RET_ERRNO | 97},	   /* AF_UNIX: EAFNOSUPPORT */
	{"socket", {16, 3, 0}, SECCOMP_RET_ERRNO | 97},	   /* AF_NETLINK */
	{"socket", {17, 3, 0}, SECCOMP_RET_ERRNO | 97},	   /* AF_PACKET */
	{"socket", {2, 3, 6}, SECCOMP_RET_ERRNO | 97},	   /* SOCK_RAW */
	{"socket", {2, 1, 262}, SECCOMP_RET_ERRNO | 97},   /* IPPROTO_MPTCP */
	{"socket",
	 {1 | UINT64_C(2) << 32, 1, 0},
	 SECCOMP_RET_ERRNO | 97}, /* what the kernel does not look at */
	{"socketpair", {1, 1 | 02000000, 0}, SECCOMP_RET_ALLOW},
	{"socketpair", {1, 2, 0}, SECCOMP_RET_ERRNO | 97},
	{"socketpair", {1, 5, 0}, SECCOMP_RET_ERRNO | 97},
	{"setsockopt", {9, 6, 1}, SECCOMP_RET_ALLOW},	      /* TCP_NODELAY */
	{"setsockopt", {9, 6, 31}, SECCOMP_RET_ERRNO | 92},   /* TCP_ULP: ENOPROTOOPT */
	{"setsockopt", {9, 1, 25}, SECCOMP_RET_ERRNO | 92},   /* SO_BINDTODEVICE */
	{"getsockopt", {9, 1, 4}, SECCOMP_RET_ALLOW},	      /* SO_ERROR */
	{"getsockopt", {9, 6, 11}, SECCOMP_RET_ERRNO | 92},   /* TCP_INFO */
	{"ioctl", {9, 0x541b, 0}, SECCOMP_RET_ALLOW},	      /* FIONREAD */
	{"ioctl", {9, 0x5412, 0}, SECCOMP_RET_ERRNO | 1},     /* TIOCSTI */
	{"clone", {0x3d0f00, 0, 0}, SECCOMP_RET_ALLOW},	      /* what pthread_create() asks for */
	{"clone", {17, 0, 0}, SECCOMP_RET_ERRNO | 1},	      /* SIGCHLD */
	{"clone", {0x10010f00, 0, 0}, SECCOMP_RET_ERRNO | 1}, /* CLONE_NEWUSER beside */
	{"clone3", {0, 0, 0}, SECCOMP_RET_ERRNO | 38},
};

static const char *const client_kills[] = {
	"execve",
	"execveat",
	"bind",
	"listen",
	"accept",
	"accept4",
	"ptrace",
	"kill",
	"tgkill",
	"pidfd_open",
	"pidfd_getfd",
	"process_vm_readv",
	"mkdirat",
	"unlinkat",
	"renameat2",
	"symlinkat",
	"linkat",
	"mknodat",
	"fchmod",
	"fchmodat",
	"fchownat",
	"fallocate",
	"mount",
	"unshare",
	"setns",
	"prctl",
	"capset",
	"setresuid",
	"bpf",
	"io_uring_setup",
	"keyctl",
	"add_key",
	"memfd_create",
	"openat2",
	"open_by_handle_at",
	"flock",
	"userfaultfd",
	"perf_event_open",
};

static void test_client(void **state)
{
	(void)state;
	for (size_t i = 0; i < filter_tinies_len; i++) {
		const struct filter_tiny *t = &filter_tinies[i];
		struct seccomp_data d = {.arch = t->arch};
		for (size_t k = 0; k < sizeof(client_rows) / sizeof(*client_rows); k++) {
			d.nr = syscall_number(t->arch, client_rows[k].call);
			assert_true(d.nr >= 0);
			memcpy(d.args, client_rows[k].args, sizeof(client_rows[k].args));
			if (code_run(&t->client, &d) != client_rows[k].action)
				fail_msg("%s, row %zu", client_rows[k].call, k);
		}
		for (size_t k = 0; k < sizeof(client_kills) / sizeof(*client_kills); k++) {
			d.nr = syscall_number(t->arch, client_kills[k]);
			assert_true(d.nr >= 0);
			if (code_run(&t->client, &d) != SECCOMP_RET_KILL_PROCESS)
				fail_msg("%s is no end of it", client_kills[k]);
		}
		d = (struct seccomp_data){.arch = AUDIT_ARCH_I386, .nr = 3};
		assert_int_equal(code_run(&t->client, &d), SECCOMP_RET_KILL_PROCESS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	     cmocka_unit_test(test_odd_numbers),
		cmocka_unit_test(test_other_arches), cmocka_unit_test(test_rules),
		cmocka_unit_test(test_by_hand),	     cmocka_unit_test(test_switches),
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_nothing_forgotten),
		cmocka_unit_test(test_shape),	     cmocka_unit_test(test_init),
		cmocka_unit_test(test_client),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
