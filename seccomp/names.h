/* System call names and numbers: libseccomp's tables and the few rows that it lacks. Internal. */
#ifndef PINFOLD_SECCOMP_NAMES_H
#define PINFOLD_SECCOMP_NAMES_H

#include <stdint.h>

enum {
	SYSCALL_UNKNOWN = -1, /* nobody knows the name */
	SYSCALL_ABSENT = -2,  /* other architectures have it */
};

/* The number of name on AUDIT_ARCH_*, or one of the above. */
int syscall_number(uint32_t arch, const char *name);

/* x32 shares AUDIT_ARCH_X86_64 and is told by this bit of a number that is not negative. */
enum { X32_BIT = 0x40000000 };

#endif
