#include "pipeline/watch.h"

#include "base/fd.h"
#include "pipeline/report.h"
#include "runtime/deadline.h"
#include "spec/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FIXED = 5, /* descriptors that are none of a run's */
	OF_RUN = 4,
	LINE_BYTES_MAX = 64 << 20,
	EVENTS_HELD_MAX = 8 << 20,
	LAST_WORDS_MS = 2000,
	LOOK_MS = 100, /* between looks whether there is time left */
	UNREAD_MAX =
		256 << 10, /* what a stage says and nobody takes from us: more waits in its pipe */
};

/* ---- opening ---- */

static int open_signals(struct watch *w, struct err *e)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signals < 0 ? err_sys(e, "wait for signals") : 0;
}

/* A caller outside of our pid namespace (0) cannot be watched. */
static int open_caller(struct watch *w, struct err *e)
{
	const pid_t parent = getppid();
	if (parent == 0)
		return 0;
	w->caller = (int)syscall(SYS_pidfd_open, parent, 0);
	if (w->caller < 0 && errno != ESRCH)
		return err_sys(e, "watch the caller (pid %d)", parent);
	return w->caller < 0 || getppid() != parent
		       ? err_host(e, "the caller ended before the start")
		       : 0;
}

int watch_open(struct watch *w, const struct job_options *o, struct job_result *r, struct err *e)
{
	w->o = o;
	w->r = r;
	w->active = arena_alloc(w->place.arena, JOB_COMBINATIONS_MAX * sizeof(*w->active));
	if (open_signals(w, e) < 0 || open_caller(w, e) < 0 ||
	    outlet_open(&w->out, STDOUT_FILENO, e) < 0 || outlet_open(&w->err, STDERR_FILENO, e) < 0)
		return -1;
	if (o->events >= 0 && outlet_open(&w->events, o->events, e) < 0)
		return -1;
	w->place.with_events = o->events >= 0;
	return 0;
}

/* ---- events ---- */

static void put_event(struct watch *w, char *line)
{
	const size_t len = line ? strlen(line) : 0;
	if (!line || w->events.broken || w->events.len > EVENTS_HELD_MAX ||
	    (!outlet_put(&w->events, line, len) && !outlet_put_last(&w->events, line, len)))
		w->events_lost++;
	free(line);
	outlet_flush(&w->events);
}

void watch_event(struct watch *w, const struct stage_run *run, const char *what, const char *inner)
{
	struct json_writer j;
	if (w->events.fd < 0)
		return;
	json_open(&j, false);
	json_begin(&j, NULL, '{');
	json_text(&j, "schema", "pinfold.job-event/1");
	json_text(&j, "job", w->r->id);
	json_text(&j, "what", what);
	if (run)
		json_text(&j, "stage", run->stage->name);
	else
		json_null_value(&j, "stage");
	report_set(&j, run);
	json_number(&j, "at_usec", (now_ns() - w->o->begun_ns) / 1000);
	if (inner)
		json_raw(&j, "event", inner);
	else
		json_null_value(&j, "event");
	json_end(&j, '{');
	put_event(w, json_finish(&j, true));
}

/* Whole lines of what came; the rest waits for more. */
static void take_lines(struct watch *w, struct stage_run *run)
{
	struct lines *l = &run->lines;
	size_t begin = 0;
	for (char *end; (end = memchr(l->text + begin, '\n', l->len - begin));) {
		*end = '\0';
		watch_event(w, run, "run", l->text + begin);
		begin = (size_t)(end - l->text) + 1;
	}
	memmove(l->text, l->text + begin, l->len - begin);
	l->len -= begin;
}

/* False: that was all. */
static bool read_events(struct watch *w, struct stage_run *run)
{
	struct lines *l = &run->lines;
	if (l->room - l->len < PIPE_BUF) {
		const size_t room = l->room ? l->room * 2 : RELAY_BYTES;
		char *text = room <= LINE_BYTES_MAX ? realloc(l->text, room) : NULL;
		if (!text) {
			w->events_lost++; /* and what would come behind it */
			return false;
		}
		l->text = text;
		l->room = room;
	}
	const ssize_t n = read(run->events, l->text + l->len, l->room - l->len);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	l->len += (size_t)n;
	take_lines(w, run);
	return true;
}

/* ---- output ---- */

/* From a pipe to the file that keeps it. False: there is nothing more, now or for good (then it is closed). */
static bool keep_some(struct stage_run *run, int *from, int to)
{
	char buf[RELAY_BYTES];
	const ssize_t n = *from < 0 ? -1 : read(*from, buf, sizeof(buf));
	if (n > 0 && fd_write_all(to, buf, (size_t)n) == 0)
		return true;
	if (n > 0) {
		run->unkept = errno;
		fd_close(from);
	}
	if (*from >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR)))
		fd_close(from);
	return false;
}

