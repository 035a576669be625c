#include "runtime/queue.h"

#include "base/fd.h"
#include "runtime/registry.h"
#include "spec/parse.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct queue {
	struct run *run;
	struct lease *lease;
	struct slots_wish wish;
	int64_t begun_ns, until_ns;
	unsigned position; /* as it was told last, 0: not yet */
};

/* Others have the lock for microseconds; this is for one that is stopped meanwhile. Who does not
 * want to wait for a slot waits that long to learn whether one is free. */
enum { LOCK_WAIT_MS = 1, LOCK_MS = 1000 };

bool queue_wanted(const struct spec *s)
{
	return s->slots.count > 0 || s->slots_memory_bytes != LIMIT_NONE;
}

static void take_signal(struct run *run)
{
	struct signalfd_siginfo info;
	while (!run->decided && read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		const int sig = (int)info.ssi_signo;
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT)
			cancel(run, "signal", sigabbrev_np(sig),
			       "pinfold was told to stop while it waited for a slot");
	}
}

static void give_up(struct queue *q, unsigned position)
{
	char message[200], queue[PARSE_TEXT_BYTES];
	const char *name = q->run->spec->slots.name;
	spec_format_time(q->run->spec->queue_ns, queue);
	if (position > 0)
		snprintf(message, sizeof(message),
			 "no slot of \"%s\" came free within --queue %s (position %u in the line)",
			 name, queue, position);
	else
		snprintf(message, sizeof(message),
			 "whether a slot of \"%s\" is free could not be seen within --queue %s, as a run that "
			 "was looking is stopped",
			 name, queue);
	if (position > 0)
		result_evidence_number(q->run->r, "queue.position", position);
	run_decide(q->run, RUN_REFUSED, "queue", message);
}

static int left_ms(const struct queue *q, int most)
{
	if (q->until_ns == INT64_MAX || most >= 0)
		return most;
	const int64_t left = (q->until_ns - now_ns() + MS_NS - 1) / MS_NS;
	if (left <= 0)
		return 0;
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* Until something happens, most ms at most (-1: no matter how long). -1: the run is decided, or *e. */
static int wait_once(struct queue *q, const struct slots_view *v, int most, struct err *e)
{
	struct run *run = q->run;
	struct pollfd fds[3 + SLOTS_MAX] = {{.fd = run->signals, .events = POLLIN},
					    {.fd = run->caller, .events = POLLIN},
					    {.fd = run->registry, .events = POLLIN}};
	for (size_t i = 0; i < v->ends_len; i++)
		fds[3 + i] = (struct pollfd){.fd = v->ends[i], .events = POLLIN};
	if (poll(fds, 3 + v->ends_len, left_ms(q, most)) < 0 && errno != EINTR)
		return err_sys(e, "slots: poll");
	if (fds[0].revents)
		take_signal(run);
	if (fds[1].revents && !run->decided)
		cancel(run, "caller", "exited", "the caller of pinfold ended");
	if (fds[2].revents)
		registry_answer(run->registry);
	return run->decided ? -1 : 0;
}

/* Whether the time is up; then the run is refused. position 0: it has none yet. */
static bool is_late(struct queue *q, unsigned position)
{
	if (q->until_ns == INT64_MAX || now_ns() < q->until_ns)
		return false;
	give_up(q, position);
	return true;
}

static bool has_looked_long(const struct queue *q)
{
	return now_ns() - q->begun_ns > LOCK_MS * MS_NS;
}

static int lock_step(struct queue *q, struct err *e)
{
	const struct slots_view nobody = {.ends_len = 0};
	for (;;) {
		const int locked = slots_try_lock(q->lease, e);
		if (locked != 0)
			return locked < 0 ? -1 : 0;
		if (wait_once(q, &nobody, LOCK_WAIT_MS, e) < 0 ||
		    ((q->position > 0 || has_looked_long(q)) && is_late(q, q->position)))
			return -1;
	}
}

static int step(struct queue *q, struct slots_view *v, struct err *e)
{
	if (lock_step(q, e) < 0)
		return -1;
	int done = q->lease->ticket ? 0 : slots_enter(q->lease, &q->wish, e);
	if (done == 0)
		done = slots_look(q->lease, &q->wish, v, e);
	/* One end wakes one; those that want to know pass it on, one by one, and delay nobody. */
	if (done == 0 && (v->taken || v->position != q->position))
		slots_tell(q->lease, !v->taken);
	slots_unlock(q->lease);
	return done;
}

static void tell_position(struct queue *q, unsigned position)
{
	const struct sandbox_options *o = q->run->o;
	if (position == q->position)
		return;
	if (o->queued && (q->position == 0 || o->queued_again))
		o->queued(position);
	q->position = position;
	q->run->queue_position = position;
	run_event(q->run, EVENT_QUEUED, NULL);
}

static int wait_for_step(struct queue *q, struct slots_view *v, struct err *e)
{
	const bool late = is_late(q, v->position);
	if (!late)
		tell_position(q, v->position);
	const int waited = late ? -1 : wait_once(q, v, -1, e);
	for (size_t i = 0; i < v->ends_len; i++)
		fd_close(&v->ends[i]);
	return waited;
}

static struct slots_wish wish_of(const struct run *run)
{
	const struct spec *s = run->spec;
	return (struct slots_wish){.count = s->slots.count ? s->slots.count : SLOTS_MAX,
				   .memory = s->limits.memory_bytes,
				   .memory_most = s->slots_memory_bytes,
				   .told = run->events.fd >= 0 || run->o->queued_again};
}

int queue_wait(struct run *run, struct lease *lease, struct err *e)
{
	struct queue q = {.run = run, .lease = lease, .wish = wish_of(run), .begun_ns = now_ns()};
	q.until_ns = deadline_after(q.begun_ns, run->spec->queue_ns);
	if (!run->o->runtime_dir)
		return err_host(e, "slots: there is no folder to share them in; set XDG_RUNTIME_DIR to one of "
				   "this user's own (mode 0700)");
	if (slots_open(lease, run->o->runtime_dir, run->spec->slots.name, e) < 0)
		return -1;
	for (;;) {
		struct slots_view view = {.ends_len = 0};
		if (step(&q, &view, e) < 0)
			return -1;
		if (view.taken) {
			run_event(run, EVENT_STAGE, "slot");
			return 0;
		}
		if (wait_for_step(&q, &view, e) < 0)
			return -1;
	}
}
