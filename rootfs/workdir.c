#include "rootfs/internal.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

static char first_of_long_cwd(void)
{
	char path[4096];
	return getcwd(path, sizeof(path)) ? path[0] : '\0';
}

/* The first byte of what getcwd(2) says, which is not '/' for "(unreachable)"; NUL on failure. The
 * long buffer is not for everybody: it costs a page fault. */
static char getcwd_first(void)
{
	char path[256];
	if (getcwd(path, sizeof(path)))
		return path[0];
	return errno == ERANGE ? first_of_long_cwd() : '\0';
}

int rootfs_workdir(const struct rootfs *r, struct err *e)
{
	/* A magic link (/proc/self/fd/3, /proc/1/cwd) would lead out of the root. */
	autoclose int dir = fd_openat2(AT_FDCWD, r->workdir, O_PATH | O_DIRECTORY, 0,
				       RESOLVE_NO_MAGICLINKS);
	if (dir < 0 || fchdir(dir) < 0) {
		switch (errno) {
		case ENOENT:
			return err_usage(e, "working directory %s: it is not in the image",
					 r->workdir);
		case ENOTDIR:
			return err_usage(e, "working directory %s is not a folder", r->workdir);
		case ELOOP:
			return err_usage(e,
					 "working directory %s: it leads through a link that may leave "
					 "the sandbox",
					 r->workdir);
		default:
			err_sys(e, "working directory %s", r->workdir);
			e->kind = ERR_USAGE;
			return -1;
		}
	}
	char first = getcwd_first();
	if (!first)
		return err_sys(e, "working directory %s: getcwd", r->workdir);
	if (first != '/')
		return err_usage(e, "working directory %s is not below the sandbox's root",
				 r->workdir);
	return 0;
}
