#define _GNU_SOURCE
#include "embed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	RESULT_MAX = 16 << 20,	  /* bytes of a result document */
	LINE_MAX_BYTES = 4 << 20, /* bytes of one event */
	DRAIN_MS = 5000,	  /* what pipes may take when pinfold has ended */
	CANCEL_MS = 30000,	  /* what pinfold may take to end a run, its --grace among it */
	SAID_MAX = 400,
};

/* The pipes; the number is the descriptor that pinfold has it as. The result goes into memory that
 * nobody has to read meanwhile: a callback that takes its time is not in its way. */
enum { OUT = 1, ERR = 2, EVENTS = 3, PIPES = 4, RESULT = 4 };

struct buffer {
	char *at;
	size_t len, room;
	bool over; /* there was more than may be */
};

struct session {
	const struct embed_request *r;
	struct embed_outcome *o;
	int from[PIPES]; /* our ends, -1: at its end */
	pid_t pid;
	int pidfd;
	struct buffer line;
	int result;		    /* memfd */
	char said[SAID_MAX + 1];    /* the end of stderr */
	long long kill_at, stop_at; /* 0: not yet */
	bool cancelled;
};

const char *embed_failure_name(enum embed_failure failure)
{
	static const char *const names[] = {NULL,     "not-found", "not-executable", "not-started",
					    "killed", "no-result", "bad-result",     "callback"};
	return names[failure];
}

__attribute__((format(printf, 3, 4))) static void fail(struct embed_outcome *o,
						       enum embed_failure failure, const char *fmt,
						       ...)
{
	va_list ap;
	if (o->failure != EMBED_NONE)
		return;
	o->failure = failure;
	va_start(ap, fmt);
	vsnprintf(o->message, sizeof(o->message), fmt, ap);
	va_end(ap);
	/* It may quote what a program wrote: it is to be safe in a log, and in JSON. */
	for (char *c = o->message; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = *c == '\n' ? ' ' : '?';
}

static long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void add(struct buffer *b, const char *bytes, size_t len, size_t most)
{
	if (b->over || b->len + len > most) {
		b->over = true;
		return;
	}
	if (b->len + len > b->room) {
		const size_t room = (b->len + len) * 2;
		char *grown = realloc(b->at, room);
		if (!grown) {
			b->over = true;
			return;
		}
		b->at = grown;
		b->room = room;
	}
	memcpy(b->at + b->len, bytes, len);
	b->len += len;
}

/* ---- start ---- */

/* Above 9, so that no end is in the place of another when they become 1 to 4. */
static int make_pipe(int ends[2])
{
	int made[2];
	if (pipe2(made, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 10);
		close(made[i]);
	}
	if (ends[0] >= 0 && ends[1] >= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	return -1;
}

static const char **make_argv(const struct embed_request *r)
{
	size_t len = 0;
	while (r->args[len])
		len++;
	const char **argv = calloc(len + 5, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = r->program ? r->program : "pinfold";
	argv[1] = "run";
	argv[2] = "--events=fd:3";
	argv[3] = "--result=fd:4";
	memcpy(argv + 4, r->args, len * sizeof(*argv));
	return argv;
}

/* 0 or an errno. The child begins with an empty signal mask and default dispositions, whatever its caller has. */
static int spawn(struct session *s, const char **argv, const int to[PIPES])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGTERM);
	sigaddset(&usual, SIGINT);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	for (int i = OUT; i < PIPES; i++)
		posix_spawn_file_actions_adddup2(&files, to[i], i);
	posix_spawn_file_actions_adddup2(&files, s->result, RESULT);
	const int error = posix_spawnp(&s->pid, argv[0], &files, &how, (char **)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return error;
}

static int start(struct session *s)
{
	int to[PIPES] = {-1, -1, -1, -1}, error = 0;
	const char **argv = make_argv(s->r);
	const int made = memfd_create("result", MFD_CLOEXEC);
	s->result = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, 10);
	error = s->result < 0 ? errno : 0;
	if (made >= 0)
		close(made);
	for (int i = OUT; i < PIPES && error == 0; i++) {
		int ends[2] = {-1, -1};
		error = make_pipe(ends) < 0 ? errno : 0;
		s->from[i] = error ? -1 : ends[0];
		to[i] = error ? -1 : ends[1];
	}
	if (error == 0)
		error = argv ? spawn(s, argv, to) : ENOMEM;
	/* Ours alone would keep the pipes from ending. */
	for (int i = OUT; i < PIPES; i++)
		if (to[i] >= 0)
			close(to[i]);
	if (error)
		fail(s->o,
		     error == ENOENT   ? EMBED_NOT_FOUND
		     : error == EACCES ? EMBED_NOT_EXECUTABLE
				       : EMBED_NOT_STARTED,
		     "%s: %s", argv ? argv[0] : "pinfold", strerror(error));
	free(argv);
	if (error)
		return -1;
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	return 0;
}

/* ---- what comes ---- */

/* TERM to pinfold, which ends the whole sandbox and still writes its result. It is not reaped yet, so the number is its own. */
static void terminate(struct session *s)
{
	if (s->cancelled)
		return;
	s->cancelled = true;
	kill(s->pid, SIGTERM);
	s->kill_at = now_ms() + CANCEL_MS;
}

static void called(struct session *s, int rc)
{
	if (rc == 0)
		return;
	fail(s->o, EMBED_CALLBACK, "a callback gave up");
	terminate(s);
}

static void take_event(struct session *s, const char *line, size_t len)
{
	json_t *event = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	const char *schema = json_string_value(json_object_get(event, "schema"));
	if (!schema || strcmp(schema, "pinfold.event/1") != 0) {
		s->o->bad_events++;
	} else {
		s->o->events++;
		if (s->r->on_event && s->o->failure == EMBED_NONE)
			called(s, s->r->on_event(s->r->arg, event));
	}
	json_decref(event);
}

static void take_events(struct session *s, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		const size_t part = end ? (size_t)(end - bytes) : len;
		add(&s->line, bytes, part, LINE_MAX_BYTES);
		bytes += end ? part + 1 : part;
		len -= end ? part + 1 : part;
		if (!end)
			continue;
		if (s->line.over)
			s->o->bad_events++;
		else
			take_event(s, s->line.at ? s->line.at : "", s->line.len);
		s->line.len = 0;
		s->line.over = false;
	}
}

