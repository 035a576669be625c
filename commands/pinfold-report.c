/* pinfold-report: one page to read, made of a result, of a run or of a job. Executed by `pinfold report`.
 *
 * The documents are Pinfold's own, and full of what a sandbox said: they are read, and the body of
 * the page is made, in a jail (runtime/jail.h) that has the artifacts folder, read-only, as its
 * whole file system, and a memfd to write into. This process parses nothing of theirs: it puts the
 * head before the body, with the policy that lets nothing run or load, and passes a body only if it
 * is made of the markup in page_check()'s table.
 */
#include "base/fd.h"
#include "commands/commands.h"
#include "commands/sink.h"
#include "report/page.h"
#include "report/preview.h"
#include "report/read.h"
#include "runtime/jail.h"
#include "spec/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READING_SECONDS = 60 };

struct wanted {
	const char *result, *events, *artifacts, *output;
	bool no_images, help;
};

/* What the child works on, and what it says. */
struct job {
	const struct wanted *wanted;
	struct named_text result, events;
	int page; /* memfd */
	bool folder;
	struct made {
		size_t len;
		char title[PAGE_TITLE_BYTES];
	} made;
};

static void print_usage(void)
{
	printf("Usage: pinfold report [OPTION...] RESULT.json\n\n"
	       "Makes one page that a person can read of the result of a run or of a job (RESULT.json may be\n"
	       "-, for stdin). It needs nothing else and runs nothing.\n\n"
	       "  -o, --output FILE      where to: a file that appears when it is complete, - for stdout\n"
	       "                         (which is also the default)\n"
	       "  --events FILE          the events of the same run or job: what it used over time\n"
	       "  --artifacts-dir DIR    where its artifacts are: previews of those that are still the same\n"
	       "  --no-images            leave images out, whose data the viewer would decode\n");
}

/* ---- words ---- */

static int take_value(struct wanted *w, const char *name, const char *value, struct err *e)
{
	const struct {
		const char *name, **to;
	} options[] = {{"--output", &w->output},
		       {"-o", &w->output},
		       {"--events", &w->events},
		       {"--artifacts-dir", &w->artifacts}};
	const size_t len = strcspn(name, "=");
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (strlen(options[i].name) != len || memcmp(options[i].name, name, len) != 0)
			continue;
		const char *given = name[len] ? name + len + 1 : value;
		if (!given || !*given)
			return err_usage(e, "%s: a value is missing", options[i].name);
		if (*options[i].to)
			return err_usage(e, "%s is given twice", options[i].name);
		*options[i].to = given;
		return name[len] ? 1 : 2;
	}
	return err_usage(e, "unknown option %s; `pinfold report --help` lists them", show(name).text);
}

/* How many words it took. */
static int take_word(struct wanted *w, char **words, struct err *e)
{
	const char *word = words[0];
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		w->help = true;
	else if (strcmp(word, "--no-images") == 0)
		w->no_images = true;
	else if (word[0] == '-' && word[1])
		return take_value(w, word, words[1], e);
	else if (!*word)
		return err_usage(e, "the name of the result is empty");
	else if (w->result)
		return err_usage(e, "unexpected %s; usage: pinfold report [OPTION...] RESULT.json",
				 show(word).text);
	else
		w->result = word;
	return 1;
}

static int read_words(struct wanted *w, int argc, char **argv, struct err *e)
{
	for (int at = 1; at < argc && !w->help;) {
		const int taken = take_word(w, argv + at, e);
		if (taken < 0)
			return -1;
		at += taken;
	}
	if (w->help)
		return 0;
	if (!w->result) {
		err_usage(e, "a result is missing; usage: pinfold report [OPTION...] RESULT.json");
		return -1;
	}
	if (w->events && strcmp(w->events, "-") == 0 && strcmp(w->result, "-") == 0)
		return err_usage(e, "stdin cannot be both the result and the events");
	return 0;
}

static const char *output_of(const struct wanted *w)
{
	return w->output ? w->output : "-";
}

/* ---- what is read ---- */

static int read_bounded(int fd, struct named_text *text, size_t most, struct err *e)
{
	size_t room = 1 << 16, used = 0;
	char *buf = malloc(room);
	for (;;) {
		if (used == room) {
			char *grown = realloc(buf, room *= 2);
			if (!grown)
				free(buf);
			buf = grown;
		}
		if (!buf)
			return err_host(e, "out of memory");
		const ssize_t n = read(fd, buf + used, room - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			text->at = buf;
			text->len = used;
			return n < 0 ? err_sys(e, "read %s", text->name) : 0;
		}
		used += (size_t)n;
		if (used > most)
			break;
	}
	free(buf);
	return err_usage(e, "%s is larger than %zu MiB", text->name, most >> 20);
}

/* The end of a long name says more than its beginning; nothing in it drives a terminal. */
static const char *name_of(const char *path, struct arena *a)
{
	enum { NAME_MAX_SHOWN = 96 };
	const size_t len = strlen(path);
	char *name = arena_strdup(a, strcmp(path, "-") == 0 ? "stdin"
				     : len > NAME_MAX_SHOWN ? path + len - NAME_MAX_SHOWN
							    : path);
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	return name;
}

