#include "seccomp/names.h"
#include "seccomp/seccomp.h"

#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libseccomp 2.5.4 does not know. Numbers from 424 on are the same on every architecture. */
static const struct {
	const char *name;
	int nr;
	uint32_t arch; /* 0: all */
} newer[] = {
	{"uretprobe", 335, AUDIT_ARCH_X86_64},
	{"uprobe", 336, AUDIT_ARCH_X86_64},
	{"statmount", 457, 0},
	{"listmount", 458, 0},
	{"lsm_get_self_attr", 459, 0},
	{"lsm_set_self_attr", 460, 0},
	{"lsm_list_modules", 461, 0},
	{"mseal", 462, 0},
	{"setxattrat", 463, 0},
	{"getxattrat", 464, 0},
	{"listxattrat", 465, 0},
	{"removexattrat", 466, 0},
	{"open_tree_attr", 467, 0},
	{"file_getattr", 468, 0},
	{"file_setattr", 469, 0},
	{"listns", 470, 0},
};

static const struct {
	uint32_t arch;
	const char *name;
} arches[] = {
	{AUDIT_ARCH_X86_64, "x86_64"}, {AUDIT_ARCH_I386, "i386"}, {AUDIT_ARCH_AARCH64, "aarch64"},
	{AUDIT_ARCH_ARM, "arm"},       {SCMP_ARCH_X32, "x32"},
};

int syscall_number(uint32_t arch, const char *name)
{
	int nr = seccomp_syscall_resolve_name_arch(arch, name);
	if (nr >= 0)
		return nr;
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		if (strcmp(newer[i].name, name) == 0)
			return newer[i].arch == 0 || newer[i].arch == arch ? newer[i].nr
									   : SYSCALL_ABSENT;
	}
	/* libseccomp has a number below -1 of its own for a call that this architecture lacks. */
	return nr == __NR_SCMP_ERROR ? SYSCALL_UNKNOWN : SYSCALL_ABSENT;
}

static const char *newer_name(uint32_t arch, int32_t nr)
{
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		if (newer[i].nr == nr && (newer[i].arch == 0 || newer[i].arch == arch))
			return newer[i].name;
	}
	return NULL;
}

static uint32_t abi(uint32_t arch, int32_t nr)
{
	return arch == AUDIT_ARCH_X86_64 && nr >= X32_BIT ? SCMP_ARCH_X32 : arch;
}

void syscall_name(uint32_t arch, int32_t nr, char *buf, size_t size)
{
	char *known = NULL;
	/* Negative numbers are libseccomp's own, for calls that have none. */
	if (nr >= 0)
		known = seccomp_syscall_resolve_num_arch(abi(arch, nr), nr);
	const char *name = known ? known : newer_name(arch, nr);
	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "syscall_%d", nr);
	free(known);
}

const char *arch_name(uint32_t arch)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		if (arches[i].arch == arch)
			return arches[i].name;
	}
	return "unknown";
}

const char *abi_name(uint32_t arch, int32_t nr)
{
	return arch_name(abi(arch, nr));
}