static void keep_said(struct session *s, const char *bytes, size_t len)
{
	const size_t had = strlen(s->said);
	if (len > SAID_MAX) {
		bytes += len - SAID_MAX;
		len = SAID_MAX;
	}
	const size_t kept = had + len > SAID_MAX ? SAID_MAX - len : had;
	memmove(s->said, s->said + had - kept, kept);
	for (size_t i = 0; i < len; i++)
		s->said[kept + i] = bytes[i] ? bytes[i] : ' ';
	s->said[kept + len] = '\0';
}

static void take(struct session *s, int which, const char *bytes, size_t len)
{
	const struct embed_request *r = s->r;
	if (which == OUT) {
		s->o->stdout_bytes += len;
		if (r->on_stdout && s->o->failure == EMBED_NONE)
			called(s, r->on_stdout(r->arg, bytes, len));
	} else if (which == ERR) {
		s->o->stderr_bytes += len;
		keep_said(s, bytes, len);
		if (r->on_stderr && s->o->failure == EMBED_NONE)
			called(s, r->on_stderr(r->arg, bytes, len));
	} else {
		take_events(s, bytes, len);
	}
}

static void receive(struct session *s, int which)
{
	char bytes[65536];
	const ssize_t n = read(s->from[which], bytes, sizeof(bytes));
	if (n > 0) {
		take(s, which, bytes, (size_t)n);
	} else if (n == 0 || errno != EINTR) {
		close(s->from[which]);
		s->from[which] = -1;
	}
}

/* ---- one poll: whatever has something to say is read, so that no full pipe holds up another ---- */

static bool is_open(const struct session *s)
{
	return s->from[OUT] >= 0 || s->from[ERR] >= 0 || s->from[EVENTS] >= 0;
}

