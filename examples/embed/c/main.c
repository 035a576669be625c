/* embed OUTCOME PINFOLD ARG...: runs it, passes its output on, cancels it at "cancel" on stdin, writes the outcome. */
#define _GNU_SOURCE
#include "embed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int write_all(int fd, const char *at, size_t len)
{
	while (len > 0) {
		const ssize_t n = write(fd, at, len);
		if (n < 0 && errno != EINTR)
			return -1;
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int on_stdout(void *arg, const void *bytes, size_t len)
{
	(void)arg;
	return write_all(1, bytes, len);
}

static int on_stderr(void *arg, const void *bytes, size_t len)
{
	(void)arg;
	return write_all(2, bytes, len);
}

static int on_event(void *arg, const json_t *event)
{
	(void)arg;
	char line[80];
	const char *name = json_string_value(json_object_get(event, "event"));
	const int len = snprintf(line, sizeof(line), "event %.60s\n", name ? name : "");
	return write_all(2, line, (size_t)len);
}

/* Anybody who can write to a descriptor can cancel: a signal handler, a thread, another process. */
static void *listen_for_cancel(void *arg)
{
	char text[100];
	ssize_t n;
	while ((n = read(0, text, sizeof(text))) > 0)
		if (memmem(text, (size_t)n, "cancel", 6) && write(*(int *)arg, "x", 1) < 0)
			break;
	return NULL;
}

int main(int argc, char **argv)
{
	int cancel[2];
	pthread_t listener;
	if (argc < 3) {
		static const char usage[] = "usage: embed OUTCOME PINFOLD ARG...\n";
		write_all(2, usage, sizeof(usage) - 1);
		return 1;
	}
	if (pipe(cancel) < 0)
		return 2;
	/* A reader of ours that goes away is an error of a callback, not our death. */
	signal(SIGPIPE, SIG_IGN);
	if (pthread_create(&listener, NULL, listen_for_cancel, &cancel[1]) != 0)
		return 2;
	const struct embed_request r = {.program = argv[2],
					.args = (const char *const *)argv + 3,
					.cancel_fd = cancel[0],
					.on_stdout = on_stdout,
					.on_stderr = on_stderr,
					.on_event = on_event};
	struct embed_outcome o;
	embed_run(&r, &o);
	json_t *text = json_pack("{s:s?, s:s, s:s, s:b, s:i, s:i, s:I, s:I, s:I, s:I, s:O?}",
				 "failure", embed_failure_name(o.failure), "message", o.message,
				 "status", o.status, "ok", o.ok, "code", o.code, "signal", o.signal,
				 "events", (json_int_t)o.events, "bad_events",
				 (json_int_t)o.bad_events, "stdout_bytes", (json_int_t)o.stdout_bytes,
				 "stderr_bytes", (json_int_t)o.stderr_bytes, "result", o.result);
	const int failed = !text || json_dump_file(text, argv[1], 0) < 0;
	json_decref(text);
	embed_outcome_free(&o);
	return failed ? 2 : 0;
}
