/* pinfold-scan with a reader that was taken over: its reader_run() goes before the library's. What
 * a file is called says what it tries; what it reached comes back as the detail of a finding.
 */
#include "pipeline/scan/reader.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void send_record(const struct reader *r, const struct record *rec)
{
	if (fd_write_all(r->out, rec, sizeof(*rec)) < 0)
		_exit(1);
}

static void say(const struct reader *r, const char *what)
{
	struct record rec = {.kind = RECORD_FINDING, .rule = RULE_ELF, .line = 1, .column = 1};
	wire_text(rec.detail, sizeof(rec.detail), what, strlen(what));
	send_record(r, &rec);
}

/* What an attempt came to: 0 or more, or -1 with errno. */
static int try_out(const char *what, const char *planted)
{
	errno = 0;
	if (strcmp(what, "file") == 0)
		return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	if (strcmp(what, "write") == 0)
		return open(planted, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (strcmp(what, "proc") == 0)
		return open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	if (strcmp(what, "socket") == 0)
		return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (strcmp(what, "signal") == 0)
		return kill(getpid(), 0);
	if (strcmp(what, "program") == 0)
		return execl("/bin/echo", "echo", "program reached", (char *)NULL);
	if (strcmp(what, "fork") == 0) {
		const pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		return (int)pid;
	}
	return mmap(NULL, (size_t)4 << 30, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
		       ? -1
		       : 0;
}

static void reach(const struct reader *r, const char *what)
{
	char text[WIRE_NAME + 32];
	const int got = try_out(what, "/planted");
	snprintf(text, sizeof(text), "%s %s", what, got < 0 ? strerrorname_np(errno) : "reached");
	say(r, text);
}

/* The control: HOSTILE_OUTSIDE is a folder, and all of it is tried before there is a jail. */
__attribute__((constructor)) static void outside(void)
{
	static const char *const all[] = {"file",   "write", "proc",   "socket",
					  "signal", "fork",  "memory", "program"};
	char planted[4096];
	const char *folder = getenv("HOSTILE_OUTSIDE");
	if (!folder)
		return;
	snprintf(planted, sizeof(planted), "%s/planted", folder);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const int got = try_out(all[i], planted);
		printf("%s %s\n", all[i], got < 0 ? strerrorname_np(errno) : "reached");
		fflush(stdout);
	}
	exit(0);
}

static void lie(const struct reader *r, const char *what)
{
	struct record rec = {.kind = RECORD_FINDING};
	if (strcmp(what, "rule") == 0)
		rec.rule = UINT32_MAX;
	else if (strcmp(what, "kind") == 0)
		rec.kind = 77;
	else if (strcmp(what, "text") == 0)
		memset(rec.detail, 'x', sizeof(rec.detail));
	else if (strcmp(what, "inner") == 0)
		memcpy(rec.inner, "/../x", 6);
	else if (strcmp(what, "caret") == 0)
		rec.caret = UINT32_MAX;
	else if (strcmp(what, "foreign") == 0)
		rec = (struct record){.kind = RECORD_FOREIGN, .id = "x"};
	else if (strcmp(what, "language") == 0)
		rec = (struct record){.kind = RECORD_LANGUAGE, .rule = 4096};
	else if (strcmp(what, "flood") == 0)
		for (;;)
			send_record(r, &rec);
	send_record(r, &rec);
}

static void attempt(const struct reader *r, const char *name)
{
	char what[WIRE_NAME];
	const char *dash = strchr(name, '-');
	const size_t len = dash ? strcspn(dash + 1, ".") : 0;
	wire_text(what, sizeof(what), dash ? dash + 1 : "", len);
	if (strncmp(name, "reach-", 6) == 0)
		reach(r, what);
	else if (strncmp(name, "lie-", 4) == 0)
		lie(r, what);
	else if (strncmp(name, "die", 3) == 0)
		*(volatile char *)mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
	else if (strncmp(name, "spin", 4) == 0)
		for (volatile unsigned long i = 0;; i++)
			;
	else
		say(r, "\033[31mhonest\n");
}

/* What the host's side knows of names stands beside what reads; nothing here reads. */
void reader_tell(struct reader *r, uint32_t rule, const struct unit *u, struct place at,
		 const char *detail)
{
	(void)r;
	(void)rule;
	(void)u;
	(void)at;
	(void)detail;
}

int reader_run(int root, void *arg, struct err *e)
{
	struct reader *r = arg;
	struct order o;
	const struct record ready = {.kind = RECORD_READY}, done = {.kind = RECORD_DONE};
	(void)root;
	(void)e;
	signal(SIGSEGV, SIG_DFL);
	send_record(r, &ready);
	while (read(r->in, &o, sizeof(o)) == sizeof(o)) {
		char byte;
		for (uint32_t i = 0; i < o.size; i++)
			if (read(r->in, &byte, 1) != 1)
				return -1;
		attempt(r, o.name);
		send_record(r, &done);
	}
	return 0;
}
