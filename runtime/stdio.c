/* stdio as the poll loop sees it: what to do when one of the streams is ready. */
#include "base/fd.h"
#include "runtime/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *stream_name(const struct run *run, const struct stream *s)
{
	return s == &run->out ? "stdout" : "stderr";
}

/* What the program wrote before its end counts, whichever of the two we hear of first. */
static void end_by_output(struct run *run, const struct stream *s)
{
	run_reopen(run);
	if (run->decided)
		return;
	result_evidence_text(run->r, "stream", stream_name(run, s));
	end_by_limit(run, RUN_OUTPUT_LIMIT, "output",
		     "the program wrote more than the output limit allows");
}

/* A stream that broke off on our side must not pass for all that the program wrote. */
static void break_off(struct run *run, const struct stream *s)
{
	struct err e = ERR_INIT;
	errno = s->failed;
	err_sys(&e, "stdio: read what the program wrote to its %s", stream_name(run, s));
	run_reopen(run);
	end_by_error(run, RUN_LOST, "stdio", &e);
}

/* False: nothing was there to be read. */
static bool pump(struct run *run, struct stream *s)
{
	bool over_limit;
	const bool some = stream_pump(s, &over_limit) > 0;
	if (some)
		run->active_ns = now_ns();
	if (s->failed)
		break_off(run, s);
	if (over_limit) {
		end_by_output(run, s);
		fd_close(&s->from);
	}
	return some;
}

static void lose_reader(struct run *run, struct stream *s, int sys)
{
	char value[64];
	snprintf(value, sizeof(value), "%s: %s", stream_name(run, s), strerrorname_np(sys));
	cancel(run, "lost", value, "whoever reads the output went away");
	fd_close(&s->from);
	kill_all(run);
}

/* Nobody went away, and what the program wrote is not where it should be: that is no end of the
 * program's own, even if it has ended meanwhile. */
static void lose_output(struct run *run, struct stream *s, int sys)
{
	struct err e = ERR_INIT;
	char value[64];
	const char *file = s == &run->out ? run->spec->stdout_file : run->spec->stderr_file;
	const char *mend = sys == EFBIG ? "raise the limit on file sizes (ulimit -f)"
			   : sys == EDQUOT || sys == ENOSPC ? "make room there, or name another place"
							    : "name another place";
	run_reopen(run);
	if (!run->decided) {
		snprintf(value, sizeof(value), "%s: %s", stream_name(run, s), strerrorname_np(sys));
		result_evidence_text(run->r, "lost", value);
	}
	err_host(&e, "%s cannot be written to %s: %s; %s", stream_name(run, s),
		 file ? file : "what the caller gave", strerrordesc_np(sys), mend);
	e.sys = sys;
	fd_close(&s->from);
	end_by_error(run, RUN_LOST, "output", &e);
}

static void settle(struct run *run, struct stream *s)
{
	outlet_flush(&s->to);
	if (s->to.broken && s->to.len > 0) {
		s->to.len = 0;
		s->truncated = true;
		if (outlet_reader_left(&s->to))
			lose_reader(run, s, s->to.broken);
		else
			lose_output(run, s, s->to.broken);
	}
}

/* A hang-up alone is the end with nothing left to read; of an error the read tells. */
static void on_from(struct run *run, struct stream *s, short revents)
{
	if (revents & ~POLLHUP)
		pump(run, s);
	else
		fd_close(&s->from);
	settle(run, s);
}

void on_out_from(struct run *run, short revents)
{
	on_from(run, &run->out, revents);
}

void on_err_from(struct run *run, short revents)
{
	on_from(run, &run->err, revents);
}

static void on_to(struct run *run, struct stream *s, short revents)
{
	/* A reader that went away shows as POLLERR with or without POLLOUT: with bytes to pass on the write tells. */
	if (s->to.len > 0)
		settle(run, s);
	else if ((revents & (POLLERR | POLLHUP)) && s->from >= 0 && run->phase < PHASE_KILLED)
		lose_reader(run, s, EPIPE);
}

void on_out_to(struct run *run, short revents)
{
	on_to(run, &run->out, revents);
}

void on_err_to(struct run *run, short revents)
{
	on_to(run, &run->err, revents);
}

/* The program must not take for the whole input what is only its beginning: it does not live to see
 * an end of file. */
static void lose_input(struct run *run)
{
	const struct spec *s = run->spec;
	struct err e = ERR_INIT;
	const bool background = run->feed.failed == EIO && s->stdin_kind != STDIN_FILE &&
				isatty(STDIN_FILENO);
	errno = run->feed.failed;
	err_sys(&e, "stdio: read stdin %s%s",
		s->stdin_kind == STDIN_FILE ? s->stdin_file : "of the caller",
		background ? ", a terminal (in the background? --stdin null)" : "");
	if (!run->decided) /* else it is ending, and has its grace */
		end_by_error(run, RUN_LOST, "stdio", &e);
}

void on_feed_from(struct run *run, short revents)
{
	(void)revents;
	if (feed_pump(&run->feed) > 0)
		run->active_ns = now_ns();
	if (run->feed.failed) {
		lose_input(run);
		return;
	}
	feed_settle(&run->feed);
}

void on_feed_to(struct run *run, short revents)
{
	if (revents & POLLOUT && outlet_flush(&run->feed.to) > 0)
		run->active_ns = now_ns();
	if (run->feed.to.broken || !(revents & POLLOUT))
		feed_close(&run->feed); /* the program closed its stdin */
	else
		feed_settle(&run->feed);
}

/* Who could write to it is dead, so what it holds is all that comes, and is passed on as far as
 * that needs no waiting: a grace of 0 must not lose what somebody would take at once. */
static bool abandon(struct run *run, struct stream *s)
{
	settle(run, s);
	while (s->from >= 0 && outlet_room(&s->to) > 0 && pump(run, s))
		settle(run, s);
	if (s->to.len == 0)
		return false;
	s->truncated = true;
	result_warn(run->r, "%s: the last bytes were not delivered, because nobody took them in time",
		    stream_name(run, s));
	return true;
}

void streams_abandon(struct run *run)
{
	const bool out = abandon(run, &run->out), err = abandon(run, &run->err);
	if (!run->hurried || !ended_by_itself(run) || !(out || err))
		return;
	run_reopen(run);
	run_decide(run, RUN_CANCELLED, "",
		   "pinfold was told to stop, or lost its caller, before the output was read");
}

void on_events(struct run *run, short revents)
{
	(void)revents;
	events_flush(run);
}
