/* Counting denials. The filter has already decided: every call that arrives here is denied,
 * whatever it is, so that nothing depends on what another thread may change meanwhile. */
#include "base/fd.h"
#include "seccomp/names.h"
#include "seccomp/filter_data.h"
#include "seccomp/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RECORD_MAX = 256 }; /* the structs are 80 and 24 bytes today and may grow */

int notify_open(struct notify *n, int listener, struct err *e)
{
	autoclose int fd = listener;
	struct seccomp_notif_sizes sizes;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_sys(e, "ask for the size of seccomp notifications");
	if (sizes.seccomp_notif > RECORD_MAX || sizes.seccomp_notif_resp > RECORD_MAX)
		return err_host(e,
				"seccomp notifications of this kernel have %u and %u bytes, more than %d",
				sizes.seccomp_notif, sizes.seccomp_notif_resp, RECORD_MAX);
	*n = (struct notify)NOTIFY_INIT;
	n->notif_size = sizes.seccomp_notif;
	n->resp_size = sizes.seccomp_notif_resp;
	n->listener = fd_take(&fd);
	return 0;
}

void notify_close(struct notify *n)
{
	fd_close(&n->listener);
	n->listener = -1;
}

/* 1: there is one, 0: its caller is gone. Asks first: receiving would wait for the next one. */
static int receive(struct notify *n, struct seccomp_notif *req, struct err *e)
{
	struct pollfd ready = {.fd = n->listener, .events = POLLIN};
	if (poll(&ready, 1, 0) < 0)
		return errno == EINTR ? 0 : err_sys(e, "poll the seccomp listener");
	if (!(ready.revents & POLLIN))
		return 0;
	if (ioctl(n->listener, SECCOMP_IOCTL_NOTIF_RECV, req) == 0)
		return 1;
	return errno == ENOENT || errno == EINTR ? 0 : err_sys(e, "receive a seccomp notification");
}

static int deny(struct notify *n, uint64_t id, struct err *e)
{
	union {
		struct seccomp_notif_resp resp;
		char room[RECORD_MAX];
	} u = {.room = {0}};
	u.resp.id = id;
	u.resp.error = -EPERM;
	if (ioctl(n->listener, SECCOMP_IOCTL_NOTIF_SEND, &u.resp) < 0 && errno != ENOENT)
		return err_sys(e, "answer a seccomp notification");
	return 0;
}

/* True if it is a row's first. */
static bool count(struct notify *n, uint32_t arch, int32_t nr)
{
	n->seen++;
	for (uint32_t i = 0; i < n->rows_len; i++) {
		if (n->rows[i].arch == arch && n->rows[i].nr == nr) {
			n->rows[i].count++;
			return false;
		}
	}
	if (n->rows_len == DENIED_MAX) {
		n->more++;
		return false;
	}
	n->rows[n->rows_len].arch = arch;
	n->rows[n->rows_len].nr = nr;
	n->rows[n->rows_len++].count = 1;
	return true;
}

static bool is_foreign(uint32_t arch, int32_t nr)
{
	return arch != filter_native_arch || (arch == AUDIT_ARCH_X86_64 && nr >= X32_BIT);
}

int notify_handle(struct notify *n, uint32_t *arch, int32_t *nr, struct err *e)
{
	union {
		struct seccomp_notif notif;
		char room[RECORD_MAX];
	} u = {.room = {0}}; /* the kernel refuses one that is not zeroed */
	int got = receive(n, &u.notif, e);
	if (got <= 0)
		return got;
	bool first = count(n, u.notif.data.arch, u.notif.data.nr);
	*arch = u.notif.data.arch;
	*nr = u.notif.data.nr;
	if (is_foreign(*arch, *nr))
		return 1;
	if (deny(n, u.notif.id, e) < 0)
		return -1;
	if (n->seen >= NOTIFY_BUDGET) {
		n->complete = false;
		notify_close(n);
	}
	return first ? 2 : 0;
}

static int compare_denied(const void *a, const void *b)
{
	const struct denied_syscall *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

void notify_report(const struct notify *n, struct result *r)
{
	for (uint32_t i = 0; i < n->rows_len; i++) {
		struct denied_syscall *d = &r->denied[i];
		size_t at = 0;
		if (is_foreign(n->rows[i].arch, n->rows[i].nr))
			at = (size_t)snprintf(d->name, sizeof(d->name),
					      "%s:", abi_name(n->rows[i].arch, n->rows[i].nr));
		syscall_name(n->rows[i].arch, n->rows[i].nr, d->name + at, sizeof(d->name) - at);
		d->count = n->rows[i].count;
	}
	r->denied_len = n->rows_len;
	r->denied_more = n->more;
	r->denied_complete = n->complete;
	qsort(r->denied, r->denied_len, sizeof(r->denied[0]), compare_denied);
}