static int patience(const struct session *s)
{
	long long at = s->kill_at && s->stop_at ? (s->kill_at < s->stop_at ? s->kill_at : s->stop_at)
						: s->kill_at + s->stop_at;
	const long long left = at - now_ms();
	return at == 0 ? -1 : left > 0 ? (int)left : 0;
}

static void attend(struct session *s)
{
	while (is_open(s)) {
		struct pollfd p[PIPES + 2] = {[0] = {.fd = -1}};
		for (int i = OUT; i < PIPES; i++)
			p[i] = (struct pollfd){s->from[i], POLLIN, 0};
		p[PIPES] = (struct pollfd){s->stop_at ? -1 : s->pidfd, POLLIN, 0};
		p[PIPES + 1] = (struct pollfd){s->cancelled ? -1 : s->r->cancel_fd, POLLIN, 0};
		const int ready = poll(p, PIPES + 2, patience(s));
		if (s->kill_at && now_ms() >= s->kill_at) {
			kill(s->pid, SIGKILL);
			s->kill_at = 0;
		}
		/* Something else holds our pipes open. */
		if (ready == 0 && s->stop_at && now_ms() >= s->stop_at)
			return;
		for (int i = OUT; ready > 0 && i < PIPES; i++)
			if (p[i].revents)
				receive(s, i);
		if (ready > 0 && p[PIPES].revents)
			s->stop_at = now_ms() + DRAIN_MS;
		if (ready > 0 && p[PIPES + 1].revents)
			terminate(s);
	}
}

/* ---- the end ---- */

static void reap(struct session *s)
{
	int status = 0;
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	s->o->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	s->o->signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

/* What pinfold wrote; NULL and a failure: nothing that can be read. */
static json_t *load_result(struct session *s)
{
	struct stat st = {.st_size = 0};
	json_error_t why;
	fstat(s->result, &st);
	if (st.st_size == 0)
		fail(s->o, s->o->signal >= 0 ? EMBED_KILLED : EMBED_NO_RESULT, "%s",
		     s->said[0] ? s->said : "pinfold ended and wrote no result");
	if (st.st_size > RESULT_MAX)
		fail(s->o, EMBED_BAD_RESULT, "the result is too large");
	if (st.st_size == 0 || st.st_size > RESULT_MAX || lseek(s->result, 0, SEEK_SET) < 0)
		return NULL;
	json_t *result = json_loadfd(s->result, JSON_REJECT_DUPLICATES, &why);
	if (!result)
		fail(s->o, EMBED_BAD_RESULT, "the result is no JSON: line %d, column %d", why.line,
		     why.column);
	return result;
}

static void read_result(struct session *s)
{
	struct embed_outcome *o = s->o;
	json_t *result = load_result(s);
	const char *schema = json_string_value(json_object_get(result, "schema"));
	const char *status = json_string_value(json_object_get(result, "status"));
	const json_t *ok = json_object_get(result, "ok");
	if (result && schema && strcmp(schema, "pinfold.result/1") == 0 && status &&
	    json_is_boolean(ok)) {
		o->result = result;
		o->status = status;
		o->ok = json_is_true(ok) && o->failure == EMBED_NONE;
		return;
	}
	if (result)
		fail(o, EMBED_BAD_RESULT, "the result is no pinfold.result/1, or has no status");
	json_decref(result);
}

void embed_run(const struct embed_request *r, struct embed_outcome *o)
{
	struct session s = {.r = r, .o = o, .from = {-1, -1, -1, -1}, .pidfd = -1, .result = -1};
	*o = (struct embed_outcome){.status = "no-result", .code = -1, .signal = -1};
	if (start(&s) == 0) {
		attend(&s);
		reap(&s);
		read_result(&s);
	}
	for (int i = OUT; i < PIPES; i++)
		if (s.from[i] >= 0)
			close(s.from[i]);
	if (s.pidfd >= 0)
		close(s.pidfd);
	if (s.result >= 0)
		close(s.result);
	free(s.line.at);
}

void embed_outcome_free(struct embed_outcome *o)
{
	json_decref(o->result);
	*o = (struct embed_outcome){.status = "no-result"};
}