/* From a file that grows to an outlet; *at is how far it was. True: more is there, and did not fit. */
static bool pass_stream(int from, int64_t *at, struct outlet *to)
{
	char buf[RELAY_BYTES];
	for (;;) {
		outlet_flush(to);
		const size_t room = outlet_room(to);
		if (from < 0 || to->broken)
			return false;
		const ssize_t n = pread(from, buf, room < sizeof(buf) ? room : sizeof(buf), *at);
		if (n <= 0)
			return room == 0 && n == 0;
		if (!outlet_put(to, buf, (size_t)n))
			return true;
		*at += n;
	}
}

static bool pass(struct watch *w, struct stage_run *run)
{
	bool more = false;
	if (run->mute)
		return false;
	if (!run->quiet)
		more = pass_stream(run->out, &run->out_at, run->to_stdout ? &w->out : &w->err);
	return pass_stream(run->err, &run->err_at, &w->err) || more;
}

static bool left_over(const struct stage_run *run)
{
	struct stat out, err;
	if (run->mute)
		return false;
	return (!run->quiet && run->out >= 0 && fstat(run->out, &out) == 0 &&
		out.st_size > run->out_at) ||
	       (run->err >= 0 && fstat(run->err, &err) == 0 && err.st_size > run->err_at);
}

static void told(struct watch *w)
{
	struct signalfd_siginfo info;
	while (read(w->signals, &info, sizeof(info)) == sizeof(info))
		w->cancelled = true;
}

static void cancel(struct watch *w)
{
	w->cancelled = true;
	for (size_t i = 0; i < w->active_len; i++)
		sibling_signal(&w->active[i]->process, SIGTERM);
}

/* A full disk, say: as with a run, what is lost is not passed over. */
static void look_for_loss(struct watch *w)
{
	const struct outlet *outlets[] = {&w->out, &w->err};
	static const char *const names[] = {"stdout", "stderr"};
	for (size_t i = 0; i < 2 && !w->unwritten; i++) {
		if (!outlets[i]->broken || outlet_reader_left(outlets[i]))
			continue;
		w->unwritten = names[i];
		w->unwritten_errno = outlets[i]->broken;
		cancel(w);
	}
}

void watch_pass(struct watch *w, struct stage_run *run)
{
	while (!w->cancelled) {
		pass(w, run);
		look_for_loss(w);
		const bool out = w->out.len > 0 && !w->out.broken,
			   err = w->err.len > 0 && !w->err.broken;
		if (!out && !err && (!left_over(run) || w->out.broken || w->err.broken))
			return;
		struct pollfd p[] = {{.fd = w->signals, .events = POLLIN},
				     {.fd = out ? w->out.fd : -1, .events = POLLOUT},
				     {.fd = err ? w->err.fd : -1, .events = POLLOUT},
				     {.fd = w->caller, .events = POLLIN}};
		if (poll(p, 4, LOOK_MS) < 0 && errno != EINTR)
			return;
		if (p[0].revents)
			told(w);
		if (p[3].revents)
			w->cancelled = true;
	}
}

/* ---- the loop ---- */

/* One that could not be started has a reason and no result. */
static void not_started(struct stage_run *run, const struct err *e)
{
	run->ok = false;
	snprintf(run->why, sizeof(run->why), "lost: %.380s", e->msg);
}

static void ended(struct watch *w, struct stage_run *run)
{
	char wall[64];
	struct err e = ERR_INIT;
	if (stage_run_diagnose(run, &e) < 0)
		job_warn(w->r, "what stage %s said was not read: %s", run->stage->name, e.msg);
	const json_t *usage = json_object_get(run->result, "usage");
	const int64_t usec = json_integer_value(json_object_get(usage, "wall_usec"));
	if (run->state == RUN_RAN)
		w->r->stages_usec += usec;
	snprintf(wall, sizeof(wall), "{\"ok\":%s,\"wall_usec\":%lld}", run->ok ? "true" : "false",
		 (long long)usec);
	watch_pass(w, run);
	watch_event(w, run, run->state == RUN_CACHED ? "cached" : "ended", wall);
}

/* True: it is active now; else it is done already. */
static bool begin(struct watch *w, struct stage_run *run)
{
	struct err e = ERR_INIT;
	w->r->runs[w->r->runs_len++] = run;
	if (stage_run_cached(run, &w->place)) {
		ended(w, run);
		return false;
	}
	watch_event(w, run, "started", NULL);
	if (stage_run_start(run, &w->place, &e) < 0) {
		not_started(run, &e);
		ended(w, run);
		return false;
	}
	w->active[w->active_len++] = run;
	return true;
}

static void finish(struct watch *w, size_t i)
{
	struct stage_run *run = w->active[i];
	w->active[i] = w->active[--w->active_len];
	while (keep_some(run, &run->out_pipe, run->out) || keep_some(run, &run->err_pipe, run->err))
		;
	while (run->events >= 0 && read_events(w, run))
		if (poll(&(struct pollfd){.fd = run->events, .events = POLLIN}, 1, 0) <= 0)
			break;
	fd_close(&run->events);
	stage_run_finish(run, &w->place);
	stage_run_keep(run, &w->place);
	ended(w, run);
}

