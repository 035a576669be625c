#include "seccomp/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc has no wrapper. Not prctl(): only seccomp(2) gives a listener. */
static int set_filter(const struct sock_filter *insns, unsigned short len, unsigned int flags)
{
	/* The kernel's struct is without const; it only reads. */
	const struct sock_fprog prog = {.len = len, .filter = (struct sock_filter *)insns};
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

/* A listener, and a caller that only a deadly signal can take out of its wait: so that signals do
 * not repeat a denied call and count it twice. The flag is of Linux 5.19. */
static int set_filter_listener(const struct filter *f)
{
	int fd = set_filter(f->insns, f->len,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (fd < 0 && errno == EINVAL)
		fd = set_filter(f->insns, f->len, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	return fd;
}

int filter_load(const struct filter *f, int *listener, struct err *e)
{
	int fd = -1;
	if (f->notify) {
		fd = set_filter_listener(f);
		if (fd < 0 && errno == EBUSY && f->quiet && set_filter(f->quiet, f->quiet_len, 0) == 0)
			fd = -1;
		else if (fd < 0)
			return err_sys(e, "load the system call filter with a listener");
	} else if (set_filter(f->insns, f->len, 0) < 0) {
		return err_sys(e, "load the system call filter");
	}
	if (listener)
		*listener = fd;
	return 0;
}
