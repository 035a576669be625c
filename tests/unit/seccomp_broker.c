/* The filters of the egress broker's two processes, call by call, as it was written down by hand. */
#include "seccomp_bpf.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

struct broker_call {
	const char *name;
	uint64_t args[6];
	uint32_t dialer, parser; /* what becomes of it */
};
#define KILL  SECCOMP_RET_KILL_PROCESS
#define ALLOW SECCOMP_RET_ALLOW
#define NO(e) (SECCOMP_RET_ERRNO | (e))
#define HIGH  (1ULL << 32)

static const struct broker_call broker_calls[] = {
	{"socket", {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}, ALLOW, KILL},
	{"socket", {AF_INET6, SOCK_DGRAM, 0}, ALLOW, KILL},
	{"socket", {AF_INET | HIGH, SOCK_STREAM, 0}, ALLOW, KILL}, /* the kernel sees AF_INET too */
	{"socket", {AF_UNIX, SOCK_STREAM, 0}, NO(EAFNOSUPPORT), KILL},
	{"socket", {AF_NETLINK, SOCK_RAW, 0}, NO(EAFNOSUPPORT), KILL},
	{"socket", {AF_PACKET, SOCK_RAW, 0}, NO(EAFNOSUPPORT), KILL},
	{"socket", {AF_INET, SOCK_RAW, 0}, NO(EAFNOSUPPORT), KILL},
	{"socket", {AF_INET, SOCK_STREAM, 132}, NO(EAFNOSUPPORT), KILL}, /* SCTP */
	{"connect", {3}, ALLOW, KILL},
	{"bind", {3}, KILL, KILL},
	{"listen", {3}, KILL, KILL},
	{"socketpair", {AF_UNIX}, KILL, KILL},
	{"sendmsg", {3}, ALLOW, KILL},
	{"sendmmsg", {3}, KILL, KILL},
	{"sendto", {3, 1, 1, 0, 0, 0}, KILL, ALLOW},
	{"sendto", {3, 1, 1, 0, 1, 0}, KILL, ALLOW}, /* without a length the kernel takes no address */
	{"sendto", {3, 1, 1, 0, 1, 16}, KILL, NO(EPERM)},
	{"sendto", {3, 1, 1, 0, 1, 16 | HIGH}, KILL, NO(EPERM)},
	{"sendto", {3, 1, 1, 0, 1, HIGH}, KILL, ALLOW}, /* an int: the kernel sees 0 */
	{"accept4", {3}, KILL, ALLOW},
	{"accept", {3}, KILL, KILL},
	{"setsockopt", {3, IPPROTO_TCP, 1}, ALLOW, NO(EPERM)},	    /* TCP_NODELAY */
	{"setsockopt", {3, IPPROTO_TCP, 25}, ALLOW, NO(EPERM)},	    /* TCP_NOTSENT_LOWAT */
	{"setsockopt", {3, IPPROTO_TCP, 10}, NO(EPERM), NO(EPERM)}, /* TCP_WINDOW_CLAMP */
	{"setsockopt", {3, SOL_SOCKET, 13}, NO(EPERM), ALLOW},	    /* SO_LINGER */
	{"setsockopt", {3, SOL_SOCKET, 26}, NO(EPERM), NO(EPERM)},  /* SO_ATTACH_FILTER */
	{"getsockopt", {3, SOL_SOCKET, 4}, KILL, ALLOW},	    /* SO_ERROR */
	{"getsockopt", {3, SOL_SOCKET, 17}, KILL, NO(EPERM)},	    /* SO_PEERCRED */
	{"fcntl", {3, F_SETPIPE_SZ}, KILL, ALLOW},
	{"fcntl", {3, F_DUPFD}, KILL, NO(EPERM)},
	{"mmap", {0, 4096, PROT_READ | PROT_WRITE}, ALLOW, ALLOW},
	{"mmap", {0, 4096, PROT_READ | PROT_EXEC}, NO(EPERM), NO(EPERM)},
	{"mprotect", {0, 4096, PROT_EXEC}, NO(EPERM), NO(EPERM)},
	{"open", {0}, KILL, KILL},
	{"openat", {0}, KILL, KILL},
	{"execve", {0}, KILL, KILL},
	{"clone", {0}, KILL, KILL},
	{"clone3", {0}, KILL, KILL},
	{"fork", {0}, KILL, KILL},
	{"kill", {1}, KILL, KILL},
	{"tgkill", {1}, KILL, KILL},
	{"ptrace", {0}, KILL, KILL},
	{"process_vm_writev", {0}, KILL, KILL},
	{"pidfd_getfd", {0}, KILL, KILL},
	{"prctl", {0}, KILL, KILL},
	{"seccomp", {0}, KILL, KILL},
	{"unshare", {0}, KILL, KILL},
	{"chroot", {0}, KILL, KILL},
	{"io_uring_setup", {0}, KILL, KILL},
	{"dup2", {0}, KILL, KILL},
	{"dup3", {0}, KILL, KILL},
	{"ioctl", {0}, KILL, KILL},
};

static void test_broker(void **state)
{
	(void)state;
	for (size_t i = 0; i < filter_tinies_len; i++) {
		const struct filter_tiny *t = &filter_tinies[i];
		for (size_t k = 0; k < sizeof(broker_calls) / sizeof(broker_calls[0]); k++) {
			const struct broker_call *c = &broker_calls[k];
			const int nr = syscall_number(t->arch, c->name);
			struct seccomp_data d = {.arch = t->arch, .nr = nr};
			memcpy(d.args, c->args, sizeof(d.args));
			if (nr >= 0 && (code_run(&t->dialer, &d) != c->dialer ||
					code_run(&t->parser, &d) != c->parser))
				fail_msg("arch %x: row %zu, %s: 0x%x and 0x%x", t->arch, k, c->name,
					 code_run(&t->dialer, &d), code_run(&t->parser, &d));
			d.arch = AUDIT_ARCH_I386;
			assert_int_equal(code_run(&t->parser, &d), KILL);
			assert_int_equal(code_run(&t->dialer, &d), KILL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_broker)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
