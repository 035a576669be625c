/* pinfold image build-debian: mmdebstrap makes a tree as a tar, and the tar is loaded. That takes
 * minutes, and what it is at is told: mmdebstrap says it on stderr, a line for each step, as
 * "I: installing essential packages...". */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "runtime/deadline.h"
#include "runtime/sibling.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mmdebstrap[] = "/usr/bin/mmdebstrap";

struct debian {
	const char *packages, *suite, *mirror, *components, *variant;
};

/* What would be an option, or a hook of mmdebstrap's that a shell runs, is no name. */
static int check_word(const char *option, const char *word, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				      "+-.,:/_=~[]@";
	if (!*word || word[0] == '-' || strspn(word, allowed) != strlen(word))
		return err_usage(e, "--%s: \"%.60s\" is none", option, word);
	return 0;
}

static int check(const struct debian *d, struct err *e)
{
	if (d->packages && check_word("packages", d->packages, e) < 0)
		return -1;
	if (d->mirror && check_word("mirror", d->mirror, e) < 0)
		return -1;
	if (check_word("suite", d->suite, e) < 0 || check_word("components", d->components, e) < 0)
		return -1;
	return check_word("variant", d->variant, e);
}

/* An ordinary user's mmdebstrap works there as one of the user's subordinate ids. */
static int check_tmpdir(struct err *e)
{
	const char *dir = getenv("TMPDIR");
	struct stat st;
	if (geteuid() == 0 || !dir || stat(dir, &st) < 0 || (st.st_mode & S_IXOTH))
		return 0;
	return err_usage(e,
			 "TMPDIR %.200s may not be entered by others, and mmdebstrap works there as "
			 "one of your subordinate ids; set TMPDIR=/tmp",
			 dir);
}

/* ---- what it is at ---- */

enum { LINE_BYTES = 1024, TICK_MS = 1000 };

struct steps {
	enum image_report report;
	struct progress progress; /* of the step that is under way; what is NULL: none is */
	char step[80];
	int64_t begun_ns; /* of the step */
	char line[LINE_BYTES];
	size_t len;
};

static void end_step(struct steps *s)
{
	if (s->progress.what)
		progress_end(&s->progress);
	s->progress.what = NULL;
}

static void begin_step(struct steps *s, const char *text, size_t len)
{
	end_step(s);
	snprintf(s->step, sizeof(s->step), "%.*s", (int)len, text);
	s->begun_ns = now_ns();
	progress_begin(&s->progress, s->report, s->step, 0);
}

/* "I: STEP..." begins one; other information, and "done", is nobody's concern. What it complains of is passed on. */
static void take_line(struct steps *s)
{
	const char *line = s->line;
	const size_t len = strlen(line);
	if (strncmp(line, "I: ", 3) == 0) {
		if (len > 6 && strcmp(line + len - 3, "...") == 0)
			begin_step(s, line + 3, len - 6);
		return;
	}
	if (len == 0 || strcmp(line, "done") == 0)
		return;
	if (s->progress.what && s->progress.terminal)
		end_step(s);
	complain("mmdebstrap: %s", line);
}

/* 0: its end. What is longer than a line may be is taken as several. */
static ssize_t take_some(struct steps *s, int from)
{
	char some[LINE_BYTES];
	const ssize_t n = read(from, some, sizeof(some));
	for (ssize_t i = 0; i < n; i++) {
		if (some[i] != '\n')
			s->line[s->len++] = some[i];
		if (some[i] != '\n' && s->len < sizeof(s->line) - 1)
			continue;
		s->line[s->len] = '\0';
		s->len = 0;
		take_line(s);
	}
	return n < 0 && errno == EINTR ? 1 : n;
}

