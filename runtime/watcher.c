#include "runtime/watcher.h"

#include "base/fd.h"
#include "runtime/deadline.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024, NS_IN_S = 1000000000 };

static void post(int fd)
{
	eventfd_write(fd, 1); /* of a counter that is read in between: it cannot be full */
}

static void *look_on(void *arg)
{
	struct watcher *r = arg;
	eventfd_t count;
	while (eventfd_read(r->go, &count) == 0 && !atomic_load(&r->pace.stop)) {
		r->seen = (struct watch_seen){0};
		r->seen_all = watch_memory(r->watch, r->limit, &r->pace, &r->seen.bytes) &&
			      watch_pids(r->watch, &r->seen.tasks);
		post(r->done);
	}
	return NULL;
}

/* Signals are blocked by then (the supervisor reads them), and stay so in the thread. */
static int start(struct watcher *r, struct err *e)
{
	pthread_attr_t attr;
	r->go = eventfd(0, EFD_CLOEXEC);
	r->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->go < 0 || r->done < 0)
		return err_sys(e, "eventfd for the memory watch");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	errno = pthread_create(&r->thread, &attr, look_on, r);
	pthread_attr_destroy(&attr);
	if (errno)
		return err_sys(e, "start the thread of the memory watch");
	r->started = true;
	return 0;
}

static int64_t thread_cpu_ns(const struct watcher *r)
{
	clockid_t id;
	struct timespec ts = {0};
	if (pthread_getcpuclockid(r->thread, &id) != 0 || clock_gettime(id, &ts) < 0)
		return 0;
	return (int64_t)ts.tv_sec * NS_IN_S + ts.tv_nsec;
}

static void begin_pass(struct watcher *r)
{
	r->pass = atomic_load(&r->pace.passes);
	r->pass_ns = now_ns();
	r->pass_cpu_ns = thread_cpu_ns(r);
}

int watcher_look(struct watcher *r, const struct watch *w, uint64_t limit, struct err *e)
{
	if (!r->started && start(r, e) < 0) {
		fd_close(&r->go);
		fd_close(&r->done);
		return -1;
	}
	r->watch = w;
	r->limit = limit;
	r->looking = true;
	r->begun_ns = now_ns();
	begin_pass(r);
	r->passes_before = r->pass;
	post(r->go);
	return 0;
}

bool watcher_pass_cost(struct watcher *r, int64_t *elapsed_ns, int64_t *cpu_ns)
{
	if (r->pass != atomic_load(&r->pace.passes))
		begin_pass(r);
	*elapsed_ns = now_ns() - r->pass_ns;
	*cpu_ns = thread_cpu_ns(r) - r->pass_cpu_ns;
	return r->pass - r->passes_before > 1; /* the first is the cheap one */
}

bool watcher_take(struct watcher *r, struct watch_seen *seen)
{
	eventfd_t count;
	eventfd_read(r->done, &count);
	r->looking = false;
	*seen = r->seen;
	return r->seen_all;
}

void watcher_stop(struct watcher *r)
{
	atomic_store(&r->pace.stop, true);
}

void watcher_close(struct watcher *r)
{
	if (r->started) {
		watcher_stop(r);
		post(r->go);
		pthread_join(r->thread, NULL);
	}
	r->started = false;
	fd_close(&r->go);
	fd_close(&r->done);
}
