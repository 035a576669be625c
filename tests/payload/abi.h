/* System calls by the door of another ABI; only x86-64 has such doors. */
#ifndef PINFOLD_TESTS_ABI_H
#define PINFOLD_TESTS_ABI_H

#include <errno.h>
#include <string.h>

/* The kernel's return value (-errno on failure). kind is "i386" (int 0x80) or "x32" (bit 30). */
#ifdef __x86_64__
static inline long abi_foreign(const char *kind, long nr)
{
	long ret;
	if (strcmp(kind, "i386") == 0)
		__asm__ volatile("int $0x80"
				 : "=a"(ret)
				 : "a"(nr), "b"(-1L), "c"(-1L), "d"(-1L), "S"(-1L), "D"(-1L)
				 : "memory", "r8", "r9", "r10", "r11");
	else
		__asm__ volatile("syscall"
				 : "=a"(ret)
				 : "a"(nr | 0x40000000L), "D"(-1L), "S"(-1L), "d"(-1L)
				 : "memory", "rcx", "r11");
	return (int)ret;
}
#else
static inline long abi_foreign(const char *kind, long nr)
{
	(void)kind, (void)nr;
	return -ENOSYS;
}
#endif

#endif