/* Until it says no more, or is gone: something that it left behind may hold the pipe. */
static int follow(struct steps *s, int from, const struct sibling *m, struct err *e)
{
	struct pollfd fds[] = {{.fd = from, .events = POLLIN}, {.fd = m->pidfd, .events = POLLIN}};
	for (;;) {
		const int n = poll(fds, 2, TICK_MS);
		if (n < 0 && errno != EINTR)
			return err_sys(e, "wait for mmdebstrap");
		if (n > 0 && fds[0].revents && take_some(s, from) <= 0)
			return 0;
		if (n > 0 && !fds[0].revents && fds[1].revents)
			return 0;
		if (s->progress.what)
			progress_wait(&s->progress, (uint64_t)(now_ns() - s->begun_ns) / 1000000000);
	}
}

/* Returns its exit code, or -1 and *e. */
static int run_steps(struct image_call *c, char *const *argv, int to, enum image_report report,
		     struct err *e)
{
	int ends[2];
	struct sibling m = SIBLING_INIT;
	struct steps *s = arena_alloc(c->arena, sizeof(*s));
	*s = (struct steps){.report = report};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, "make a pipe for mmdebstrap");
	autoclose int from = ends[0], said = ends[1];
	m.path = mmdebstrap;
	m.argv = argv;
	m.out = to;
	m.err = said;
	if (sibling_start(&m, e) < 0)
		return -1;
	fd_close(&said);
	const int failed = follow(s, from, &m, e);
	if (failed < 0)
		sibling_signal(&m, SIGTERM);
	const int code = sibling_wait(&m);
	end_step(s);
	return failed < 0 ? -1 : code;
}

static int build(struct image_call *c, const struct debian *d, int to, enum image_report report,
		 struct err *e)
{
	char tar[] = "-", format[] = "--format=tar", program[] = "mmdebstrap";
	char *argv[10];
	size_t len = 0;
	argv[len++] = program;
	argv[len++] = format;
	argv[len++] = arena_printf(c->arena, "--variant=%s", d->variant);
	argv[len++] = arena_printf(c->arena, "--components=%s", d->components);
	if (d->packages)
		argv[len++] = arena_printf(c->arena, "--include=%s", d->packages);
	argv[len++] = arena_strdup(c->arena, d->suite);
	argv[len++] = tar;
	if (d->mirror)
		argv[len++] = arena_strdup(c->arena, d->mirror);
	argv[len] = NULL;
	const int code = run_steps(c, argv, to, report, e);
	if (code < 0)
		return -1;
	if (code == 127)
		return err_host(e, "%s is not there; install Debian's mmdebstrap", mmdebstrap);
	if (code != 0)
		return err_host(e, "mmdebstrap failed (%d); why is said above", code);
	return lseek(to, 0, SEEK_SET) < 0 ? err_sys(e, "read what mmdebstrap made") : 0;
}

int image_build_debian(struct image_call *c, struct err *e)
{
	struct debian d = {.suite = "bookworm", .components = "main", .variant = "minbase"};
	struct image_taking taking = {0};
	struct image_source from = {.as = TAKE_TREE, .platform = platform_host()};
	const struct verb_option rows[] = {
		{"packages", &d.packages, NULL, "NAME,...  what is in it besides the variant's"},
		{"suite", &d.suite, NULL, "NAME  of Debian (bookworm)"},
		{"mirror", &d.mirror, NULL,
		 "URI  where packages come from (default: this host's sources)"},
		{"components", &d.components, NULL, "NAME,...  of the archive (main)"},
		{"variant", &d.variant, NULL, "NAME  of mmdebstrap (minbase)"},
		IMAGE_TAKING_ROWS(taking),
		{NULL},
	};
	const int done = image_options(c, rows, (struct word_count){1, 1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (check(&d, e) < 0 || check_tmpdir(e) < 0 ||
	    image_taking_read(&taking, &from.limits, &from.report, e) < 0 ||
	    image_check_name(c, c->argv[0], e) < 0)
		return -1;
	autowork w = WORK_INIT;
	autoclose int to = image_archive(c, &w, e);
	if (to < 0)
		return -1;
	if (build(c, &d, to, from.report, e) < 0)
		return -1;
	from.input = to;
	from.name = c->argv[0];
	return image_take(c, &from, e);
}