/* Of the page that is to come: what is read must not be replaced by it. */
static int check_apart(int fd, const struct wanted *w, const char *name, struct err *e)
{
	struct stat in, out;
	if (strcmp(output_of(w), "-") == 0 || stat(output_of(w), &out) < 0 || fstat(fd, &in) < 0)
		return 0;
	if (in.st_dev != out.st_dev || in.st_ino != out.st_ino)
		return 0;
	return err_usage(e, "%s is read, and would be replaced by the page", name);
}

static int read_input(const char *path, const struct wanted *w, size_t most,
		      struct named_text *text, struct err *e)
{
	autoclose int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
						  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_sys(e, "open %s", text->name);
	if (check_apart(fd, w, text->name, e) < 0)
		return -1;
	return read_bounded(fd, text, most, e);
}

/* ---- in the jail ---- */

static int write_body(struct job *j, const struct report *r, struct err *e)
{
	struct html h;
	html_open(&h, PAGE_BYTES_MAX);
	page_body(&h, r);
	j->made.len = h.len;
	char *body = html_finish(&h);
	if (!body)
		return err_usage(e, "the page would be larger than %d MiB", PAGE_BYTES_MAX >> 20);
	const int failed = fd_write_all(j->page, body, j->made.len);
	free(body);
	if (failed < 0)
		return err_sys(e, "write the page to memory");
	page_title(j->made.title, r);
	return 0;
}

static int make_body(int root, void *arg, struct err *e)
{
	struct job *j = arg;
	autoarena arena = ARENA_INIT;
	struct report report = {.job = NULL};
	struct preview_budget budget;
	if (read_report(&report, &j->result, &arena, e) < 0)
		return -1;
	if (j->wanted->events && read_events(&report, &j->events, &arena, e) < 0)
		return -1;
	preview_begin(&budget, !j->wanted->no_images, &arena);
	if (j->folder && report.job)
		preview_stages(&report, root, &budget);
	else if (j->folder)
		preview_artifacts(&report.stages->run, root, &budget);
	return write_body(j, &report, e);
}

static int make_jailed(struct job *j, int folder, struct err *e)
{
	const struct jail jail = {
		.root = folder,
		.fds = &j->page,
		.fds_len = 1,
		.cpu_seconds = READING_SECONDS,
		.fixed = true,
		.file_bytes = PAGE_BYTES_MAX,
		.run = make_body,
		.arg = j,
		.report = &j->made,
		.report_len = sizeof(j->made),
	};
	return jail_run(&jail, e);
}

/* ---- what is written ---- */

/* The child is gone; what it wrote cannot change any more. */
static int put_page(const struct job *j, const char *output, struct err *e)
{
	struct html h;
	const size_t len = j->made.len;
	char *body = len <= PAGE_BYTES_MAX ? malloc(len + 1) : NULL;
	if (!body)
		return err_host(e, "out of memory");
	const bool whole = pread(j->page, body, len, 0) == (ssize_t)len;
	const struct bytes said = {body, len};
	if (!whole || page_check(said, e) < 0) {
		free(body);
		return whole ? -1 : err_bug(e, "the jail says less than it says it does");
	}
	html_open(&h, SIZE_MAX / 2);
	page_put(&h, (struct bytes){j->made.title, strnlen(j->made.title, sizeof(j->made.title))},
		 said);
	free(body);
	char *page = html_finish(&h);
	if (!page)
		return err_host(e, "out of memory");
	int failed = 0;
	struct sink sink = SINK_INIT;
	if (strcmp(output, "-") == 0)
		/* A reader who went away has read enough, as with all that is printed. */
		failed = fd_write_all(STDOUT_FILENO, page, strlen(page)) < 0 && errno != EPIPE
				 ? err_sys(e, "write to stdout")
				 : 0;
	else
		failed = sink_open(&sink, output, e) < 0 ? -1 : sink_commit(&sink, page, "", e);
	sink_close(&sink);
	free(page);
	return failed;
}

static int make_of(struct job *j, struct err *e)
{
	const struct wanted *w = j->wanted;
	if (read_input(w->result, w, RESULT_BYTES_MAX, &j->result, e) < 0)
		return -1;
	if (w->events && read_input(w->events, w, EVENTS_BYTES_MAX, &j->events, e) < 0)
		return -1;
	autoclose int folder = w->artifacts ? open(w->artifacts, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
					    : -1;
	if (w->artifacts && folder < 0)
		return err_sys(e, "open the artifacts folder %s", w->artifacts);
	j->folder = folder >= 0;
	autoclose int page = memfd_create("page", MFD_CLOEXEC);
	if (page < 0)
		return err_sys(e, "make room for the page");
	j->page = page;
	return make_jailed(j, folder, e) < 0 ? -1 : put_page(j, output_of(w), e);
}

static int make_report(const struct wanted *w, struct err *e)
{
	autoarena arena = ARENA_INIT;
	struct job j = {.wanted = w};
	j.result.name = name_of(w->result, &arena);
	j.events.name = name_of(w->events ? w->events : "", &arena);
	const int failed = make_of(&j, e);
	free((char *)j.result.at);
	free((char *)j.events.at);
	return failed;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct wanted w = {.result = NULL};
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* What artifacts hold is for their owner, and so is a page of them. */
	umask(077);
	if (read_words(&w, argc, argv, &e) < 0 || (!w.help && make_report(&w, &e) < 0)) {
		complain("report: %s", e.msg);
		return EXIT_REFUSED;
	}
	if (w.help)
		print_usage();
	return finish_printing(0);
}
