#include "runtime/deadline.h"

#include "base/fd.h"

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

int64_t now_ns(void)
{
	struct timespec ts = {0};
	/* Not by the vDSO: a run asks a dozen times, and its two pages would cost two faults. A
	 * filter around us may forbid the call, though, and that it cannot. */
	if (syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &ts) < 0)
		clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t deadline_after(int64_t from, uint64_t ns)
{
	return ns < (uint64_t)(INT64_MAX - from) ? from + (int64_t)ns : INT64_MAX;
}

int deadlines_open(struct deadlines *d, struct err *e)
{
	for (int i = 0; i < DEADLINE_COUNT; i++)
		d->at_ns[i] = INT64_MAX;
	d->armed_ns = INT64_MAX;
	d->fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return d->fd < 0 ? err_sys(e, "timerfd") : 0;
}

void deadlines_close(struct deadlines *d)
{
	fd_close(&d->fd);
}

void deadline_set(struct deadlines *d, enum deadline_id id, int64_t at_ns)
{
	d->at_ns[id] = at_ns;
}

void deadline_clear(struct deadlines *d, enum deadline_id id)
{
	d->at_ns[id] = INT64_MAX;
}

int deadlines_arm(struct deadlines *d, struct err *e)
{
	int64_t first = INT64_MAX;
	for (int i = 0; i < DEADLINE_COUNT; i++)
		if (d->at_ns[i] < first)
			first = d->at_ns[i];
	if (first == d->armed_ns)
		return 0;
	struct itimerspec spec = {0};
	if (first != INT64_MAX)
		spec.it_value = (struct timespec){.tv_sec = first / NS_PER_S,
						  .tv_nsec = first % NS_PER_S};
	if (timerfd_settime(d->fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
		return err_sys(e, "set the timer");
	d->armed_ns = first;
	return 0;
}

int deadline_due(struct deadlines *d, int64_t now)
{
	for (int i = 0; i < DEADLINE_COUNT; i++) {
		if (d->at_ns[i] > now)
			continue;
		d->at_ns[i] = INT64_MAX;
		d->armed_ns = INT64_MAX - 1; /* whatever was armed has passed: arm anew */
		return i;
	}
	return -1;
}
