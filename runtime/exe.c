#include "runtime/exe.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since 6.3 */
#endif

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

static bool out_of_reach(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int copy_sealed(int self, off_t size, struct err *e)
{
	autoclose int mem = memfd_create("pinfold", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	if (mem < 0 && errno == EINVAL)
		mem = memfd_create("pinfold", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (mem < 0)
		return err_sys(e,
			       "own binary: make a memfd (see sysctl vm.memfd_noexec); a root-owned install needs none");
	while (size > 0) {
		ssize_t n = sendfile(mem, self, NULL, (size_t)size);
		if (n <= 0)
			return err_sys(e, "own binary: copy into a memfd");
		size -= n;
	}
	if (fcntl(mem, F_ADD_SEALS, SEALS) < 0 || fcntl(mem, F_GET_SEALS) != SEALS)
		return err_sys(e, "own binary: seal the memfd");
	return fd_take(&mem);
}

int exe_protect(char *const *argv, char *const *envp, struct err *e)
{
	struct stat st;
	if (stat("/proc/self/exe", &st) < 0)
		return err_sys(e, "own binary: stat /proc/self/exe");
	if (out_of_reach(&st))
		return 0;
	autoclose int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (self < 0)
		return err_sys(e, "own binary: open /proc/self/exe");
	int seals = fcntl(self, F_GET_SEALS);
	if (seals == SEALS)
		return 0;
	autoclose int mem = copy_sealed(self, st.st_size, e);
	if (mem < 0)
		return -1;
	syscall(SYS_execveat, mem, "", argv, envp, AT_EMPTY_PATH);
	return err_sys(e, "own binary: execute the sealed copy");
}
