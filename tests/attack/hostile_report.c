/* A reader of documents that was taken over, in pinfold-report's place of it: what it tries is the
 * id of the run. What it says it has got stands on its page. See tests/attack/report-reader.t. */
#include "report/page.h"
#include "tests/attack/hostile_report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *try_open(void)
{
	const int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? "got" : "not";
}

static const char *try_write(void)
{
	const int fd = open("planted", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? "got" : "not";
}

static const char *try_socket(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? "got" : "not";
}

static const char *try_fork(void)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	return pid > 0 ? "got" : "not";
}

static const char *try_environment(void)
{
	return environ && *environ && **environ ? "got" : "not";
}

/* Pids 1 and 2 of a namespace of its own are all there is. */
static const char *try_signal(void)
{
	return getpid() == 1 ? "not" : "got";
}

const char *hostile_report_try(const char *what)
{
	static const struct {
		const char *name;
		const char *(*run)(void);
	} tries[] = {{"open", try_open},
		     {"write", try_write},
		     {"socket", try_socket},
		     {"fork", try_fork},
		     {"environment", try_environment},
		     {"pid", try_signal}};
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++)
		if (strcmp(what, tries[i].name) == 0)
			return tries[i].run();
	return NULL;
}

/* Bodies that no page has: what would run, load, restyle or leave. */
static const struct {
	const char *name, *body;
} bodies[] = {
	{"script", "<script>document.title=1</script>"},
	{"handler", "<p onclick=\"x()\">x</p>"},
	{"style-element", "<style>*{}</style>"},
	{"style", "<p style=\"x\">x</p>"},
	{"far-image", "<img alt=\"\" src=\"http:a\">"},
	{"svg-image", "<img alt=\"\" src=\"data:image/svg+xml;base64,AA\">"},
	{"refresh", "<meta http-equiv=\"refresh\" content=\"0\">"},
	{"frame", "<iframe></iframe>"},
	{"form", "<form><input></form>"},
	{"link", "<a href=\"javascript:x()\">x</a>"},
	{"end", "</body></html><script>x()</script>"},
	{"comment", "<!-- x -->"},
	{"cut", "<p class=\"x"},
	{"good", "<p class=\"x\">fine</p>"},
};

void page_body(struct html *h, const struct report *r)
{
	const char *id = r->stages[0].run.id.at;
	const char *got = id ? hostile_report_try(id) : NULL;
	if (got) {
		html_markup(h, "<p>");
		html_words(h, got);
		html_markup(h, "</p>");
	}
	for (size_t i = 0; id && i < sizeof(bodies) / sizeof(*bodies); i++)
		if (strcmp(id, bodies[i].name) == 0)
			html_literal(h, bodies[i].body, strlen(bodies[i].body));
	if (id && strcmp(id, "nul") == 0)
		html_literal(h, "<p>\0</p>", 8);
}

void page_title(char title[PAGE_TITLE_BYTES], const struct report *r)
{
	(void)r;
	memset(title, 'x', PAGE_TITLE_BYTES);
	memcpy(title, "</title><script>x()</script>", 28);
}
