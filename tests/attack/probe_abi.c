/* The kernel's other doors on x86-64: i386 and x32. Reached is an answer that only a served call gives. */
#include "probe.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { I386_GETPID = 20, X32_GETPID = 39 | 0x40000000 };

static int answer(long rc)
{
	if (rc == getpid())
		return 0;
	return rc < 0 && rc > -4096 ? (int)-rc : EPROTO;
}

static int int80(const char *arg)
{
	long rc = I386_GETPID;
	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(rc) : : "r8", "r9", "r10", "r11", "memory", "cc");
	return answer((int)rc);
}

static int x32(const char *arg)
{
	(void)arg;
	long rc = syscall(X32_GETPID);
	return answer(rc < 0 ? -errno : rc);
}

/* The highest bit as well: neither x32 nor native. */
static int x32_negative(const char *arg)
{
	(void)arg;
	long rc = syscall((long)(0xc0000000u | 39));
	return answer(rc < 0 ? -errno : rc);
}

/* Into a 32-bit code segment and back: the call is made by code that is i386 in every respect. */
static int far_call(const unsigned char *code, size_t len)
{
	unsigned char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (low == MAP_FAILED)
		return errno;
	memcpy(low, code, len);
	/* Not on the stack, which is another one while it is read. */
	static struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) to = {.selector = 0x23};
	to.offset = (uint32_t)(uintptr_t)low;
	long rc = I386_GETPID;
	/* The 32-bit code has a stack of its own below 4 GiB and comes back by a far return. */
	uintptr_t stack = (uintptr_t)low + 8192 - 64;
	__asm__ volatile("movq %%rsp, %%r12\n\t"
			 "movq %[stack], %%rsp\n\t"
			 "lcall *%[to]\n\t"
			 "movq %%r12, %%rsp\n\t"
			 : "+a"(rc)
			 : [stack] "r"(stack), [to] "m"(to)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
			   "memory", "cc");
	return answer((int)rc);
}

static int far_int80(const char *arg)
{
	static const unsigned char code[] = {0xcd, 0x80, /* int $0x80 */ 0xcb /* lret */};
	(void)arg;
	return far_call(code, sizeof(code));
}

/* sysenter comes back to the vDSO's landing pad, which a 64-bit process lacks: what matters is that
 * the call is not served. It is exit_group(0), so that being served shows. */
static int far_sysenter(const char *arg)
{
	static const unsigned char code[] = {
		0xb8, 252,  0, 0, 0, /* mov $252, %eax: exit_group */
		0x31, 0xdb,	     /* xor %ebx, %ebx */
		0x89, 0xe5,	     /* mov %esp, %ebp */
		0x0f, 0x34,	     /* sysenter */
		0xcb,
	};
	(void)arg;
	return far_call(code, sizeof(code));
}

/* Where old programs find time(2), gettimeofday(2) and getcpu(2): the kernel serves them on the page fault, as those calls. */
static int vsyscall(const char *arg)
{
	static long room[4];
	long (*call)(void *, void *, void *) = NULL;
	const uintptr_t entry = 0xffffffffff600000 + strtoul(arg, NULL, 16);
	memcpy(&call, &entry, sizeof(call));
	const long rc = call(room, NULL, NULL);
	return rc < 0 && rc > -4096 ? (int)-rc : 0;
}

#else /* No other ABI here. */

static int int80(const char *arg)
{
	(void)arg;
	return ENOEXEC;
}
#define x32	     int80
#define x32_negative int80
#define far_int80    int80
#define far_sysenter int80
#define vsyscall     int80

#endif

static const struct probe rows[] = {
	{"KI03.int80", int80, NULL, "i386 by int 0x80"},
	{"KI03.x32", x32, NULL, "x32"},
	{"KI03.x32-negative", x32_negative, NULL, "a number of no ABI"},
	{"KI03.far-int80", far_int80, NULL, "int 0x80 in 32-bit code"},
	{"KI03.vsyscall-gettimeofday", vsyscall, "0", "gettimeofday(2) by the vsyscall page"},
	{"KI03.vsyscall-time", vsyscall, "400", "time(2) by the vsyscall page"},
	{"KI03.vsyscall-getcpu", vsyscall, "800", "getcpu(2) by the vsyscall page"},
	{"KI03.far-sysenter", far_sysenter, NULL, "sysenter in 32-bit code"},
};
const struct probe_group probes_abi = {rows, sizeof(rows) / sizeof(*rows)};