/* Whether more of it may be taken: of what is passed on, only so much waits in our file. */
static bool wants_more(const struct stage_run *run, int file, int64_t at, bool passed_on)
{
	struct stat st;
	return run->mute || !passed_on || fstat(file, &st) < 0 || st.st_size - at < UNREAD_MAX;
}

static void fill_run(const struct watch *w, const struct stage_run *run, struct pollfd p[OF_RUN])
{
	/* Events wait in their pipes while nobody reads ours. */
	const bool held = w->events.len > RELAY_BYTES;
	const bool out = wants_more(run, run->out, run->out_at, !run->quiet && !w->out.broken);
	const bool err = wants_more(run, run->err, run->err_at, !w->err.broken);
	p[0] = (struct pollfd){.fd = run->process.pidfd, .events = POLLIN};
	p[1] = (struct pollfd){.fd = held ? -1 : run->events, .events = POLLIN};
	p[2] = (struct pollfd){.fd = out ? run->out_pipe : -1, .events = POLLIN};
	p[3] = (struct pollfd){.fd = err ? run->err_pipe : -1, .events = POLLIN};
}

static size_t fill(const struct watch *w, struct pollfd *p)
{
	const struct outlet *outlets[] = {&w->out, &w->err, &w->events};
	p[0] = (struct pollfd){.fd = w->signals, .events = POLLIN};
	p[1] = (struct pollfd){.fd = w->caller, .events = POLLIN};
	for (size_t i = 0; i < 3; i++) {
		const bool waits = outlets[i]->len > 0 && !outlets[i]->broken;
		p[2 + i] = (struct pollfd){.fd = waits ? outlets[i]->fd : -1, .events = POLLOUT};
	}
	for (size_t i = 0; i < w->active_len; i++)
		fill_run(w, w->active[i], &p[FIXED + OF_RUN * i]);
	return FIXED + OF_RUN * w->active_len;
}

static void look_at_run(struct watch *w, struct stage_run *run, const struct pollfd p[OF_RUN])
{
	if (p[1].revents && !read_events(w, run))
		fd_close(&run->events);
	if (p[2].revents)
		keep_some(run, &run->out_pipe, run->out);
	if (p[3].revents)
		keep_some(run, &run->err_pipe, run->err);
	pass(w, run);
}

static void look(struct watch *w, struct pollfd *p)
{
	if (p[0].revents) {
		told(w);
		cancel(w);
	}
	if (p[1].revents) {
		cancel(w);
		fd_close(&w->caller);
	}
	outlet_flush(&w->events);
	for (size_t i = 0; i < w->active_len; i++)
		look_at_run(w, w->active[i], &p[FIXED + OF_RUN * i]);
	if (!w->cancelled && w->out.broken && outlet_reader_left(&w->out))
		cancel(w);
	look_for_loss(w);
}

/* Waits once. */
static void wait_for_them(struct watch *w)
{
	struct pollfd p[FIXED + OF_RUN * JOB_COMBINATIONS_MAX];
	const size_t len = fill(w, p), active = w->active_len;
	if (poll(p, len, -1) < 0)
		return;
	look(w, p);
	for (size_t i = active; i-- > 0;)
		if (p[FIXED + OF_RUN * i].revents)
			finish(w, i);
}

bool watch_run(struct watch *w, const struct batch *b)
{
	size_t next = 0;
	bool good = true;
	for (;;) {
		while (next < b->len && w->active_len < b->most && !w->cancelled &&
		       (good || b->keep_going)) {
			struct stage_run *run = b->runs[next++];
			if (!begin(w, run))
				good &= run->ok;
		}
		if (w->active_len == 0)
			break;
		wait_for_them(w);
		for (size_t i = 0; i < next; i++)
			good &= b->runs[i]->ok || b->runs[i]->process.pidfd >= 0;
	}
	return good && next == b->len && !w->cancelled;
}

int watch_sibling(struct watch *w, struct sibling *s)
{
	struct pollfd p[] = {{.fd = s->pidfd, .events = POLLIN},
			     {.fd = w->signals, .events = POLLIN},
			     {.fd = w->caller, .events = POLLIN}};
	while (!p[0].revents) {
		if (poll(p, 3, -1) < 0)
			continue;
		if (p[1].revents)
			told(w);
		if (p[2].revents)
			w->cancelled = true;
		if (w->cancelled)
			sibling_signal(s, SIGTERM);
		p[2].fd = w->cancelled ? -1 : w->caller;
	}
	return sibling_wait(s);
}

/* ---- the end ---- */

void watch_close(struct watch *w)
{
	const int64_t until = now_ns() + (int64_t)LAST_WORDS_MS * 1000000;
	while (w->events.fd >= 0 && w->events.len > 0 && !w->events.broken && now_ns() < until) {
		struct pollfd p = {.fd = w->events.fd, .events = POLLOUT};
		if (poll(&p, 1, LOOK_MS) < 0 && errno != EINTR)
			break;
		outlet_flush(&w->events);
	}
	outlet_close(&w->out);
	outlet_close(&w->err);
	outlet_close(&w->events);
	fd_close(&w->signals);
	fd_close(&w->caller);
}
